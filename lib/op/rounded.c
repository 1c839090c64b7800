/* rounded.c - whose results are rounded before anything else becomes of them. */
#include "base/mem.h"
#include "op/op.h"

enum { MOST_LEVELS = 256 };

/* Does everything but input slot i of node u depend on constants alone? */
static bool by_constants(const struct graph *g, const bool *constant, uint32_t u, uint32_t i)
{
	for (uint32_t j = g->in_ptr[u]; j < g->in_ptr[u + 1]; j++)
		if (j != i && (g->in_node[j] == GRAPH_NONE || !constant[g->in_node[j]]))
			return false;
	return true;
}

/* Does node u round what its slot i reads, at once or when constants have scaled it? */
static bool rounds(const struct graph *g, const bool *constant, const struct op *op, uint32_t u,
		   uint32_t i)
{
	if (op[u].kind == OP_FAKE_QUANTIZE)
		return i == g->in_ptr[u] && op[u].a.quantize.levels <= MOST_LEVELS;
	return op[u].kind == OP_MULTIPLY && op[u].rounded && by_constants(g, constant, u, i);
}

void op_mark_rounded(const struct graph *g, const bool *constant, struct op *op)
{
	for (uint32_t v = 0; v < g->n; v++)
		op[v].rounded = false;
	/* Readers come behind what they read: a node's own mark is final when it is met.  Read once and not rounded
	 * counts more than any reader that rounds. */
	bool *read_whole = MEM_NEWN(bool, (size_t)g->n + 1);
	for (uint32_t u = g->n; u-- > 0;) {
		op[u].rounded = op[u].rounded && !read_whole[u];
		for (uint32_t i = g->in_ptr[u]; i < g->in_ptr[u + 1]; i++) {
			uint32_t v = g->in_node[i];
			if (v == GRAPH_NONE)
				continue;
			if (rounds(g, constant, op, u, i))
				op[v].rounded = true;
			else
				read_whole[v] = true;
		}
	}
	mem_free(read_whole);
}
