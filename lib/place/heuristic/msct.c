/* msct.c - m-SCT: Jeon, Cai, Srivastava, Jiang, Gupta, Chu, Sirotkin, "Baechi: fast device
 * placement of machine learning graphs", SoCC 2020, section 3.3; SCT is Hanen and Munier's, "An
 * approximation algorithm for scheduling dependent tasks on m processors with small communication
 * delays", ETFA 1995.
 *
 * A linear programme says which child of each task is its favourite, the one that should follow on
 * the same device at once (favourite_children.c).
 *
 * Then time goes on from event to event.  A free device starts the ready task (all parents have
 * ended) whose inputs arrived first.  It is awake instead while the favourite of its last task is
 * ready and nowhere could start earlier: then it waits for this task, and takes another only when
 * that is urgent, its inputs having had the time to be on any device.  Devices take no more memory
 * than they have, and none is free while one computes that it takes turns with. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "place/heuristic/favourite_children.h"
#include "place/heuristic/task_heap.h"

struct sct {
	struct listsched x;
	uint32_t *favourite; /* (n) SCHED_NONE: none */
	double now;
	uint32_t *running, *last; /* (k) SCHED_NONE: nothing; last: the task before */
	uint32_t *waits;          /* (n) parents that have not ended */
	/* (k) tasks whose parents have ended, by when their inputs are there, and could be
	 * anywhere */
	struct task_heap *arrived, *urgent;
	double *arrive_s; /* (n,k) of ready tasks: inputs there; INFINITY: no way */
};

static void make_ready(struct sct *s, uint32_t v)
{
	double *at = s->arrive_s + (size_t)v * s->x.k, anywhere = 0;

	for (uint32_t d = 0; d < s->x.k; d++) {
		at[d] = listsched_ready_s(&s->x, v, d);
		anywhere = at[d] < INFINITY ? fmax(anywhere, at[d]) : anywhere;
	}
	for (uint32_t d = 0; d < s->x.k; d++) {
		if (at[d] == INFINITY)
			continue;
		task_heap_add(&s->arrived[d], at[d], v);
		task_heap_add(&s->urgent[d], anywhere, v);
	}
}

/* When the inputs of a ready task are on dev; INFINITY: it may not go there. */
static double arrival(const struct sct *s, uint32_t v, uint32_t dev)
{
	return listsched_may(&s->x, v, dev) ? s->arrive_s[(size_t)v * s->x.k + dev] : INFINITY;
}

/* The favourite that an idle device is awake for; SCHED_NONE: it is free. */
static uint32_t awaited(const struct sct *s, uint32_t dev)
{
	uint32_t v = s->last[dev] == SCHED_NONE ? SCHED_NONE : s->favourite[s->last[dev]];
	double here;

	if (v == SCHED_NONE || s->x.placed[v] || s->waits[v])
		return SCHED_NONE;
	here = arrival(s, v, dev);
	for (uint32_t d = 0; d < s->x.k; d++)
		if (d != dev && arrival(s, v, d) < here)
			return SCHED_NONE;
	return here < INFINITY ? v : SCHED_NONE;
}

/* The first task of a queue of dev that it may take, and from when on; SCHED_NONE: none.  What may
 * not go there once never may again: memory only fills, and units stay. */
static uint32_t first_of(struct sct *s, struct task_heap *q, uint32_t dev, double *at)
{
	while (q->n && (s->x.placed[q->entry->task] || arrival(s, q->entry->task, dev) == INFINITY))
		task_heap_drop(q);
	*at = q->n ? q->entry->at : INFINITY;
	return q->n ? q->entry->task : SCHED_NONE;
}

/* The task that idle device dev takes next, and from when on it could. */
static double next_task(struct sct *s, uint32_t dev, uint32_t *task)
{
	uint32_t mine = awaited(s, dev);
	double at, here;

	*task = first_of(s, mine == SCHED_NONE ? &s->arrived[dev] : &s->urgent[dev], dev, &at);
	if (mine == SCHED_NONE || at <= s->now)
		return at;
	here = arrival(s, mine, dev);
	if (here <= s->now || here <= at) {
		*task = mine;
		return here;
	}
	return at;
}

/* Does dev compute nothing, nor what it takes turns with? */
static bool is_free(const struct sct *s, uint32_t dev)
{
	const uint8_t *turns = s->x.m->costs.turns;
	bool idle = s->running[dev] == SCHED_NONE;

	for (uint32_t d = 0; d < s->x.k && turns && idle; d++)
		idle = !turns[(size_t)dev * s->x.k + d] || s->running[d] == SCHED_NONE;
	return idle;
}

/* The task that begins now, of all idle devices: inputs there first, then the lower number, then
 * the faster device. */
static bool choose_task(struct sct *s, uint32_t *task, uint32_t *dev)
{
	double best = INFINITY;

	for (uint32_t d = 0; d < s->x.k; d++) {
		uint32_t v;
		double at = is_free(s, d) ? next_task(s, d, &v) : INFINITY;

		if (at > s->now)
			continue;
		at = s->arrive_s[(size_t)v * s->x.k + d];
		bool faster = best < INFINITY && v == *task &&
			      s->x.m->costs.task_s[(size_t)v * s->x.k + d] <
				      s->x.m->costs.task_s[(size_t)v * s->x.k + *dev];

		if (at < best || (at == best && (v < *task || faster))) {
			best = at;
			*task = v;
			*dev = d;
		}
	}
	return best < INFINITY;
}

/* The next moment at which a task ends or an idle device could begin one. */
static double next_event(struct sct *s)
{
	double next = INFINITY;

	for (uint32_t d = 0; d < s->x.k; d++) {
		uint32_t v;
		double at = s->running[d] != SCHED_NONE ? s->x.end_s[s->running[d]]
			    : is_free(s, d)             ? next_task(s, d, &v)
							: INFINITY;

		next = fmin(next, at);
	}
	return next;
}

static void end_tasks(struct sct *s)
{
	const struct sched_dag *d = s->x.d;

	for (uint32_t dev = 0; dev < s->x.k; dev++) {
		uint32_t u = s->running[dev];

		if (u == SCHED_NONE || s->x.end_s[u] > s->now)
			continue;
		s->running[dev] = SCHED_NONE;
		s->last[dev] = u;
		for (uint32_t t = d->out_ptr[u]; t < d->out_ptr[u + 1]; t++)
			for (uint32_t i = d->use_ptr[t]; i < d->use_ptr[t + 1]; i++)
				if (--s->waits[d->use_task[i]] == 0)
					make_ready(s, d->use_task[i]);
	}
}

/* The first task that waits for no parent; one is left. */
static uint32_t first_ready(const struct sct *s)
{
	uint32_t v = 0;

	while (s->x.placed[v] || s->waits[v])
		v++;
	return v;
}

static int schedule_tasks(struct sct *s, struct err *e)
{
	uint32_t left = s->x.n, v = 0, dev = 0;

	while (left) {
		end_tasks(s);
		while (choose_task(s, &v, &dev)) {
			listsched_append(&s->x, v, dev, s->now);
			s->running[dev] = v;
			left--;
		}
		if (!left)
			break;
		double next = next_event(s);

		if (next == INFINITY)
			return listsched_stuck(&s->x, first_ready(s), e);
		s->now = fmax(next, s->now);
	}
	return 0;
}

static int run_m_sct(struct method_run *r, struct err *e)
{
	struct sct s = {0};
	struct arena *a = r->a;

	listsched_init(&s.x, r->m, a);
	s.favourite = ARENA_NEWN(a, uint32_t, s.x.n);
	s.running = ARENA_NEWN(a, uint32_t, s.x.k);
	s.last = ARENA_NEWN(a, uint32_t, s.x.k);
	s.waits = ARENA_NEWN(a, uint32_t, s.x.n);
	s.arrived = ARENA_NEWN(a, struct task_heap, s.x.k);
	s.urgent = ARENA_NEWN(a, struct task_heap, s.x.k);
	s.arrive_s = ARENA_NEWN(a, double, (size_t)s.x.n *s.x.k);
	int solved = favourite_children_find(&s.x, r->budget_s, a, s.favourite, e);
	int rc = solved < 0 ? -1 : 0;

	for (uint32_t d = 0; d < s.x.k; d++)
		s.running[d] = s.last[d] = SCHED_NONE;
	for (uint32_t v = 0; v < s.x.n; v++) {
		s.waits[v] = s.x.left[v];
		if (s.waits[v] == 0 && rc == 0)
			make_ready(&s, v);
	}
	if (rc == 0)
		rc = schedule_tasks(&s, e);
	for (uint32_t d = 0; d < s.x.k; d++) {
		mem_free(s.arrived[d].entry);
		mem_free(s.urgent[d].entry);
	}
	rc = listsched_answer(&s.x, rc, r, e);
	size_t n = strlen(r->note);

	snprintf(r->note + n, sizeof(r->note) - n, "; favourite children by %s",
		 solved > 0 ? "the linear programme"
			    : "dearest edges, the linear programme being too long");
	return rc;
}

const struct place_method method_m_sct = {
	.name = "m-sct",
	.needs_costs = true,
	.about = "favourite children by a linear programme, within memory",
	.source = "Jeon et al., Baechi, SoCC 2020, section 3.3; Hanen, Munier, ETFA 1995",
	.run = run_m_sct,
	.is_heuristic = true,
};
