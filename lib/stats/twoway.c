/* twoway.c - trimmed means of rows and columns in alternation. */
#include "stats/twoway.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "stats/quantile.h"

enum { MOST_TURNS = 60 };
static const double SMALL_CHANGE = 1e-5;

/* The values of each row, or of each column: value[first[g] .. first[g + 1]). */
struct groups {
	uint32_t n, *first, *value;
};

static struct groups groups_new(const uint32_t *of, uint32_t n_values, uint32_t n)
{
	struct groups g = {n, MEM_NEWN(uint32_t, (size_t)n + 2),
			   MEM_NEWN(uint32_t, (size_t)n_values + 1)};
	for (uint32_t i = 0; i < n_values; i++)
		g.first[of[i] + 2]++;
	for (uint32_t i = 2; i < n + 2; i++)
		g.first[i] += g.first[i - 1];
	for (uint32_t i = 0; i < n_values; i++)
		g.value[g.first[of[i] + 1]++] = i;
	return g;
}

static void groups_release(struct groups *g)
{
	mem_free(g->first);
	mem_free(g->value);
}

/* effect[] of the groups that have values: trimmed means of y less the other side. */
static void group_means(const struct groups *g, const double *y, const double *other,
			const uint32_t *other_of, double cut, double cut_slow, double *x,
			double *effect)
{
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t n = 0;
		for (uint32_t j = g->first[i]; j < g->first[i + 1]; j++) {
			uint32_t v = g->value[j];
			x[n++] = y[v] - (other ? other[other_of[v]] : 0);
		}
		if (n)
			effect[i] = trimmed_mean(x, n, cut, cut_slow);
	}
}

/* Make the effects of groups that have values 0 in the mean. */
static void centre(const struct groups *g, double *effect)
{
	double sum = 0;
	uint32_t n = 0;
	for (uint32_t i = 0; i < g->n; i++)
		if (g->first[i] < g->first[i + 1]) {
			sum += effect[i];
			n++;
		}
	for (uint32_t i = 0; i < g->n; i++)
		effect[i] -= sum / (n ? n : 1);
}

static double largest_change(const double *a, const double *b, uint32_t n)
{
	double most = 0;
	for (uint32_t i = 0; i < n; i++)
		most = fmax(most, fabs(a[i] - b[i]));
	return most;
}

void twoway_rows(const struct twoway *t, double *row_effect)
{
	struct groups rows = groups_new(t->row, t->n, t->n_rows);
	struct groups columns = groups_new(t->column, t->n, t->n_columns);
	double *x = MEM_NEWN(double, (size_t)t->n + 1), *u = row_effect;
	double *v = MEM_NEWN(double, (size_t)t->n_columns + 1);
	double *last = MEM_NEWN(double, (size_t)t->n_rows + 1);
	group_means(&rows, t->y, NULL, NULL, t->cut, t->cut, x, u);
	for (int turn = 0; turn < MOST_TURNS; turn++) {
		group_means(&columns, t->y, u, t->row, t->cut, t->cut, x, v);
		centre(&columns, v);
		memcpy(last, u, t->n_rows * sizeof *u);
		group_means(&rows, t->y, v, t->column, t->cut, t->cut, x, u);
		if (largest_change(u, last, t->n_rows) < SMALL_CHANGE)
			break;
	}
	group_means(&rows, t->y, v, t->column, t->cut, t->cut_slow, x, u);
	groups_release(&rows);
	groups_release(&columns);
	mem_free(x);
	mem_free(v);
	mem_free(last);
}

void twoway_rows_alone(const struct twoway *t, double *row_effect)
{
	struct groups rows = groups_new(t->row, t->n, t->n_rows);
	double *x = MEM_NEWN(double, (size_t)t->n + 1);
	group_means(&rows, t->y, NULL, NULL, t->cut, t->cut_slow, x, row_effect);
	groups_release(&rows);
	mem_free(x);
}
