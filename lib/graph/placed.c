/* placed.c - nodes, segments and copies of a placement. */
#include "graph/placed.h"

#include <stdlib.h>

static void assign_nodes(const struct graph *g, const uint16_t *device, struct placed *p)
{
	uint32_t unknown = p->k;
	for (uint32_t v = 0; v < g->n; v++)
		p->node_device[v] = g->set[v] == GRAPH_NONE ? unknown : device[g->set[v]];
	/* Backwards, so that consumers are known, and the first consumer has the last word. */
	for (uint32_t v = g->n; v-- > 0;) {
		if (p->node_device[v] == unknown)
			p->node_device[v] = device[0];
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
			if (g->in_node[i] != GRAPH_NONE && g->set[g->in_node[i]] == GRAPH_NONE)
				p->node_device[g->in_node[i]] = p->node_device[v];
	}
	for (uint32_t v = 0; v < g->n; v++)
		p->nodes[p->node_device[v]]++;
	for (uint32_t s = 0; s < g->n_sets; s++)
		p->sets[device[s]]++;
}

static uint32_t root_of(uint32_t *parent, uint32_t s)
{
	while (parent[s] != s)
		s = parent[s] = parent[parent[s]];
	return s;
}

static void find_segments(const struct graph *g, const uint16_t *device, struct arena *a,
			  struct placed *p)
{
	struct digraph q;
	uint32_t *parent = p->segment;
	graph_set_quotient(g, a, &q);
	for (uint32_t s = 0; s < g->n_sets; s++)
		parent[s] = s;
	for (uint32_t i = 0; i < q.m; i++) {
		uint32_t s = root_of(parent, q.src[i]), t = root_of(parent, q.dst[i]);
		if (device[q.src[i]] == device[q.dst[i]])
			parent[s > t ? s : t] = s > t ? t : s;     /* the root is the first set */
	}
	uint32_t *number = arena_raw(a, g->n_sets, sizeof *number);
	for (uint32_t s = 0; s < g->n_sets; s++) {
		uint32_t root = root_of(parent, s);
		if (root == s) {
			number[s] = p->n_segments++;
			p->segments[device[s]]++;
		}
		number[s] = number[root];
	}
	for (uint32_t s = 0; s < g->n_sets; s++)
		p->segment[s] = number[s];
}

struct copy { uint32_t out, device; };

static int compare_copies(const void *a, const void *b)
{
	const struct copy *x = a, *y = b;
	if (x->out != y->out)
		return x->out < y->out ? -1 : 1;
	return (x->device > y->device) - (x->device < y->device);
}

static void count_copies(const struct graph *g, struct placed *p)
{
	struct copy *c = MEM_NEWN(struct copy, g->in_ptr[g->n]);
	size_t n = 0;
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			uint32_t u = g->in_node[i];
			if (u != GRAPH_NONE && g->set[u] != GRAPH_NONE && p->node_device[u] != p->node_device[v])
				c[n++] = (struct copy){g->out_ptr[u] + g->in_port[i], p->node_device[v]};
		}
	qsort(c, n, sizeof *c, compare_copies);
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && compare_copies(&c[i], &c[i - 1]) == 0)
			continue;
		int64_t bytes = graph_out_bytes(g, c[i].out);
		p->copies++;
		if (bytes > 0 && __builtin_add_overflow(p->copy_bytes, (uint64_t)bytes, &p->copy_bytes))
			p->copy_bytes = UINT64_MAX;
	}
	mem_free(c);
}

void placed_init(const struct graph *g, const uint16_t *device, uint32_t k, struct arena *a,
		 struct placed *out)
{
	*out = (struct placed){.k = k};
	out->node_device = arena_raw(a, g->n, sizeof *out->node_device);
	out->sets = ARENA_NEWN(a, uint32_t, k);
	out->nodes = ARENA_NEWN(a, uint32_t, k);
	out->segments = ARENA_NEWN(a, uint32_t, k);
	out->segment = arena_raw(a, g->n_sets, sizeof *out->segment);
	assign_nodes(g, device, out);
	find_segments(g, device, a, out);
	count_copies(g, out);
}
