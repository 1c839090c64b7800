/* run_ports.h - which copies can start where links share ports (engine.h, struct port_state), and
 * which goes first; for run_start.h, run_deliver.h and run_end.h, not for others. */
#ifndef HSDAG_SCHED_RUN_PORTS_H
#define HSDAG_SCHED_RUN_PORTS_H

#include "sched/run_state.h"

/* Does the copy of slot a go before that of slot b, on any links? */
static bool copy_before(const struct engine *e, uint32_t a, uint32_t b)
{
	uint32_t from_a = e->tensor[a / e->k].maker, from_b = e->tensor[b / e->k].maker;

	if (e->needed_at[a] != e->needed_at[b])
		return e->needed_at[a] < e->needed_at[b];
	if (from_a != from_b)
		return from_a < from_b;
	return a % e->k != b % e->k ? a % e->k < b % e->k : a < b;
}

/* The port by which copies leave or, `in`, reach a link's device; SCHED_NONE: none. */
static inline uint32_t port_of(const struct engine *e, uint32_t link, bool in)
{
	uint32_t name = e->ports.of[link], dev = in ? link % e->k : link / e->k;

	return name == SCHED_NONE ? SCHED_NONE : ((in ? e->k : 0) + dev) * e->ports.names + name;
}

/* A port of the link that is not free; SCHED_NONE: none. */
static inline uint32_t busy_port(const struct engine *e, uint32_t link)
{
	uint32_t out = port_of(e, link, false), in = port_of(e, link, true);

	if (out == SCHED_NONE)
		return SCHED_NONE;
	return e->ports.busy[out] ? out : e->ports.busy[in] ? in : SCHED_NONE;
}

INLINE void occupy_ports(struct run_state *x, struct run_rules r, uint32_t link, uint64_t bytes)
{
	struct engine *e = x->e;

	for (int in = 0; in < 2; in++) {
		uint32_t port = port_of(e, link, in);

		if (port == SCHED_NONE)
			continue;
		e->ports.busy[port] = true;
		event_push(e, x->now.now_s + (double)bytes / e->ports.bytes_per_s[port],
			   r.k + e->d->n_tensors * r.k + port);
	}
}

/* Links that share ports are not among the servers that something waits for, where devices compute
 * meanwhile: which of them start is found by what changes. */
INLINE void set_link_waiting(struct run_state *x, struct run_rules r, uint32_t link, bool yes)
{
	if (!(r.ports && r.overlap))
		set_waiting(x, r, link, yes);
}

/* Something changed by which a copy might start on this link. */
INLINE void look_at(struct run_state *x, struct run_rules r, uint32_t link)
{
	struct port_state *p = &x->e->ports;

	if (!(r.ports && r.overlap) || p->listed[link] || !set_has(x->e->idle, link) ||
	    x->queue[link].head == SCHED_NONE)
		return;
	p->listed[link] = true;
	p->look[p->n_look++] = link;
}

/* A port is free. */
INLINE void end_port(struct run_state *x, struct run_rules r, uint32_t port)
{
	struct port_state *p = &x->e->ports;
	uint32_t dev = port / p->names;

	p->busy[port] = false;
	for (uint32_t w = 0; w < p->words; w++) {
		uint64_t *waiting = &p->waiting[(size_t)port * p->words + w];

		for (; *waiting; *waiting &= *waiting - 1) {
			uint32_t other = w * 64 + (uint32_t)__builtin_ctzll(*waiting);

			look_at(x, r, dev < r.k ? dev * r.k + other : other * r.k + (dev - r.k));
		}
	}
}

/* The link waits at a port that is not free; or false: it can start. */
static bool waits_at_port(struct engine *e, uint32_t link)
{
	uint32_t port = busy_port(e, link);

	if (port == SCHED_NONE)
		return false;
	uint32_t other = port < e->ports.n / 2 ? link % e->k : link / e->k;

	set_add(e->ports.waiting + (size_t)port * e->ports.words, other, true);
	return true;
}

#define HEAD_BEFORE(a, b) copy_before(e, e->queue[a].head, e->queue[b].head)
/* Of the links to look at, in a heap, those from i on come to their places. */
static void sink_link(struct engine *e, uint32_t i)
{
	uint32_t *heap = e->ports.look, link = heap[i];

	HEAP_SINK(heap, e->ports.n_look, i, link, HEAD_BEFORE);
}

/* Those that wait at a port need not be looked at; the others become a heap. */
static void sort_links(struct engine *e)
{
	struct port_state *p = &e->ports;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_look; i++) {
		p->listed[p->look[i]] = false;
		if (!waits_at_port(e, p->look[i]))
			p->look[n++] = p->look[i];
	}
	p->n_look = n;
	for (uint32_t i = n / 2; i-- > 0;)
		sink_link(e, i);
}

/* The first of the sorted links that can start, taken out; false: none is left. */
static bool take_first_link(struct engine *e, uint32_t *link)
{
	struct port_state *p = &e->ports;

	while (p->n_look > 0) {
		*link = p->look[0];
		p->look[0] = p->look[--p->n_look];
		if (p->n_look > 0)
			sink_link(e, 0);
		if (!waits_at_port(e, *link))
			return true;
	}
	return false;
}

#endif
