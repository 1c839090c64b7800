/* slowed.c - schedules on scaled times. */
#include "sched/slowed.h"

#include "base/mem.h"
#include "sched/timeline.h"

struct slowed {
	uint32_t n, k;
	const double *as_is; /* (n,k) */
	double *task_s;      /* (n,k) what the next schedule is of */
	struct sched_costs costs;
	struct timeliner *t;
};

struct slowed *slowed_new(const struct sched_dag *d, const struct sched_costs *c)
{
	struct slowed *x = MEM_NEW(struct slowed);
	size_t cells = (size_t)d->n * c->links.k;
	double *as_is = mem_copy(c->task_s, cells, sizeof *as_is);
	*x = (struct slowed){.n = d->n, .k = c->links.k, .as_is = as_is, .costs = *c};
	x->task_s = mem_copy(as_is, cells, sizeof *as_is);
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
	mem_free((void *)x->as_is);
	mem_free(x->task_s);
	mem_free(x);
}

double slowed_s(struct slowed *x, const uint16_t *device, const double *slow)
{
	const struct timeline *t;
	for (uint32_t i = 0; i < x->n; i++) {
		size_t at = (size_t)i * x->k + device[i];
		x->task_s[at] = x->as_is[at] * (slow && x->as_is[at] > 0 ? slow[device[i]] : 1);
	}
	return timeline_run(x->t, device, &t) == TIMELINE_OK ? t->makespan_s : 0;
}
