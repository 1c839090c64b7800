/* checkpoints.c - memory for checkpoints, and the beginning of a run that leaves them. */
#include "sched/engine.h"

enum { MAX_CHECKPOINTS = 24 };

void checkpoints_release(struct engine *e)
{
	mem_free(e->checkpoints.state);
	mem_free(e->checkpoints.before_start);
	mem_free(e->checkpoints.before_end);
	mem_free(e->checkpoints.tail_s);
	mem_free(e->checkpoints.changed);
	syncpoints_release(e);
}

void checkpoints_begin(struct engine *e)
{
	struct checkpoints *x = &e->checkpoints;
	uint32_t n = e->d->n;

	if (!x->tail_s) {
		x->tail_s = MEM_NEWN(double, (size_t)n * e->k);
		x->changed = MEM_NEWN(struct changed_task, n);
		tails_find(e);
	}
	if (!x->max && e->common) {
		x->max = MAX_CHECKPOINTS;
		x->interval = n / MAX_CHECKPOINTS + 1;
		x->state = mem_alloc(MAX_CHECKPOINTS, e->state_bytes);
		x->before_start = MEM_NEWN(uint32_t, n);
		x->before_end = MEM_NEWN(uint32_t, n);
		syncpoints_init(e);
	}
	x->n = x->max ? 0 : 1;
	x->n_changed = x->from = 0;
	syncpoints_begin(e, 0);
}
