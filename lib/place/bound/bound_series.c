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

#include "place/bound/bound_block.h"
#include "place/bound/bounds.h"

/* Nodes of all blocks; tasks of a block up to which it is searched. */
enum { MOST_NODES = 200000, MOST_TASKS = 64 };

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

/* at (k): the least to the end of the block, by the device of its gate; before (k): of the gate before it. */
static void pass_block(struct block_search *x, const struct bound_view *v, const struct block *b,
		       uint64_t *nodes, const double *before, double *at)
{
	uint64_t none = 0;
	bool searched = b->last - b->first < MOST_TASKS;

	block_search_begin(x, b);
	for (uint32_t to = 0; to < v->k; to++)
		at[to] = INFINITY;
	for (uint32_t to = 0; to < (b->gate ? v->k : 1); to++)
		for (uint32_t from = 0; from < (b->after ? v->k : 1); from++) {
			if (before[from] == INFINITY)
				continue;
			double s = block_search_s(x, from, to, searched ? nodes : &none);

			at[to] = fmin(at[to], before[from] + s);
		}
}

double bound_series_s(const struct bound_view *v, double s)
{
	bool *gate = MEM_NEWN(bool, v->n + 1);
	uint32_t n_gates = find_gates(v, gate), first = 0, done = 0;
	double before[TURNS_MOST] = {0}, at[TURNS_MOST], least = INFINITY;
	struct shares cliques;

	if (n_gates == 0 || !shares_init(&cliques, v)) {
		mem_free(gate);
		return 0;
	}
	struct block_search *x = block_search_new(v, &cliques, s);
	uint64_t left = MOST_NODES;

	for (uint32_t t = 0; t < v->n; t++) {
		if (!gate[t] && t + 1 < v->n)
			continue;
		struct block b = {first, t, first > 0, gate[t]};
		/* What a block leaves is for those behind it. */
		uint64_t nodes = left / (n_gates + 1 - done), had = nodes;

		pass_block(x, v, &b, &nodes, before, at);
		left -= had - nodes;
		done++;
		for (uint32_t d = 0; d < v->k; d++)
			before[d] = at[d];
		first = t + 1;
	}
	for (uint32_t d = 0; d < v->k; d++)
		least = fmin(least, before[d]);
	block_search_free(x);
	mem_free(gate);
	return least < INFINITY ? least * (1 - 1e-9) : 0;
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
