/* simulate.c - the list scheduler with a virtual clock: who takes what when.
 *
 * One text for all rules; it is compiled once for the common case (two devices, one copy at a time
 * on a link, by rank) and once for any.  What is taken and when is the same. */
#include <math.h>
#include <string.h>

#include "sched/engine.h"

#define INLINE static inline __attribute__((always_inline))

/* What is known of a run before it begins; constants in the common case. */
struct rules {
	uint32_t k;
	bool scan;               /* the next event is found by looking at all servers, else by heap */
	bool serial;             /* a link carries one copy at a time */
	bool overlap;
	bool small;              /* by rank, at most READY_SMALL tasks */
	bool keep;
};

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

/* ---- events ---- */

static void event_push(struct engine *e, double s, uint32_t what)
{
	uint32_t i = e->n_events++;

	for (; i > 0 && e->heap[(i - 1) / 2].s > s; i = (i - 1) / 2)
		e->heap[i] = e->heap[(i - 1) / 2];
	e->heap[i] = (struct event){s, what};
}

static struct event event_pop(struct engine *e)
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

/* When something ends next, and with `scan` on which servers; INFINITY: nothing is going on. */
INLINE double next_end(const struct engine *e, struct rules r, uint64_t *servers)
{
	const double *end = e->end_s;

	if (!r.scan)
		return e->n_events ? e->heap[0].s : INFINITY;
	if (r.k == 2) {
		double a = end[0] < end[3] ? end[0] : end[3], b = end[1] < end[2] ? end[1] : end[2];
		double s = a < b ? a : b;

		*servers = (uint64_t)(end[0] == s) | (uint64_t)(end[1] == s) << 1 |
			   (uint64_t)(end[2] == s) << 2 | (uint64_t)(end[3] == s) << 3;
		return s;
	}
	double s = INFINITY;
	for (uint64_t busy = ~e->idle[0]; busy; busy &= busy - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(busy);

		if (end[i] < s)
			*servers = 0;
		s = end[i] < s ? end[i] : s;
		*servers |= (uint64_t)(end[i] == s) << i;
	}
	return s;
}

/* ---- what becomes ready, and what must be copied ---- */

/* If yes, one thing less that the task at position p waits for, which runs on dev. */
INLINE void arrived(struct engine *e, struct rules r, uint32_t p, uint32_t dev, bool yes)
{
	uint32_t left = e->pending[p] - yes;

	e->pending[p] = left;
	if (r.small) {
		ready_small_add(&e->ready, dev, p, yes & (left == 0));
	} else if (yes && left == 0) {
		ready_add_at(&e->ready, dev, p, e->now->instant);
	}
}

/* Something may have become ready on dev. */
INLINE void note_ready(struct engine *e, struct rules r, uint32_t dev)
{
	put(e->waiting, device_server(r, dev),
	    r.small ? ready_small_any(&e->ready, dev) : ready_any(&e->ready, dev));
}

/* Most copies go to the tail; only those of one instant may have to pass each other. */
INLINE void enqueue(struct engine *e, uint32_t server, uint32_t slot)
{
	struct queue *q = &e->queue[server];
	uint32_t before, *next = e->next, instant = e->now->instant;

	next[slot] = SCHED_NONE;
	if (q->head == SCHED_NONE) {
		*q = (struct queue){slot, slot, SCHED_NONE, instant};
		return;
	}
	if (q->instant != instant) {
		q->instant = instant;
		q->old = q->tail;
	}
	if (q->tail == q->old || q->tail < slot) {
		next[q->tail] = slot;
		q->tail = slot;
		return;
	}
	before = q->old;
	if (before == SCHED_NONE && slot < q->head) {
		next[slot] = q->head;
		q->head = slot;
		return;
	}
	if (before == SCHED_NONE)
		before = q->head;
	while (next[before] < slot)
		before = next[before];
	next[slot] = next[before];
	next[before] = slot;
}

/* Tensor t, which is on src, is needed on dst. */
INLINE void need_copy(struct engine *e, struct rules r, uint32_t t, uint32_t src, uint32_t dst)
{
	uint32_t slot = t * r.k + dst, server = src * r.k + dst;

	if (!r.overlap)
		e->needed_at[slot] = e->now->instant;
	if (r.keep) {
		e->copy_of[slot] = e->now->n_copies;
		e->t->copy[e->now->n_copies] =
			(struct sched_copy){e->tensor_at[t], (uint16_t)src, (uint16_t)dst};
	}
	e->now->n_copies++;
	e->now->copied_bytes += e->bytes[t];
	enqueue(e, server, slot);
	put(e->waiting, server, true);
}

/* Tensor t has been made on dev: its consumers there have it, the others get copies. */
INLINE void distribute(struct engine *e, struct rules r, uint32_t t, uint32_t dev)
{
	uint32_t first = e->use_ptr[t], end = e->use_ptr[t + 1], here = 0, there;

	if (r.k == 2) {
		for (uint32_t u = first; u < end; u++) {
			bool local = e->dev[e->use[u]] == dev;

			arrived(e, r, e->use[u], dev, local);
			here += local;
		}
		there = end - first - here;
		e->refs[t * 2 + dev] = here + (there > 0);
		e->refs[t * 2 + (1 - dev)] = there;
		if (there)
			need_copy(e, r, t, dev, 1 - dev);
		return;
	}
	uint32_t *refs = e->refs + (size_t)t * r.k;
	for (uint32_t u = first; u < end; u++) {
		uint32_t to = e->dev[e->use[u]];

		if (to == dev) {
			arrived(e, r, e->use[u], dev, true);
		} else if (refs[to]++ == 0) {
			need_copy(e, r, t, dev, to);
		} else {
			continue;
		}
		refs[dev]++;
	}
}

/* ---- ends ---- */

/* One reader less of tensor t on dev. */
INLINE void release(struct engine *e, struct rules r, uint32_t t, uint32_t dev)
{
	uint32_t left = --e->refs[(size_t)t * r.k + dev];

	e->live[dev] -= left == 0 ? e->bytes[t] : 0;
}

INLINE void end_task(struct engine *e, struct rules r, uint32_t dev)
{
	uint32_t s = device_server(r, dev), p = e->doing[s];

	e->end_s[s] = INFINITY;
	put(e->idle, s, true);
	e->now->makespan_s = e->now->now_s;
	for (uint32_t i = e->in_ptr[p]; i < e->in_ptr[p + 1]; i++)
		release(e, r, e->in_tensor[i], dev);
	for (uint32_t t = e->out_ptr[p]; t < e->out_ptr[p + 1]; t++)
		distribute(e, r, t, dev);
	for (uint32_t q = e->hold ? e->held[p] : SCHED_NONE; q != SCHED_NONE; q = e->held_next[q])
		arrived(e, r, q, dev, true);
	note_ready(e, r, dev);
}

INLINE void end_copy(struct engine *e, struct rules r, uint32_t slot, uint32_t src, uint32_t dst)
{
	uint32_t s = src * r.k + dst, t = slot / r.k;

	e->end_s[s] = INFINITY;
	put(e->idle, s, true);
	if (!r.overlap) {
		put(e->idle, device_server(r, src), true);
		put(e->idle, device_server(r, dst), true);
	}
	for (uint32_t u = e->use_ptr[t]; u < e->use_ptr[t + 1]; u++)
		arrived(e, r, e->use[u], dst, e->dev[e->use[u]] == dst);
	release(e, r, t, src);
	note_ready(e, r, dst);
}

/* ---- starts ---- */

INLINE void start_copy(struct engine *e, struct rules r, uint32_t server)
{
	struct queue *q = &e->queue[server];
	uint32_t slot = q->head, t = slot / r.k, src = server / r.k, dst = server % r.k;
	double now = e->now->now_s;

	q->head = e->next[slot];
	if (q->old == slot)
		q->old = SCHED_NONE;
	if (q->head == SCHED_NONE)
		drop(e->waiting, server);
	e->live[dst] += e->bytes[t];
	double end = now + (e->copy_s ? e->copy_s[(size_t)t * r.k * r.k + server]
				      : sched_copy_s(&e->c->links, src, dst, e->bytes[t]));
	if (r.serial)
		drop(e->idle, server);
	if (!r.overlap) {
		drop(e->idle, device_server(r, src));
		drop(e->idle, device_server(r, dst));
	}
	if (r.scan) {
		e->end_s[server] = end;
		e->doing[server] = slot;
	} else {
		event_push(e, end, r.k + slot);
	}
	if (r.keep) {
		e->t->copy_start_s[e->copy_of[slot]] = now;
		e->t->copy_end_s[e->copy_of[slot]] = end;
	}
}

INLINE void start_task(struct engine *e, struct rules r, uint32_t dev)
{
	uint32_t s = device_server(r, dev);
	uint32_t p = r.small ? ready_small_take(&e->ready, dev) : ready_take_at(&e->ready, dev);
	double now = e->now->now_s, end = now + e->cost_s[p];

	if (!(r.small ? ready_small_any(&e->ready, dev) : ready_any(&e->ready, dev)))
		drop(e->waiting, s);
	drop(e->idle, s);
	e->live[dev] += e->out_bytes[p];
	e->doing[s] = p;
	e->end_s[s] = end;
	if (!r.scan)
		event_push(e, end, dev);
	if (r.keep) {
		e->t->start_s[e->ready.task_at[p]] = now;
		e->t->end_s[e->ready.task_at[p]] = end;
	}
}

/* The copy that has waited longest of those whose devices are both idle; false: none. */
static bool longest_waiting(const struct engine *e, uint32_t *server)
{
	uint64_t best = UINT64_MAX;

	for (uint32_t w = 0; w < e->n_words; w++)
		for (uint64_t links = e->waiting[w] & e->idle[w]; links; links &= links - 1) {
			uint32_t s = w * 64 + (uint32_t)__builtin_ctzll(links);
			uint32_t src = s / e->k, dst = s % e->k, slot = e->queue[s].head;

			if (src == dst || !has(e->idle, src * (e->k + 1)) ||
			    !has(e->idle, dst * (e->k + 1)))
				continue;
			uint64_t key = (uint64_t)e->needed_at[slot] << 32 | slot;
			if (key < best) {
				best = key;
				*server = s;
			}
		}
	return best != UINT64_MAX;
}

/* All that can start now. */
INLINE void start(struct engine *e, struct rules r)
{
	uint32_t link;

	while (!r.overlap && longest_waiting(e, &link))
		start_copy(e, r, link);
	for (uint32_t w = 0; w < (r.scan ? 1 : e->n_words); w++)
		for (uint64_t can = e->waiting[w] & e->idle[w]; can; can &= can - 1) {
			uint32_t s = w * 64 + (uint32_t)__builtin_ctzll(can);

			if (s % (r.k + 1) == 0)
				start_task(e, r, s / (r.k + 1));
			else
				/* Again and again where a link carries several copies. */
				while (r.overlap && has(e->waiting, s) && has(e->idle, s))
					start_copy(e, r, s);
		}
}

/* ---- a run ---- */

/* An instant is over: what begins and ends within one occupies nothing. */
INLINE void tick(struct engine *e, struct rules r)
{
	e->now->instant++;
	for (uint32_t i = 0; i < r.k; i++)
		e->peak[i] = e->live[i] > e->peak[i] ? e->live[i] : e->peak[i];
}

INLINE void end_all(struct engine *e, struct rules r, uint64_t servers)
{
	if (r.scan) {
		for (; servers; servers &= servers - 1) {
			uint32_t s = (uint32_t)__builtin_ctzll(servers);

			if (s % (r.k + 1) == 0)
				end_task(e, r, s / (r.k + 1));
			else
				end_copy(e, r, e->doing[s], s / r.k, s % r.k);
		}
		return;
	}
	while (e->n_events && e->heap[0].s == e->now->now_s) {
		uint32_t what = event_pop(e).what;

		if (what < r.k)
			end_task(e, r, what);
		else
			end_copy(e, r, what - r.k, e->dev[e->maker[(what - r.k) / r.k]],
				 (what - r.k) % r.k);
	}
}

INLINE void simulate(struct engine *e, struct rules r)
{
	for (;;) {
		uint64_t servers = 0;

		start(e, r);
		double s = next_end(e, r, &servers);
		if (s == INFINITY)
			return;
		if (s > e->now->now_s)
			tick(e, r);
		e->now->now_s = s;
		end_all(e, r, servers);
	}
}

static void simulate_two(struct engine *e)
{
	simulate(e, (struct rules){.k = 2, .scan = true, .serial = true, .overlap = true, .small = true});
}

static void simulate_few(struct engine *e)
{
	simulate(e, (struct rules){.k = e->k, .scan = true, .serial = true, .overlap = true,
				   .small = true});
}

static void simulate_any(struct engine *e)
{
	bool overlap = e->c->overlap, serial = e->c->contention || !overlap;

	simulate(e, (struct rules){.k = e->k, .scan = e->few && serial, .serial = serial,
				   .overlap = overlap, .keep = e->keep});
}

/* ---- beginning ---- */

/* The placement by position, and whether it can be carried out. */
static enum timeline_status place(struct engine *e, const uint16_t *device)
{
	const struct sched_links *l = &e->c->links;
	bool cannot = false, no_link = false;

	for (uint32_t v = 0; v < e->d->n; v++) {
		uint32_t p = e->ready.pos[v];
		double s = e->c->task_s[(size_t)v * e->k + device[v]];

		e->dev[p] = device[v];
		e->cost_s[p] = s;
		cannot |= s < 0;
	}
	for (uint32_t p = 0; cannot && p < e->d->n; p++)
		if (e->cost_s[p] < 0) {
			e->t->bad_task = e->ready.task_at[p];
			e->t->bad_dev = e->dev[p];
			return TIMELINE_CANNOT_RUN;
		}
	for (uint32_t s = 0; s < e->k * e->k; s++)
		no_link |= l->latency_s[s] < 0;
	for (uint32_t t = 0; no_link && t < e->d->n_tensors; t++)
		for (uint32_t u = e->use_ptr[t]; u < e->use_ptr[t + 1]; u++) {
			uint32_t src = e->dev[e->maker[t]], dst = e->dev[e->use[u]];

			if (src != dst && l->latency_s[(size_t)src * e->k + dst] < 0) {
				e->t->bad_task = e->ready.task_at[e->maker[t]];
				e->t->bad_dev = dst;
				return TIMELINE_NO_LINK;
			}
		}
	return TIMELINE_OK;
}

/* The state before anything starts. */
static void begin(struct engine *e, const uint16_t *device)
{
	size_t servers = (size_t)e->k * e->k;

	*e->now = (struct moment){0};
	e->n_events = 0;
	for (size_t s = 0; s < servers; s++) {
		e->end_s[s] = INFINITY;
		e->queue[s].head = SCHED_NONE;
	}
	for (uint32_t w = 0; w < e->n_words; w++) {
		e->idle[w] = UINT64_MAX;
		e->waiting[w] = 0;
	}
	for (uint32_t i = 0; i < e->k; i++)
		e->live[i] = e->peak[i] = 0;
	if (e->d->n)
		memcpy(e->pending, e->n_in, e->d->n * sizeof(*e->pending));
	if (e->d->n_tensors)
		memset(e->refs, 0, (size_t)e->d->n_tensors * e->k * sizeof(*e->refs));
	ready_begin(&e->ready, device);
	for (uint32_t i = 0; i < e->n_roots; i++) {
		uint32_t p = e->root[i], dev = e->dev[p];

		ready_add_at(&e->ready, dev, p, 0);
		put(e->waiting, dev * (e->k + 1), true);
	}
}

/* Seconds that each device computes: four sums, which do not wait for each other. */
static void add_busy(struct engine *e, double *busy_s)
{
	uint32_t k = e->k;

	memset(e->sum_s, 0, 4 * (size_t)k * sizeof(*e->sum_s));
	for (uint32_t p = 0; p < e->d->n; p++)
		e->sum_s[(size_t)(p % 4) * k + e->dev[p]] += e->cost_s[p];
	for (uint32_t i = 0; i < k; i++)
		busy_s[i] = (e->sum_s[i] + e->sum_s[k + i]) + (e->sum_s[2 * k + i] + e->sum_s[3 * k + i]);
}

enum timeline_status engine_run(struct engine *e, const uint16_t *device)
{
	struct timeline *t = e->t;
	enum timeline_status status = place(e, device);

	if (status != TIMELINE_OK)
		return status;
	begin(e, device);
	bool common = e->c->contention && e->c->overlap && e->few && !e->keep &&
		      e->c->policy != SCHED_FIFO && e->d->n <= READY_SMALL;
	if (common && e->k == 2)
		simulate_two(e);
	else if (common)
		simulate_few(e);
	else
		simulate_any(e);
	t->makespan_s = e->now->makespan_s;
	t->n_copies = e->now->n_copies;
	t->copied_bytes = e->now->copied_bytes;
	add_busy(e, t->busy_s);
	for (uint32_t i = 0; i < e->k; i++)
		t->peak_bytes[i] = e->peak[i];
	return TIMELINE_OK;
}
