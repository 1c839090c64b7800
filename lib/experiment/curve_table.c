/* curve_table.c - quartiles over seeds at points of a scale. */
#include "experiment/curve_table.h"

#include <math.h>

#include "experiment/curve_set.h"
#include "stats/quantile.h"
#include "stream/tsv.h"

enum { TENTH = 12 }; /* points of a factor of ten */

static void put_point(const struct curve_group *g, enum curve_axis axis, double x, double *best,
		      FILE *out)
{
	if (!curve_group_best(g, axis, x, best))
		return;
	order_values(best, g->n);
	tsv_text(out, g->model);
	putc('\t', out);
	tsv_text(out, g->method);
	fprintf(out, "\t%s\t%.6g\t%u\t%.6g\t%.6g\t%.6g\n",
		axis == CURVE_SECONDS ? "seconds" : "evaluations", x, g->n,
		quantile(best, g->n, 0.5), quantile(best, g->n, 0.25), quantile(best, g->n, 0.75));
}

static void put_group(const struct curve_group *g, enum curve_axis axis, FILE *out)
{
	double *best = MEM_NEWN(double, g->n), first = 0, last = 0;
	double end = curve_group_end(g, axis);
	for (uint32_t i = 0; i < g->n; i++)
		first = fmax(first, g->seed[i].first[axis]);
	put_point(g, axis, first, best, out);
	last = first;
	for (int k = (int)floor(TENTH * log10(fmax(first, 1e-9))); last < end; k++) {
		double x = pow(10, (double)k / TENTH);
		if (axis == CURVE_EVALUATIONS)
			x = round(x);
		x = fmin(x, end);
		if (x > last)
			put_point(g, axis, last = x, best, out);
	}
	mem_free(best);
}

int curve_table(char *const *paths, uint32_t n, FILE *out, struct err *e)
{
	struct arena *a = arena_new();
	struct curve_set s;
	int rc = curve_set_read(paths, n, a, &s, e);
	if (rc == 0)
		fputs(CURVES_HEADER, out);
	for (uint32_t i = 0; i < s.n; i++)
		for (int axis = 0; axis < CURVE_AXES; axis++)
			put_group(&s.group[i], axis, out);
	curve_set_release(&s);
	arena_free(a);
	return rc;
}
