/* bound_series.c - tasks that everything passes, and blocks of tasks between them.
 *
 * Task g is a gate when each other task is before it or behind it.  From the end of a gate to the end of the next one runs all
 * that is between them, and nothing else does, so a schedule is at least as long as its blocks one after the other: the
 * shortest way over the gates' devices, each block as bound_block.c bounds it.  With s > 0 the same is so of (1 - s) times
 * the schedule's length and s times what is computed.
 *
 *          .-- x --.            .-- x -- x --.
 *     g --+         +-- x -- g -+             +- g      one block between each two gates
 *          '-- x --'            '---- x -----'
 *
 * In a topological order the tasks behind g are descendants of it if and only if the last task that each of them reads is g or
 * behind g. */
#include <math.h>
#include <string.h>

#include "place/bound/bound_block.h"
#include "place/bound/bounds.h"

/* Nodes of all blocks for a bound; tasks of a block up to which it is searched. */
enum { BOUND_NODES = 200000, MOST_TASKS = 64 };

/* gate (n): is everything else before or behind?  How many are. */
static uint32_t find_gates(const struct bound_view *v, bool *gate)
{
	const struct sched_dag *g = v->d;
	uint32_t *next = MEM_NEWN(uint32_t, v->n), n = 0, first_end = v->n;
	/* (n) the last task that each reads, + 1; the first that reads it */
	uint32_t *last = MEM_NEWN(uint32_t, v->n), most_next = 0;

	for (uint32_t t = 0; t < v->n; t++)
		next[t] = v->n;
	for (uint32_t i = 0; i < g->n_uses; i++) {
		uint32_t to = g->use_task[i], from = g->tensor_task[g->use_tensor[i]];

		next[from] = to < next[from] ? to : next[from];
		last[to] = from + 1 > last[to] ? from + 1 : last[to];
	}
	/* Behind t: each reads t or what is behind it. */
	for (uint32_t t = v->n; t-- > 0;) {
		gate[t] = first_end > t;
		first_end = last[t] < first_end ? last[t] : first_end;
	}
	/* Before t: each is read by t or what is before it. */
	for (uint32_t t = 0; t < v->n; t++) {
		gate[t] &= most_next <= t;
		n += gate[t];
		most_next = next[t] > most_next ? next[t] : most_next;
	}
	mem_free(next);
	mem_free(last);
	return n;
}

/* The row so far. */
struct row {
	const struct bound_view *v;
	struct block_search *search;
	double at
		[TURNS_MOST]; /* the least to the end of the last block, by the device of its gate */
	double placed[TURNS_MOST]; /* the same of leaves */
	/* Who wants a placement: */
	struct arena *a; /* NULL: nobody */
	uint32_t n;
	uint32_t n_tasks; /* of these blocks; fewer than all where the deadline came */
	struct row_block {
		struct block b;
		uint16_t *from; /* (k) the gate's device before that, by that of its own */
		uint16_t *dev;  /* (k, tasks) of the block's tasks */
	} * block;              /* (n) */
};

/* From `from` to `to`, leaves of the search are kept. */
static void keep_leaf(struct row *r, const double *before, uint32_t from, uint32_t to)
{
	const uint16_t *dev;
	double s = before[from] + block_search_leaf(r->search, &dev);

	if (!(s < r->placed[to]))
		return;
	r->placed[to] = s;
	if (!r->a)
		return;
	struct row_block *x = &r->block[r->n];
	size_t size = x->b.last - x->b.first + 1;

	x->from[to] = (uint16_t)from;
	memcpy(x->dev + to * size, dev + x->b.first, size * sizeof(*dev));
}

/* A block that is too large to search: what its tasks take wherever they are. */
static void pass_large(struct row *r, const struct block *b)
{
	double least = INFINITY;

	block_search_begin(r->search, b);
	double s = block_least_s(r->search);

	for (uint32_t d = 0; d < r->v->k; d++)
		least = fmin(least, r->at[d]);
	for (uint32_t d = 0; d < r->v->k; d++) {
		r->at[d] = least + s;
		r->placed[d] = INFINITY;
	}
	r->n++;
}

static void pass_block(struct row *r, const struct block *b, uint64_t *nodes)
{
	uint32_t k = r->v->k, n_to = b->gate ? k : 1, n_from = b->after ? k : 1;
	double before[TURNS_MOST], placed[TURNS_MOST];

	if (r->a)
		r->block[r->n] = (struct row_block){
			*b, ARENA_NEWN(r->a, uint16_t, k),
			ARENA_NEWN(r->a, uint16_t, (size_t)k * (b->last - b->first + 1))};
	block_search_begin(r->search, b);
	for (uint32_t d = 0; d < k; d++) {
		before[d] = r->at[d];
		placed[d] = r->placed[d];
		r->at[d] = r->placed[d] = INFINITY;
	}
	for (uint32_t i = 0; i < n_to * n_from; i++) {
		uint32_t to = i / n_from, from = i % n_from;
		uint64_t mine = *nodes / (n_to * n_from - i), had = mine;

		if (before[from] == INFINITY)
			continue;
		double s = block_search_s(r->search, from, to, &mine);

		*nodes -= had - mine;
		r->at[to] = fmin(r->at[to], before[from] + s);
		keep_leaf(r, placed, from, to);
	}
	r->n++;
}

/* All blocks, with so many nodes of all searches; false: no task is passed by everything, or there is no placement of a large
 * block. */
static bool pass_all(struct row *r, double s, uint64_t left)
{
	const struct bound_view *v = r->v;
	bool *gate = MEM_NEWN(bool, v->n + 1);
	uint32_t n_gates = find_gates(v, gate), first = 0;
	struct shares cliques;
	bool any = n_gates > 0 && shares_init(&cliques, v);

	if (any && r->a)
		r->block = ARENA_NEWN(r->a, struct row_block, n_gates + 1);
	r->search = any ? block_search_new(v, &cliques, s) : NULL;
	for (uint32_t t = 0; any && t < v->n; t++) {
		if (!gate[t] && t + 1 < v->n)
			continue;
		struct block b = {first, t, first > 0, gate[t]};
		/* What a block leaves is for those behind it. */
		uint64_t nodes = left / (n_gates + 1 - r->n), had = nodes;

		if (bound_is_late(v->deadline_s)) {
			any = r->a && r->n > 0; /* nothing is known of the rest */
			break;
		}
		if (t - first < MOST_TASKS)
			pass_block(r, &b, &nodes);
		else if (r->a)
			any = false;
		else
			pass_large(r, &b);
		left -= had - nodes;
		first = t + 1;
		r->n_tasks = first;
	}
	block_search_free(r->search);
	mem_free(gate);
	return any;
}

static uint32_t least_of(const double *x, uint32_t k)
{
	uint32_t at = 0;

	for (uint32_t d = 1; d < k; d++)
		at = x[d] < x[at] ? d : at;
	return at;
}

double bound_series_s(const struct bound_view *v, double s)
{
	struct row r = {.v = v};

	if (!pass_all(&r, s, BOUND_NODES))
		return 0;
	double least = r.at[least_of(r.at, v->k)];

	return least < INFINITY ? least * (1 - 1e-10) : 0;
}

bool bound_series_place(const struct bound_view *v, double s, uint64_t nodes, uint16_t *task_dev,
			double *least_s)
{
	struct arena *a = arena_new();
	struct row r = {.v = v, .a = a};
	bool found = pass_all(&r, s, nodes);
	uint32_t at = found ? least_of(r.placed, v->k) : 0;

	*least_s = found && r.n_tasks == v->n ? r.at[least_of(r.at, v->k)] * (1 - 1e-10) : 0;
	*least_s = *least_s < INFINITY ? *least_s : 0;
	found = found && r.placed[at] < INFINITY;
	for (uint32_t t = r.n_tasks; found && t < v->n; t++)
		task_dev[t] = (uint16_t)at;
	for (uint32_t i = r.n; found && i-- > 0;) {
		const struct row_block *x = &r.block[i];
		uint32_t size = x->b.last - x->b.first + 1;

		memcpy(task_dev + x->b.first, x->dev + (size_t)at * size, size * sizeof(*task_dev));
		at = x->from[at];
	}
	arena_free(a);
	return found;
}

/* Where devices slow each other bound_slowed has more of it. */
static double series_value(struct bound_problem *x)
{
	return x->v.m->slowdown > 0 ? 0 : bound_series_s(&x->v, 0);
}

const struct lower_bound bound_series = {
	.kind = "series",
	.source = "Land, Doig, Econometrica 28(3), 1960, between tasks that everything passes",
	.rules = 1U << PLACE_SCHEDULE,
	.metric = METRIC_LATENCY,
	.value = series_value};
