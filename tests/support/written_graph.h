/* written_graph.h - a graph that a test writes down node by node. */
#ifndef HSDAG_TESTS_WRITTEN_GRAPH_H
#define HSDAG_TESTS_WRITTEN_GRAPH_H

#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "op/tensor.h"

enum { NODES = 32, PORTS = 128 };

static struct graph *g;

static inline void graph_begin(void)
{
	g = graph_new();
	struct arena *a = g->arena;
	g->name = g->xml = g->weights = "";
	g->id = ARENA_NEWN(a, int64_t, NODES);
	g->node_name = ARENA_NEWN(a, const char *, NODES);
	g->type = ARENA_NEWN(a, const char *, NODES);
	g->opset = ARENA_NEWN(a, const char *, NODES);
	g->attr_ptr = ARENA_NEWN(a, uint32_t, NODES + 1);
	g->attr_key = ARENA_NEWN(a, const char *, PORTS);
	g->attr_value = ARENA_NEWN(a, const char *, PORTS);
	g->in_ptr = ARENA_NEWN(a, uint32_t, NODES + 1);
	g->in_node = ARENA_NEWN(a, uint32_t, PORTS);
	g->in_port = ARENA_NEWN(a, uint32_t, PORTS);
	g->out_ptr = ARENA_NEWN(a, uint32_t, NODES + 1);
	g->out_elem = ARENA_NEWN(a, uint8_t, PORTS);
	g->out_rank = ARENA_NEWN(a, uint8_t, PORTS);
	g->out_names = ARENA_NEWN(a, const char *, PORTS);
	g->dim_ptr = ARENA_NEWN(a, uint32_t, PORTS + 1);
	g->dim = ARENA_NEWN(a, int64_t, PORTS * TENSOR_DIMS);
	g->const_node = ARENA_NEWN(a, uint32_t, NODES);
	g->const_offset = ARENA_NEWN(a, uint64_t, NODES);
	g->const_bytes = ARENA_NEWN(a, uint64_t, NODES);
}

/* Numbers separated by commas. */
static inline uint32_t numbers(const char *s, int64_t *dst)
{
	uint32_t n = 0;
	for (char *end; *s; s = *end ? end + 1 : end)
		dst[n++] = strtoll(s, &end, 10);
	return n;
}

/* A node: inputs "2,0" (outputs 0 of those rows), one output of that shape ("-": none), attributes
 * "key=value;key=value".  Returns its row. */
static inline uint32_t node(const char *type, const char *opset, const char *inputs, enum elem elem,
			    const char *shape, const char *attrs)
{
	uint32_t v = g->n++, slot = g->in_ptr[v], o = g->out_ptr[v], k = g->attr_ptr[v];
	int64_t in[8];
	g->id[v] = v;
	g->node_name[v] = arena_printf(g->arena, "n%u", v);
	g->type[v] = type;
	g->opset[v] = opset;
	for (uint32_t i = 0, n = numbers(inputs, in); i < n; i++, slot++)
		g->in_node[slot] = in[i] < 0 ? GRAPH_NONE : (uint32_t)in[i];
	g->in_ptr[v + 1] = slot;
	if (*shape != '-') {
		g->out_elem[o] = (uint8_t)elem;
		g->out_rank[o] = (uint8_t)numbers(shape, g->dim + g->dim_ptr[o]);
		g->dim_ptr[o + 1] = g->dim_ptr[o] + g->out_rank[o];
		o++;
	}
	g->out_ptr[v + 1] = o;
	for (char *s = arena_strndup(g->arena, attrs, strlen(attrs)), *next; *s; s = next) {
		char *value = strchr(s, '=');
		next = s + strcspn(s, ";");
		if (*next)
			*next++ = '\0';
		*value++ = '\0';
		g->attr_key[k] = s;
		g->attr_value[k++] = value;
	}
	g->attr_ptr[v + 1] = k;
	graph_finish(g);
	return v;
}

#endif
