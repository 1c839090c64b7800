/* spread_table.c - how far what a search finds depends on its seed. */
#include <math.h>
#include <string.h>

#include "experiment/curve_set.h"
#include "experiment/curve_table.h"
#include "stats/deviation.h"
#include "stats/quantile.h"
#include "stream/tsv.h"

static const double POINTS[] = {10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000};
enum { N_POINTS = sizeof POINTS / sizeof *POINTS };

/* Squared distances of logarithms from their means, of searches that go on until x. */
struct pooled {
	double squares;
	uint32_t freedom, seeds;
};

static void put_name(const char *model, const char *method, double x, uint32_t seeds, FILE *out)
{
	tsv_text(out, model);
	putc('\t', out);
	tsv_text(out, method);
	fprintf(out, "\t%.0f\t%u\t", x, seeds);
}

/* A standard deviation of logarithms as a share, in %. */
static void put_spread(double squares, uint32_t freedom, FILE *out)
{
	struct interval d = interval_deviation(squares, freedom);
	if (freedom == 0)
		fputs("\t\t\n", out);
	else
		fprintf(out, "%.2f\t%.2f\t%.2f\n", 100 * expm1(d.mid), 100 * expm1(d.lo),
			100 * expm1(d.hi));
}

static void put_group(const struct curve_group *g, double x, struct pooled *p, FILE *out)
{
	double *best = MEM_NEWN(double, g->n), mean = 0, squares = 0;
	if (x <= curve_group_end(g, CURVE_EVALUATIONS) &&
	    curve_group_best(g, CURVE_EVALUATIONS, x, best)) {
		order_values(best, g->n);
		for (uint32_t i = 0; i < g->n; i++)
			mean += log(best[i]) / g->n;
		for (uint32_t i = 0; i < g->n; i++)
			squares += (log(best[i]) - mean) * (log(best[i]) - mean);
		put_name(g->model, g->method, x, g->n, out);
		fprintf(out, "%.4f\t%.4f\t%.4f\t", 1e3 * quantile(best, g->n, 0.5), 1e3 * best[0],
			1e3 * best[g->n - 1]);
		put_spread(squares, g->n - 1, out);
		p->squares += squares;
		p->freedom += g->n - 1;
		p->seeds += g->n;
	}
	mem_free(best);
}

static void put_method(const struct curve_set *s, const char *method, double x, bool all, FILE *out)
{
	struct pooled p = {0};
	for (uint32_t i = 0; i < s->n; i++)
		if (strcmp(s->group[i].method, method) == 0)
			put_group(&s->group[i], x, &p, out);
	if (!all || p.freedom == 0)
		return;
	put_name("all", method, x, p.seeds, out);
	fputs("\t\t\t", out);
	put_spread(p.squares, p.freedom, out);
}

/* Is this the first group of its method? */
static bool is_new(const struct curve_set *s, uint32_t i)
{
	for (uint32_t j = 0; j < i; j++)
		if (strcmp(s->group[j].method, s->group[i].method) == 0)
			return false;
	return true;
}

static void put_all(const struct curve_set *s, double at, FILE *out)
{
	bool several = false;
	for (uint32_t i = 1; i < s->n; i++)
		several |= strcmp(s->group[i].model, s->group[0].model) != 0;
	for (uint32_t i = 0; i < s->n; i++) {
		const char *method = s->group[i].method;
		double end = curve_group_end(&s->group[i], CURVE_EVALUATIONS);
		if (!is_new(s, i))
			continue;
		for (int k = 0; at == 0 && k < N_POINTS && POINTS[k] < end; k++)
			put_method(s, method, POINTS[k], several, out);
		put_method(s, method, at > 0 ? at : end, several, out);
	}
}

int spread_table(char *const *paths, uint32_t n, double at, FILE *out, struct err *e)
{
	struct arena *a = arena_new();
	struct curve_set s;
	int rc = curve_set_read(paths, n, a, &s, e);
	if (rc == 0) {
		fputs("model\tmethod\tevaluations\tseeds\tbest_ms\tleast_ms\tmost_ms\tspread_%"
		      "\tspread_%_lo\tspread_%_hi\n",
		      out);
		put_all(&s, at, out);
	}
	curve_set_release(&s);
	arena_free(a);
	return rc;
}
