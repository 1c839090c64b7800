/* fold.c - which constants are computed for a runtime, and their values. */
#include "dynamic/fold.h"

#include "base/mem.h"
#include "op/op.h"

/* Is output o stored in few bits? */
static bool is_packed(const struct graph *g, uint32_t o)
{
	enum elem t = (enum elem)g->out_elem[o];
	unsigned bits = elem_bits(t);
	return t != EL_BOOLEAN && bits > 0 && (bits <= 8 || t == EL_F16 || t == EL_BF16);
}

/* Does node v unpack or round weights, or read what does? */
static bool unpacks(const struct graph *g, uint32_t v, const bool *packed)
{
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
		uint32_t u = g->in_node[i];
		if (u == GRAPH_NONE)
			continue;
		if (packed[u] || (graph_const(g, u) >= 0 && is_packed(g, graph_slot_output(g, i))))
			return true;
	}
	return op_kind(g->type[v]) == OP_FAKE_QUANTIZE;
}

static bool is_large(const struct graph *g, uint32_t v)
{
	for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
		if (graph_out_bytes(g, o) < 0 || graph_out_bytes(g, o) > FOLD_BYTES)
			return true;
	return false;
}

static bool compute(struct host_values *h, uint32_t v)
{
	struct err ignored = ERR_INIT;
	if (host_eval_node(h, v, &ignored) == 0)
		return true;
	for (uint32_t o = h->g->out_ptr[v]; o < h->g->out_ptr[v + 1]; o++)
		host_values_drop(h, o);
	return false;
}

/* Are the inputs of v known?  Consts are read where somebody wants them. */
static bool has_inputs(struct host_values *h, uint32_t v)
{
	const struct graph *g = h->g;
	if (op_kind(g->type[v]) == OP_SHAPE_OF)
		return true;
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
		uint32_t u = g->in_node[i];
		if (u == GRAPH_NONE || h->value[graph_slot_output(g, i)].data)
			continue;
		if (graph_const(g, u) < 0 || is_large(g, u) || !compute(h, u))
			return false;
	}
	return true;
}

void host_fold(struct host_values *h, const bool *constant)
{
	const struct graph *g = h->g;
	bool *packed = MEM_NEWN(bool, g->n);
	for (uint32_t v = 0; v < g->n; v++) {
		if (!constant[v] || graph_const(g, v) >= 0)
			continue;
		packed[v] = unpacks(g, v, packed);
		if (!packed[v] && !is_large(g, v) && has_inputs(h, v))
			compute(h, v);
	}
	mem_free(packed);
}
