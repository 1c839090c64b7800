/* segment.c - from a device per node to segments that close no cycle: groups by
 * depth, then contraction of edges of their quotient graph. */
#include "base/disjoint.h"
#include "graph/rows.h"
#include "graph/contract.h"
#include "graph/segment.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool same_device(const uint16_t *device, uint32_t u, uint32_t v)
{
	return device[u] == device[v] && device[u] < SEGMENT_ALONE;
}

/* ---- the first groups ---- */

static uint32_t *depths(const struct digraph *d, const uint16_t *device, struct arena *a)
{
	uint32_t *depth = ARENA_NEWN(a, uint32_t, d->n);
	for (uint32_t i = 0; i < d->m; i++) {
		uint32_t u = d->src[i], v = d->dst[i];
		if (device[u] == SEGMENT_NOWHERE || device[v] == SEGMENT_NOWHERE)
			continue;
		uint32_t reach = depth[u] + !same_device(device, u, v);
		if (reach > depth[v])
			depth[v] = reach;
	}
	return depth;
}

struct place_key {
	uint32_t depth, v;
	uint16_t device;
};

static int by_place(const void *x, const void *y)
{
	const struct place_key *a = x, *b = y;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return a->v < b->v ? -1 : a->v > b->v;
}

/* One group for every (device, depth). */
static void join_places(const uint16_t *device, const uint32_t *depth, uint32_t n, uint32_t *group,
			uint32_t *piece)
{
	struct place_key *key = MEM_NEWN(struct place_key, n ? n : 1);
	uint32_t k = 0;
	for (uint32_t v = 0; v < n; v++)
		if (device[v] < SEGMENT_ALONE)
			key[k++] = (struct place_key){depth[v], v, device[v]};
	qsort(key, k, sizeof *key, by_place);
	for (uint32_t i = 1; i < k; i++)
		if (key[i].device == key[i - 1].device && key[i].depth == key[i - 1].depth) {
			disjoint_join(group, key[i - 1].v, key[i].v);
			disjoint_join(piece, key[i - 1].v, key[i].v);
		}
	mem_free(key);
}

/* ---- numbering ---- */

/* Number the sets of `parent` that hold nodes which are somewhere, by their first node. */
static uint32_t number_sets(uint32_t *parent, const uint16_t *device, uint32_t n, uint32_t *number)
{
	uint32_t k = 0;
	for (uint32_t v = 0; v < n; v++) {
		uint32_t r = disjoint_find(parent, v);
		if (device[v] == SEGMENT_NOWHERE)
			number[v] = GRAPH_NONE;
		else
			number[v] = r == v ? k++ : number[r];
	}
	return k;
}

/* Rows of each segment, ascending. */
static void list_nodes(uint32_t n_nodes, struct segments *x, struct arena *a)
{
	x->ptr = ARENA_NEWN(a, uint32_t, (size_t)x->n + 2);
	x->node = arena_raw(a, n_nodes, sizeof *x->node);
	rows_sort(x->of, NULL, ROWS_STEP, n_nodes, x->n, x->ptr, x->node);
}

void segment_quotient(const struct digraph *d, const uint32_t *group, uint32_t n_groups,
		      struct arena *a, struct digraph *q)
{
	struct digraph kept = {.n = d->n};
	kept.src = arena_raw(a, d->m, sizeof *kept.src);
	kept.dst = arena_raw(a, d->m, sizeof *kept.dst);
	for (uint32_t i = 0; i < d->m; i++)
		if (group[d->src[i]] != GRAPH_NONE && group[d->dst[i]] != GRAPH_NONE) {
			kept.src[kept.m] = d->src[i];
			kept.dst[kept.m++] = d->dst[i];
		}
	digraph_quotient(&kept, group, n_groups, a, q);
}

void segments_of(const struct digraph *d, const uint16_t *device, bool join, struct arena *a,
		 struct segments *out)
{
	struct arena *tmp = arena_new();
	uint32_t *parent = disjoint_new(d->n, tmp), *piece = disjoint_new(d->n, tmp);
	uint32_t *depth = depths(d, device, tmp), *group = arena_raw(tmp, d->n, sizeof *group);
	for (uint32_t i = 0; i < d->m; i++) {
		uint32_t u = d->src[i], v = d->dst[i];
		assert(u < v && v < d->n);
		if (!same_device(device, u, v))
			continue;
		disjoint_join(piece, u, v);
		if (depth[u] == depth[v])
			disjoint_join(parent, u, v);
	}
	if (join)
		join_places(device, depth, d->n, parent, piece);

	*out = (struct segments){0};
	uint32_t n_groups = number_sets(parent, device, d->n, group);
	uint16_t *group_device = arena_raw(tmp, n_groups, sizeof *group_device);
	for (uint32_t v = 0; v < d->n; v++)
		if (group[v] != GRAPH_NONE)
			group_device[group[v]] = device[v];
	struct digraph q;
	segment_quotient(d, group, n_groups, tmp, &q);
	bool *may = arena_raw(tmp, q.m, sizeof *may);
	for (uint32_t i = 0; i < q.m; i++)
		may[i] = same_device(group_device, q.src[i], q.dst[i]);
	uint32_t *last = arena_raw(tmp, n_groups, sizeof *last);
	out->n_limited = digraph_contract(&q, may, last, &out->n);
	out->of = arena_raw(a, d->n, sizeof *out->of);
	for (uint32_t v = 0; v < d->n; v++)
		out->of[v] = group[v] == GRAPH_NONE ? GRAPH_NONE : last[group[v]];

	out->n_pieces = number_sets(piece, device, d->n, group);
	out->device = arena_raw(a, out->n, sizeof *out->device);
	out->piece = arena_raw(a, out->n, sizeof *out->piece);
	for (uint32_t v = 0; v < d->n; v++)
		if (out->of[v] != GRAPH_NONE) {
			out->device[out->of[v]] = device[v];
			out->piece[out->of[v]] = group[v];
		}
	list_nodes(d->n, out, a);
	arena_free(tmp);
}

/* ---- what stays whole ---- */

/* Groups of nodes that stay together, numbered in a topological order. */
static uint32_t number_wholes(const struct digraph *d, const uint32_t *whole, struct arena *a,
			      uint32_t *number)
{
	uint32_t *of_whole = arena_raw(a, d->n, sizeof *of_whole), n = 0;
	memset(of_whole, 0xff, d->n * sizeof *of_whole);
	for (uint32_t v = 0; v < d->n; v++) {
		if (whole[v] == GRAPH_NONE)
			number[v] = n++;
		else if (of_whole[whole[v]] == GRAPH_NONE)
			number[v] = of_whole[whole[v]] = n++;
		else
			number[v] = of_whole[whole[v]];
	}
	struct digraph q;
	digraph_quotient(d, number, n, a, &q);
	uint32_t *order = arena_raw(a, n, sizeof *order), *place = ARENA_NEWN(a, uint32_t, n);
	bool acyclic = digraph_toposort(&q, a, order);
	assert(acyclic);
	(void)acyclic;
	for (uint32_t i = 0; i < n; i++)
		place[order[i]] = i;
	for (uint32_t v = 0; v < d->n; v++)
		number[v] = place[number[v]];
	return n;
}

void segments_of_wholes(const struct digraph *d, const uint16_t *device, const uint32_t *whole,
			bool join, struct arena *a, struct segments *out)
{
	if (!whole) {
		segments_of(d, device, join, a, out);
		return;
	}
	struct arena *tmp = arena_new();
	struct digraph q;
	struct segments x;
	uint32_t *number = arena_raw(tmp, d->n, sizeof *number);
	uint32_t n = number_wholes(d, whole, tmp, number);
	uint16_t *of_number = arena_raw(tmp, n, sizeof *of_number);
	for (uint32_t v = 0; v < d->n; v++)
		of_number[number[v]] = device[v];
	digraph_quotient(d, number, n, tmp, &q);
	segments_of(&q, of_number, join, a, &x);
	*out = x;
	out->of = arena_raw(a, d->n, sizeof *out->of);
	for (uint32_t v = 0; v < d->n; v++)
		out->of[v] = x.of[number[v]];
	list_nodes(d->n, out, a);
	arena_free(tmp);
}

void graph_digraph(const struct graph *g, struct arena *a, struct digraph *out)
{
	struct digraph d = {.n = g->n};
	uint32_t *one = arena_raw(a, g->n, sizeof *one);
	d.src = arena_raw(a, g->in_ptr[g->n], sizeof *d.src);
	d.dst = arena_raw(a, g->in_ptr[g->n], sizeof *d.dst);
	for (uint32_t v = 0; v < g->n; v++) {
		one[v] = v;
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
			if (g->in_node[i] != GRAPH_NONE) {
				d.src[d.m] = g->in_node[i];
				d.dst[d.m++] = v;
			}
	}
	digraph_quotient(&d, one, g->n, a, out);
}
