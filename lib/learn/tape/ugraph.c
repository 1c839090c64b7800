/* ugraph.c - undirected simple graphs and the GCN's operator over them. */
#include "learn/tape/ugraph.h"

#include <math.h>

/* Sort distinct pairs packed as (small << 32 | large) by two counting sorts over
 * node numbers; returns how many remain without repetitions.  tmp: n_keys. */
static size_t sort_unique(uint64_t *key, size_t n_keys, uint64_t *tmp, uint32_t *count,
			  uint32_t n_nodes)
{
	for (int pass = 0; pass < 2; pass++) {
		int shift = pass ? 32 : 0;
		for (uint32_t i = 0; i <= n_nodes; i++)
			count[i] = 0;
		for (size_t i = 0; i < n_keys; i++)
			count[(uint32_t)(key[i] >> shift) + 1]++;
		for (uint32_t i = 0; i < n_nodes; i++)
			count[i + 1] += count[i];
		for (size_t i = 0; i < n_keys; i++)
			tmp[count[(uint32_t)(key[i] >> shift)]++] = key[i];
		uint64_t *swap = key;
		key = tmp;
		tmp = swap;
	}
	size_t m = 0;
	for (size_t i = 0; i < n_keys; i++)
		if (m == 0 || key[m - 1] != key[i])
			key[m++] = key[i];
	return m;
}

/* Neighbour lists in ascending order, with the node itself, and the weights. */
static void build_rows(struct ugraph *g, struct arena *a)
{
	g->ptr = ARENA_NEWN(a, uint32_t, (size_t)g->n + 2);
	size_t nnz = 2 * (size_t)g->m + g->n;
	g->adj = arena_raw(a, nnz, sizeof *g->adj);
	g->weight = arena_raw(a, nnz, sizeof *g->weight);
	uint32_t *at = g->ptr + 1; /* at[i]: where the next neighbour of i goes */
	for (uint32_t e = 0; e < g->m; e++) {
		at[g->u[e] + 1]++;
		at[g->v[e] + 1]++;
	}
	for (uint32_t i = 0; i < g->n; i++)
		at[i + 1] += at[i] + 1;
	/* Sorted edges reach every row in ascending order: first the smaller ends
	 * of i, then i itself, then the larger ends. */
	for (uint32_t e = 0; e < g->m; e++)
		g->adj[at[g->v[e]]++] = g->u[e];
	for (uint32_t i = 0; i < g->n; i++)
		g->adj[at[i]++] = i;
	for (uint32_t e = 0; e < g->m; e++)
		g->adj[at[g->u[e]]++] = g->v[e];
	for (uint32_t i = 0; i < g->n; i++)
		for (uint32_t p = g->ptr[i]; p < g->ptr[i + 1]; p++) {
			uint32_t j = g->adj[p];
			double di = g->ptr[i + 1] - g->ptr[i], dj = g->ptr[j + 1] - g->ptr[j];
			g->weight[p] = (float)(1 / sqrt(di * dj));
		}
}

/* Graph of the edges key[0 .. n_keys), in any order and with repetitions. */
static void from_keys(struct ugraph *g, uint32_t n, uint64_t *key, size_t n_keys, struct arena *a)
{
	uint64_t *tmp = arena_raw(a, n_keys, sizeof *tmp);
	uint32_t *count = arena_raw(a, (size_t)n + 1, sizeof *count);
	g->n = n;
	g->m = (uint32_t)sort_unique(key, n_keys, tmp, count, n);
	g->u = arena_raw(a, g->m, sizeof *g->u);
	g->v = arena_raw(a, g->m, sizeof *g->v);
	for (uint32_t e = 0; e < g->m; e++) {
		g->u[e] = (uint32_t)(key[e] >> 32);
		g->v[e] = (uint32_t)key[e];
	}
	g->traffic = NULL;
	build_rows(g, a);
}

static uint64_t edge_key(uint32_t a, uint32_t b)
{
	return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

/* bytes more on the edge between a and b, which g has: bisection. */
static void carry(struct ugraph *g, uint32_t a, uint32_t b, double bytes)
{
	uint64_t key = edge_key(a, b);
	uint32_t lo = 0, hi = g->m;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (edge_key(g->u[mid], g->v[mid]) <= key)
			lo = mid;
		else
			hi = mid;
	}
	g->traffic[lo] += bytes;
}

void ugraph_from_digraph(struct ugraph *g, const struct digraph *d, struct arena *a)
{
	uint64_t *key = arena_raw(a, d->m, sizeof *key);
	for (uint32_t e = 0; e < d->m; e++)
		key[e] = edge_key(d->src[e], d->dst[e]);
	from_keys(g, d->n, key, d->m, a);
	if (!d->bytes)
		return;
	g->traffic = ARENA_NEWN(a, double, g->m);
	for (uint32_t e = 0; e < d->m; e++)
		carry(g, d->src[e], d->dst[e], (double)d->bytes[e]);
}

void ugraph_tie(struct ugraph *out, const struct ugraph *g, const uint32_t *class,
		uint32_t n_classes, struct arena *a)
{
	uint64_t *key = arena_raw(a, (size_t)g->m + g->n, sizeof *key);
	uint32_t *last = arena_raw(a, n_classes, sizeof *last);
	size_t m = 0;
	for (uint32_t e = 0; e < g->m; e++)
		key[m++] = edge_key(g->u[e], g->v[e]);
	for (uint32_t c = 0; c < n_classes; c++)
		last[c] = UINT32_MAX;
	for (uint32_t i = 0; i < g->n; i++) {
		if (last[class[i]] != UINT32_MAX)
			key[m++] = edge_key(last[class[i]], i);
		last[class[i]] = i;
	}
	from_keys(out, g->n, key, m, a);
	if (!g->traffic)
		return;
	out->traffic = ARENA_NEWN(a, double, out->m);
	for (uint32_t e = 0; e < g->m; e++)
		carry(out, g->u[e], g->v[e], g->traffic[e]);
}

void ugraph_quotient(struct ugraph *out, const struct ugraph *g, const uint32_t *group,
		     uint32_t n_groups, struct arena *a)
{
	uint64_t *key = arena_raw(a, g->m, sizeof *key);
	size_t m = 0;
	for (uint32_t e = 0; e < g->m; e++)
		if (group[g->u[e]] != group[g->v[e]])
			key[m++] = edge_key(group[g->u[e]], group[g->v[e]]);
	from_keys(out, n_groups, key, m, a);
	if (!g->traffic)
		return;
	out->traffic = ARENA_NEWN(a, double, out->m);
	for (uint32_t e = 0; e < g->m; e++)
		if (group[g->u[e]] != group[g->v[e]])
			carry(out, group[g->u[e]], group[g->v[e]], g->traffic[e]);
}
