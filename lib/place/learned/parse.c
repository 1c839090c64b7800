/* parse.c - scores of edges, and groups by dominant edges. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "place/learned/parse.h"

struct edge {
	uint32_t a, b; /* units, later groups */
	float score;
};

/* What is looked up for many edges. */
struct lookup {
	uint32_t *best;     /* (n) the device of the least cost */
	uint32_t *late_in;  /* (n) the use that comes last, by means */
	uint32_t *late_out; /* (n) the use behind which the longest way hangs */
	double *in_bytes;   /* (n) */
	double ccr, wide;
};

static void look_up(struct lookup *l, const struct cost_view *view)
{
	const struct sched_dag *d = &view->m->tasks.dag;
	uint32_t n = view->n;
	double copies = 0;

	l->best = MEM_NEWN(uint32_t, n);
	l->late_in = MEM_NEWN(uint32_t, n);
	l->late_out = MEM_NEWN(uint32_t, n);
	l->in_bytes = MEM_NEWN(double, n);
	for (uint32_t v = 0; v < n; v++) {
		const double *s = view->m->costs.task_s + (size_t)v * view->k;
		double late = -1;

		for (uint32_t p = 0; p < view->k; p++)
			if (s[p] >= 0 && (s[l->best[v]] < 0 || s[p] < s[l->best[v]]))
				l->best[v] = p;
		for (uint32_t i = d->in_ptr[v]; i < d->in_ptr[v + 1]; i++) {
			uint32_t u = d->in_use[i], from = d->tensor_task[d->use_tensor[u]];
			double at = view->down[from] + view->mean_s[from] + view->use_s[u];

			l->in_bytes[v] += (double)d->tensor_bytes[d->use_tensor[u]];
			if (at > late) {
				late = at;
				l->late_in[v] = u;
			}
		}
		late = -1;
		for (uint32_t u = d->use_ptr[d->out_ptr[v]]; u < d->use_ptr[d->out_ptr[v + 1]]; u++)
			if (view->use_s[u] + view->rank[d->use_task[u]] > late) {
				late = view->use_s[u] + view->rank[d->use_task[u]];
				l->late_out[v] = u;
			}
	}
	for (uint32_t u = 0; u < d->n_uses; u++)
		copies += view->use_s[u] / d->n_uses;
	l->ccr = copies / view->task_s;
	l->wide = view->task_s * n / view->top_s;
}

static void release(struct lookup *l)
{
	mem_free(l->best);
	mem_free(l->late_in);
	mem_free(l->late_out);
	mem_free(l->in_bytes);
}

/* In the order of edge_features. */
const char parse_feature_kinds[] = "ccccssccccccss-ccc";

static void edge_features(const struct cost_view *view, const struct lookup *l, uint32_t use,
			  float *f)
{
	const struct sched_dag *d = &view->m->tasks.dag;
	uint32_t t = d->use_tensor[use], a = d->tensor_task[t], b = d->use_task[use];
	uint32_t n_out = d->use_ptr[d->out_ptr[a + 1]] - d->use_ptr[d->out_ptr[a]];
	uint32_t n_in = d->in_ptr[b + 1] - d->in_ptr[b];
	const double *cost_b = view->m->costs.task_s + (size_t)b * view->k;
	const double *cost_a = view->m->costs.task_s + (size_t)a * view->k;
	double copy = view->use_s[use], tiny = 0.01 * view->task_s;
	double there = cost_b[l->best[a]], back = cost_a[l->best[b]];
	const double row[PARSE_FEATURES] = {
		squash(copy / (view->mean_s[a] + view->mean_s[b] + tiny)),
		squash(copy / view->task_s),
		squash(view->mean_s[a] / view->task_s),
		squash(view->mean_s[b] / view->task_s),
		1.0 / n_out,
		1.0 / n_in,
		l->late_in[b] == use,
		l->late_out[a] == use,
		(view->down[a] + view->mean_s[a] + copy + view->rank[b]) / view->top_s,
		l->best[a] == l->best[b],
		there < 0 ? 1 : squash((there - view->least_s[b]) / (copy + tiny)),
		back < 0 ? 1 : squash((back - view->least_s[a]) / (copy + tiny)),
		view->twins[a] == view->twins[b],
		(double)d->tensor_bytes[t] / (l->in_bytes[b] > 0 ? l->in_bytes[b] : 1),
		1.0 / view->k,
		squash(l->ccr),
		squash(l->wide / view->k),
		squash(copy / (view->span_s / 8)),
	};

	write_features_row(f, row, PARSE_FEATURES);
}

static float *all_scores(const struct cost_view *view, const struct learned_params *params,
			 float **features)
{
	uint32_t n = view->m->tasks.dag.n_uses;
	float *x = MEM_NEWN(float, (size_t)n *PARSE_FEATURES), *score = MEM_NEWN(float, n);
	struct lookup l;

	look_up(&l, view);
	for (uint32_t u = 0; u < n; u++)
		edge_features(view, &l, u, x + (size_t)u * PARSE_FEATURES);
	release(&l);
	scorer_run(&params->edges, params->p, x, n, score);
	*features = x;
	return score;
}

/* ---- groups ---- */

static uint32_t root_of(uint32_t *up, uint32_t i)
{
	while (up[i] != i)
		i = up[i] = up[up[i]];
	return i;
}

/* What groups have: work, memory, devices that can run all of it. */
struct masses {
	double *work_s, most_s;
	uint64_t *mem, room;
	uint8_t *may; /* (groups,k) */
	uint32_t k;
};

static bool may_join(const struct masses *x, uint32_t a, uint32_t b)
{
	if (x->work_s[a] + x->work_s[b] > x->most_s || x->mem[a] + x->mem[b] > x->room)
		return false;
	for (uint32_t p = 0; p < x->k; p++)
		if (x->may[(size_t)a * x->k + p] && x->may[(size_t)b * x->k + p])
			return true;
	return false;
}

static void join(struct masses *x, uint32_t *up, uint32_t a, uint32_t b)
{
	up[b] = a;
	x->work_s[a] += x->work_s[b];
	x->mem[a] += x->mem[b];
	for (uint32_t p = 0; p < x->k; p++)
		x->may[(size_t)a * x->k + p] &= x->may[(size_t)b * x->k + p];
}

static int by_score(const void *pa, const void *pb)
{
	const struct edge *a = pa, *b = pb;

	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	if (a->a != b->a)
		return a->a < b->a ? -1 : 1;
	return (a->b > b->b) - (a->b < b->b);
}

/* One round: the kept edges in the order of their scores; false: nothing was joined. */
static bool parse_round(const struct edge *edge, uint32_t n_edges, uint32_t n, uint32_t *up,
			struct masses *x)
{
	bool *has = MEM_NEWN(bool, n), any = false;

	/* edges come by descending score, so that a node's first one is its dominant one */
	for (uint32_t i = 0; i < n_edges; i++) {
		uint32_t a = edge[i].a, b = edge[i].b;

		if (has[a] && has[b])
			continue;
		has[a] = has[b] = true;
		uint32_t ra = root_of(up, a), rb = root_of(up, b);

		if (ra == rb || !may_join(x, ra, rb))
			continue;
		join(x, up, ra < rb ? ra : rb, ra < rb ? rb : ra);
		any = true;
	}
	mem_free(has);
	return any;
}

/* Edges between groups, without those inside; the highest score first. */
static uint32_t contract(struct edge *edge, uint32_t n_edges, uint32_t *up)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_edges; i++) {
		uint32_t a = root_of(up, edge[i].a), b = root_of(up, edge[i].b);

		if (a == b)
			continue;
		edge[n].a = a < b ? a : b;
		edge[n].b = a < b ? b : a;
		edge[n++].score = edge[i].score;
	}
	return n;
}

static void masses_init(struct masses *x, const struct cost_view *view, const struct place_units *u)
{
	const struct place_model *m = view->m;
	double work = 0;

	*x = (struct masses){.k = view->k, .room = UINT64_MAX};
	x->work_s = MEM_NEWN(double, u->n);
	x->mem = MEM_NEWN(uint64_t, u->n);
	x->may = MEM_NEWN(uint8_t, (size_t)u->n * x->k);
	for (uint32_t v = 0; v < view->n; v++)
		x->work_s[u->of_set[m->tasks.task_set[v]]] += view->mean_s[v];
	for (uint32_t i = 0; i < u->n; i++) {
		work += x->work_s[i];
		x->mem[i] = u->mem[i];
		for (uint32_t p = 0; p < x->k; p++)
			x->may[(size_t)i * x->k + p] = u->cost_s[(size_t)i * x->k + p] >= 0;
	}
	x->most_s = work / (x->k > 1 ? x->k : 2) / 2;
	for (uint32_t p = 0; p < x->k; p++)
		if (m->mem_limit[p] && m->mem_limit[p] / 2 < x->room)
			x->room = m->mem_limit[p] / 2;
}

static void masses_release(struct masses *x)
{
	mem_free(x->work_s);
	mem_free(x->mem);
	mem_free(x->may);
}

static uint32_t number_groups(const struct place_units *u, uint32_t *up, uint32_t *group)
{
	uint32_t n_sets = u->m->n_sets, *number = MEM_NEWN(uint32_t, u->n), n = 0;

	memset(number, 0xff, u->n * sizeof(*number));
	for (uint32_t s = 0; s < n_sets; s++) {
		uint32_t i = u->of_set[s] == GRAPH_NONE ? GRAPH_NONE : root_of(up, u->of_set[s]);

		if (i != GRAPH_NONE && number[i] != UINT32_MAX)
			group[s] = number[i];
		else
			group[s] = n++;
		if (i != GRAPH_NONE)
			number[i] = group[s];
	}
	mem_free(number);
	return n;
}

void parse_run(struct parse *x, const struct cost_view *view, const struct place_units *u,
	       const struct learned_params *params, struct arena *a)
{
	const struct place_model *m = view->m;
	const struct sched_dag *d = &m->tasks.dag;
	struct edge *edge;
	uint32_t *up, n_edges = 0;
	float *features, *score;
	struct masses masses;

	*x = (struct parse){0};
	if (params->without & WITHOUT_PARSING)
		return;
	edge = MEM_NEWN(struct edge, d->n_uses);
	up = MEM_NEWN(uint32_t, u->n);
	score = all_scores(view, params, &features);
	for (uint32_t i = 0; i < d->n_uses; i++) {
		uint32_t p = u->of_set[m->tasks.task_set[d->tensor_task[d->use_tensor[i]]]];
		uint32_t q = u->of_set[m->tasks.task_set[d->use_task[i]]];

		if (p != q)
			edge[n_edges++] = (struct edge){p < q ? p : q, p < q ? q : p, score[i]};
	}
	mem_free(features);
	mem_free(score);
	if (n_edges > 1)
		qsort(edge, n_edges, sizeof(*edge), by_score);
	for (uint32_t i = 0; i < u->n; i++)
		up[i] = i;
	masses_init(&masses, view, u);
	while (x->n_rounds < PARSE_ROUNDS && parse_round(edge, n_edges, u->n, up, &masses)) {
		uint32_t *group = ARENA_NEWN(a, uint32_t, m->n_sets);

		n_edges = contract(edge, n_edges, up);
		x->n_groups[x->n_rounds] = number_groups(u, up, group);
		x->group[x->n_rounds++] = group;
	}
	masses_release(&masses);
	mem_free(edge);
	mem_free(up);
}

double parse_learn(const struct cost_view *view, const struct learned_params *params,
		   const uint16_t *device, double weight, float *grad)
{
	const struct sched_dag *d = &view->m->tasks.dag;
	const uint32_t *set = view->m->tasks.task_set;
	float *features, *score = all_scores(view, params, &features);
	double loss = 0, n = d->n_uses ? d->n_uses : 1;

	for (uint32_t i = 0; i < d->n_uses; i++) {
		bool same = device[set[d->tensor_task[d->use_tensor[i]]]] ==
			    device[set[d->use_task[i]]];
		double p = 1 / (1 + exp(-(double)score[i]));

		loss -= log(fmax(same ? p : 1 - p, 1e-30)) / n;
		score[i] = (float)(weight * (p - same) / n);
	}
	scorer_back(&params->edges, params->p, features, d->n_uses, score, grad);
	mem_free(features);
	mem_free(score);
	return loss;
}
