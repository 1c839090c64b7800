/* savings.c - groups of several sets against their steps apart. */
#include "profile/savings.h"

#include <stdlib.h>
#include <string.h>

/* Where the steps of a group are: at (n_steps) the place of each, GRAPH_NONE outside; tree: a step of the group that is joined
 * to the same sets as each step, itself at the end. */
struct joined_steps {
	uint32_t *at, *tree;
};

static uint32_t end_of(const struct joined_steps *x, uint32_t j)
{
	while (x->tree[j] != j)
		j = x->tree[j];
	return j;
}

/* Step j of group g joins the sets whose tensors it reads to its own, those that nothing has joined yet; into out. */
static void join_sets(const struct device_times *x, const struct fusion_group *g, uint32_t j,
		      const struct joined_steps *in, struct savings *out)
{
	const struct sched_dag *d = &x->s->planner.dag;
	uint32_t step = g->step[j], set = x->step_set[step];
	for (uint32_t i = d->in_ptr[step]; i < d->in_ptr[step + 1]; i++) {
		uint32_t from = d->tensor_task[d->use_tensor[d->in_use[i]]];
		if (in->at[from] == GRAPH_NONE || x->step_set[from] == GRAPH_NONE)
			continue;
		uint32_t a = end_of(in, in->at[from]), b = end_of(in, j);
		if (a == b)
			continue;
		in->tree[b] = a;
		out->v = mem_grow(out->v, &out->cap, out->n + 1, sizeof *out->v);
		out->v[out->n++] = (struct saving){.pair = {x->step_set[from], set}, .d = x->d};
	}
}

/* The pairs that group g joins, into out from *n on: one fewer than it has sets that hang together. */
static void group_pairs(const struct device_times *x, const struct fusion_group *g,
			const struct joined_steps *in, struct savings *out)
{
	for (uint32_t j = 0; j < g->n; j++) {
		uint32_t set = x->step_set[g->step[j]], first = 0;
		in->at[g->step[j]] = j;
		while (set != GRAPH_NONE && x->step_set[g->step[first]] != set)
			first++;
		in->tree[j] = set == GRAPH_NONE || first == j ? j : end_of(in, first);
		if (set != GRAPH_NONE)
			join_sets(x, g, j, in, out);
	}
	for (uint32_t j = 0; j < g->n; j++)
		in->at[g->step[j]] = GRAPH_NONE;
}

/* Seconds of group g's steps in run r, apart. */
static double steps_s(const struct timed *t, const struct fusion_group *g, uint32_t r)
{
	double sum = 0;
	for (uint32_t j = 0; j < g->n; j++)
		sum += t->step_s[(size_t)r * t->n_steps + g->step[j]];
	return sum;
}

/* What group `at` of the joined plan saves, in parts of one pair of n; times of that plan count
 * `by` times. */
static struct interval group_saving(const struct device_times *x, uint32_t at, size_t n, double by)
{
	const struct timed *one = &x->apart, *all = &x->joined;
	const struct fusion_group *g = &all->plan.group[at];
	double saved[TIMED_MOST], then = timed_unwaited(one);
	uint32_t n_runs = one->n_runs < all->n_runs ? one->n_runs : all->n_runs;
	for (uint32_t r = 0; r < n_runs; r++)
		saved[r] = (then * steps_s(one, g, r) -
			    by * all->task_s[(size_t)r * all->plan.n_tasks + at]) /
			   (double)n;
	struct interval s = timed_median(saved, n_runs);
	return s.lo <= 0 ? (struct interval){0, 0, 0} : s;
}

/* Of all groups on the device that join no sets: medians of their times apart over medians joined. */
static double shared_steps_ratio(const struct device_times *x, const bool *joins)
{
	const struct timed *one = &x->apart, *all = &x->joined;
	double run[TIMED_MOST], apart = 0, joined = 0;
	for (uint32_t i = 0; i < all->plan.n_groups; i++) {
		const struct fusion_group *g = &all->plan.group[i];
		if (joins[i] || g->dev != x->d)
			continue;
		for (uint32_t r = 0; r < one->n_runs; r++)
			run[r] = steps_s(one, g, r);
		apart += timed_median(run, one->n_runs).mid;
		for (uint32_t r = 0; r < all->n_runs; r++)
			run[r] = all->task_s[(size_t)r * all->plan.n_tasks + i];
		joined += timed_median(run, all->n_runs).mid;
	}
	return apart > 0 && joined > 0 ? apart / joined : timed_unwaited(all) / timed_unwaited(one);
}

void savings_find(const struct device_times *x, struct savings *out)
{
	const struct plan *p = &x->joined.plan;
	const struct joined_steps in = {MEM_NEWN(uint32_t, (size_t)x->joined.n_steps + 1),
					MEM_NEWN(uint32_t, (size_t)x->joined.n_steps + 1)};
	bool *joins = MEM_NEWN(bool, (size_t)p->n_groups + 1);
	size_t *first = MEM_NEWN(size_t, (size_t)p->n_groups + 1);
	memset(in.at, 0xff, x->joined.n_steps * sizeof *in.at);
	for (uint32_t i = 0; i < p->n_groups; i++) {
		first[i] = out->n;
		if (p->group[i].dev == x->d && p->group[i].n >= 2)
			group_pairs(x, &p->group[i], &in, out);
		joins[i] = out->n > first[i];
	}
	first[p->n_groups] = out->n;
	double by = timed_unwaited(&x->apart) * shared_steps_ratio(x, joins);
	for (uint32_t i = 0; i < p->n_groups; i++) {
		if (!joins[i])
			continue;
		struct interval s = group_saving(x, i, first[i + 1] - first[i], by);
		for (size_t j = first[i]; j < first[i + 1]; j++)
			out->v[j].s = s;
	}
	mem_free(in.at);
	mem_free(in.tree);
	mem_free(joins);
	mem_free(first);
}

/* ---- all ---- */

static int by_pair(const void *pa, const void *pb)
{
	const struct saving *a = pa, *b = pb;
	if (a->pair.src != b->pair.src)
		return a->pair.src < b->pair.src ? -1 : 1;
	if (a->pair.dst != b->pair.dst)
		return a->pair.dst < b->pair.dst ? -1 : 1;
	return a->d < b->d ? -1 : a->d > b->d;
}

void savings_store(struct savings *x, uint32_t k, struct arena *a, struct profile *out)
{
	if (x->n > 1)
		qsort(x->v, x->n, sizeof *x->v, by_pair);
	out->pair = ARENA_NEWN(a, struct set_pair, x->n);
	out->saved_s = ARENA_NEWN(a, struct interval, x->n * k);
	for (size_t i = 0; i < x->n; i++) {
		const struct saving *v = &x->v[i];
		if (i == 0 || v->pair.src != v[-1].pair.src || v->pair.dst != v[-1].pair.dst)
			out->pair[out->n_pairs++] = v->pair;
		struct interval *to = &out->saved_s[(size_t)(out->n_pairs - 1) * k + v->d];
		*to = (struct interval){to->mid + v->s.mid, to->lo + v->s.lo, to->hi + v->s.hi};
	}
	mem_free(x->v);
}
