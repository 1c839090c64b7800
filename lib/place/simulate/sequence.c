/* sequence.c - orders of placements as sets one after another. */
#include <stdlib.h>

#include "place/simulate/evaluate_impl.h"
#include "sched/order.h"

void place_order_of(const struct place_model *m, const uint32_t *sets, uint32_t n,
		    const uint16_t *device, struct kept_order *out)
{
	uint32_t tasks = m->tasks.dag.n;
	uint32_t *at = MEM_NEWN(uint32_t, m->n_sets), *position = MEM_NEWN(uint32_t, tasks);
	uint32_t *sequence = MEM_NEWN(uint32_t, tasks);
	uint16_t *task_device = MEM_NEWN(uint16_t, tasks);

	for (uint32_t s = 0; s < m->n_sets; s++)
		at[s] = SCHED_NONE;
	for (uint32_t i = 0; i < n; i++)
		at[sets[i]] = i;
	for (uint32_t t = 0; t < tasks; t++) {
		position[t] = at[m->tasks.task_set[t]];
		task_device[t] = device[m->tasks.task_set[t]];
	}
	order_sequence(&m->tasks.dag, position, sequence);
	order_keep(tasks, task_device, sequence, out->rank, out->delayed_by);
	mem_free(at);
	mem_free(position);
	mem_free(sequence);
	mem_free(task_device);
}

struct started {
	double start_s, end_s;
	uint32_t task;
};

static int started_compare(const void *pa, const void *pb)
{
	const struct started *a = pa, *b = pb;

	if (a->start_s != b->start_s)
		return a->start_s < b->start_s ? -1 : 1;
	if (a->end_s != b->end_s)
		return a->end_s < b->end_s ? -1 : 1;
	return (a->task > b->task) - (a->task < b->task);
}

void place_ran_in(const struct evaluator *x, uint32_t *sets)
{
	const struct graph_tasks *tasks = &x->m->tasks;
	uint32_t n = tasks->dag.n;
	struct started *s = MEM_NEWN(struct started, n);

	for (uint32_t t = 0; t < n; t++)
		s[t] = (struct started){x->t->start_s[t], x->t->end_s[t], t};
	if (n > 1)
		qsort(s, n, sizeof(*s), started_compare);
	for (uint32_t i = 0; i < n; i++)
		sets[i] = tasks->task_set[s[i].task];
	mem_free(s);
}
