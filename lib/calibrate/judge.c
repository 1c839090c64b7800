/* judge.c - correlations and errors of predictions. */
#include "calibrate/judge.h"

#include <math.h>
#include <string.h>

static const double NEAR_BEST = 1.5;
enum { SAMPLES = 1000, FIRST_DRAW = 20131 };

/* ---- reading ---- */

static int check_time(const struct tabfile *t, uint32_t i, double s, struct err *e)
{
	if (!(s > 0))
		return err_set(e, ST_INPUT, "'%s' line %u has a time that is not above 0", t->path,
			       i + 2);
	if (!time_is_usable(s))
		return err_set(e, ST_INPUT, "'%s' line %u has a time of %g s", t->path, i + 2, s);
	return 0;
}

/* The column of a statistic, -1: there is none.  The times of all runs must be there, and as they
 * were measured for both statistics or for none. */
static int find_column(const struct tabfile *t, int of, int statistic, int *column, struct err *e)
{
	char name[STATISTICS][80];
	bool any = of == OF_ALL;
	for (int s = 0; s < STATISTICS; s++) {
		snprintf(name[s], sizeof name[s], "%s%s", statistic_name[s], of_suffix[of]);
		any = any || (of == OF_ALL_RAW && tabfile_column(t, name[s]) >= 0);
	}
	*column = tabfile_column(t, name[statistic]);
	return any && *column < 0
		       ? err_set(e, ST_INPUT, "'%s' has no column '%s'", t->path, name[statistic])
		       : 0;
}

/* A time of row i; "-": there is none, 0. */
static int read_time(const struct tabfile *t, uint32_t i, int of, int statistic,
		     struct judge_input *in, struct err *e)
{
	struct judge_row *x = &in->row[i];
	double *s = &x->s[of][statistic];
	int column;
	if (find_column(t, of, statistic, &column, e) < 0)
		return -1;
	in->has[of] = column >= 0;
	if (of == OF_ALL || (of == OF_ALL_RAW && column >= 0))
		return tabfile_real(t, i, column, s, e) < 0 ? -1 : check_time(t, i, *s, e);
	if (column >= 0 && strcmp(tabfile_cell(t, i, column), "-") != 0)
		return tabfile_real(t, i, column, s, e);
	if (of == OF_ODD_ROUNDS || of == OF_EVEN_ROUNDS)
		in->has_halves = false;
	if (of == OF_ODD_PASSES || of == OF_EVEN_PASSES)
		x->in_one_pass = true;
	return 0;
}

static const char *named_cell(const struct tabfile *t, uint32_t i, const char *name)
{
	int column = tabfile_column(t, name);
	return column < 0 ? "-" : tabfile_cell(t, i, column);
}

/* A number that may be missing: 0 then. */
static int read_optional(const struct tabfile *t, uint32_t i, const char *name, double *out,
			 struct err *e)
{
	*out = 0;
	if (strcmp(named_cell(t, i, name), "-") == 0)
		return 0;
	return tabfile_real(t, i, tabfile_column(t, name), out, e);
}

static int read_row(const struct tabfile *t, uint32_t i, struct judge_input *in, struct err *e)
{
	struct judge_row *x = &in->row[i];
	double common;
	*x = (struct judge_row){.placement = tabfile_cell(t, i, 0),
				.source = named_cell(t, i, "source"),
				.copies = named_cell(t, i, "copies"),
				.predicted_busy = named_cell(t, i, "predicted_busy_s"),
				.measured_busy = named_cell(t, i, "measured_busy_s")};
	if (tabfile_column(t, "predicted_s") < 0)
		return err_set(e, ST_INPUT, "'%s' has no column 'predicted_s'", t->path);
	if (tabfile_real(t, i, tabfile_column(t, "predicted_s"), &x->predicted_s, e) < 0 ||
	    read_optional(t, i, "copy_bytes", &x->copy_bytes, e) < 0 ||
	    read_optional(t, i, "common", &common, e) < 0 ||
	    read_optional(t, i, "explained", &in->explained, e) < 0)
		return -1;
	if (check_time(t, i, x->predicted_s, e) < 0)
		return -1;
	x->is_common = common != 0;
	in->has_common = in->has_common || x->is_common;
	for (int of = 0; of < OF_KINDS; of++)
		for (int s = 0; s < STATISTICS; s++)
			if (read_time(t, i, of, s, in, e) < 0)
				return -1;
	return 0;
}

int judge_read(const char *path, struct arena *a, struct judge_input *out, struct err *e)
{
	struct tabfile t;
	if (tabfile_read(path, true, a, &t, e) < 0)
		return -1;
	*out = (struct judge_input){.n = t.n_rows, .draws = {FIRST_DRAW}};
	out->row = ARENA_NEWN(a, struct judge_row, (size_t)t.n_rows + 1);
	out->has_halves = true;
	for (uint32_t i = 0; i < t.n_rows; i++)
		if (read_row(&t, i, out, e) < 0)
			return -1;
	return t.n_rows >= 2
		       ? 0
		       : err_set(e, ST_RUNTIME,
				 "fewer than two placements were both predicted and measured");
}

/* ---- statistics ---- */

struct good judge_good(const struct judge_input *in, int of, int statistic, struct arena *a)
{
	struct good g = {0, ARENA_NEWN(a, uint32_t, (size_t)in->n + 1), INFINITY};
	for (uint32_t i = 0; i < in->n; i++)
		g.best_s = fmin(g.best_s, in->row[i].s[of][statistic]);
	for (uint32_t i = 0; i < in->n; i++)
		if (in->row[i].s[of][statistic] <= NEAR_BEST * g.best_s)
			g.item[g.n++] = i;
	return g;
}

struct interval judge_repeats(struct judge_input *in, int statistic, bool passes, uint32_t *n)
{
	struct arena *a = arena_new();
	struct good g = judge_good(in, OF_ALL, statistic, a);
	double *x = ARENA_NEWN(a, double, (size_t)g.n + 1);
	double *y = ARENA_NEWN(a, double, (size_t)g.n + 1);
	struct interval r = {0, 0, 0};
	*n = 0;
	for (uint32_t i = 0; i < g.n; i++) {
		const struct judge_row *row = &in->row[g.item[i]];
		if (passes && row->in_one_pass)
			continue;
		x[*n] = row->s[passes ? OF_ODD_PASSES : OF_ODD_ROUNDS][statistic];
		y[*n] = row->s[passes ? OF_EVEN_PASSES : OF_EVEN_ROUNDS][statistic];
		++*n;
	}
	if (*n >= 2)
		r = spearman_interval(x, y, *n, SAMPLES, &in->draws);
	arena_free(a);
	return r;
}

struct interval judge_ranks(struct judge_input *in, int of, int statistic, const struct good *good)
{
	uint32_t n = good ? good->n : in->n;
	double *x = MEM_NEWN(double, (size_t)n + 1), *y = MEM_NEWN(double, (size_t)n + 1);
	for (uint32_t i = 0; i < n; i++) {
		const struct judge_row *row = &in->row[good ? good->item[i] : i];
		x[i] = row->predicted_s;
		y[i] = row->s[of][statistic];
	}
	struct interval r = spearman_interval(x, y, n, SAMPLES, &in->draws);
	mem_free(x);
	mem_free(y);
	return r;
}

void judge_errors(const struct judge_input *in, int of, int statistic, bool relative, double *error)
{
	double sum = 0, n = 0;
	for (uint32_t i = 0; i < in->n && relative; i++)
		if (in->row[i].is_common || !in->has_common) {
			sum += log(in->row[i].predicted_s / in->row[i].s[of][statistic]);
			n++;
		}
	double scale = n > 0 ? exp(sum / n) : 1;
	for (uint32_t i = 0; i < in->n; i++)
		error[i] = in->row[i].predicted_s / in->row[i].s[of][statistic] / scale - 1;
}

struct repeatability judge_repeatability(struct judge_input *in)
{
	struct repeatability x = {.judged = STATISTIC_FASTEST, .r = -2};
	for (int s = 0; s < STATISTICS && in->has_halves; s++) {
		uint32_t n;
		x.of[s] = judge_repeats(in, s, false, &n);
		if (x.of[s].mid > x.r) {
			x.judged = s;
			x.r = x.of[s].mid;
		}
	}
	return x;
}

double judge_ceiling(double r)
{
	return r > 0 ? sqrt(2 * r / (1 + r)) : 0;
}
