/* segment_graph.c - segments of a graph's nodes: what reads and assigns a variable stays whole, and
 * what computes a variable's initial value, and nothing else, is apart.
 *
 * OpenVINO checks that the shape of an initial value fits the variable.  In a segment that has the
 * end of such a computation alone, and gets the rest (an extent, as a rule) as an input, the shape
 * is not known, and the segment is refused; a value that is an input as a whole has its shape. */
#include "graph/segment.h"

#include <string.h>

/* (n) nodes that only initial values of variables depend on, and that depend on no variable: has
 * (n_sets). */
static bool *initial_nodes(const struct graph *g, const uint16_t *device, const bool *has,
			   struct arena *a)
{
	bool *other = ARENA_NEWN(a, bool, g->n), *initial = ARENA_NEWN(a, bool, g->n);
	bool *late = ARENA_NEWN(a, bool, g->n);
	for (uint32_t v = g->n; v-- > 0;) {
		bool reads = g->kind[v] == OP_READ_VALUE;
		initial[v] = initial[v] && !other[v] && !reads && device[v] < SEGMENT_ALONE;
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
			if (g->in_node[i] != GRAPH_NONE)
				(reads || initial[v] ? initial : other)[g->in_node[i]] = true;
	}
	for (uint32_t v = 0; v < g->n; v++) {
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			uint32_t u = g->in_node[i];
			late[v] |= u != GRAPH_NONE &&
				   (late[u] ||
				    (!initial[u] && g->set[u] != GRAPH_NONE && has[g->set[u]]));
		}
		initial[v] &= !late[v];
	}
	return initial;
}

/* Sets with variables whose nodes are on one device, or nowhere; initial values are apart. */
static uint32_t *variables_wholes(const struct graph *g, const uint16_t *device, const bool *has,
				  const bool *initial, struct arena *a)
{
	uint16_t *on = arena_raw(a, g->n_sets, sizeof *on);
	uint32_t *whole = arena_raw(a, g->n, sizeof *whole);
	bool *parted = ARENA_NEWN(a, bool, g->n_sets);
	memset(on, 0xff, g->n_sets * sizeof *on);
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t s = g->set[v];
		if (s == GRAPH_NONE || device[v] == SEGMENT_NOWHERE)
			continue;
		parted[s] |= on[s] != SEGMENT_NOWHERE && on[s] != device[v];
		on[s] = device[v];
	}
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t s = g->set[v];
		bool is_whole = s != GRAPH_NONE && device[v] < SEGMENT_ALONE && has[s] &&
				!initial[v] && !parted[s];
		whole[v] = is_whole ? s : GRAPH_NONE;
	}
	return whole;
}

void segments_of_graph(const struct graph *g, const uint16_t *device, bool join, struct arena *a,
		       struct segments *out)
{
	enum { APART = 1 << 15 }; /* added to a device: a label of its own */
	struct arena *tmp = arena_new();
	struct digraph d;
	graph_digraph(g, tmp, &d);
	const bool *has = graph_variable_sets(g, tmp);
	if (!has) {
		segments_of(&d, device, join, a, out);
		arena_free(tmp);
		return;
	}
	const bool *initial = initial_nodes(g, device, has, tmp);
	const uint32_t *whole = variables_wholes(g, device, has, initial, tmp);
	uint16_t *label = arena_raw(tmp, g->n, sizeof *label);
	for (uint32_t v = 0; v < g->n; v++)
		label[v] = initial[v] && device[v] < APART ? device[v] + APART : device[v];
	segments_of_wholes(&d, label, whole, join, a, out);
	for (uint32_t s = 0; s < out->n; s++)
		if (out->device[s] >= APART && out->device[s] < SEGMENT_ALONE)
			out->device[s] -= APART;
	arena_free(tmp);
}
