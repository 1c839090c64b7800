/* groupgraph.c - views of the graph that groupings are made of: contracted, undirected, in
 * integers, and its circles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "partition/grouping.h"

/* ---- contraction ---- */

struct arc {
	uint32_t src, dst;
	double traffic;
};

static int by_ends(const void *pa, const void *pb)
{
	const struct arc *a = pa, *b = pb;

	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	return (a->dst > b->dst) - (a->dst < b->dst);
}

/* Sort arcs and sum those with the same ends; returns how many are left. */
static uint32_t join_arcs(struct arc *x, uint32_t n)
{
	uint32_t m = 0;

	if (n > 1)
		qsort(x, n, sizeof(*x), by_ends);
	for (uint32_t i = 0; i < n; i++) {
		if (m && x[m - 1].src == x[i].src && x[m - 1].dst == x[i].dst)
			x[m - 1].traffic += x[i].traffic;
		else
			x[m++] = x[i];
	}
	return m;
}

void group_contract(const struct group_graph *g, const uint32_t *class, uint32_t n_classes,
		    struct arena *a, struct group_graph *out)
{
	struct arc *x = MEM_NEWN(struct arc, g->m);
	uint32_t m = 0;

	for (uint32_t i = 0; i < g->m; i++)
		if (class[g->src[i]] != class[g->dst[i]])
			x[m++] = (struct arc){class[g->src[i]], class[g->dst[i]], g -> traffic[i]};
	m = join_arcs(x, m);
	*out = (struct group_graph){.n = n_classes, .m = m, .ordered = true};
	out->src = ARENA_NEWN(a, uint32_t, m);
	out->dst = ARENA_NEWN(a, uint32_t, m);
	out->traffic = ARENA_NEWN(a, double, m);
	for (uint32_t i = 0; i < m; i++) {
		out->src[i] = x[i].src;
		out->dst[i] = x[i].dst;
		out->traffic[i] = x[i].traffic;
		out->ordered &= x[i].src < x[i].dst;
	}
	mem_free(x);
	out->weight = ARENA_NEWN(a, double, n_classes);
	out->memory = g->memory ? ARENA_NEWN(a, double, n_classes) : NULL;
	for (uint32_t v = 0; v < g->n; v++) {
		out->weight[class[v]] += g->weight[v];
		if (g->memory)
			out->memory[class[v]] += g->memory[v];
	}
}

/* ---- undirected ---- */

void group_adjacency_init(struct group_adjacency *x, const struct group_graph *g, struct arena *a)
{
	struct arc *arc = MEM_NEWN(struct arc, 2 * (size_t)g->m);

	for (uint32_t i = 0; i < g->m; i++) {
		arc[2 * i] = (struct arc){g->src[i], g->dst[i], g->traffic[i]};
		arc[2 * i + 1] = (struct arc){g->dst[i], g->src[i], g->traffic[i]};
	}
	uint32_t n = join_arcs(arc, 2 * g->m);

	x->ptr = ARENA_NEWN(a, uint32_t, (size_t)g->n + 1);
	x->adj = ARENA_NEWN(a, uint32_t, n);
	x->traffic = ARENA_NEWN(a, double, n);
	for (uint32_t i = 0; i < n; i++) {
		x->ptr[arc[i].src + 1]++;
		x->adj[i] = arc[i].dst;
		x->traffic[i] = arc[i].traffic;
	}
	for (uint32_t v = 0; v < g->n; v++)
		x->ptr[v + 1] += x->ptr[v];
	mem_free(arc);
}

/* ---- integers ---- */

void group_scale(const double *weight, uint32_t n, int32_t least, int32_t most, int32_t *out)
{
	double sum = 0, largest = 0;

	for (uint32_t i = 0; i < n; i++)
		largest = fmax(largest, weight[i]);
	for (uint32_t i = 0; i < n && largest > 0; i++)
		sum += weight[i] / largest; /* no overflow, whatever the unit is */
	for (uint32_t i = 0; i < n; i++) {
		double w = largest > 0 ? weight[i] / largest / sum * most : 1;

		out[i] = w < least ? least : (int32_t)w;
	}
}
