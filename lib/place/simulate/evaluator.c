/* evaluator.c - what evaluating placements of a model needs, made once. */
#include <string.h>

#include "place/simulate/evaluate_impl.h"

struct evaluator *evaluator_make(const struct place_model *m)
{
	struct evaluator *x = MEM_NEW(struct evaluator);

	x->m = m;
	size_t n = (size_t)m->tasks.dag.n * m->k;
	x->task_s = MEM_NEWN(double, n);
	if (n)
		memcpy(x->task_s, m->costs.task_s, n * sizeof(*x->task_s));
	x->costs = m->costs;
	x->costs.task_s = x->task_s;
	if (m->rules == PLACE_SCHEDULE && !m->n_cases)
		x->clock = timeliner_new(&m->tasks.dag, &x->costs, false);
	else if (m->rules != PLACE_SCHEDULE)
		x->dnnpart = dnnpart_new(m);
	x->task_device = MEM_NEWN(uint16_t, m->tasks.dag.n);
	x->all = MEM_NEWN(uint16_t, m->n_sets);
	x->seen = MEM_NEWN(uint32_t, m->k);
	x->most_inner = MEM_NEWN(uint64_t, m->k);
	x->r.mem_bytes = MEM_NEWN(uint64_t, m->k);
	x->r.pool_bytes = MEM_NEWN(uint64_t, m->pools.n);
	x->pool_once = MEM_NEWN(uint64_t, m->pools.n);
	x->pool_s = MEM_NEWN(double, m->pools.n);
	x->limited = m->objective.memory > 0;
	for (uint32_t d = 0; d < m->k; d++)
		x->limited |= m->mem_limit[d] > 0;
	x->accounts = m->objective.throughput > 0 || m->objective.energy > 0;
	traffic_init(&x->traffic, m->k, m->tasks.dag.n_tensors);
	x->set_task = MEM_NEWN(uint32_t, m->n_sets);
	memset(x->set_task, 0xff, m->n_sets * sizeof(*x->set_task));
	for (uint32_t t = 0; t < m->tasks.dag.n; t++)
		x->set_task[m->tasks.task_set[t]] = t;
	moves_init(x);
	return x;
}

void evaluator_drop(struct evaluator *x)
{
	if (!x)
		return;
	if (x->clock)
		timeliner_free(x->clock);
	dnnpart_free(x->dnnpart);
	mem_free(x->task_s);
	mem_free(x->task_device);
	mem_free(x->all);
	mem_free(x->seen);
	mem_free(x->most_inner);
	mem_free(x->r.mem_bytes);
	mem_free(x->r.pool_bytes);
	mem_free(x->pool_once);
	mem_free(x->pool_s);
	mem_free(x->set_task);
	moves_release(x);
	traffic_release(&x->traffic);
	mem_free(x);
}
