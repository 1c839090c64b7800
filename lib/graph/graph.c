/* graph.c - the graph as a container: its life, single-node questions, and
 * what follows from its columns.  Reading and writing it are graphrec_*.c. */
#include "base/ascending.h"
#include "graph/graph.h"

#include <stdio.h>
#include <string.h>

struct graph *graph_new(void)
{
	struct arena *a = arena_new();
	struct graph *g = ARENA_NEWN(a, struct graph, 1);
	g->name = g->xml = g->weights = "";
	g->arena = a;
	return g;
}

void graph_free(struct graph *g)
{
	if (g)
		arena_free(g->arena); /* g itself lives in it */
}

uint32_t graph_source(const struct graph *g, uint32_t v, uint32_t input)
{
	uint32_t i = g->in_ptr[v] + input;
	return i < g->in_ptr[v + 1] ? g->in_node[i] : GRAPH_NONE;
}

const char *graph_attr(const struct graph *g, uint32_t v, const char *key)
{
	for (uint32_t i = g->attr_ptr[v]; i < g->attr_ptr[v + 1]; i++)
		if (strcmp(g->attr_key[i], key) == 0)
			return g->attr_value[i];
	return NULL;
}

uint32_t graph_read_output(const struct graph *g, const uint32_t *root, uint32_t i)
{
	uint32_t u = g->in_node[i], o;

	if (u == GRAPH_NONE)
		return GRAPH_NONE;
	o = g->out_ptr[u] + g->in_port[i];
	return root ? root[o] : o;
}

int64_t graph_out_elements(const struct graph *g, uint32_t o)
{
	int64_t n = 1;
	bool dynamic = g->out_rank[o] == RANK_DYNAMIC;
	for (uint32_t i = g->dim_ptr[o]; i < g->dim_ptr[o + 1]; i++)
		dynamic |= g->dim[i] < 0;
	if (dynamic)
		return -1;
	for (uint32_t i = g->dim_ptr[o]; i < g->dim_ptr[o + 1]; i++)
		if (g->dim[i] == 0)
			return 0;
	for (uint32_t i = g->dim_ptr[o]; i < g->dim_ptr[o + 1]; i++)
		if (__builtin_mul_overflow(n, g->dim[i], &n))
			return -1;
	return n;
}

int64_t graph_out_bytes(const struct graph *g, uint32_t o)
{
	int64_t n = graph_out_elements(g, o);
	uint64_t bytes;
	if (n < 0 || elem_bits(g->out_elem[o]) == 0 ||
	    !elem_bytes(g->out_elem[o], (uint64_t)n, &bytes) || bytes > INT64_MAX)
		return -1;
	return (int64_t)bytes;
}

uint32_t graph_n_edges(const struct graph *g)
{
	uint32_t m = 0;
	for (uint32_t i = 0; i < g->in_ptr[g->n]; i++)
		m += g->in_node[i] != GRAPH_NONE;
	return m;
}

char *graph_layer(const struct graph *g, uint32_t v, char *dst, size_t cap)
{
	char q[200];
	snprintf(dst, cap, "layer %lld '%s' (%s)", (long long)g->id[v],
		 err_escape(q, sizeof q, g->node_name[v], strlen(g->node_name[v])), g->type[v]);
	return dst;
}

uint32_t graph_node_of(const struct graph *g, uint32_t o)
{
	uint32_t lo = 0, hi = g->n;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (g->out_ptr[mid] <= o)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

bool graph_const_in_tail(const struct graph *g, uint32_t c)
{
	return g->tail_bytes > 0 && g->const_offset[c] >= g->tail_at;
}

int64_t graph_const(const struct graph *g, uint32_t v)
{
	uint32_t lo = 0, hi = g->n_const;
	BISECT(lo, hi, mid, g->const_node[mid] < v)
	return lo < g->n_const && g->const_node[lo] == v ? (int64_t)lo : -1;
}

uint32_t graph_bodies(const struct graph *g, uint32_t v, uint32_t *first)
{
	uint32_t lo = 0, hi = g->n_bodies;
	BISECT(lo, hi, mid, g->body[mid].node < v)
	*first = lo;
	while (hi < g->n_bodies && g->body[hi].node == v)
		hi++;
	return hi;
}

/* Kinds of types met lately, by their pointers: equal types have equal ones. */
struct kind_cache {
	const char *type[64];
	enum op_kind kind[64];
};

static enum op_kind kind_of(struct kind_cache *x, const char *type)
{
	size_t at = (uintptr_t)type / 8 % (sizeof x->type / sizeof *x->type);
	if (x->type[at] != type) {
		x->type[at] = type;
		x->kind[at] = op_kind(type);
	}
	return x->kind[at];
}

static void find_kinds(struct graph *g)
{
	struct kind_cache cache = {.type = {NULL}};
	g->kind = arena_raw(g->arena, g->n, sizeof *g->kind);
	for (uint32_t v = 0; v < g->n; v++)
		g->kind[v] = kind_of(&cache, g->type[v]);
}

static void find_consumers(struct graph *g)
{
	uint32_t n = g->n, m = graph_n_edges(g);
	uint32_t *ptr = ARENA_NEWN(g->arena, uint32_t, (size_t)n + 2);
	struct consumers *out = &g->consumers;
	out->dst = arena_raw(g->arena, m, sizeof *out->dst);
	out->slot = arena_raw(g->arena, m, sizeof *out->slot);
	/* Counting sort by source.  Counts stand two places up, so that after
	 * the prefix sum ptr[v + 1] is where v's next consumer goes, and after
	 * filling it is where v's row ends. */
	for (uint32_t i = 0; i < g->in_ptr[n]; i++)
		if (g->in_node[i] != GRAPH_NONE)
			ptr[g->in_node[i] + 2]++;
	for (uint32_t v = 0; v < n; v++)
		ptr[v + 1] += ptr[v];
	for (uint32_t v = 0; v < n; v++)
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
			if (g->in_node[i] != GRAPH_NONE) {
				uint32_t k = ptr[g->in_node[i] + 1]++;
				out->dst[k] = v;
				out->slot[k] = i;
			}
	out->ptr = ptr;
}

void graph_finish(struct graph *g)
{
	find_kinds(g);
	find_consumers(g);
	for (uint32_t b = 0; b < g->n_bodies; b++)
		if (!g->body[b].graph->kind)
			graph_finish(g->body[b].graph);
}
