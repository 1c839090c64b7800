/* shapes_variables.c - variables that grow where inputs have open dims.
 *
 * A cache is empty at first, and is assigned what it had and what came in.  Where the length of that is open, so is the cache's in each
 * inference but the first: its ReadValue has the dims in which the initial value and what is assigned agree.  Those follow from each
 * other, so the graph is walked again until no dim is opened that was not open before. */
#include "dynamic/shapes_impl.h"
#include "graph/segment.h"

#include <string.h>

/* Opens the dims of v's output that are not those of output `from`. */
static bool open_dims(const struct shapes *s, uint32_t v, uint32_t from, struct tensor *grown)
{
	const struct tensor *next = &s->h.value[from];
	struct tensor t = s->h.value[s->g->out_ptr[v]];
	bool same_rank = next->rank == t.rank, opened = false;
	if (t.rank > TENSOR_DIMS || (!same_rank && next->rank != RANK_DYNAMIC))
		return false;
	for (uint32_t d = 0; d < t.rank; d++)
		if (t.dim[d] >= 0 && !(same_rank && next->dim[d] == t.dim[d])) {
			t.dim[d] = DIM_DYNAMIC;
			opened = true;
		}
	if (opened) {
		grown->rank = t.rank;
		memcpy(grown->dim, t.dim, sizeof t.dim);
	}
	return opened;
}

bool shapes_open_variables(const struct shapes *s, struct tensor *grown)
{
	const struct graph *g = s->g;
	bool opened = false;
	for (uint32_t w = 0; w < g->n && shapes_open(s); w++) {
		if (g->kind[w] != OP_ASSIGN || graph_source(g, w, 0) == GRAPH_NONE)
			continue;
		const char *id = graph_variable(g, w);
		for (uint32_t v = 0; v < g->n && id; v++) {
			const char *other =
				g->kind[v] == OP_READ_VALUE ? graph_variable(g, v) : NULL;
			if (other && strcmp(other, id) == 0 &&
			    !(s->given && shapes_find(s->given, id)))
				opened |= open_dims(s, v, graph_slot_output(g, g->in_ptr[w]),
						    &grown[v]);
		}
	}
	return opened;
}
