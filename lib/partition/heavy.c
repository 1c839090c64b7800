/* heavy.c - heavy-edge grouping: contract the edges that carry most until few enough groups are
 * left.  The matchings are those of Karypis and Kumar, "A fast and high quality multilevel scheme
 * for partitioning irregular graphs", SIAM J. Sci. Computing 20(1), 1998, section 3.1, with edges
 * in the order of what they carry.
 *
 * Round by round every group joins at most one neighbour, over the edge that carries most of those
 * still possible.  A group takes no more than max_size nodes, and no more weight than a cap, which
 * begins at 1.5 times the mean and doubles when a round finds nothing to contract.  What no edge
 * joins comes together lightest first.
 *
 * Around a hub, whose neighbours have no other, a matching has hardly any edges.  A round that
 * finds so few lets groups join as many neighbours as they may. */
#include <math.h>
#include <stdlib.h>

#include "base/disjoint.h"
#include "partition/grouping.h"

static const double FIRST_CAP = 1.5;
enum { FEW = 32 }; /* a matching of less than this part of the groups is small */

struct round {
	const struct group_task *t;
	struct group_graph g; /* of the groups so far */
	uint32_t *size;       /* (g.n) */
	double cap;
};

struct edge {
	double traffic;
	uint32_t at;
};

static int heavier_first(const void *pa, const void *pb)
{
	const struct edge *a = pa, *b = pb;

	if (a->traffic != b->traffic)
		return a->traffic > b->traffic ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

static bool within_limits(const struct round *r, double weight, uint64_t size, double cap)
{
	return weight <= cap && (!r->t->max_size || size <= r->t->max_size);
}

static bool may_join(const struct round *r, uint32_t u, uint32_t v, double cap)
{
	return within_limits(r, r->g.weight[u] + r->g.weight[v], (uint64_t)r->size[u] + r->size[v],
			     cap);
}

/* A matching along edges x: up (g.n) to the smaller of each pair.  Returns how many are left. */
static uint32_t match(const struct round *r, const struct edge *x, uint32_t *up)
{
	uint32_t n = r->g.n, left = n;
	bool *met = MEM_NEWN(bool, n);

	for (uint32_t v = 0; v < n; v++)
		up[v] = v;
	for (uint32_t i = 0; i < r->g.m && left > r->t->n_groups; i++) {
		uint32_t u = r->g.src[x[i].at], v = r->g.dst[x[i].at];

		if (met[u] || met[v] || !may_join(r, u, v, r->cap))
			continue;
		met[u] = met[v] = true;
		disjoint_join(up, u, v);
		left--;
	}
	mem_free(met);
	return left;
}

/* The same with any number of partners. */
static void join_many(const struct round *r, const struct edge *x, uint32_t *up)
{
	uint32_t n = r->g.n, left = n, *size = mem_copy(r->size, n, sizeof(*size));
	double *weight = mem_copy(r->g.weight, n, sizeof(*weight));

	for (uint32_t v = 0; v < n; v++)
		up[v] = v;
	for (uint32_t i = 0; i < r->g.m && left > r->t->n_groups; i++) {
		uint32_t u = disjoint_find(up, r->g.src[x[i].at]);
		uint32_t v = disjoint_find(up, r->g.dst[x[i].at]), root = u < v ? u : v;

		if (u == v ||
		    !within_limits(r, weight[u] + weight[v], (uint64_t)size[u] + size[v], r->cap))
			continue;
		disjoint_join(up, u, v);
		weight[root] = weight[u] + weight[v];
		size[root] = size[u] + size[v];
		left--;
	}
	mem_free(weight);
	mem_free(size);
}

/* Contract heavy edges: class (g.n) of what is left.  Returns how many classes. */
static uint32_t join_along_edges(const struct round *r, uint32_t *class)
{
	uint32_t n = r->g.n, n_classes = 0, *up = MEM_NEWN(uint32_t, n);
	struct edge *x = MEM_NEWN(struct edge, r->g.m);

	for (uint32_t i = 0; i < r->g.m; i++)
		x[i] = (struct edge){r->g.traffic[i], i};
	if (r->g.m > 1)
		qsort(x, r->g.m, sizeof(*x), heavier_first);
	uint32_t left = match(r, x, up);

	if (left > r->t->n_groups && n - left < n / FEW)
		join_many(r, x, up);
	for (uint32_t v = 0; v < n; v++)
		class[v] = up[v] == v ? n_classes++ : class[disjoint_find(up, v)];
	mem_free(up);
	mem_free(x);
	return n_classes;
}

/* Make the classes the groups. */
static void contract(struct round *r, const uint32_t *class, uint32_t n_classes, struct arena *a)
{
	struct group_graph g;
	uint32_t *size = ARENA_NEWN(a, uint32_t, n_classes);

	for (uint32_t v = 0; v < r->g.n; v++)
		size[class[v]] += r->size[v];
	group_contract(&r->g, class, n_classes, a, &g);
	for (uint32_t v = 0; v < r->t->g->n; v++)
		r->t->group[v] = class[r->t->group[v]];
	r->g = g;
	r->size = size;
}

struct light {
	double weight;
	uint32_t at;
};

static int lighter_first(const void *pa, const void *pb)
{
	const struct light *a = pa, *b = pb;

	if (a->weight != b->weight)
		return a->weight < b->weight ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

/* Pairs of the lightest, without an edge between them; returns the classes. */
static uint32_t pair_lightest(const struct round *r, uint32_t *class)
{
	uint32_t n = r->g.n, left = n, n_classes = 0;
	struct light *x = MEM_NEWN(struct light, n);

	for (uint32_t v = 0; v < n; v++) {
		x[v] = (struct light){r->g.weight[v], v};
		class[v] = v;
	}
	if (n > 1)
		qsort(x, n, sizeof(*x), lighter_first);
	for (uint32_t i = 0; i + 1 < n && left > r->t->n_groups; i++) {
		uint32_t u = x[i].at, v = x[i + 1].at;

		if (!may_join(r, u, v, INFINITY))
			continue;
		class[u > v ? u : v] = u > v ? v : u;
		left--;
		i++;
	}
	mem_free(x);
	for (uint32_t v = 0; v < n; v++)
		class[v] = class[v] < v ? class[class[v]] : n_classes++;
	return n_classes;
}

int group_heavy_edge(const struct group_task *t, struct err *e)
{
	struct round r = {.t = t, .g = *t->g};
	struct arena *a = arena_new();
	uint32_t *class = ARENA_NEWN(a, uint32_t, t->g->n), n;
	double total = 0;

	(void)e;
	r.size = ARENA_NEWN(a, uint32_t, t->g->n);
	for (uint32_t v = 0; v < t->g->n; v++) {
		t->group[v] = v;
		r.size[v] = t->size[v];
		total += t->g->weight[v];
	}
	r.cap = FIRST_CAP * total / t->n_groups;
	while (r.g.n > t->n_groups) {
		n = join_along_edges(&r, class);
		if (n == r.g.n && r.cap < total) {
			r.cap *= 2;
			continue;
		}
		if (n == r.g.n)
			n = pair_lightest(&r, class);
		if (n == r.g.n)
			break;
		contract(&r, class, n, a);
	}
	arena_free(a);
	return 0;
}
