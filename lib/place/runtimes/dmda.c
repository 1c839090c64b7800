/* dmda.c - StarPU's scheduling policy dmda (1.4; src/sched_policies/deque_modeling_policy_data_aware.c): a task that becomes ready
 * goes to the queue of the device where alpha (end - earliest end of any device) + beta (transfers) is the least, alpha and beta
 * being 1.  The end is when the queue will be done, at least now, and what the task takes; transfers are the sum of what inputs
 * that the device does not have yet take, one after the other.  They begin at once, and the task when they and the queue are done.
 * Of tasks that become ready at one moment the consumers of the lowest task go first.  Beyond StarPU, which moves data out of a full
 * device, devices take no more than they have room for. */
#include <math.h>
#include <stdio.h>

#include "place/heuristic/listsched.h"
#include "place/heuristic/task_heap.h"
#include "place/method/method.h"

struct dmda {
	struct listsched x;
	double *done_s;          /* (k) when a queue is done */
	bool *there;             /* (n_tensors,k) */
	uint32_t *waits;         /* (n) inputs that have not ended */
	struct task_heap ending; /* tasks by when they end */
};

/* What a device does not have yet of v's inputs takes; INFINITY: one has no way there. */
static double transfer_s(const struct dmda *t, uint32_t v, uint32_t dev)
{
	const struct listsched *x = &t->x;
	const struct sched_links *l = &x->m->costs.links;
	double sum = 0;

	for (uint32_t i = x->d->in_ptr[v]; i < x->d->in_ptr[v + 1]; i++) {
		uint32_t o = x->d->use_tensor[x->d->in_use[i]], from = x->on[x->d->tensor_task[o]];

		if (from == dev || t->there[(size_t)o * x->k + dev])
			continue;
		if (l->latency_s[(size_t)from * x->k + dev] < 0)
			return INFINITY;
		sum += sched_copy_s(l, from, dev, x->d->tensor_bytes[o]);
	}
	return sum;
}

/* v is ready now; false: no device can take it. */
static bool push_task(struct dmda *t, uint32_t v, double now)
{
	struct listsched *x = &t->x;
	double best = INFINITY, transfer = 0;
	uint32_t at = SCHED_NONE;

	/* The earliest end is the same for all: what is the least does not depend on it. */
	for (uint32_t dev = 0; dev < x->k; dev++) {
		if (!listsched_may(x, v, dev))
			continue;
		double copies = transfer_s(t, v, dev),
		       end = fmax(t->done_s[dev], now) + place_task_s(x->m, v, dev, x->on);

		if (end + copies < best) {
			best = end + copies;
			transfer = copies;
			at = dev;
		}
	}
	if (at == SCHED_NONE)
		return false;
	listsched_append(x, v, at, fmax(t->done_s[at], now + transfer));
	for (uint32_t i = 0; i < x->k; i++)
		if (i == at || (x->m->costs.turns && x->m->costs.turns[(size_t)at * x->k + i]))
			t->done_s[i] = fmax(t->done_s[i], x->end_s[v]);
	for (uint32_t i = x->d->in_ptr[v]; i < x->d->in_ptr[v + 1]; i++)
		t->there[(size_t)x->d->use_tensor[x->d->in_use[i]] * x->k + at] = true;
	task_heap_add(&t->ending, x->end_s[v], v);
	return true;
}

/* Consumers of v whose last input this is; false: a task that no device can take, *stuck. */
static bool end_task(struct dmda *t, uint32_t v, uint32_t *stuck)
{
	const struct sched_dag *d = t->x.d;

	for (uint32_t o = d->out_ptr[v]; o < d->out_ptr[v + 1]; o++)
		for (uint32_t i = d->use_ptr[o]; i < d->use_ptr[o + 1]; i++) {
			*stuck = d->use_task[i];
			if (--t->waits[*stuck] == 0 && !push_task(t, *stuck, t->x.end_s[v]))
				return false;
		}
	return true;
}

static int run_dmda(struct method_run *r, struct err *e)
{
	struct dmda t = {0};
	struct listsched *x = &t.x;
	uint32_t stuck = SCHED_NONE;
	bool going = true;

	listsched_init(x, r->m, r->a);
	t.done_s = ARENA_NEWN(r->a, double, x->k);
	t.there = ARENA_NEWN(r->a, bool, (size_t)x->d->n_tensors * x->k);
	t.waits = ARENA_NEWN(r->a, uint32_t, x->n);
	for (uint32_t v = 0; v < x->n; v++)
		t.waits[v] = x->left[v];
	for (uint32_t v = 0; v < x->n && going; v++) {
		stuck = v;
		going = x->d->in_ptr[v] < x->d->in_ptr[v + 1] || push_task(&t, v, 0);
	}
	while (going && t.ending.n) {
		uint32_t v = t.ending.entry->task;

		task_heap_drop(&t.ending);
		going = end_task(&t, v, &stuck);
	}
	mem_free(t.ending.entry);
	return listsched_answer(x, going ? 0 : listsched_stuck(x, stuck, e), r, e);
}

const struct place_method method_dmda = {
	.name = "dmda",
	.needs_costs = true,
	.about = "as StarPU: where end and transfers are the least",
	.source = "StarPU 1.4, dmda: Augonnet, Thibault, Namyst, Wacrenier, CCPE 23(2), 2011",
	.run = run_dmda,
	.is_heuristic = true,
};
