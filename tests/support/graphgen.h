/* graphgen.h - graphs made up for tests: random DAGs with every column filled,
 * reproducible from a seed. */
#ifndef HSDAG_TESTS_GRAPHGEN_H
#define HSDAG_TESTS_GRAPHGEN_H

#include <string.h>

#include "base/rng.h"
#include "graph/graph.h"
#include "record/graphrec.h"

struct gen {
	struct rng_addr at;
	uint32_t next;
};

static inline struct gen gen_new(uint64_t seed)
{
	return (struct gen){{seed, 0, 0, RNG_SEARCH}, 0};
}

static inline uint32_t gen_below(struct gen *r, uint32_t bound)
{
	return rng_below(&r->at, r->next++, bound);
}

/* A graph of n nodes, all zero, with room for n_in inputs and n_out outputs a node, and `rank`
 * dims an output.  No attributes, constants or sets; graph_finish is the caller's. */
static inline struct graph *gen_columns(uint32_t n, uint32_t n_in, uint32_t n_out, uint32_t rank)
{
	struct graph *g = graph_new();
	struct arena *a = g->arena;
	size_t outs = (size_t)n_out * n;
	g->name = "made up";
	g->n = n;
	g->id = ARENA_NEWN(a, int64_t, n);
	g->node_name = ARENA_NEWN(a, const char *, n);
	g->type = ARENA_NEWN(a, const char *, n);
	g->opset = ARENA_NEWN(a, const char *, n);
	g->attr_ptr = ARENA_NEWN(a, uint32_t, n + 1);
	g->in_ptr = ARENA_NEWN(a, uint32_t, n + 1);
	g->in_node = ARENA_NEWN(a, uint32_t, (size_t)n_in * n);
	g->in_port = ARENA_NEWN(a, uint32_t, (size_t)n_in * n);
	g->out_ptr = ARENA_NEWN(a, uint32_t, n + 1);
	g->out_elem = ARENA_NEWN(a, uint8_t, outs);
	g->out_rank = ARENA_NEWN(a, uint8_t, outs);
	g->out_names = ARENA_NEWN(a, const char *, outs);
	g->dim_ptr = ARENA_NEWN(a, uint32_t, outs + 1);
	g->dim = ARENA_NEWN(a, int64_t, rank * outs);
	return g;
}

/* n nodes of one output of one byte, each a set of its own, with room for n_in inputs a node.  What
 * they read (in_ptr, in_node), other sizes (dim) and graph_finish are for the caller. */
static inline struct graph *gen_tensors(uint32_t n, uint32_t n_in)
{
	struct graph *g = gen_columns(n, n_in, 1, 1);

	g->n_sets = n;
	g->set = ARENA_NEWN(g->arena, uint32_t, n);
	for (uint32_t v = 0; v < n; v++) {
		g->node_name[v] = g->type[v] = "Node";
		g->opset[v] = g->out_names[v] = "";
		g->set[v] = v;
		g->out_ptr[v + 1] = g->dim_ptr[v + 1] = v + 1;
		g->out_elem[v] = EL_U8;
		g->out_rank[v] = 1;
		g->dim[v] = 1;
	}
	return g;
}

/* Such a graph of n nodes of 0 to 4 bytes; node v reads up to two of the nodes before it.  mirror:
 * the second half mirrors the first one, as backward passes do. */
static inline struct graph *gen_nodes(struct gen *r, uint32_t n, bool mirror)
{
	struct graph *g = gen_tensors(n, mirror && n > 2 ? n : 2);
	uint32_t m = 0;

	for (uint32_t v = 0; v < n; v++) {
		bool second = mirror && v >= n / 2;

		if (second) {
			/* the mirror of w reads those of w's consumers, and w */
			uint32_t w = n - 1 - v;

			g->in_node[m++] = w;
			for (uint32_t x = w + 1; x < n / 2; x++)
				for (uint32_t i = g->in_ptr[x]; i < g->in_ptr[x + 1]; i++)
					if (g->in_node[i] == w)
						g->in_node[m++] = n - 1 - x;
		}
		for (uint32_t i = 0, k = v && !second ? gen_below(r, 3) : 0; i < k; i++)
			g->in_node[m++] = gen_below(r, v);
		g->in_ptr[v + 1] = m;
		g->dim[v] = gen_below(r, 5);
	}
	graph_finish(g);
	return g;
}

/* n nodes; node v > 0 has up to 3 inputs, most of them among the `span` nodes before
 * it (a small span makes long thin graphs); a quarter of the nodes are constants. */
static inline struct graph *gen_graph(uint64_t seed, uint32_t n, uint32_t span)
{
	static const char *const types[] = {"Add", "ReLU", "Convolution", "MatMul", "MyOwnOp"};
	struct gen r = gen_new(seed);
	struct graph *g = gen_columns(n, 3, 2, 4);
	struct arena *a = g->arena;
	g->ir_version = 11;
	g->attr_key = ARENA_NEWN(a, const char *, n);
	g->attr_value = ARENA_NEWN(a, const char *, n);
	g->const_node = ARENA_NEWN(a, uint32_t, n);
	g->const_offset = ARENA_NEWN(a, uint64_t, n);
	g->const_bytes = ARENA_NEWN(a, uint64_t, n);
	uint32_t m = 0, o = 0, d = 0, n_attr = 0;
	for (uint32_t v = 0; v < n; v++) {
		bool constant = v > 0 && v + 1 < n && gen_below(&r, 4) == 0;
		g->id[v] = 10 * (int64_t)v + 7;
		g->node_name[v] = arena_printf(a, "node %u", v - (v % 7 == 3)); /* some twice */
		g->type[v] = v == 0 ? "Parameter" : constant ? "Const" : types[gen_below(&r, 5)];
		g->opset[v] = v % 3 ? "opset1" : "opset8";
		if (v % 2 == 0) {
			g->attr_key[n_attr] = "axis";
			g->attr_value[n_attr++] = arena_printf(a, "%u", v % 5);
		}
		g->attr_ptr[v + 1] = n_attr;
		uint32_t n_in = v == 0 || constant ? 0 : 1 + gen_below(&r, 3);
		for (uint32_t i = 0; i < n_in; i++) {
			uint32_t back = 1 + gen_below(&r, gen_below(&r, 50) ? span : v);
			uint32_t u = back > v ? 0 : v - back;
			bool open = i > 0 && gen_below(&r, 20) == 0;
			g->in_node[m] = open ? GRAPH_NONE : u;
			g->in_port[m++] =
				open ? 0 : gen_below(&r, g->out_ptr[u + 1] - g->out_ptr[u]);
		}
		g->in_ptr[v + 1] = m;
		for (uint32_t k = 0, n_out = 1 + (v % 6 == 5); k < n_out; k++, o++) {
			uint32_t rank = gen_below(&r, 5);
			g->out_elem[o] = (uint8_t)(gen_below(&r, 2) ? EL_F32 : EL_I64);
			g->out_names[o] = k ? "b,c" : "";
			g->out_rank[o] = (uint8_t)(rank == 4 ? RANK_DYNAMIC : rank);
			for (uint32_t i = 0; i < rank % 4; i++)
				g->dim[d++] =
					gen_below(&r, 9) ? (int64_t)gen_below(&r, 64) : DIM_DYNAMIC;
			if (g->out_rank[o] != RANK_DYNAMIC)
				g->out_rank[o] = (uint8_t)(rank % 4);
			g->dim_ptr[o + 1] = d;
		}
		g->out_ptr[v + 1] = o;
		if (constant) {
			g->const_node[g->n_const] = v;
			g->const_offset[g->n_const] = 64 * (uint64_t)v;
			g->const_bytes[g->n_const++] = 1 + gen_below(&r, 64);
		}
	}
	graph_finish(g);
	graph_colocate(g, CONST_KEEP, true);
	return g;
}

/* A plain DAG of n nodes with about n * per_node edges, sorted, distinct. */
static inline struct digraph gen_digraph(uint64_t seed, uint32_t n, uint32_t per_node,
					 uint32_t span, struct arena *a)
{
	struct gen r = gen_new(seed);
	struct digraph d = {.n = n};
	size_t cap = (size_t)n * per_node;
	d.src = ARENA_NEWN(a, uint32_t, cap);
	d.dst = ARENA_NEWN(a, uint32_t, cap);
	for (uint32_t v = 0; v + 1 < n; v++) {
		uint32_t from = d.m, reach = n - 1 - v < span ? n - 1 - v : span;
		for (uint32_t i = 0; i < per_node; i++) {
			uint32_t u = v + 1 + gen_below(&r, reach), k = d.m;
			while (k > from && d.dst[k - 1] > u)
				k--;
			if (k > from && d.dst[k - 1] == u)
				continue;
			memmove(d.dst + k + 1, d.dst + k, (d.m - k) * sizeof *d.dst);
			d.dst[k] = u;
			d.src[d.m++] = v;
		}
	}
	return d;
}

#endif
