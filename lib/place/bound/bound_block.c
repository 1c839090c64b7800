/* bound_block.c - branch and bound over the devices of a block's tasks, in topological order.
 *
 * Of a node, in which tasks up to some one have their devices, (1 - s) M + s B is at least
 *   (1 - s) (the longest path through tasks that are placed, others where that is shortest) + s (busy seconds),
 *   the sum over tasks of ((1 - s) W_d + s) seconds, where each open task is where that is least (bound_shares.h),
 *   (1 - s) (what devices that exclude each other compute together) + s (busy seconds),
 * and in a leaf, for tasks of a clique that begin at h or later and have at least t behind them,
 *   (1 - s) (h + their seconds + t) + s (busy seconds).
 * Neighbours in the block save where they are together, those before it in any case.  What a node that is not looked into
 * may be is counted as it is bounded, so that to prune too early costs accuracy, and nothing else. */
#include "place/bound/bound_block.h"

#include <math.h>

#include "base/mem.h"

/* Relative: nodes that are better by less than this are not looked into. */
static const double WORTH = 0.002;

struct block_search {
	const struct bound_view *v;
	const struct shares *cliques;
	double s;
	/* of the block at hand, by task of the graph */
	const struct block *b;
	uint32_t to;
	uint16_t *dev;              /* (n) */
	double *end_s, *seconds;    /* (n) earliest end, of tasks that are placed */
	double *rest_s;             /* (n,k) behind the task */
	double *open_cost, *open_s; /* (n+1) sums from task t on: least cost, least seconds */
	double factor[TURNS_MOST];  /* (1 - s) W_d + s */
	double together[SHARES_MOST_CLIQUES]; /* what cliques compute, of tasks that are placed */
	double best;                          /* leaves and nodes that were not looked into */
	uint64_t nodes;
};

/* What is known of a node. */
struct node {
	double path_s, busy_s, cost;
};

struct block_search *block_search_new(const struct bound_view *v, const struct shares *cliques,
				      double s)
{
	struct block_search *x = MEM_NEW(struct block_search);
	size_t n = (size_t)v->n + 1;

	*x = (struct block_search){.v = v, .cliques = cliques, .s = s};
	x->dev = MEM_NEWN(uint16_t, n);
	x->end_s = MEM_NEWN(double, n);
	x->seconds = MEM_NEWN(double, n);
	x->rest_s = MEM_NEWN(double, n * v->k);
	x->open_cost = MEM_NEWN(double, n);
	x->open_s = MEM_NEWN(double, n);
	return x;
}

void block_search_free(struct block_search *x)
{
	mem_free(x->dev);
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
static double windows_s(const struct block_search *x)
{
	uint32_t k = x->v->k;
	double most = 0;

	for (uint32_t c = 0; c < x->cliques->n; c++)
		for (uint32_t i = x->b->first; i <= x->b->last; i++) {
			double head = x->end_s[i] - x->seconds[i];

			for (uint32_t j = x->b->first; j <= x->b->last; j++) {
				double tail = x->rest_s[(size_t)j * k + x->dev[j]], sum = 0;

				for (uint32_t t = x->b->first; t <= x->b->last; t++)
					if (x->cliques->clique[c] >> x->dev[t] & 1 &&
					    x->end_s[t] - x->seconds[t] >= head &&
					    x->rest_s[(size_t)t * k + x->dev[t]] >= tail)
						sum += x->seconds[t];
				most = sum > 0 ? fmax(most, head + sum + tail) : most;
			}
		}
	return most;
}

static double most_together(const struct block_search *x)
{
	double most = 0;

	for (uint32_t c = 0; c < x->cliques->n; c++)
		most = fmax(most, x->together[c]);
	return most;
}

static void add_together(struct block_search *x, uint32_t d, double s)
{
	for (uint32_t c = 0; c < x->cliques->n; c++)
		x->together[c] += x->cliques->clique[c] >> d & 1 ? s : 0;
}

/* Task t on d behind a node, and what is known then; its bound. */
static double place_task(struct block_search *x, const struct node *at, uint32_t t, uint32_t d,
			 struct node *next)
{
	x->seconds[t] = seconds_on(x, t, d);
	if (x->seconds[t] == INFINITY || same_unit_elsewhere(x, t, d))
		return INFINITY;
	x->dev[t] = (uint16_t)d;
	x->end_s[t] = ready_s(x, t, d) + x->seconds[t];
	*next = (struct node){
		.path_s = fmax(at->path_s, x->end_s[t] + x->rest_s[(size_t)t * x->v->k + d]),
		.busy_s = at->busy_s + x->seconds[t],
		.cost = at->cost + x->factor[d] * x->seconds[t]};
	add_together(x, d, x->seconds[t]);
	double makespan = fmax(next->path_s, most_together(x));

	add_together(x, d, -x->seconds[t]);
	return fmax(next->cost + x->open_cost[t + 1],
		    mixed(x, makespan, next->busy_s + x->open_s[t + 1]));
}

/* Everything behind a node whose bound is known. */
static void look_into(struct block_search *x, const struct node *at, uint32_t t, double bound)
{
	double of[TURNS_MOST];
	bool done[TURNS_MOST] = {false};
	struct node next;

	if (t > x->b->last) {
		x->best = fmin(x->best, fmax(bound, mixed(x, windows_s(x), at->busy_s)));
		return;
	}
	if (x->nodes == 0) {
		x->best = fmin(x->best, bound);
		return;
	}
	x->nodes--;
	for (uint32_t d = 0; d < x->v->k; d++)
		of[d] = fmax(bound, place_task(x, at, t, d, &next));
	for (uint32_t i = 0; i < x->v->k; i++) {
		uint32_t d = x->v->k;

		for (uint32_t e = 0; e < x->v->k; e++)
			if (!done[e] && (d == x->v->k || of[e] < of[d]))
				d = e;
		done[d] = true;
		if (of[d] == INFINITY)
			break;
		if (of[d] >= x->best * (1 - WORTH)) {
			x->best = fmin(x->best, of[d]);
			break;
		}
		place_task(x, at, t, d, &next);
		add_together(x, d, x->seconds[t]);
		double s = x->seconds[t];

		look_into(x, &next, t + 1, of[d]);
		add_together(x, d, -s);
	}
}

void block_search_begin(struct block_search *x, const struct block *b)
{
	double share[TURNS_MOST];

	x->b = b;
	shares_ascend(x->cliques, x->v->task_s + (size_t)b->first * x->v->k, b->last - b->first + 1,
		      NULL, x->s, share);
	for (uint32_t d = 0; d < x->v->k; d++)
		x->factor[d] = (1 - x->s) * share[d] + x->s;
}

double block_search_s(struct block_search *x, uint32_t from, uint32_t to, uint64_t *nodes)
{
	const struct block *b = x->b;
	struct node at = {0, 0, 0};

	x->to = to;
	x->nodes = *nodes;
	x->best = INFINITY;
	for (uint32_t c = 0; c < x->cliques->n; c++)
		x->together[c] = 0;
	if (b->after) {
		x->dev[b->first - 1] = (uint16_t)from;
		x->end_s[b->first - 1] = 0;
	}
	find_rest(x);
	sum_open(x);
	if (x->open_s[b->first] < INFINITY)
		look_into(x, &at, b->first,
			  fmax(x->open_cost[b->first], x->s * x->open_s[b->first]));
	*nodes = x->nodes;
	return x->best;
}
