/* cpu_graph.c - see cpu_graph.h. */
#include "device/cpu/graph/cpu_graph.h"

#include "kernel/nhwc/nhwc_form.h"

bool cpu_graph_ints(const struct cpu_graph *x, uint32_t v, struct tensor *t)
{
	const struct graph *g = x->g;
	const struct step_env *env = x->env;
	int64_t c = v == GRAPH_NONE ? -1 : graph_const(g, v);
	if (c < 0 || !env->weights)
		return false;
	uint32_t o = g->out_ptr[v];
	*t = (struct tensor){.elem = g->out_elem[o], .rank = g->out_rank[o]};
	if ((t->elem != EL_I64 && t->elem != EL_I32) || t->rank > 1)
		return false;
	if (t->rank == 1)
		t->dim[0] = g->dim[g->dim_ptr[o]];
	uint64_t bytes = tensor_bytes(t);
	if (g->const_bytes[c] != bytes || g->const_offset[c] > env->weights_bytes ||
	    env->weights_bytes - g->const_offset[c] < bytes)
		return false;
	t->data = (char *)(uintptr_t)(env->weights + g->const_offset[c]);
	return true;
}

bool cpu_graph_reads(const struct cpu_graph *x, uint32_t u, uint32_t i, uint32_t o)
{
	return graph_slot_output(x->g, i) == o && x->g->kind[u] != OP_SHAPE_OF;
}

bool cpu_graph_only_depthwise(const struct cpu_graph *x, uint32_t v)
{
	const struct graph *g = x->g;
	uint32_t o = g->out_ptr[v];
	bool any = false;
	for (uint32_t k = x->g->consumers.ptr[v]; k < x->g->consumers.ptr[v + 1]; k++) {
		uint32_t u = x->g->consumers.dst[k], i = x->g->consumers.slot[k];
		if (!cpu_graph_reads(x, u, i, o))
			continue;
		uint32_t w = graph_source(g, u, 1);
		if (x->g->kind[u] != OP_GROUP_CONVOLUTION || i != g->in_ptr[u] || w == GRAPH_NONE)
			return false;
		uint32_t p = g->out_ptr[w] + g->in_port[i + 1];
		if (g->out_rank[p] < 4 || g->dim[g->dim_ptr[p] + 2] != 1)
			return false;
		any = true;
	}
	return any;
}

bool cpu_graph_any_nhwc(const struct cpu_graph *x, uint32_t v)
{
	bool any = false;
	for (uint32_t o = x->g->out_ptr[v]; o < x->g->out_ptr[v + 1]; o++)
		any = any || x->nhwc[o];
	return any;
}

/* The dims of input 0 of v and of its output 0; false: it is not connected. */
static bool in_and_out(const struct graph *g, uint32_t v, const int64_t *dim[2], uint32_t rank[2])
{
	uint32_t u = graph_source(g, v, 0);
	if (u == GRAPH_NONE)
		return false;
	const uint32_t port[2] = {graph_slot_output(g, g->in_ptr[v]), g->out_ptr[v]};
	for (int i = 0; i < 2; i++) {
		dim[i] = g->dim + g->dim_ptr[port[i]];
		rank[i] = g->out_rank[port[i]];
	}
	return true;
}

bool cpu_graph_keeps_planes(const struct cpu_graph *x, uint32_t v)
{
	const int64_t *dim[2];
	uint32_t rank[2];
	bool same = in_and_out(x->g, v, dim, rank) && (rank[1] == 4 || rank[1] == 5) &&
		    rank[0] == rank[1];
	for (uint32_t d = 0; same && d < rank[1]; d++)
		same = d == 1 || dim[0][d] == dim[1][d];
	return same;
}

/* Was the input in slot i of v made by an operator on images? */
static bool reads_image(const struct graph *g, uint32_t i)
{
	enum { BACK = 16 };
	for (int k = 0; k < BACK; k++) {
		uint32_t u = g->in_node[i];
		if (u == GRAPH_NONE)
			return false;
		enum op_kind kind = g->kind[u];
		enum op_category c = op_info(kind)->category;
		if (c == OPC_CONV || c == OPC_POOL || kind == OP_INTERPOLATE)
			return true;
		if (c != OPC_UNARY && c != OPC_BINARY && !op_is_split(kind) && kind != OP_CONCAT &&
		    kind != OP_SLICE && kind != OP_STRIDED_SLICE && kind != OP_PAD &&
		    kind != OP_FAKE_QUANTIZE && kind != OP_MVN && kind != OP_GROUP_NORM)
			return false;
		i = g->in_ptr[u];
		i += c == OPC_BINARY && g->in_node[i] != GRAPH_NONE &&
		     graph_const(g, g->in_node[i]) >= 0;
	}
	return false;
}

bool cpu_graph_keeps_channels(const struct cpu_graph *x, uint32_t v)
{
	const struct graph *g = x->g;
	const int64_t *dim[2];
	uint32_t rank[2];
	bool image = false;
	if (!in_and_out(g, v, dim, rank) || rank[0] != rank[1] || (rank[1] != 4 && rank[1] != 5) ||
	    dim[0][0] != dim[1][0] || dim[0][1] != dim[1][1])
		return false;
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1] && !image; i++)
		image = (i == g->in_ptr[v] || g->kind[v] == OP_CONCAT) && reads_image(g, i);
	return image;
}

bool cpu_graph_is_view(const struct cpu_graph *x, uint32_t v)
{
	enum op_kind kind = x->g->kind[v];
	const int64_t *dim[2];
	uint32_t rank[2];
	int64_t pixels[2] = {1, 1};
	if ((kind != OP_RESHAPE && kind != OP_SQUEEZE && kind != OP_UNSQUEEZE) ||
	    !in_and_out(x->g, v, dim, rank) || rank[0] == RANK_DYNAMIC || rank[1] == RANK_DYNAMIC)
		return false;
	for (int k = 0; k < 2; k++)
		for (uint32_t d = 0; d < rank[k]; d++) {
			if (dim[k][d] < 0)
				return false;
			pixels[k] *= d < 2 ? 1 : dim[k][d];
		}
	return rank[0] >= 3 && rank[1] >= 3 && dim[0][0] == dim[1][0] && dim[0][1] == dim[1][1] &&
	       pixels[0] == pixels[1];
}

bool cpu_graph_splits_nhwc(const struct cpu_graph *x, uint32_t v)
{
	return op_is_split(x->g->kind[v]) && cpu_graph_any_nhwc(x, v) &&
	       (cpu_graph_keeps_planes(x, v) || cpu_graph_keeps_channels(x, v));
}

bool cpu_graph_reads_rows(const struct cpu_graph *x, uint32_t v)
{
	enum { BACK = 8 };
	for (int i = 0; i < BACK && (v = graph_source(x->g, v, 0)) != GRAPH_NONE; i++) {
		enum op_kind kind = x->g->kind[v];
		enum op_category c = op_info(kind)->category;
		if (kind == OP_MATMUL || kind == OP_MVN || kind == OP_ATTENTION)
			return true;
		if (c != OPC_VIEW && c != OPC_UNARY && c != OPC_BINARY)
			return false;
	}
	return false;
}

bool fits_nhwc(const struct tensor *t)
{
	return t->elem == EL_F32 && tensor_is_static(t) && t->rank >= 3 && t->rank <= 5 &&
	       tensor_elements(t) > 0 && t->dim[1] <= FORM_CHANNELS;
}

struct mem_form nhwc_wanted(const struct cpu_graph *x, uint32_t v, uint32_t port, enum elem elem)
{
	struct mem_form f;
	if (!x->nhwc[x->g->out_ptr[v] + port])
		return (struct mem_form){.elem = EL_F32};
	if (elem != EL_I8 || !grid_of(x, v, &f))
		f = form_nhwc(elem == EL_BF16 ? EL_BF16 : EL_F32);
	f.nhwc = true;
	return f;
}
