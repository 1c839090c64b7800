/* run_start.h - what can start at an instant: copies on idle links, tasks on idle devices, those of
 * devices that take turns; for event_loop.c and run_end.h, not for others. */
#ifndef HSDAG_SCHED_RUN_START_H
#define HSDAG_SCHED_RUN_START_H

#include "sched/run_ports.h"

/* A copy on a shared link: it flows when the latency is over. */
static void start_flow(struct run_state *x, struct run_rules r, uint32_t server, uint32_t slot)
{
	double latency_s = x->e->c->links.latency_s[server];

	if (latency_s > 0)
		event_push(x->e, x->now.now_s + latency_s, r.k + slot);
	else
		flows_begin(&x->e->flows, server, slot, x->tensor[slot / r.k].bytes, x->now.now_s);
}

INLINE void start_copy(struct run_state *x, struct run_rules r, uint32_t server)
{
	struct copy_queue *q = &x->queue[server];
	uint32_t slot = q->head, t = slot / r.k, src = server / r.k, dst = server % r.k;
	double end;

	q->head = x->next[slot];
	if (q->old == slot)
		q->old = SCHED_NONE;
	set_link_waiting(x, r, server, q->head != SCHED_NONE);
	x->live[dst] += x->tensor[t].bytes;
	end = x->now.now_s +
	      (r.k == 2 || x->e->copy_s
		       ? x->e->copy_s[(size_t)t * r.k * r.k + server]
		       : sched_copy_s(&x->e->c->links, src, dst, x->tensor[t].bytes));
	if (is_serial(x, r, server))
		set_idle(x, r, server, false);
	if (r.ports)
		occupy_ports(x, r, server, x->tensor[t].bytes);
	if (copy_holds(x, r, server, COPY_HOLDS_SRC))
		set_idle(x, r, device_server(r, src), false);
	if (copy_holds(x, r, server, COPY_HOLDS_DST))
		set_idle(x, r, device_server(r, dst), false);
	if (r.scan) {
		x->end[server] = time_key(end);
		x->doing[server] = slot;
	} else if (r.sharing && sched_is_shared(&x->e->c->links, server)) {
		start_flow(x, r, server, slot);
	} else {
		event_push(x->e, end, r.k + slot);
	}
	if (r.with_schedule) {
		x->e->t->copy_start_s[x->e->copy_of[slot]] = x->now.base_s + x->now.now_s;
		x->e->t->copy_end_s[x->e->copy_of[slot]] = x->now.base_s + end;
	}
}

/* A link of two devices starts its next copy as soon as it can: all that may wait for it at one
 * instant is of one task, and in order. */
INLINE void start_next(struct run_state *x, struct run_rules r, uint32_t server)
{
	if (is_two(r) && ((x->end[server] == NEVER) & (x->queue[server].head != SCHED_NONE)))
		start_copy(x, r, server);
}

INLINE void start_task(struct run_state *x, struct run_rules r, uint32_t dev)
{
	uint32_t s = device_server(r, dev), p = take_ready(x, r, dev);
	double end = x->now.now_s + x->cost_s[p];

	if (r.mode != ENGINE_PLAIN) {
		struct checkpoints *cp = &x->e->checkpoints;
		double left_s = x->e->t->busy_s[dev] - x->begun_s[dev];

		x->begun_s[dev] += x->cost_s[p];
		if (r.mode == ENGINE_CHECKPOINT)
			cp->before_start[p] = cp->n - 1;
		if (r.mode == ENGINE_LIMIT)
			cp->above |= (x->now.now_s + left_s > x->limit_s) |
				     (end + cp->tail_s[(size_t)p * r.k + dev] > x->limit_s);
	}
	set_waiting(x, r, s, any_ready(x, r, dev));
	set_idle(x, r, s, false);
	x->live[dev] += x->task[p].out_bytes;
	x->doing[s] = p;
	x->end[s] = time_key(end);
	if (!r.scan)
		event_push(x->e, end, dev);
	if (r.with_schedule) {
		x->e->t->start_s[x->e->ready.task_at[p]] = x->now.base_s + x->now.now_s;
		x->e->t->end_s[x->e->ready.task_at[p]] = x->now.base_s + end;
	}
}

/* The first word of e->waiting, from w on, that is not 0; n_words: none. */
static uint32_t first_waiting_word(const struct engine *e, uint32_t w)
{
	if (e->n_words == 1)
		return w;
	while (w < e->n_words) {
		uint64_t *words = &e->waiting_words[w / 64], rest = *words >> w % 64;

		if (rest == 0) {
			w = (w / 64 + 1) * 64;
			continue;
		}
		w += (uint32_t)__builtin_ctzll(rest);
		if (e->waiting[w])
			return w;
		*words &= ~(UINT64_C(1) << w % 64);
	}
	return e->n_words;
}

/* Is device `dev` computing, or held up by a copy, while a copy on link s needs it? */
static bool is_in_the_way(const struct engine *e, uint32_t s, uint32_t dev, unsigned end)
{
	return (!e->c->copy_holds || e->c->copy_holds[s] & end) &&
	       !set_has(e->idle, dev * (e->k + 1));
}

/* The link of the copy that has waited longest, of those whose devices are idle where it occupies
 * them, and whose ports are; false: none. */
static bool longest_waiting(const struct engine *e, bool ports, uint32_t *server)
{
	bool found = false;

	for (uint32_t w = first_waiting_word(e, 0); w < e->n_words;
	     w = first_waiting_word(e, w + 1))
		for (uint64_t links = e->waiting[w] & e->idle[w]; links; links &= links - 1) {
			uint32_t s = w * 64 + (uint32_t)__builtin_ctzll(links);
			uint32_t src = s / e->k, dst = s % e->k;

			if (src == dst || is_in_the_way(e, s, src, COPY_HOLDS_SRC) ||
			    is_in_the_way(e, s, dst, COPY_HOLDS_DST) ||
			    (ports && busy_port(e, s) != SCHED_NONE))
				continue;
			if (!found || copy_before(e, e->queue[s].head, e->queue[*server].head))
				*server = s;
			found = true;
		}
	return found;
}

/* Are all that dev takes turns with idle? */
INLINE bool has_turn(const struct run_state *x, struct run_rules r, uint32_t dev)
{
	const struct engine *e = x->e;

	if (r.scan)
		return (e->turns[dev] & ~e->idle[0]) == 0;
	for (uint32_t i = 0; i < r.k; i++)
		if (e->c->turns[(size_t)dev * r.k + i] && !set_has(e->idle, i * (r.k + 1)))
			return false;
	return true;
}

/* Of devices that are idle, the one whose first task goes before those of the others; k: none has
 * one, or is not held up. */
INLINE uint32_t next_in_turn(struct run_state *x, struct run_rules r, const bool *held)
{
	uint64_t first = UINT64_MAX;
	uint32_t found = r.k;

	for (uint32_t i = 0; i < r.k; i++) {
		if (held[i] || !set_has(x->e->idle, i * (r.k + 1)) || !any_ready(x, r, i))
			continue;
		uint64_t at = first_ready(x, r, i);

		if (at < first) {
			first = at;
			found = i;
		}
	}
	return found;
}

/* Tasks of devices some of which take turns. */
INLINE void start_in_turns(struct run_state *x, struct run_rules r)
{
	bool *held = x->e->held;
	uint32_t dev;

	memset(held, 0, r.k * sizeof(*held));
	while ((dev = next_in_turn(x, r, held)) < r.k) {
		held[dev] = true;
		if (has_turn(x, r, dev)) {
			start_task(x, r, dev);
			continue;
		}
		for (uint32_t i = 0; i < r.k; i++)
			held[i] |= x->e->c->turns[(size_t)dev * r.k + i];
	}
}

/* Copies on links that share ports, while devices compute. */
INLINE void start_at_ports(struct run_state *x, struct run_rules r)
{
	uint32_t link;

	sort_links(x->e);
	while (take_first_link(x->e, &link))
		do {
			start_copy(x, r, link);
		} while (r.sharing && !is_serial(x, r, link) && x->queue[link].head != SCHED_NONE);
}

/* Start all that can start now. */
INLINE void start_all(struct run_state *x, struct run_rules r)
{
	struct engine *e = x->e;
	uint32_t link;

	if (is_two(r)) {
		if ((x->end[0] == NEVER) & (x->top[0] != 0))
			start_task(x, r, 0);
		if ((x->end[3] == NEVER) & (x->top[1] != 0))
			start_task(x, r, 1);
		return;
	}
	while (!r.overlap && longest_waiting(e, r.ports, &link))
		start_copy(x, r, link);
	if (r.ports && r.overlap)
		start_at_ports(x, r);
	for (uint32_t w = r.scan ? 0 : first_waiting_word(e, 0); w < (r.scan ? 1 : e->n_words);
	     w = r.scan ? 1 : first_waiting_word(e, w + 1))
		for (uint64_t can = e->waiting[w] & e->idle[w]; can; can &= can - 1) {
			uint32_t s = w * 64 + (uint32_t)__builtin_ctzll(can);

			if (s % (r.k + 1) == 0) {
				if (!r.turns)
					start_task(x, r, s / (r.k + 1));
			} else {
				/* Again and again where a link carries several copies. */
				while (r.overlap && set_has(e->waiting, s) && set_has(e->idle, s))
					start_copy(x, r, s);
			}
		}
	if (r.turns)
		start_in_turns(x, r);
}

#endif
