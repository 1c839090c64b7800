/* run_deliver.h - a tensor has arrived on a device: which tasks have all that they read now, and
 * which copies are needed; for run_end.h, not for others. */
#ifndef HSDAG_SCHED_RUN_DELIVER_H
#define HSDAG_SCHED_RUN_DELIVER_H

#include "sched/run_ports.h"

/* Is the task at position p on dev?  Then it waits for one thing less. */
INLINE bool arrived(struct run_state *x, struct run_rules r, uint32_t p, uint32_t dev)
{
	if (r.small) {
		uint16_t left = --x->missing[p * r.k + dev];

		add_ready(x, r, dev, p, left == 0);
		return left < AWAY;
	}
	uint64_t pending = x->pending[p];
	bool here = (uint32_t)pending == dev;

	x->pending[p] = pending - ((uint64_t)here << 32);
	add_ready(x, r, dev, p, pending == (UINT64_C(1) << 32 | dev));
	return here;
}

/* Tensor t has arrived on dev; returns how many of its consumers are there. */
INLINE uint32_t arrived_all(struct run_state *x, struct run_rules r, uint32_t t, uint32_t dev)
{
	struct short_list l = x->tensor[t].use;
	uint32_t n;

	if (r.small)
		x->missing[x->nobody * r.k + dev] = UINT16_MAX;
	n = arrived(x, r, l.first[0], dev);
	n += arrived(x, r, l.first[1], dev);
	for (; l.more < l.end; l.more += 2) {
		n += arrived(x, r, x->more[l.more], dev);
		n += arrived(x, r, x->more[l.more + 1], dev);
	}
	return n;
}

/* Most copies go to the tail; only those of one instant may have to pass each other. */
INLINE void enqueue_copy(struct run_state *x, uint32_t server, uint32_t slot)
{
	struct copy_queue *q = &x->queue[server];
	uint32_t before, instant = x->now.instant;

	x->next[slot] = SCHED_NONE;
	if (q->head == SCHED_NONE) {
		*q = (struct copy_queue){slot, slot, SCHED_NONE, instant};
		return;
	}
	if (q->instant != instant) {
		q->instant = instant;
		q->old = q->tail;
	}
	if (q->tail == q->old || q->tail < slot) {
		x->next[q->tail] = slot;
		q->tail = slot;
		return;
	}
	before = q->old;
	if (before == SCHED_NONE && slot < q->head) {
		x->next[slot] = q->head;
		q->head = slot;
		return;
	}
	if (before == SCHED_NONE)
		before = q->head;
	while (x->next[before] < slot)
		before = x->next[before];
	x->next[slot] = x->next[before];
	x->next[before] = slot;
}

/* Tensor t, which is on src, is needed on dst. */
INLINE void need_copy(struct run_state *x, struct run_rules r, uint32_t t, uint32_t src,
		      uint32_t dst)
{
	uint32_t slot = t * r.k + dst, server = src * r.k + dst;

	if (!r.overlap || r.ports)
		x->e->needed_at[slot] = x->now.instant;
	if (r.with_schedule) {
		x->e->copy_of[slot] = x->now.n_copies;
		x->e->t->copy[x->now.n_copies] =
			(struct sched_copy){x->e->number[t], (uint16_t)src, (uint16_t)dst};
	}
	x->now.n_copies++;
	x->now.copied_bytes += x->tensor[t].bytes;
	enqueue_copy(x, server, slot);
	set_link_waiting(x, r, server, true);
	look_at(x, r, server);
}

/* Tensor t has been made on dev: its consumers there have it, the others get copies. */
INLINE void distribute(struct run_state *x, struct run_rules r, uint32_t t, uint32_t dev)
{
	uint32_t *refs = x->refs + (size_t)t * r.k;

	if (r.k == 2) {
		uint32_t here = arrived_all(x, r, t, dev), there = x->tensor[t].n_uses - here;

		refs[dev] = here + (there > 0);
		refs[1 - dev] = there;
		if (there)
			need_copy(x, r, t, dev, 1 - dev);
		return;
	}
	for (uint32_t i = 0; i < x->tensor[t].n_uses; i++) {
		uint32_t p = short_list_item(x->e, &x->tensor[t].use, i), to = x->e->dev[p];

		if (to == dev)
			(void)arrived(x, r, p, dev);
		else if (refs[to]++ == 0)
			need_copy(x, r, t, dev, to);
		else
			continue;
		refs[dev]++;
	}
}

/* The tensors of a task after its first.  Few tasks have any, so that this is a function of its
 * own: it keeps the code of the others small. */
static __attribute__((noinline)) void distribute_others(struct run_state *x, struct run_rules r,
							const struct sched_task *task, uint32_t dev)
{
	for (uint32_t t = task->out + 1; t < task->out_end; t++)
		distribute(x, r, t, dev);
}

#endif
