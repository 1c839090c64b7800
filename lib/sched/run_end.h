/* run_end.h - what ends at an instant: tasks, whose outputs are distributed, and copies, which have
 * arrived; for event_loop.c, not for others. */
#ifndef HSDAG_SCHED_RUN_END_H
#define HSDAG_SCHED_RUN_END_H

#include "sched/run_deliver.h"
#include "sched/run_start.h"

/* Tensor t has one reader less on dev. */
INLINE void release_tensor(struct run_state *x, struct run_rules r, uint32_t t, uint32_t dev)
{
	uint32_t left = --x->refs[(size_t)t * r.k + dev];

	/* A branch would often be mispredicted. */
	x->live[dev] -= x->tensor[t].bytes & -(uint64_t)(left == 0);
}

INLINE void end_task(struct run_state *x, struct run_rules r, uint32_t dev)
{
	uint32_t s = device_server(r, dev), p = x->doing[s];
	const struct sched_task *task = &x->task[p];

	x->end[s] = NEVER;
	x->now.makespan_s = x->now.now_s;
	if (r.mode != ENGINE_PLAIN && x->e->checkpoints.max)
		x->now.ended_marks += x->e->checkpoints.mark[p];
	if (r.mode == ENGINE_CHECKPOINT) {
		x->e->checkpoints.before_end[p] = x->e->checkpoints.n - 1;
		x->e->checkpoints.sync_before_end[p] = x->e->checkpoints.n_sync;
		x->now.n_ended++;
	}
	release_tensor(x, r, task->in.first[0], dev);
	release_tensor(x, r, task->in.first[1], dev);
	for (uint32_t i = task->in.more; i < task->in.end; i += 2) {
		release_tensor(x, r, x->more[i], dev);
		release_tensor(x, r, x->more[i + 1], dev);
	}
	if (task->out < task->out_end)
		distribute(x, r, task->out, dev);
	if (__builtin_expect(task->out + 1 < task->out_end, 0))
		distribute_others(x, r, task, dev);
	start_next(x, r, 1 + dev);
	for (uint32_t q = x->e->delayed_by ? x->e->first_delayed[p] : SCHED_NONE; q != SCHED_NONE;
	     q = x->e->next_delayed[q])
		(void)arrived(x, r, q, dev);
	set_idle(x, r, s, true);
	set_waiting(x, r, s, any_ready(x, r, dev));
}

INLINE void end_copy(struct run_state *x, struct run_rules r, uint32_t slot, uint32_t src,
		     uint32_t dst)
{
	uint32_t s = src * r.k + dst, t = slot / r.k;

	x->end[s] = NEVER;
	(void)arrived_all(x, r, t, dst);
	release_tensor(x, r, t, src);
	start_next(x, r, s);
	set_idle(x, r, s, true);
	look_at(x, r, s);
	if (copy_holds(x, r, s, COPY_HOLDS_SRC))
		set_idle(x, r, device_server(r, src), true);
	if (copy_holds(x, r, s, COPY_HOLDS_DST))
		set_idle(x, r, device_server(r, dst), true);
	set_waiting(x, r, device_server(r, dst), any_ready(x, r, dst));
}

/* Flows end that have gone through now. */
INLINE void end_flows(struct run_state *x, struct run_rules r)
{
	struct flows *f = &x->e->flows;
	uint32_t link, slot;

	if (!r.sharing || f->next_s != x->now.now_s)
		return;
	while ((slot = flows_end(f, &link)) != SCHED_NONE) {
		if (r.with_schedule)
			x->e->t->copy_end_s[x->e->copy_of[slot]] = x->now.base_s + x->now.now_s;
		end_copy(x, r, slot, link / r.k, link % r.k);
	}
}

/* A copy's time is over, or, on a shared link, its latency: it flows. */
INLINE void end_copy_event(struct run_state *x, struct run_rules r, uint32_t slot)
{
	uint32_t src = x->e->dev[x->tensor[slot / r.k].maker], dst = slot % r.k;

	if (r.sharing && sched_is_shared(&x->e->c->links, src * r.k + dst))
		flows_begin(&x->e->flows, src * r.k + dst, slot, x->tensor[slot / r.k].bytes,
			    x->now.now_s);
	else
		end_copy(x, r, slot, src, dst);
}

/* End all that ends now. */
INLINE void end_all(struct run_state *x, struct run_rules r)
{
	int64_t now = time_key(x->now.now_s);

	if (is_two(r)) {
		/* What starts here and takes no time ends in the next round of the loop. */
		bool first = x->end[0] == now, second = x->end[3] == now;
		bool there = x->end[1] == now, back = x->end[2] == now;

		if (first)
			end_task(x, r, 0);
		if (second)
			end_task(x, r, 1);
		if (there)
			end_copy(x, r, x->doing[1], 0, 1);
		if (back)
			end_copy(x, r, x->doing[2], 1, 0);
		return;
	}
	for (uint64_t busy = r.scan ? ~x->e->idle[0] : 0; busy; busy &= busy - 1) {
		uint32_t s = (uint32_t)__builtin_ctzll(busy);

		if (x->end[s] != now)
			continue;
		if (s % (r.k + 1) == 0)
			end_task(x, r, s / (r.k + 1));
		else
			end_copy(x, r, x->doing[s], s / r.k, s % r.k);
	}
	end_flows(x, r);
	while (!r.scan && x->e->n_events && x->e->heap[0].s == x->now.now_s) {
		uint32_t what = events_pop(x->e->heap, &x->e->n_events).what;

		if (what < r.k)
			end_task(x, r, what);
		else if (r.ports && what - r.k >= x->e->d->n_tensors * r.k)
			end_port(x, r, what - r.k - x->e->d->n_tensors * r.k);
		else
			end_copy_event(x, r, what - r.k);
	}
}

#endif
