/* run.h - the state of a run in use, for simulate.c: what is small of it at hand, sets of servers, ready
 * tasks, events, and when one task goes on alone.
 *
 * One text for all rules; what is known of them before a run is constant in the common case, so that
 * nothing of the others is left there. */
#ifndef HSDAG_SCHED_RUN_H
#define HSDAG_SCHED_RUN_H

#include <math.h>
#include <string.h>

#include "sched/engine.h"

/* Sanitizers take minutes for what is spelled out for every case. */
#ifdef __SANITIZE_ADDRESS__
#define INLINE static inline
#else
#define INLINE static inline __attribute__((always_inline))
#endif

/* What is known of a run before it begins; constants in the common case. */
struct rules {
	uint32_t k;
	bool scan;   /* the next event is found by looking at all servers, else by heap */
	bool serial; /* a link carries one copy at a time */
	bool overlap;
	bool small; /* by rank, at most SMALL tasks */
	bool keep;  /* the schedule */
	enum engine_way way;
};

/* Two devices with links as they mostly are: nothing is looked up that can be spelled out. */
INLINE bool is_two(struct rules r)
{
	return r.k == 2 && r.scan && r.serial && r.overlap && r.small;
}

/* The state of a run in use: what of it is small is here, and in the common case in registers. */
struct run {
	struct engine *e;
	struct moment now;
	int64_t *end;
	double *begun_s;
	uint64_t *live, *peak, *top;
	struct queue *queue;
	uint32_t *doing;
	double limit_s; /* on the clock; limited runs only */
	/* As in the engine. */
	uint16_t *missing;
	uint64_t *pending, *bits;
	uint32_t nobody; /* the position behind all others */
	uint32_t *refs, *next;
	const struct task *task;
	const struct tensor *tensor;
	const uint32_t *more;
	const double *cost_s;
};

INLINE struct run run_of(struct engine *e)
{
	return (struct run){e,          *e->now,    e->end,        e->begun_s, e->live,
			    e->peak,    e->top,     e->queue,      e->doing,   INFINITY,
			    e->missing, e->pending, e->ready_bits, e->d->n,    e->refs,
			    e->next,    e->task,    e->tensor,     e->more,    e->cost_s};
}

/* ---- sets of servers ---- */

INLINE void put(uint64_t *set, uint32_t server, bool yes)
{
	set[server / 64] |= (uint64_t)yes << server % 64;
}

INLINE void drop(uint64_t *set, uint32_t server)
{
	set[server / 64] &= ~(UINT64_C(1) << server % 64);
}

INLINE bool has(const uint64_t *set, uint32_t server)
{
	return set[server / 64] >> server % 64 & 1;
}

INLINE uint32_t device_server(struct rules r, uint32_t dev)
{
	return dev * (r.k + 1);
}

/* Two devices need no sets: what ends never is idle, what has a queue waits. */
INLINE void set_idle(struct run *x, struct rules r, uint32_t server, bool yes)
{
	if (is_two(r))
		return;
	if (yes)
		put(x->e->idle, server, true);
	else
		drop(x->e->idle, server);
}

INLINE void set_waiting(struct run *x, struct rules r, uint32_t server, bool yes)
{
	if (is_two(r))
		return;
	drop(x->e->waiting, server);
	put(x->e->waiting, server, yes);
}

/* ---- ready tasks ---- */

INLINE bool any_ready(struct run *x, struct rules r, uint32_t dev)
{
	return r.small ? x->top[dev] != 0 : ready_any(&x->e->ready, dev);
}

INLINE void add_ready(struct run *x, struct rules r, uint32_t dev, uint32_t p, bool yes)
{
	if (r.small) {
		x->bits[dev * READY_WORDS + p / 64] |= (uint64_t)yes << p % 64;
		x->top[dev] |= (uint64_t)yes << p / 64;
	} else if (yes) {
		ready_add_at(&x->e->ready, dev, p, x->now.instant);
	}
}

/* The first, taken out; there is one. */
INLINE uint32_t take_ready(struct run *x, struct rules r, uint32_t dev)
{
	if (!r.small)
		return ready_take_at(&x->e->ready, dev);
	uint32_t i = (uint32_t)__builtin_ctzll(x->top[dev]);
	uint64_t *word = x->bits + dev * READY_WORDS + i, bits = *word;

	*word = bits & (bits - 1);
	x->top[dev] &= ~((uint64_t)((bits & (bits - 1)) == 0) << i);
	return i * 64 + (uint32_t)__builtin_ctzll(bits);
}

/* ---- events ---- */

static inline void event_push(struct engine *e, double s, uint32_t what)
{
	uint32_t i = e->n_events++;

	for (; i > 0 && e->heap[(i - 1) / 2].s > s; i = (i - 1) / 2)
		e->heap[i] = e->heap[(i - 1) / 2];
	e->heap[i] = (struct event){s, what};
}

static inline struct event event_pop(struct engine *e)
{
	struct event first = e->heap[0], last = e->heap[--e->n_events];
	uint32_t i = 0, child;

	for (; (child = 2 * i + 1) < e->n_events; i = child) {
		if (child + 1 < e->n_events && e->heap[child + 1].s < e->heap[child].s)
			child++;
		if (last.s <= e->heap[child].s)
			break;
		e->heap[i] = e->heap[child];
	}
	e->heap[i] = last;
	return first;
}

/* When something ends next; NEVER: nothing is going on. */
INLINE int64_t next_end(const struct run *x, struct rules r)
{
	const int64_t *end = x->end;
	int64_t s = NEVER;

	if (!r.scan)
		return x->e->n_events ? time_key(x->e->heap[0].s) : NEVER;
	if (is_two(r)) {
		int64_t a = end[0] < end[3] ? end[0] : end[3],
			b = end[1] < end[2] ? end[1] : end[2];

		return a < b ? a : b;
	}
	for (uint64_t busy = ~x->e->idle[0]; busy; busy &= busy - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(busy);

		s = end[i] < s ? end[i] : s;
	}
	return s;
}

/* The device whose task is all that is going on; k: there is none. */
INLINE uint32_t alone(const struct run *x, struct rules r)
{
	const int64_t *end = x->end;
	uint64_t busy;

	if (!r.scan) {
		const struct engine *e = x->e;

		return e->n_events == 1 && e->heap[0].what < r.k ? e->heap[0].what : r.k;
	}
	if (is_two(r)) {
		bool copying = (end[1] != NEVER) | (end[2] != NEVER);
		bool first = end[0] != NEVER, second = end[3] != NEVER;

		return (copying | (first == second)) ? r.k : second;
	}
	busy = ~x->e->idle[0];
	if (busy & (busy - 1))
		return r.k;
	uint32_t s = (uint32_t)__builtin_ctzll(busy);

	return s % (r.k + 1) == 0 ? s / (r.k + 1) : r.k;
}

/* ---- between a run and its engine ---- */

/* The small parts of x, for the engine. */
INLINE void put_back(struct run *x, struct rules r)
{
	struct engine *e = x->e;

	*e->now = x->now;
	if (!is_two(r))
		return;
	for (uint32_t i = 0; i < 4; i++) {
		e->end[i] = x->end[i];
		e->queue[i] = x->queue[i];
		e->doing[i] = x->doing[i];
	}
	for (uint32_t i = 0; i < 2; i++) {
		e->begun_s[i] = x->begun_s[i];
		e->live[i] = x->live[i];
		e->peak[i] = x->peak[i];
		e->top[i] = x->top[i];
	}
}

/* And from there again: peaks may have changed. */
INLINE void take_up(struct run *x, struct rules r)
{
	for (uint32_t i = 0; is_two(r) && i < 2; i++)
		x->peak[i] = x->e->peak[i];
}

#endif
