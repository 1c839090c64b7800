/* placed.c - nodes, segments and copies of a placement. */
#include "base/disjoint.h"
#include "graph/placed.h"

#include <stdlib.h>

struct work {
	const struct graph *g;
	const uint16_t *device;
	struct arena *a;
	bool *follows; /* (n) its first consumer */
	struct placed *p;
};

static uint32_t first_consumer(const struct graph *g, uint32_t v)
{
	const struct consumers *c = &g->consumers;
	return c->ptr[v] < c->ptr[v + 1] ? c->dst[c->ptr[v]] : GRAPH_NONE;
}

static void assign_nodes(struct work *w)
{
	const struct graph *g = w->g;
	struct placed *p = w->p;
	/* Backwards, so that consumers are placed before. */
	for (uint32_t v = g->n; v-- > 0;) {
		uint32_t s = g->set[v];
		uint32_t first = first_consumer(g, v);
		w->follows[v] &= first != GRAPH_NONE;
		p->node_device[v] =
			w->follows[v] ? p->node_device[first] : w->device[s == GRAPH_NONE ? 0 : s];
		if (s != GRAPH_NONE)
			p->set_device[s] = p->node_device[v];
	}
	for (uint32_t v = 0; v < g->n; v++)
		p->nodes[p->node_device[v]]++;
	for (uint32_t s = 0; s < g->n_sets; s++)
		p->sets[p->set_device[s]]++;
}

static void find_segments(struct work *w)
{
	const struct graph *g = w->g;
	struct placed *p = w->p;
	uint32_t *parent = disjoint_new(g->n_sets, w->a);
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			uint32_t u = g->in_node[i];
			if (u == GRAPH_NONE || g->set[u] == GRAPH_NONE || g->set[v] == GRAPH_NONE)
				continue;
			/* A constant with many consumers does not tie them together. */
			if (w->follows[u] ? first_consumer(g, u) == v
					  : p->node_device[u] == p->node_device[v])
				disjoint_join(parent, g->set[u], g->set[v]);
		}
	for (uint32_t s = 0; s < g->n_sets; s++) {
		uint32_t root = disjoint_find(parent, s);
		if (root == s) {
			p->segment[s] = p->n_segments++;
			p->segments[p->set_device[s]]++;
		}
		p->segment[s] = p->segment[root];
	}
}

struct copy {
	uint32_t out, device;
};

static int compare_copies(const void *a, const void *b)
{
	const struct copy *x = a, *y = b;
	if (x->out != y->out)
		return x->out < y->out ? -1 : 1;
	return (x->device > y->device) - (x->device < y->device);
}

static void count_copies(struct work *w, const struct placed_idle *x)
{
	const struct graph *g = w->g;
	struct placed *p = w->p;
	struct copy *c = MEM_NEWN(struct copy, g->in_ptr[g->n]);
	size_t n = 0;
	for (uint32_t v = 0; v < g->n; v++) {
		if (w->follows[v] || (x && x->idle[v]))
			continue;
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			uint32_t o = graph_read_output(g, x ? x->root : NULL, i);
			uint32_t u = o == GRAPH_NONE ? v : graph_node_of(g, o);
			if (!w->follows[u] && !(x && x->idle[u]) &&
			    p->node_device[u] != p->node_device[v])
				c[n++] = (struct copy){o, p->node_device[v]};
		}
	}
	qsort(c, n, sizeof *c, compare_copies);
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && compare_copies(&c[i], &c[i - 1]) == 0)
			continue;
		int64_t bytes = graph_out_bytes(g, c[i].out);
		p->copies++;
		if (bytes > 0 &&
		    __builtin_add_overflow(p->copy_bytes, (uint64_t)bytes, &p->copy_bytes))
			p->copy_bytes = UINT64_MAX;
	}
	mem_free(c);
}

void placed_init(const struct graph *g, const uint16_t *device, uint32_t k, const bool *constant,
		 const struct placed_idle *idle, struct arena *a, struct placed *out)
{
	struct work w = {.g = g, .device = device, .a = a, .p = out};
	*out = (struct placed){.k = k};
	out->node_device = arena_raw(a, g->n, sizeof *out->node_device);
	out->set_device = arena_raw(a, g->n_sets, sizeof *out->set_device);
	out->sets = ARENA_NEWN(a, uint32_t, k);
	out->nodes = ARENA_NEWN(a, uint32_t, k);
	out->segments = ARENA_NEWN(a, uint32_t, k);
	out->segment = arena_raw(a, g->n_sets, sizeof *out->segment);
	w.follows = arena_raw(a, g->n, sizeof *w.follows);
	for (uint32_t v = 0; v < g->n; v++)
		w.follows[v] = g->set[v] == GRAPH_NONE || (constant && constant[v]);
	assign_nodes(&w);
	find_segments(&w);
	count_copies(&w, idle);
}
