/* quotient.c - plain directed graphs: quotients by a grouping, compressed
 * rows, topological order, depths. */
#include "graph/rows.h"
#include "graph/graph.h"

#include <string.h>

/* An arc on its way into a digraph: `tag` tells apart the tensors that one
 * pair of groups exchanges. */
struct arc {
	uint32_t src, dst, tag;
	uint64_t bytes;
};

/* Stable counting sort by one of the three keys, all below `bound`. */
static void sort_by(struct arc *arc, struct arc *tmp, uint32_t n, uint32_t bound, size_t key_offset,
		    uint32_t *count)
{
	memset(count, 0, ((size_t)bound + 1) * sizeof *count);
#define KEY(p) (*(const uint32_t *)(const void *)((const char *)(p) + key_offset))
	for (uint32_t i = 0; i < n; i++)
		count[KEY(&arc[i]) + 1]++;
	for (uint32_t k = 0; k < bound; k++)
		count[k + 1] += count[k];
	for (uint32_t i = 0; i < n; i++)
		tmp[count[KEY(&arc[i])]++] = arc[i];
#undef KEY
	memcpy(arc, tmp, n * sizeof *arc);
}

/* Sort by (src, dst, tag), count a tag once for each pair, and sum the pairs. */
static void digraph_build(struct arc *arc, uint32_t n_arcs, uint32_t n, uint32_t n_tags, bool bytes,
			  struct arena *a, struct digraph *out)
{
	struct arc *tmp = MEM_NEWN(struct arc, n_arcs);
	uint32_t *count = MEM_NEWN(uint32_t, (size_t)(n > n_tags ? n : n_tags) + 1);
	if (bytes)
		sort_by(arc, tmp, n_arcs, n_tags, offsetof(struct arc, tag), count);
	sort_by(arc, tmp, n_arcs, n, offsetof(struct arc, dst), count);
	sort_by(arc, tmp, n_arcs, n, offsetof(struct arc, src), count);
	mem_free(tmp);
	mem_free(count);
	uint32_t m = 0;
	for (uint32_t i = 0; i < n_arcs; i++)
		m += i == 0 || arc[i].src != arc[i - 1].src || arc[i].dst != arc[i - 1].dst;
	*out = (struct digraph){.n = n, .m = m};
	out->src = arena_raw(a, m, sizeof *out->src);
	out->dst = arena_raw(a, m, sizeof *out->dst);
	out->bytes = bytes ? ARENA_NEWN(a, uint64_t, m) : NULL;
	uint32_t k = 0;
	for (uint32_t i = 0; i < n_arcs; i++) {
		bool same = i > 0 && arc[i].src == arc[i - 1].src && arc[i].dst == arc[i - 1].dst;
		if (!same) {
			out->src[k] = arc[i].src;
			out->dst[k++] = arc[i].dst;
		}
		if (bytes && !(same && arc[i].tag == arc[i - 1].tag) &&
		    __builtin_add_overflow(out->bytes[k - 1], arc[i].bytes, &out->bytes[k - 1]))
			out->bytes[k - 1] = UINT64_MAX;
	}
}

void graph_set_quotient(const struct graph *g, struct arena *a, struct digraph *out)
{
	struct arc *arc = MEM_NEWN(struct arc, g->in_ptr[g->n]);
	uint32_t k = 0;
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			uint32_t u = g->in_node[i];
			if (u == GRAPH_NONE || g->set[u] == GRAPH_NONE || g->set[v] == GRAPH_NONE ||
			    g->set[u] == g->set[v])
				continue;
			uint32_t o = g->out_ptr[u] + g->in_port[i];
			int64_t bytes = graph_out_bytes(g, o);
			arc[k++] = (struct arc){g->set[u], g->set[v], o,
						bytes < 0 ? 0 : (uint64_t)bytes};
		}
	digraph_build(arc, k, g->n_sets, g->out_ptr[g->n], true, a, out);
	mem_free(arc);
}

void digraph_quotient(const struct digraph *d, const uint32_t *group, uint32_t n_groups,
		      struct arena *a, struct digraph *out)
{
	struct arc *arc = MEM_NEWN(struct arc, d->m);
	uint32_t k = 0;
	for (uint32_t i = 0; i < d->m; i++)
		if (group[d->src[i]] != group[d->dst[i]]) {
			arc[k] = (struct arc){group[d->src[i]], group[d->dst[i]], k,
					      d->bytes ? d->bytes[i] : 0};
			k++;
		}
	digraph_build(arc, k, n_groups, k, d->bytes != NULL, a, out);
	mem_free(arc);
}

void digraph_csr(const struct digraph *d, bool in, struct arena *a, uint32_t **ptr, uint32_t **adj)
{
	const uint32_t *from = in ? d->dst : d->src, *to = in ? d->src : d->dst;
	uint32_t *p = ARENA_NEWN(a, uint32_t, (size_t)d->n + 2);
	uint32_t *x = arena_raw(a, d->m, sizeof *x);
	rows_sort(from, to, ROWS_STEP, d->m, d->n, p, x);
	*ptr = p;
	*adj = x;
}

bool digraph_toposort(const struct digraph *d, struct arena *a, uint32_t *order)
{
	uint32_t *ptr, *adj, head = 0, tail = 0;
	digraph_csr(d, false, a, &ptr, &adj);
	uint32_t *waits = ARENA_NEWN(a, uint32_t, d->n);
	for (uint32_t i = 0; i < d->m; i++)
		waits[d->dst[i]]++;
	for (uint32_t v = 0; v < d->n; v++)
		if (waits[v] == 0)
			order[tail++] = v;
	while (head < tail) {
		uint32_t v = order[head++];
		for (uint32_t i = ptr[v]; i < ptr[v + 1]; i++)
			if (--waits[adj[i]] == 0)
				order[tail++] = adj[i];
	}
	return tail == d->n;
}

void digraph_depths(const struct digraph *d, uint32_t *from_source, uint32_t *to_sink)
{
	memset(from_source, 0, d->n * sizeof *from_source);
	memset(to_sink, 0, d->n * sizeof *to_sink);
	/* Edges are sorted by source and sources precede targets, so each edge is
	 * seen when its source's depth is final; backwards, its target's. */
	for (uint32_t i = 0; i < d->m; i++)
		if (from_source[d->dst[i]] < from_source[d->src[i]] + 1)
			from_source[d->dst[i]] = from_source[d->src[i]] + 1;
	for (uint32_t i = d->m; i-- > 0;)
		if (to_sink[d->src[i]] < to_sink[d->dst[i]] + 1)
			to_sink[d->src[i]] = to_sink[d->dst[i]] + 1;
}
