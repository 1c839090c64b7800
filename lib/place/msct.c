/* msct.c - m-SCT: Jeon, Cai, Srivastava, Jiang, Gupta, Chu, Sirotkin, "Baechi: fast device placement of
 * machine learning graphs", SoCC 2020, section 3.3; SCT is Hanen and Munier's, "An approximation
 * algorithm for scheduling dependent tasks on m processors with small communication delays", ETFA 1995.
 *
 * A linear programme says which child of each task is its favourite, the one that should follow on
 * the same device at once.  With p_i and c_ij mean seconds of tasks and of copies, s_i starts:
 *     minimise w;  s_i + p_i + c_ij x_ij <= s_j;  s_i + p_i <= w;  0 <= x_ij <= 1;
 *     sum_j x_ij >= |children of i| - 1;  sum_i x_ij >= |parents of j| - 1
 * j is the favourite of i when x_ij < 1/2; of one task or one child this holds at most once.
 *
 * Then time goes on from event to event.  A free device starts the ready task (all parents have ended)
 * whose inputs arrived first.  It is awake instead while the favourite of its last task is ready and
 * nowhere could start earlier: then it waits for this task, and takes another only when that is
 * urgent, its inputs having had the time to be on any device.  Devices take no more memory than they
 * have. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/lp.h"
#include "place/listsched.h"

/* Steps of the simplex method; programmes with more edges than this are not even begun. */
enum { MAX_STEPS = 200000, MAX_EDGES = 8000 };

struct edge {
	uint32_t src, dst;           /* tasks */
	double copy_s;
};

/* Ready tasks of a device, the one that could be first on top; those that were placed, or may not go
 * there any more, are dropped when they come up. */
struct queue {
	struct entry {
		double at;
		uint32_t task;
	} * entry;
	size_t n, cap;
};

struct sct {
	struct listsched x;
	struct edge *edge;           /* distinct, by (dst, src) */
	uint32_t n_edges;
	uint32_t *favourite;         /* (n) SCHED_NONE: none */
	/* the run */
	double now;
	uint32_t *running, *last;    /* (k) SCHED_NONE: nothing; last: the task before */
	uint32_t *waits;             /* (n) parents that have not ended */
	/* (k) tasks whose parents have ended, by when their inputs are there, and could be anywhere */
	struct queue *arrived, *urgent;
	double *arrive_s;            /* (n,k) of ready tasks: inputs there; INFINITY: no way */
};

/* ---- favourite children ---- */

static void find_edges(struct sct *s, const double *use_s, struct arena *a)
{
	const struct sched_dag *d = s->x.d;
	uint32_t *at = ARENA_NEWN(a, uint32_t, d->n);    /* edge from this task to the one at hand + 1 */

	s->edge = ARENA_NEWN(a, struct edge, d->n_uses);
	for (uint32_t v = 0; v < d->n; v++) {
		uint32_t first = s->n_edges;

		for (uint32_t i = d->in_ptr[v]; i < d->in_ptr[v + 1]; i++) {
			uint32_t u = d->tensor_task[d->use_tensor[d->in_use[i]]];

			if (at[u] <= first) {
				s->edge[s->n_edges] = (struct edge){u, v, 0};
				at[u] = ++s->n_edges;
			}
			s->edge[at[u] - 1].copy_s += use_s[d->in_use[i]];
		}
	}
}

/* For all but one child of each task (by_src), or all but one parent, x is 1. */
static void one_favourite(const struct sct *s, struct lp *p, bool by_src)
{
	uint32_t n = s->x.n, *ptr = MEM_NEWN(uint32_t, (size_t)n + 2), *of = MEM_NEWN(uint32_t, s->n_edges);

	for (uint32_t i = 0; i < s->n_edges; i++)
		ptr[(by_src ? s->edge[i].src : s->edge[i].dst) + 2]++;
	for (uint32_t v = 0; v < n; v++)
		ptr[v + 2] += ptr[v + 1];
	for (uint32_t i = 0; i < s->n_edges; i++)
		of[ptr[(by_src ? s->edge[i].src : s->edge[i].dst) + 1]++] = i;
	for (uint32_t v = 0, i = 0; v < n; v++) {
		if (ptr[v] == ptr[v + 1])
			continue;
		lp_row(p, ptr[v + 1] - ptr[v] - 1.0, INFINITY);
		for (i = ptr[v]; i < ptr[v + 1]; i++)
			lp_term(p, of[i], 1);
	}
	mem_free(of);
	mem_free(ptr);
}

/* The programme; columns: x of edges, then s of tasks, then w.  Times in units of `unit`. */
static struct lp *programme(const struct sct *s, const double *task_s, double unit)
{
	struct lp *p = lp_new();
	uint32_t n = s->x.n, w;

	for (uint32_t i = 0; i < s->n_edges; i++)
		lp_column(p, 0, 1, 0);
	for (uint32_t v = 0; v < n; v++)
		lp_column(p, 0, INFINITY, 0);
	w = lp_column(p, 0, INFINITY, 1);
	for (uint32_t i = 0; i < s->n_edges; i++) {
		const struct edge *y = &s->edge[i];

		lp_row(p, task_s[y->src] / unit, INFINITY);
		lp_term(p, s->n_edges + y->dst, 1);
		lp_term(p, s->n_edges + y->src, -1);
		if (y->copy_s > 0)
			lp_term(p, i, -y->copy_s / unit);
	}
	one_favourite(s, p, true);
	one_favourite(s, p, false);
	for (uint32_t v = 0; v < n; v++) {
		lp_row(p, task_s[v] / unit, INFINITY);
		lp_term(p, w, 1);
		lp_term(p, s->n_edges + v, -1);
	}
	return p;
}

/* Without the programme: the child that each task sends most to, when that child gets from nobody
 * who chose it more. */
static void dearest_children(struct sct *s)
{
	uint32_t n = s->x.n, *child = MEM_NEWN(uint32_t, n), *parent = MEM_NEWN(uint32_t, n);

	for (uint32_t v = 0; v < n; v++)
		child[v] = parent[v] = SCHED_NONE;           /* edges */
	for (uint32_t i = 0; i < s->n_edges; i++) {
		uint32_t *best = &child[s->edge[i].src];

		if (s->edge[i].copy_s > 0 && (*best == SCHED_NONE || s->edge[i].copy_s > s->edge[*best].copy_s))
			*best = i;
	}
	for (uint32_t i = 0; i < s->n_edges; i++) {
		uint32_t *best = &parent[s->edge[i].dst];

		if (child[s->edge[i].src] == i && (*best == SCHED_NONE || s->edge[i].copy_s > s->edge[*best].copy_s))
			*best = i;
	}
	for (uint32_t v = 0; v < n; v++)
		if (parent[v] != SCHED_NONE)
			s->favourite[s->edge[parent[v]].src] = v;
	mem_free(parent);
	mem_free(child);
}

/* 1: by the programme, 0: it was too long; -1: error. */
static int find_favourites(struct sct *s, struct method_run *r, struct err *e)
{
	struct arena *a = r->a;
	double *task_s = ARENA_NEWN(a, double, s->x.n), *use_s = ARENA_NEWN(a, double, s->x.d->n_uses);
	double largest = 0, objective;

	listsched_means(&s->x, task_s, use_s);
	find_edges(s, use_s, a);
	for (uint32_t v = 0; v < s->x.n; v++) {
		s->favourite[v] = SCHED_NONE;
		largest = fmax(largest, task_s[v]);
	}
	for (uint32_t i = 0; i < s->n_edges; i++)
		largest = fmax(largest, s->edge[i].copy_s);
	int status = LP_STOPPED;

	if (s->n_edges <= MAX_EDGES && largest > 0) {
		double *x = ARENA_NEWN(a, double, (size_t)s->n_edges + s->x.n + 1);
		struct lp *p = programme(s, task_s, largest);

		status = lp_solve(p, MAX_STEPS, r->budget_s, x, NULL, &objective, e);
		lp_free(p);
		for (uint32_t i = 0; status == LP_OPTIMAL && i < s->n_edges; i++)
			if (x[i] < 0.5 - 1e-6)
				s->favourite[s->edge[i].src] = s->edge[i].dst;
	}
	if (status < 0)
		return -1;
	if (status != LP_OPTIMAL)
		dearest_children(s);
	return status == LP_OPTIMAL;
}

/* ---- the schedule ---- */

static bool before(const struct entry *a, const struct entry *b)
{
	return a->at < b->at || (a->at == b->at && a->task < b->task);
}

static void queue_add(struct queue *q, double at, uint32_t task)
{
	const struct entry x = {at, task};
	size_t i = q->n++;

	q->entry = mem_grow(q->entry, &q->cap, q->n, sizeof(*q->entry));
	for (; i > 0 && before(&x, &q->entry[(i - 1) / 2]); i = (i - 1) / 2)
		q->entry[i] = q->entry[(i - 1) / 2];
	q->entry[i] = x;
}

static void queue_drop(struct queue *q)
{
	struct entry x = q->entry[--q->n];
	size_t i = 0, child;

	for (; (child = 2 * i + 1) < q->n; i = child) {
		child += child + 1 < q->n && before(&q->entry[child + 1], &q->entry[child]);
		if (!before(&q->entry[child], &x))
			break;
		q->entry[i] = q->entry[child];
	}
	q->entry[i] = x;
}

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
		queue_add(&s->arrived[d], at[d], v);
		queue_add(&s->urgent[d], anywhere, v);
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

/* The first task of a queue of dev that it may take, and from when on; SCHED_NONE: none.  What may not
 * go there once never may again: memory only fills, and units stay. */
static uint32_t first_of(struct sct *s, struct queue *q, uint32_t dev, double *at)
{
	while (q->n && (s->x.placed[q->entry->task] || arrival(s, q->entry->task, dev) == INFINITY))
		queue_drop(q);
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

/* The task that begins now, of all idle devices: inputs there first, then the lower number, then
 * the faster device. */
static bool choose(struct sct *s, uint32_t *task, uint32_t *dev)
{
	double best = INFINITY;

	for (uint32_t d = 0; d < s->x.k; d++) {
		uint32_t v;
		double at = s->running[d] == SCHED_NONE ? next_task(s, d, &v) : INFINITY;

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
		double at = s->running[d] != SCHED_NONE ? s->x.end_s[s->running[d]] : next_task(s, d, &v);

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

static int schedule(struct sct *s, struct err *e)
{
	uint32_t left = s->x.n, v = 0, dev = 0;

	while (left) {
		end_tasks(s);
		while (choose(s, &v, &dev)) {
			listsched_append(&s->x, v, dev, s->now);
			s->running[dev] = v;
			left--;
		}
		if (!left)
			break;
		double next = next_event(s);

		if (next == INFINITY)
			return err_set(e, ST_RUNTIME, "m-sct: no device has room for what is left");
		s->now = fmax(next, s->now);
	}
	return 0;
}

int method_m_sct(struct method_run *r, struct err *e)
{
	struct sct s = {0};
	struct arena *a = r->a;

	listsched_init(&s.x, r->m, a);
	s.favourite = ARENA_NEWN(a, uint32_t, s.x.n);
	s.running = ARENA_NEWN(a, uint32_t, s.x.k);
	s.last = ARENA_NEWN(a, uint32_t, s.x.k);
	s.waits = ARENA_NEWN(a, uint32_t, s.x.n);
	s.arrived = ARENA_NEWN(a, struct queue, s.x.k);
	s.urgent = ARENA_NEWN(a, struct queue, s.x.k);
	s.arrive_s = ARENA_NEWN(a, double, (size_t)s.x.n * s.x.k);
	int solved = find_favourites(&s, r, e), rc = solved < 0 ? -1 : 0;

	for (uint32_t d = 0; d < s.x.k; d++)
		s.running[d] = s.last[d] = SCHED_NONE;
	for (uint32_t v = 0; v < s.x.n; v++) {
		s.waits[v] = s.x.left[v];
		if (s.waits[v] == 0 && rc == 0)
			make_ready(&s, v);
	}
	if (rc == 0)
		rc = schedule(&s, e);
	for (uint32_t d = 0; d < s.x.k; d++) {
		mem_free(s.arrived[d].entry);
		mem_free(s.urgent[d].entry);
	}
	rc = listsched_answer(&s.x, rc, r, e);
	size_t n = strlen(r->note);

	snprintf(r->note + n, sizeof(r->note) - n, "; favourite children by %s",
		 solved > 0 ? "the linear programme" : "dearest edges, the linear programme being too long");
	return rc;
}
