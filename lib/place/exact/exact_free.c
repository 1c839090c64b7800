/* exact_free.c - branch and bound over devices and orders at once: the shortest schedule of a graph
 * whose copies take time, but do not wait for each other.
 *
 * A node is a partial schedule.  Below it a task whose makers are scheduled goes to a device, as
 * early as it can there, but not before the task that was scheduled last: every schedule in which
 * no task can start earlier without another order (Sprecher, Kolisch, Drexl, European J. Operational
 * Research 80(1), 1995, on semi-active schedules) comes from one sequence of nodes.  One of them is
 * shortest.  A branch ends by its bound (exact_free_bound.c), and where its state was searched
 * before (exact_free_table.c); of tasks that differ by number alone the first goes first, of devices
 * that are empty and equivalent one is tried.  (A. Z. S. Shahul, O. Sinnen, "Scheduling task graphs
 * optimally with A*", J. Supercomputing 51(3), 2010, on such states and prunings.)
 *
 * The graph is searched forwards and backwards in time, in turns that grow: which is the
 * shorter proof differs by graph.  Where all times are multiples of a quantum, a schedule is better
 * by one of it, or not at all. */
#include "place/exact/exact_free.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "place/exact/exact_free_impl.h"

enum { FIRST_TURN = 2000, TURN_GROWS = 4, LOOKS = 256, BISECTIONS = 40 };
static const double EQUAL = 1e-9; /* relative: not better than that is not better */

/* ---- which problems ---- */

/* Whatever is where: does a device hold all of it? */
static bool fits_anywhere(const struct place_model *m)
{
	const struct sched_dag *d = &m->tasks.dag;
	double all = 0;

	for (uint32_t t = 0; t < d->n; t++) {
		uint64_t most = 0, inner = 0;

		for (uint32_t i = 0; i < m->k; i++) {
			size_t cell = (size_t)t * m->k + i;

			most = m->task_mem[cell] > most ? m->task_mem[cell] : most;
			if (m->inner && m->inner[cell] > inner)
				inner = m->inner[cell];
		}
		all += (double)most + (double)inner;
	}
	double scratch = 0;
	for (uint32_t i = 0; m->workspace && i < m->k; i++)
		scratch = fmax(scratch, m->workspace[i]);
	for (uint32_t i = 0; i < d->n_tensors; i++)
		all += (1 + scratch) * (double)d->tensor_bytes[i];
	for (uint32_t i = 0; i < m->n_shared; i++)
		for (uint32_t j = 0; j < m->k; j++)
			all += (double)m->shared[i].bytes[j];
	for (uint32_t i = 0; i < m->k; i++)
		if (m->mem_limit[i] && (double)m->mem_limit[i] < all)
			return false;
	for (uint32_t i = 0; i < m->pools.n; i++) /* copies of what is there once, at most */
		if (m->pools.pool[i].mem_limit && (double)m->pools.pool[i].mem_limit < m->k * all)
			return false;
	return true;
}

bool exact_free_relaxes(const struct place_model *m)
{
	return m->rules == PLACE_SCHEDULE && place_objective_is_latency(&m->objective) &&
	       m->tasks.dag.n > 0 && m->tasks.dag.n <= FREE_MOST_TASKS && m->k <= FREE_MOST_DEVICES;
}

bool exact_free_fits(const struct place_units *u)
{
	const struct place_model *m = u->m;
	const struct sched_costs *c = &m->costs;

	return exact_free_relaxes(m) && c->policy == SCHED_FREE && !c->contention && c->overlap &&
	       !c->turns && !m->saved_ptr && !m->pools.set_s && m->slowdown == 0 &&
	       m->multi_slowdown == 0 && u->n == m->tasks.dag.n && fits_anywhere(m);
}

/* ---- quantum ---- */

/* Scaled times are integers up to so much, when they are as near to one as rounding brings them:
 * relative, so that sums of them are far nearer than EQUAL. */
static const double MOST_QUANTA = 1e7, NEAR_QUANTUM = 1e-12;
/* Of a quantum: what is between a limit and a whole one. */
static const double QUANTUM_SLACK = 0.1;

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Does the time, times scale, go into *divisor? */
static bool take_quantum(double s, double scale, uint64_t *divisor)
{
	double x = s * scale, whole = round(x);

	if (s == INFINITY)
		return true;
	if (whole > MOST_QUANTA || fabs(x - whole) > NEAR_QUANTUM * whole)
		return false;
	*divisor = common_divisor((uint64_t)whole, *divisor);
	return true;
}

static bool is_quantum(const struct free_side *g, double scale, uint64_t *divisor)
{
	size_t cells = (size_t)g->n * g->k;
	bool all = true;

	*divisor = 0;
	for (size_t i = 0; all && i < cells; i++)
		all = take_quantum(g->s[i], scale, divisor);
	for (uint32_t i = 0; all && i < g->out_at[g->n]; i++)
		for (uint32_t p = 0; all && p < g->k * g->k; p++)
			all = take_quantum(free_copy_s(g, p / g->k, p % g->k, g->out[i].bytes),
					   scale, divisor);
	return all && *divisor > 0;
}

/* What all times are multiples of; 0: of nothing that is known. */
static double quantum_s(const struct free_side *g)
{
	uint64_t divisor;

	for (double scale = 1; scale <= 1e9; scale *= 10)
		if (is_quantum(g, scale, &divisor))
			return (double)divisor / scale;
	return 0;
}

/* ---- the tree ---- */

/* A schedule that ends then or before is better than the best one. */
static double limit_s(const struct free_search *x)
{
	double q = x->quantum_s, below = x->best_s * (1 - EQUAL);

	if (x->best_s == INFINITY)
		return INFINITY;
	return q > 0 ? fmin(below, (ceil(below / q) - 1 + QUANTUM_SLACK) * q) : below;
}

static void schedule_task(struct free_search *x, uint32_t v, uint16_t dev, double start)
{
	const struct free_side *g = x->g;
	double end = start + g->s[(size_t)v * g->k + dev];

	x->done |= UINT64_C(1) << v;
	x->sequence[x->n_done++] = v;
	x->dev[v] = dev;
	x->start_s[v] = start;
	x->now_s = start;
	x->last = v;
	x->free_s[dev] = end;
	x->used[dev]++;
	x->n_placed[g->cluster[v]]++;
	x->cluster_dev[g->cluster[v]] = dev;
	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++) {
		const struct free_edge *e = &g->out[i];

		x->waits[e->task]--;
		for (uint32_t d = 0; d < g->k; d++) {
			double *cell = &x->arrival_s[(size_t)e->task * g->k + d];
			double there = end + free_copy_s(g, dev, d, e->bytes);

			if (there <= *cell)
				continue;
			x->undo[x->n_undo++] = (struct free_undo){cell, *cell};
			*cell = there;
		}
	}
}

/* As before it, when that is now_s, last, and the device was free at free_s. */
static void unschedule_task(struct free_search *x, uint32_t v, double now, uint32_t last,
			    double free_s, size_t n_undo)
{
	const struct free_side *g = x->g;
	uint16_t dev = x->dev[v];

	for (; x->n_undo > n_undo; x->n_undo--)
		*x->undo[x->n_undo - 1].cell = x->undo[x->n_undo - 1].was;
	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++)
		x->waits[g->out[i].task]++;
	x->done &= ~(UINT64_C(1) << v);
	x->n_done--;
	x->now_s = now;
	x->last = last;
	x->free_s[dev] = free_s;
	x->used[dev]--;
	x->n_placed[g->cluster[v]]--;
}

/* May v start then?  Of two that start at one instant the first goes first, unless one of them takes
 * no time, and may have to be before the other. */
static bool in_order(const struct free_search *x, uint32_t v, uint32_t dev, double start)
{
	const struct free_side *g = x->g;

	if (start != x->now_s || x->last == SCHED_NONE || v > x->last)
		return start >= x->now_s;
	return g->s[(size_t)v * g->k + dev] == 0 ||
	       g->s[(size_t)x->last * g->k + x->dev[x->last]] == 0;
}

static bool goes_first(const struct free_option *a, const struct free_option *b)
{
	if (a->start_s != b->start_s)
		return a->start_s < b->start_s;
	return a->rest_s > b->rest_s;
}

/* The tasks and devices to go on with, earliest and longest first; how many. */
static uint32_t list_options(const struct free_search *x, double limit, struct free_option *o)
{
	const struct free_side *g = x->g;
	uint32_t n = 0;

	for (uint32_t v = 0; v < g->n; v++) {
		if (x->done >> v & 1 || x->waits[v] > 0 ||
		    (g->twin[v] != SCHED_NONE && !(x->done >> g->twin[v] & 1)))
			continue;
		for (uint32_t i = 0; i < x->n_kinds; i++) {
			uint16_t d = (uint16_t)x->kind[i];
			size_t cell = (size_t)v * g->k + d;
			double start = fmax(x->arrival_s[cell], x->free_s[d]);
			struct free_option at = {v, d, start, g->s[cell] + g->tail_s[cell]};
			uint32_t j = n;

			uint32_t c = g->cluster[v];

			if (x->n_placed[c] > 0 && x->cluster_dev[c] != d)
				continue;
			if (!(start + at.rest_s <= limit + EQUAL * limit) ||
			    !in_order(x, v, d, start))
				continue;
			for (; j > 0 && goes_first(&at, &o[j - 1]); j--)
				o[j] = o[j - 1];
			o[j] = at;
			n++;
		}
	}
	return n;
}

static void keep_schedule(struct free_search *x)
{
	const struct free_side *g = x->g;
	double end = 0;

	for (uint32_t v = 0; v < g->n; v++)
		end = fmax(end, x->start_s[v] + g->s[(size_t)v * g->k + x->dev[v]]);
	if (!(end < x->best_s))
		return;
	x->best_s = end;
	x->better = true;
	memcpy(x->best_dev, x->dev, g->n * sizeof(*x->dev));
	memcpy(x->best_sequence, x->sequence, g->n * sizeof(*x->sequence));
}

static void branch(struct free_search *x)
{
	const struct free_side *g = x->g;
	struct free_option *o = x->option + (size_t)x->n_done * g->n * g->k;

	if (++x->nodes >= x->limit || (x->nodes % LOOKS == 0 && bound_is_late(x->deadline_s)))
		x->out = true;
	if (x->n_done == g->n) {
		keep_schedule(x);
		return;
	}
	free_find_kinds(x);
	if (x->out || free_is_hopeless(x, limit_s(x)) || free_table_seen(x->table, x))
		return;
	uint32_t n = list_options(x, limit_s(x), o);

	for (uint32_t i = 0; i < n && !x->out && !x->better; i++) {
		double now = x->now_s, free_s = x->free_s[o[i].dev];
		uint32_t last = x->last;
		size_t n_undo = x->n_undo;

		if (!(o[i].start_s + o[i].rest_s <= limit_s(x) * (1 + EQUAL)))
			continue;
		schedule_task(x, o[i].task, o[i].dev, o[i].start_s);
		branch(x);
		unschedule_task(x, o[i].task, now, last, free_s, n_undo);
	}
}

static void search_init(struct free_search *x, const struct free_side *g, struct arena *a)
{
	size_t cells = (size_t)g->n * g->k;

	*x = (struct free_search){.g = g, .last = SCHED_NONE, .best_s = INFINITY};
	x->waits = ARENA_NEWN(a, uint32_t, g->n);
	x->arrival_s = ARENA_NEWN(a, double, cells);
	x->earliest_s = ARENA_NEWN(a, double, cells);
	x->head_s = ARENA_NEWN(a, double, g->n);
	x->free_s = ARENA_NEWN(a, double, g->k);
	x->used = ARENA_NEWN(a, uint32_t, g->k);
	x->n_placed = ARENA_NEWN(a, uint32_t, g->n);
	x->cluster_dev = ARENA_NEWN(a, uint16_t, g->n);
	x->dev = ARENA_NEWN(a, uint16_t, g->n);
	x->start_s = ARENA_NEWN(a, double, g->n);
	x->best_dev = ARENA_NEWN(a, uint16_t, g->n);
	x->sequence = ARENA_NEWN(a, uint32_t, g->n);
	x->best_sequence = ARENA_NEWN(a, uint32_t, g->n);
	x->undo = ARENA_NEWN(a, struct free_undo, (size_t)g->out_at[g->n] * g->k + 1);
	x->option = ARENA_NEWN(a, struct free_option, (g->n + 1) * cells);
	for (uint32_t v = 0; v < g->n; v++)
		x->waits[v] = g->in_at[v + 1] - g->in_at[v];
}

/* ---- both directions ---- */

struct free_pair {
	struct free_side side[2];
	struct free_search search[2];
	int by; /* whose schedule the best is */
};

/* The best schedule, as tasks of the graph are numbered. */
static void hand_over(const struct free_pair *p, uint16_t *task_dev, uint32_t *sequence)
{
	const struct free_search *x = &p->search[p->by];
	uint32_t n = x->g->n;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = x->best_sequence[i], t = p->by ? n - 1 - v : v;

		task_dev[t] = x->best_dev[v];
		sequence[p->by ? n - 1 - i : i] = t;
	}
}

/* Between what is known and what is to be beaten: the largest limit that is hopeless at once. */
static double raised_s(struct free_pair *p, double least, double best)
{
	if (best == INFINITY || best <= least)
		return least;
	for (int i = 0; i < BISECTIONS; i++) {
		double middle = least + (best - least) / 2;

		free_unlink(p->side);
		free_find_kinds(&p->search[0]);
		free_find_kinds(&p->search[1]);
		if (free_link(p->side, middle) || free_is_hopeless(&p->search[0], middle) ||
		    free_is_hopeless(&p->search[1], middle))
			least = middle;
		else
			best = middle;
	}
	free_unlink(p->side);
	return least;
}

/* One turn of a direction, which begins anew with what is better; true: all of it was searched. */
static bool take_turn(struct free_pair *p, int i, uint64_t nodes, double deadline_s, double *best)
{
	struct free_search *x = &p->search[i];

	x->nodes = 0;
	x->limit = nodes;
	x->deadline_s = deadline_s;
	x->out = false;
	do {
		x->best_s = *best;
		x->better = false;
		if (free_link(p->side, limit_s(x)))
			return true;
		free_table_clear(x->table);
		branch(x);
		*best = x->best_s;
		p->by = x->better ? i : p->by;
	} while (x->better && !x->out);
	return !x->out;
}

void exact_free_search(const struct bound_view *v, double below_s, double least_s, uint64_t limit,
		       double deadline_s, uint16_t *task_dev, uint32_t *sequence,
		       struct free_found *out)
{
	struct arena *a = arena_new();
	struct free_pair p = {.by = -1};
	struct free_table *table = free_table_new(v->n);
	bool all = false;

	*out = (struct free_found){.best_s = below_s, .least_s = least_s};
	for (int i = 0; i < 2; i++) {
		free_side_init(&p.side[i], v, i == 1, a);
		search_init(&p.search[i], &p.side[i], a);
		p.search[i].quantum_s = quantum_s(&p.side[0]);
		p.search[i].table = table;
	}
	out->least_s = raised_s(&p, least_s, below_s);
	for (uint64_t turn = FIRST_TURN; !all && out->nodes < limit && !bound_is_late(deadline_s);
	     turn *= TURN_GROWS)
		for (int i = 0; i < 2 && !all && out->nodes < limit; i++) {
			uint64_t left = limit - out->nodes;

			all = out->best_s <= out->least_s * (1 + EQUAL) ||
			      take_turn(&p, i, turn < left ? turn : left, deadline_s, &out->best_s);
			out->nodes += p.search[i].nodes;
		}
	out->better = p.by >= 0;
	if (out->better)
		hand_over(&p, task_dev, sequence);
	if (all)
		out->least_s = out->best_s;
	free_table_free(table);
	arena_free(a);
}
