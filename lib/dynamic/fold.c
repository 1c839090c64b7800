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
	return g->kind[v] == OP_FAKE_QUANTIZE;
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
	if (g->kind[v] == OP_SHAPE_OF)
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

static uint64_t bytes_of(const struct graph *g, uint32_t v)
{
	uint64_t sum = 0;
	for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
		sum += (uint64_t)graph_out_bytes(g, o);
	return sum;
}

/* v has been computed: values that nothing else waits for are not needed any more; how many bytes these had. */
static uint64_t drop_inputs(struct host_values *h, uint32_t v, uint32_t *waiting)
{
	const struct graph *g = h->g;
	uint64_t bytes = 0;
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
		uint32_t u = g->in_node[i];
		if (u == GRAPH_NONE || --waiting[u] > 0 || graph_const(g, u) >= 0 ||
		    !h->value[g->out_ptr[u]].data)
			continue;
		bytes += bytes_of(g, u);
		for (uint32_t o = g->out_ptr[u]; o < g->out_ptr[u + 1]; o++)
			host_values_drop(h, o);
	}
	return bytes;
}

void host_fold(struct host_values *h, const bool *constant)
{
	const struct graph *g = h->g;
	bool *packed = MEM_NEWN(bool, g->n);
	uint32_t *waiting = MEM_NEWN(uint32_t, g->n); /* readers without a value */
	uint64_t held = 0;
	for (uint32_t v = 0; v < g->n; v++)
		waiting[v] = g->consumers.ptr[v + 1] - g->consumers.ptr[v];
	for (uint32_t v = 0; v < g->n; v++) {
		if (!constant[v] || graph_const(g, v) >= 0)
			continue;
		packed[v] = unpacks(g, v, packed);
		if (packed[v] || is_large(g, v) || held + bytes_of(g, v) > FOLD_HELD ||
		    !has_inputs(h, v) || !compute(h, v))
			continue;
		held += bytes_of(g, v);
		held -= drop_inputs(h, v, waiting);
	}
	mem_free(waiting);
	mem_free(packed);
}
