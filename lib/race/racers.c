/* racers.c - runs of contestants that count. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "race/contest_impl.h"
#include "stats/quantile.h"

void racers_keep(struct racers *r, uint32_t i, double run_s)
{
	struct measurement *m = &r->x->c[i].m;
	m->sample_s = mem_grow(m->sample_s, &r->cap[i], m->n + 1, sizeof *m->sample_s);
	m->sample_s[m->n++] = run_s;
}

double racers_burst_log(const double *run_s, uint32_t n)
{
	double s[RACE_MOST_BURST];
	if (n == 1)
		return log(run_s[0]);
	memcpy(s, run_s + 1, (n - 1) * sizeof *s);
	order_values(s, n - 1);
	return log(quantile(s, n - 1, 0.5));
}
