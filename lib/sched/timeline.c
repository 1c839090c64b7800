/* timeline.c - a virtual clock for the list scheduler. */
#include <string.h>

#include "sched/improve.h"

/* What ends when.  Copies are numbered behind the tasks. */
struct event {
	double s;
	uint32_t what;
};

struct timeliner {
	const struct sched_dag *d;
	const struct sched_costs *c;
	uint32_t k;
	double *rank;            /* (n) upward ranks */
	struct sched *sched;
	struct improver *improver;   /* SCHED_IMPROVED */
	struct event *heap;      /* min-heap by time; at most one event per running task or copy */
	uint32_t n_events;
	bool *dev_busy;          /* (k) */
	bool *link_busy;         /* (k,k) */
	bool keep_schedule;
	struct timeline t;
};

static enum sched_policy list_policy(const struct sched_costs *c)
{
	return c->policy == SCHED_FIFO ? SCHED_FIFO : SCHED_RANK;
}

struct timeliner *timeliner_new(const struct sched_dag *d, const struct sched_costs *c,
				bool keep_schedule)
{
	struct timeliner *x = MEM_NEW(struct timeliner);
	double *task_s = MEM_NEWN(double, d->n);
	double *use_s = MEM_NEWN(double, d->n_uses);
	uint32_t k = c->links.k;

	x->d = d;
	x->c = c;
	x->k = k;
	x->keep_schedule = keep_schedule || c->policy == SCHED_IMPROVED;
	x->rank = MEM_NEWN(double, d->n);
	sched_mean_costs(d, c->task_s, &c->links, task_s, use_s);
	sched_upward_rank(d, task_s, use_s, x->rank);
	x->sched = sched_new(d, k, x->rank, list_policy(c));
	x->t.rank = x->rank;
	if (c->policy == SCHED_IMPROVED)
		x->improver = improver_new(d, c);
	mem_free(task_s);
	mem_free(use_s);
	x->heap = MEM_NEWN(struct event, (size_t)d->n_uses + k + 1);
	x->dev_busy = MEM_NEWN(bool, k);
	x->link_busy = MEM_NEWN(bool, (size_t)k * k);
	x->t.busy_s = MEM_NEWN(double, k);
	x->t.peak_bytes = MEM_NEWN(uint64_t, k);
	if (x->keep_schedule) {
		x->t.start_s = MEM_NEWN(double, d->n);
		x->t.end_s = MEM_NEWN(double, d->n);
		x->t.copy_start_s = MEM_NEWN(double, d->n_uses);
		x->t.copy_end_s = MEM_NEWN(double, d->n_uses);
		x->t.copy = MEM_NEWN(struct sched_copy, d->n_uses);
	}
	return x;
}

void timeliner_free(struct timeliner *x)
{
	if (!x)
		return;
	void *owned[] = {x->heap, x->dev_busy, x->link_busy, x->t.busy_s, x->t.peak_bytes,
			 x->t.start_s, x->t.end_s, x->t.copy_start_s, x->t.copy_end_s, x->t.copy, x->rank};
	for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
		mem_free(owned[i]);
	sched_free(x->sched);
	improver_free(x->improver);
	mem_free(x);
}

/* From the next run on: tasks by descending rank, held up as in sched_hold. */
static void follow(struct timeliner *x, const double *rank, const uint32_t *hold)
{
	if (x->t.rank == rank)
		return;
	sched_free(x->sched);
	x->sched = sched_new(x->d, x->k, rank, list_policy(x->c));
	sched_hold(x->sched, hold);
	x->t.rank = rank;
	x->t.hold = hold;
}

/* ---- events ---- */

static void event_push(struct timeliner *x, double s, uint32_t what)
{
	uint32_t i = x->n_events++;

	for (; i > 0 && x->heap[(i - 1) / 2].s > s; i = (i - 1) / 2)
		x->heap[i] = x->heap[(i - 1) / 2];
	x->heap[i] = (struct event){s, what};
}

static struct event event_pop(struct timeliner *x)
{
	struct event first = x->heap[0], last = x->heap[--x->n_events];
	uint32_t i = 0, child;

	for (; (child = 2 * i + 1) < x->n_events; i = child) {
		if (child + 1 < x->n_events && x->heap[child + 1].s < x->heap[child].s)
			child++;
		if (last.s <= x->heap[child].s)
			break;
		x->heap[i] = x->heap[child];
	}
	x->heap[i] = last;
	return first;
}

/* ---- starting and ending ---- */

static bool start_copies(struct timeliner *x, double now)
{
	const bool *links = x->c->contention ? x->link_busy : NULL;
	const bool *devices = x->c->overlap ? NULL : x->dev_busy;
	uint32_t i;

	while ((i = sched_take_any_copy(x->sched, links, devices)) != SCHED_NONE) {
		const struct sched_copy *c = sched_copy(x->sched, i);
		size_t link = (size_t)c->src * x->k + c->dst;
		double end;

		if (x->c->links.latency_s[link] < 0) {
			x->t.bad_task = x->d->tensor_task[c->tensor];
			x->t.bad_dev = c->dst;
			return false;
		}
		end = now + sched_copy_s(&x->c->links, c->src, c->dst,
					 x->d->tensor_bytes[c->tensor]);
		x->link_busy[link] = true;
		if (!x->c->overlap)
			x->dev_busy[c->src] = x->dev_busy[c->dst] = true;
		if (x->keep_schedule) {
			x->t.copy[i] = *c;
			x->t.copy_start_s[i] = now;
			x->t.copy_end_s[i] = end;
		}
		event_push(x, end, x->d->n + i);
	}
	return true;
}

static bool start_tasks(struct timeliner *x, double now)
{
	for (uint32_t dev = 0; dev < x->k; dev++) {
		uint32_t v = x->dev_busy[dev] ? SCHED_NONE : sched_take_task(x->sched, dev);

		if (v == SCHED_NONE)
			continue;
		double s = x->c->task_s[(size_t)v * x->k + dev];
		if (s < 0) {
			x->t.bad_task = v;
			x->t.bad_dev = dev;
			return false;
		}
		x->dev_busy[dev] = true;
		x->t.busy_s[dev] += s;
		if (x->keep_schedule) {
			x->t.start_s[v] = now;
			x->t.end_s[v] = now + s;
		}
		event_push(x, now + s, v);
	}
	return true;
}

static void end_event(struct timeliner *x, const uint16_t *device, struct event ev)
{
	if (ev.what < x->d->n) {
		x->dev_busy[device[ev.what]] = false;
		x->t.makespan_s = ev.s;
		sched_task_done(x->sched, ev.what);
		return;
	}
	const struct sched_copy *c = sched_copy(x->sched, ev.what - x->d->n);

	x->link_busy[(size_t)c->src * x->k + c->dst] = false;
	if (!x->c->overlap)
		x->dev_busy[c->src] = x->dev_busy[c->dst] = false;
	sched_copy_done(x->sched, ev.what - x->d->n);
}

/* A schedule in the order that x follows now. */
static enum timeline_status run(struct timeliner *x, const uint16_t *device)
{
	double now = 0;

	x->n_events = 0;
	x->t.makespan_s = 0;
	memset(x->dev_busy, 0, x->k * sizeof(*x->dev_busy));
	memset(x->link_busy, 0, (size_t)x->k * x->k * sizeof(*x->link_busy));
	memset(x->t.busy_s, 0, x->k * sizeof(*x->t.busy_s));
	sched_begin(x->sched, device);
	for (;;) {
		if (!start_copies(x, now))
			return TIMELINE_NO_LINK;
		if (!start_tasks(x, now))
			return TIMELINE_CANNOT_RUN;
		if (!x->n_events)
			break;
		if (x->heap[0].s > now)
			sched_tick(x->sched);
		now = x->heap[0].s;
		while (x->n_events && x->heap[0].s == now)
			end_event(x, device, event_pop(x));
	}
	x->t.n_copies = sched_n_copies(x->sched);
	x->t.copied_bytes = sched_copied_bytes(x->sched);
	for (uint32_t i = 0; i < x->k; i++)
		x->t.peak_bytes[i] = sched_peak_bytes(x->sched, i);
	return TIMELINE_OK;
}

enum timeline_status timeline_run(struct timeliner *x, const uint16_t *device,
				  const struct timeline **out)
{
	*out = &x->t;
	follow(x, x->rank, NULL);
	enum timeline_status s = run(x, device);
	if (s != TIMELINE_OK || !x->improver || !improver_run(x->improver, device, &x->t))
		return s;
	double by_rank = x->t.makespan_s;

	follow(x, improver_rank(x->improver), improver_hold(x->improver));
	s = run(x, device);
	/* With copies that wait for each other it may be worse after all. */
	if (s == TIMELINE_OK && x->t.makespan_s < by_rank)
		return s;
	follow(x, x->rank, NULL);
	return run(x, device);
}
