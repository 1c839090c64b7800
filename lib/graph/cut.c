/* cut.c - what dagsplit added to a graph. */
#include "graph/graph.h"

bool graph_joins_result(const struct graph *g, uint32_t v)
{
	uint32_t of = GRAPH_NONE;
	if (!g->cut || !g->cut->apart || g->kind[v] != OP_CONCAT || g->part_of[v] != GRAPH_NONE)
		return false;
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
		uint32_t w = g->in_node[i] == GRAPH_NONE ? GRAPH_NONE : g->part_of[g->in_node[i]];
		if (w == GRAPH_NONE || (of != GRAPH_NONE && w != of))
			return false;
		of = w;
	}
	bool read = false;
	for (uint32_t i = g->consumers.ptr[v]; i < g->consumers.ptr[v + 1]; i++) {
		read = true;
		if (g->kind[g->consumers.dst[i]] != OP_RESULT)
			return false;
	}
	return read && of != GRAPH_NONE;
}
