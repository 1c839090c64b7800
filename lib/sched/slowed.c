/* slowed.c - schedules on scaled times. */
#include "sched/slowed.h"

#include <math.h>

#include "base/mem.h"
#include "base/rng.h"
#include "sched/timeline.h"

static const double WRONG = 0.1; /* standard deviation of a time's logarithm */

struct slowed {
	uint32_t n, k;
	double *as_is;  /* (n,k) */
	double *wrong;  /* (SLOWED_DRAWS,n) factors */
	double *task_s; /* (n,k) what the next schedule is of */
	struct sched_costs costs;
	struct timeliner *t;
};

struct slowed *slowed_new(const struct sched_dag *d, const struct sched_costs *c)
{
	struct slowed *x = MEM_NEW(struct slowed);
	size_t cells = (size_t)d->n * c->links.k;
	*x = (struct slowed){.n = d->n, .k = c->links.k, .costs = *c};
	x->as_is = mem_copy(c->task_s, cells, sizeof *x->as_is);
	x->task_s = mem_copy(c->task_s, cells, sizeof *x->task_s);
	x->wrong = MEM_NEWN(double, SLOWED_DRAWS *(size_t)d->n + 1);
	for (uint32_t draw = 0; draw < SLOWED_DRAWS; draw++)
		for (uint32_t i = 0; i < d->n; i++) {
			struct rng_addr at = {1, draw, i, RNG_SEARCH};
			x->wrong[(size_t)draw * d->n + i] = exp(WRONG * rng_normal(&at, 0));
		}
	x->costs.task_s = x->task_s;
	x->costs.least_s = NULL;
	x->t = timeliner_new(d, &x->costs, false);
	return x;
}

void slowed_free(struct slowed *x)
{
	if (!x)
		return;
	timeliner_free(x->t);
	mem_free(x->as_is);
	mem_free(x->wrong);
	mem_free(x->task_s);
	mem_free(x);
}

double slowed_s(struct slowed *x, const uint16_t *device, const double *slow, double *log_s)
{
	double sum = 0;
	for (uint32_t draw = 0; draw < SLOWED_DRAWS; draw++) {
		const double *wrong = &x->wrong[(size_t)draw * x->n];
		const struct timeline *t;
		for (uint32_t i = 0; i < x->n; i++) {
			size_t at = (size_t)i * x->k + device[i];
			double by = wrong[i] * (slow ? slow[draw * x->k + device[i]] : 1);
			x->task_s[at] = x->as_is[at] > 0 ? x->as_is[at] * by : x->as_is[at];
		}
		if (timeline_run(x->t, device, &t) != TIMELINE_OK || !(t->makespan_s > 0))
			return 0;
		sum += log(t->makespan_s);
		if (log_s)
			log_s[draw] = log(t->makespan_s);
	}
	return exp(sum / SLOWED_DRAWS);
}

double slowed_by_s(struct slowed *x, const uint16_t *device, const double *slow)
{
	if (!slow)
		return slowed_s(x, device, NULL, NULL);
	double *row = MEM_NEWN(double, SLOWED_DRAWS *(size_t)x->k + 1);
	for (uint32_t i = 0; i < SLOWED_DRAWS * x->k; i++)
		row[i] = slow[i % x->k];
	double s = slowed_s(x, device, row, NULL);
	mem_free(row);
	return s;
}

void slowed_share(const struct slowed *x, const uint16_t *device, double *share)
{
	double sum = 0;
	for (uint32_t d = 0; d < x->k; d++)
		share[d] = 0;
	for (uint32_t i = 0; i < x->n; i++) {
		double s = fmax(0, x->as_is[(size_t)i * x->k + device[i]]);
		share[device[i]] += s;
		sum += s;
	}
	for (uint32_t d = 0; d < x->k && sum > 0; d++)
		share[d] /= sum;
}
