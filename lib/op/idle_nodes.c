/* idle_nodes.c - which nodes of a model have no step when it runs, as in lib/exec/model.c: folded
 * values, inputs, results, and views of what others make. */
#include "base/mem.h"
#include "op/op.h"

static bool is_static(const struct graph *g, uint32_t first, uint32_t end)
{
	for (uint32_t o = first; o < end; o++)
		if (graph_out_elements(g, o) < 0)
			return false;
	return true;
}

/* Is the output of node v the bytes of its first input, of a size that is known before the run? */
static bool is_static_view(const struct graph *g, uint32_t v)
{
	uint32_t first = g->in_ptr[v];

	if (op_info(g->kind[v])->category != OPC_VIEW || first == g->in_ptr[v + 1] ||
	    g->in_node[first] == GRAPH_NONE)
		return false;
	for (uint32_t i = first; i < g->in_ptr[v + 1]; i++) {
		uint32_t o = graph_read_output(g, NULL, i);

		if (o != GRAPH_NONE && !is_static(g, o, o + 1))
			return false;
	}
	return is_static(g, g->out_ptr[v], g->out_ptr[v + 1]);
}

void op_idle_nodes(const struct graph *g, const bool *runs, bool *idle, uint32_t *root)
{
	bool *constant = MEM_NEWN(bool, g->n);

	if (g->ir_version)
		op_constant_nodes(g, constant);
	for (uint32_t v = 0; v < g->n; v++) {
		enum op_kind kind = g->kind[v];
		bool may = g->ir_version && !constant[v] && !(runs && runs[v]);
		bool view = may && is_static_view(g, v);

		idle[v] =
			constant[v] || view || (may && (kind == OP_PARAMETER || kind == OP_RESULT));
		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
			root[o] = view ? graph_read_output(g, root, g->in_ptr[v]) : o;
	}
	mem_free(constant);
}
