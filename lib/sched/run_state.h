/* run_state.h - the state of a run while the event loop works on it: sets of servers, ready tasks,
 * the next event, and when one task alone is running; for event_loop.c, in parts: run_start.h,
 * run_ports.h, run_deliver.h, run_end.h; not for others.
 *
 * One text serves all rules.  Functions take the rules as a constant (struct run_rules) and are
 * inlined, so that the compiler drops from the common case what other rules need. */
#ifndef HSDAG_SCHED_RUN_STATE_H
#define HSDAG_SCHED_RUN_STATE_H

#include <math.h>
#include <string.h>

#include "base/heap.h"
#include "sched/event_loop.h"

/* Sanitizers take minutes for the code of every case. */
#ifdef __SANITIZE_ADDRESS__
#define INLINE static inline
#else
#define INLINE static inline __attribute__((always_inline))
#endif

/* What is known of a run before it begins. */
struct run_rules {
	uint32_t k;
	bool scan;   /* the next event is found by looking at all servers, else by heap */
	bool serial; /* a link carries one copy at a time */
	bool overlap;
	bool small;         /* by rank, at most MAX_COMMON_TASKS tasks */
	bool with_schedule; /* starts and ends are recorded */
	bool turns;         /* some devices take turns */
	bool ports;         /* links share ports, or copies do not wait for each other on some */
	bool sharing;       /* copies do not wait for each other on some links */
	enum engine_mode mode;
};

/* Two devices and the common rules: loops over servers are written out. */
INLINE bool is_two(struct run_rules r)
{
	return r.k == 2 && r.scan && r.serial && r.overlap && r.small && !r.turns;
}

/* The engine's state in use.  Its small parts are copies, which in the common case are in
 * registers; store_state brings them back. */
struct run_state {
	struct engine *e;
	struct run_progress now;
	int64_t *end;
	double *begun_s;
	uint64_t *live, *peak, *top;
	struct copy_queue *queue;
	uint32_t *doing;
	double limit_s; /* on the clock; limited runs only */
	/* As in the engine. */
	uint16_t *missing;
	uint64_t *pending, *bits;
	uint32_t nobody; /* the position behind all others */
	uint32_t *refs, *next;
	const struct sched_task *task;
	const struct sched_tensor *tensor;
	const uint32_t *more;
	const double *cost_s;
};

INLINE struct run_state run_state_of(struct engine *e)
{
	return (struct run_state){e,          *e->now,    e->end,        e->begun_s, e->live,
				  e->peak,    e->top,     e->queue,      e->doing,   INFINITY,
				  e->missing, e->pending, e->ready_bits, e->d->n,    e->refs,
				  e->next,    e->task,    e->tensor,     e->more,    e->cost_s};
}

/* ---- sets of servers ---- */

INLINE void set_add(uint64_t *set, uint32_t server, bool yes)
{
	set[server / 64] |= (uint64_t)yes << server % 64;
}

INLINE void set_remove(uint64_t *set, uint32_t server)
{
	set[server / 64] &= ~(UINT64_C(1) << server % 64);
}

INLINE bool set_has(const uint64_t *set, uint32_t server)
{
	return set[server / 64] >> server % 64 & 1;
}

INLINE uint32_t device_server(struct run_rules r, uint32_t dev)
{
	return dev * (r.k + 1);
}

/* Two devices need no sets: what ends never is idle, what has a queue waits. */
INLINE void set_idle(struct run_state *x, struct run_rules r, uint32_t server, bool yes)
{
	if (is_two(r))
		return;
	if (yes)
		set_add(x->e->idle, server, true);
	else
		set_remove(x->e->idle, server);
}

INLINE void set_waiting(struct run_state *x, struct run_rules r, uint32_t server, bool yes)
{
	if (is_two(r))
		return;
	set_remove(x->e->waiting, server);
	set_add(x->e->waiting, server, yes);
	if (!r.scan)
		set_add(x->e->waiting_words, server / 64, yes);
}

/* Does a copy on this link occupy its source, its destination? */
INLINE bool copy_holds(const struct run_state *x, struct run_rules r, uint32_t server, unsigned end)
{
	return !r.overlap && (!x->e->c->copy_holds || x->e->c->copy_holds[server] & end);
}

/* Does a copy on this link wait for those before it? */
INLINE bool is_serial(const struct run_state *x, struct run_rules r, uint32_t server)
{
	return r.sharing ? x->e->sharing->of[server].contention == SCHED_FCFS : r.serial;
}

/* ---- ready tasks ---- */

INLINE bool any_ready(struct run_state *x, struct run_rules r, uint32_t dev)
{
	return r.small ? x->top[dev] != 0 : ready_any(&x->e->ready, dev);
}

INLINE void add_ready(struct run_state *x, struct run_rules r, uint32_t dev, uint32_t p, bool yes)
{
	if (r.small) {
		x->bits[dev * READY_WORDS + p / 64] |= (uint64_t)yes << p % 64;
		x->top[dev] |= (uint64_t)yes << p / 64;
	} else if (yes) {
		ready_add_at(&x->e->ready, dev, p, x->now.instant);
	}
}

/* Where the first is in the order in which tasks are taken, over all devices; there is one. */
INLINE uint64_t first_ready(struct run_state *x, struct run_rules r, uint32_t dev)
{
	if (!r.small)
		return ready_first_at(&x->e->ready, dev);
	uint32_t i = (uint32_t)__builtin_ctzll(x->top[dev]);

	return i * 64 + (uint32_t)__builtin_ctzll(x->bits[dev * READY_WORDS + i]);
}

/* The first, taken out; there is one. */
INLINE uint32_t take_ready(struct run_state *x, struct run_rules r, uint32_t dev)
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

#define ENDS_BEFORE(a, b) ((a).s < (b).s)
HEAP(events, struct sched_event, ENDS_BEFORE)

static inline void event_push(struct engine *e, double s, uint32_t what)
{
	events_push(e->heap, &e->n_events, (struct sched_event){s, what});
}

/* When something ends next; NEVER: nothing is running. */
INLINE int64_t next_end(const struct run_state *x, struct run_rules r)
{
	const int64_t *end = x->end;
	int64_t s = NEVER;

	if (r.sharing && x->e->flows.next_s < (x->e->n_events ? x->e->heap[0].s : INFINITY))
		return time_key(x->e->flows.next_s);
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

/* The device whose task alone is running, while nothing is being copied; k: there is none. */
INLINE uint32_t only_running_task(const struct run_state *x, struct run_rules r)
{
	const int64_t *end = x->end;
	uint64_t busy;

	if (!r.scan) {
		const struct engine *e = x->e;

		if (r.sharing && e->flows.n_active)
			return r.k;
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

/* The small parts of x into the engine's state. */
INLINE void store_state(struct run_state *x, struct run_rules r)
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

/* Peaks that syncpoints_add has begun anew. */
INLINE void reload_peaks(struct run_state *x, struct run_rules r)
{
	for (uint32_t i = 0; is_two(r) && i < 2; i++)
		x->peak[i] = x->e->peak[i];
}

#endif
