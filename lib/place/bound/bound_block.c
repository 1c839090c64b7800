/* bound_block.c - branch and bound over the devices of a block's tasks, in topological order.
 *
 * Of a node, in which tasks up to some one have their devices, (1 - s) M + s B is at least
 *   (1 - s) (the longest path through tasks that are placed, others where that is shortest) + s (busy seconds),
 *   the sum over tasks of ((1 - s) W_d + s) seconds, where each open task is where that is least (bound_shares.h),
 *   (1 - s) (what devices that exclude each other compute together) + s (busy seconds),
 * and in a leaf, for tasks of a clique that begin at h or later and have at least t behind them,
 *   (1 - s) (h + their seconds + t) + s (busy seconds),
 * and so of the shortest schedule (bound_orders.h).  Neighbours in the block save where they are together, those before it in
 * any case.
 *
 * A pass looks for a leaf below a threshold; where there is none no placement is below it (R. Klein, A. Scholl, "Computing lower
 * bounds by destructive improvement", European J. Operational Research 112(2), 1999). */
#include "place/bound/bound_block.h"
#include "place/bound/bound_orders.h"

#include <math.h>

#include "base/mem.h"

/* Relative: how near a bound is to be to the leaf that is known; how much higher than what is proved a threshold is. */
static const double WORTH = 0.005, STEP = 0.01;

enum { ORDER_NODES = 1000, LOOKS = 1024 }; /* nodes of one leaf; between two looks at the clock */

/* A task of a leaf. */
struct between {
	double head_s, s, tail_s;
};

struct block_search {
	const struct bound_view *v;
	const struct shares *cliques;
	double s;
	/* of the block at hand, by task of the graph */
	const struct block *b;
	uint32_t to;
	bool has_units;             /* do some tasks share a device? */
	uint16_t *dev;              /* (n) */
	double *end_s, *seconds;    /* (n) earliest end, of tasks that are placed */
	double *begin_s;            /* (n) before a task can start, by what is before the block */
	struct between *window;     /* (n) */
	double *rest_s;             /* (n,k) behind the task */
	double *open_cost, *open_s; /* (n+1) sums from task t on: least cost, least seconds */
	double factor[TURNS_MOST];  /* (1 - s) W_d + s */
	double together[SHARES_MOST_CLIQUES]; /* what cliques compute, of tasks that are placed */
	double below;                         /* the threshold of this pass */
	double least;                         /* of what was not below it */
	bool found, stopped;                  /* a leaf below it; there were no nodes left */
	uint64_t nodes;
	double leaf;        /* the least leaf; INFINITY: none was reached */
	uint16_t *leaf_dev; /* (n) its devices, of the block's tasks */
};

/* What is known of a node. */
struct node {
	double path_s, busy_s, cost, bound;
	double seconds, end_s; /* of its last task */
};

struct block_search *block_search_new(const struct bound_view *v, const struct shares *cliques,
				      double s)
{
	struct block_search *x = MEM_NEW(struct block_search);
	size_t n = (size_t)v->n + 1;

	*x = (struct block_search){.v = v, .cliques = cliques, .s = s};
	x->dev = MEM_NEWN(uint16_t, n);
	x->leaf_dev = MEM_NEWN(uint16_t, n);
	x->window = MEM_NEWN(struct between, n);
	x->begin_s = MEM_NEWN(double, n);
	x->end_s = MEM_NEWN(double, n);
	x->seconds = MEM_NEWN(double, n);
	x->rest_s = MEM_NEWN(double, n * v->k);
	x->open_cost = MEM_NEWN(double, n);
	x->open_s = MEM_NEWN(double, n);
	return x;
}

void block_search_free(struct block_search *x)
{
	if (!x)
		return;
	mem_free(x->dev);
	mem_free(x->leaf_dev);
	mem_free(x->window);
	mem_free(x->begin_s);
	mem_free(x->end_s);
	mem_free(x->seconds);
	mem_free(x->rest_s);
	mem_free(x->open_cost);
	mem_free(x->open_s);
	mem_free(x);
}

/* The least seconds that a tensor takes from one device to another; INFINITY: no way. */
static double way_s(const struct block_search *x, uint32_t from, uint32_t to, uint64_t bytes)
{
	const struct sched_links *l = &x->v->m->costs.links;

	if (from == to)
		return 0;
	return l->latency_s[(size_t)from * x->v->k + to] < 0 ? INFINITY
							     : sched_copy_s(l, from, to, bytes);
}

/* ---- what open tasks take ---- */

static double may_s(const struct block_search *x, uint32_t t, uint32_t d)
{
	if (x->b->gate && t == x->b->last && d != x->to)
		return INFINITY;
	return x->v->task_s[(size_t)t * x->v->k + d];
}

static void find_rest(struct block_search *x)
{
	const struct sched_dag *g = x->v->d;
	uint32_t k = x->v->k;

	for (uint32_t t = x->b->last + 1; t-- > x->b->first;)
		for (uint32_t d = 0; d < k; d++) {
			double rest = 0;

			for (uint32_t v = g->out_ptr[t]; v < g->out_ptr[t + 1]; v++)
				for (uint32_t i = g->use_ptr[v]; i < g->use_ptr[v + 1]; i++) {
					uint32_t q = g->use_task[i];
					double least = INFINITY;

					if (q > x->b->last)
						continue;
					for (uint32_t e = 0; e < k; e++)
						least = fmin(least,
							     way_s(x, d, e, g->tensor_bytes[v]) +
								     may_s(x, q, e) +
								     x->rest_s[(size_t)q * k + e]);
					rest = fmax(rest, least);
				}
			x->rest_s[(size_t)t * k + d] = rest;
		}
}

static void sum_open(struct block_search *x)
{
	x->open_cost[x->b->last + 1] = x->open_s[x->b->last + 1] = 0;
	for (uint32_t t = x->b->last + 1; t-- > x->b->first;) {
		double cost = INFINITY, least = INFINITY;

		for (uint32_t d = 0; d < x->v->k; d++) {
			double s = may_s(x, t, d);

			cost = s < INFINITY ? fmin(cost, x->factor[d] * s) : cost;
			least = fmin(least, s);
		}
		x->open_cost[t] = x->open_cost[t + 1] + cost;
		x->open_s[t] = x->open_s[t + 1] + least;
	}
}

/* ---- nodes ---- */

/* Seconds of task t on d beside the tasks before it. */
static double seconds_on(const struct block_search *x, uint32_t t, uint32_t d)
{
	const struct place_model *m = x->v->m;
	double s = may_s(x, t, d);

	if (s == INFINITY || !m->saved_ptr)
		return s;
	s = m->costs.task_s[(size_t)t * x->v->k + d];
	for (uint32_t i = m->saved_ptr[t]; i < m->saved_ptr[t + 1]; i++) {
		double saved = m->saved_s[(size_t)i * x->v->k + d];
		uint32_t u = m->saved_task[i];

		if (u + x->b->after < x->b->first)
			s -= fmax(0, saved);
		else if (x->dev[u] == d)
			s -= saved;
	}
	return fmax(0, s);
}

/* Is another task of t's unit in the block, on another device? */
static bool same_unit_elsewhere(const struct block_search *x, uint32_t t, uint32_t d)
{
	for (uint32_t u = x->b->first - x->b->after; u < t; u++)
		if (x->v->unit_of[u] == x->v->unit_of[t] && x->dev[u] != d)
			return true;
	return false;
}

static double ready_s(const struct block_search *x, uint32_t t, uint32_t d)
{
	const struct sched_dag *g = x->v->d;
	double ready = 0;

	for (uint32_t i = g->in_ptr[t]; i < g->in_ptr[t + 1]; i++) {
		uint32_t v = g->use_tensor[g->in_use[i]], p = g->tensor_task[v];

		if (p + x->b->after < x->b->first)
			continue;
		ready = fmax(ready, x->end_s[p] + way_s(x, x->dev[p], d, g->tensor_bytes[v]));
	}
	return ready;
}

static double mixed(const struct block_search *x, double makespan_s, double busy_s)
{
	/* infinite seconds times nothing are infinite here */
	return makespan_s == INFINITY ? INFINITY : (1 - x->s) * makespan_s + x->s * busy_s;
}

/* Of a leaf: the longest of what tasks of each clique take together between heads and tails. */
static double windows_s(struct block_search *x)
{
	uint32_t k = x->v->k;
	double most = 0;

	for (uint32_t c = 0; c < x->cliques->n; c++) {
		uint32_t n = 0;

		/* Its tasks by descending tail. */
		for (uint32_t t = x->b->first; t <= x->b->last; t++) {
			double tail = x->rest_s[(size_t)t * k + x->dev[t]];
			uint32_t i = n;

			if (!(x->cliques->clique[c] >> x->dev[t] & 1))
				continue;
			for (; i > 0 && x->window[i - 1].tail_s < tail; i--)
				x->window[i] = x->window[i - 1];
			x->window[i] =
				(struct between){x->end_s[t] - x->seconds[t], x->seconds[t], tail};
			n++;
		}
		for (uint32_t i = 0; i < n; i++) {
			double head = x->window[i].head_s, sum = 0;

			for (uint32_t j = 0; j < n; j++) {
				sum += x->window[j].head_s >= head ? x->window[j].s : 0;
				most = sum > 0 ? fmax(most, head + sum + x->window[j].tail_s)
					       : most;
			}
		}
	}
	return most;
}

static void add_together(struct block_search *x, uint32_t d, double s)
{
	for (uint32_t c = 0; c < x->cliques->n; c++)
		x->together[c] += x->cliques->clique[c] >> d & 1 ? s : 0;
}

/* Task t on d behind a node, and what is known then. */
static void try_task(const struct block_search *x, const struct node *at, uint32_t t, uint32_t d,
		     struct node *next)
{
	double together = 0;

	next->bound = INFINITY;
	next->seconds = seconds_on(x, t, d);
	if (next->seconds == INFINITY || (x->has_units && same_unit_elsewhere(x, t, d)))
		return;
	next->end_s = ready_s(x, t, d) + next->seconds;
	next->path_s = fmax(at->path_s, next->end_s + x->rest_s[(size_t)t * x->v->k + d]);
	next->busy_s = at->busy_s + next->seconds;
	next->cost = at->cost + x->factor[d] * next->seconds;
	for (uint32_t c = 0; c < x->cliques->n; c++)
		together =
			fmax(together,
			     x->together[c] + (x->cliques->clique[c] >> d & 1 ? next->seconds : 0));
	double busy = next->busy_s + x->open_s[t + 1];

	next->bound = fmax(next->cost + x->open_cost[t + 1],
			   mixed(x, fmax(next->path_s, together), busy));
	next->bound = fmax(next->bound, at->bound);
}

/* (1 - s) times the shortest schedule of a leaf and s times what it computes, where that is below the threshold. */
static double scheduled(struct block_search *x, double busy_s)
{
	const struct sched_dag *g = x->v->d;
	const struct block *b = x->b;

	for (uint32_t t = b->first; t <= b->last; t++) {
		x->begin_s[t] = 0;
		for (uint32_t i = g->in_ptr[t]; b->after && i < g->in_ptr[t + 1]; i++) {
			uint32_t v = g->use_tensor[g->in_use[i]];

			if (g->tensor_task[v] + 1 == b->first)
				x->begin_s[t] =
					fmax(x->begin_s[t], way_s(x, x->dev[b->first - 1],
								  x->dev[t], g->tensor_bytes[v]));
		}
	}
	const struct orders p = {.v = x->v,
				 .cliques = x->cliques,
				 .first = b->first,
				 .n = b->last - b->first + 1,
				 .dev = x->dev,
				 .seconds = x->seconds,
				 .begin_s = x->begin_s,
				 .rest_s = x->rest_s};
	double below = x->below < INFINITY ? (x->below - x->s * busy_s) / (1 - x->s) : INFINITY;

	uint64_t nodes = ORDER_NODES;

	return mixed(x, orders_shortest_s(&p, below, &nodes), busy_s);
}

/* A leaf below the threshold ends the pass. */
static void take_leaf(struct block_search *x, const struct node *at)
{
	double value = fmax(at->bound, mixed(x, windows_s(x), at->busy_s));

	if (value < x->below && x->s < 1)
		value = fmax(value, scheduled(x, at->busy_s));
	if (value >= x->below) {
		x->least = fmin(x->least, value);
		return;
	}
	x->found = true;
	if (value >= x->leaf)
		return;
	x->leaf = value;
	for (uint32_t t = x->b->first; t <= x->b->last; t++)
		x->leaf_dev[t] = x->dev[t];
}

/* Everything behind a node that may be below the threshold. */
static void look_into(struct block_search *x, const struct node *at, uint32_t t)
{
	struct node next[TURNS_MOST];
	uint32_t open = (UINT32_C(1) << x->v->k) - 1;

	if (t > x->b->last) {
		take_leaf(x, at);
		return;
	}
	x->stopped |= x->nodes == 0 || (x->nodes % LOOKS == 0 && bound_is_late(x->v->deadline_s));
	x->nodes -= x->nodes > 0;
	for (uint32_t d = 0; d < x->v->k; d++)
		try_task(x, at, t, d, &next[d]);
	while (open && !x->found && !x->stopped) {
		uint32_t d = (uint32_t)__builtin_ctz(open);

		for (uint32_t e = d + 1; e < x->v->k; e++)
			d = open >> e & 1 && next[e].bound < next[d].bound ? e : d;
		open &= ~(UINT32_C(1) << d);
		if (next[d].bound >= x->below) {
			x->least = fmin(x->least, next[d].bound);
			return;
		}
		x->dev[t] = (uint16_t)d;
		x->seconds[t] = next[d].seconds;
		x->end_s[t] = next[d].end_s;
		add_together(x, d, next[d].seconds);
		look_into(x, &next[d], t + 1);
		add_together(x, d, -next[d].seconds);
	}
}

/* Thresholds that grow until there is a leaf below one, and then close in on it. */
static double raise_threshold(struct block_search *x, double proved)
{
	const struct node root = {.bound = proved};

	while (!x->stopped && proved < x->leaf * (1 - WORTH)) {
		/* The first leaf is the one where bounds lead. */
		x->below = x->leaf < INFINITY ? fmin((proved + x->leaf) / 2, proved * (1 + STEP))
					      : INFINITY;
		x->least = INFINITY;
		x->found = false;
		look_into(x, &root, x->b->first);
		if (x->stopped || x->found)
			continue;
		/* Nothing is below. */
		proved = fmin(x->least, x->leaf);
		if (proved == INFINITY)
			break;
	}
	return proved;
}

void block_search_begin(struct block_search *x, const struct block *b)
{
	double share[TURNS_MOST];

	x->b = b;
	x->has_units = x->v->u->n < x->v->n;
	shares_ascend(x->cliques, x->v->task_s + (size_t)b->first * x->v->k, b->last - b->first + 1,
		      NULL, x->s, NULL, share);
	for (uint32_t d = 0; d < x->v->k; d++)
		x->factor[d] = (1 - x->s) * share[d] + x->s;
}

double block_least_s(struct block_search *x)
{
	const struct block any = {x->b->first, x->b->last, x->b->after, false}, *was = x->b;
	double least;

	x->b = &any;
	sum_open(x);
	least = fmax(x->open_cost[any.first], x->s * x->open_s[any.first]);
	x->b = was;
	return least;
}

double block_search_s(struct block_search *x, uint32_t from, uint32_t to, uint64_t *nodes)
{
	const struct block *b = x->b;

	x->to = to;
	x->nodes = *nodes;
	x->leaf = INFINITY;
	x->stopped = x->nodes == 0;
	for (uint32_t c = 0; c < x->cliques->n; c++)
		x->together[c] = 0;
	if (b->after) {
		x->dev[b->first - 1] = (uint16_t)from;
		x->end_s[b->first - 1] = 0;
	}
	find_rest(x);
	sum_open(x);
	double bound = INFINITY;
	if (x->open_s[b->first] < INFINITY)
		bound = raise_threshold(x,
					fmax(x->open_cost[b->first], x->s * x->open_s[b->first]));
	*nodes = x->nodes;
	return bound;
}

double block_search_leaf(const struct block_search *x, const uint16_t **task_dev)
{
	*task_dev = x->leaf_dev;
	return x->leaf;
}
