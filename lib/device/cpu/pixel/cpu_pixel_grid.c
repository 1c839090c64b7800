/* cpu_pixel_grid.c - which tensors lie with channels behind pixels. */
#include "device/cpu/pixel/cpu_pixel_impl.h"
#include "kernel/graph_facts.h"
#include "op/slice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A constant of integers as it lies among the weights; false: it is none. */
static bool integers(const struct graph *g, uint32_t v, const struct step_env *env,
		     struct tensor *t)
{
	int64_t c = v == GRAPH_NONE ? -1 : graph_const(g, v);
	if (c < 0 || !env || !env->weights)
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

static bool is_mean_of(const struct tensor *axes, uint32_t rank, uint32_t dims)
{
	struct err e = ERR_INIT;
	uint32_t set;
	return (rank == 4 || rank == 5) && op_axes(axes, rank, &set, &e) >= 0 && set == dims;
}

bool is_mean_of_planes(const struct tensor *axes, uint32_t rank)
{
	return is_mean_of(axes, rank, rank == 4 ? 0xc : 0x1c);
}

bool is_mean_of_channels(const struct tensor *axes, uint32_t rank)
{
	return is_mean_of(axes, rank, 2);
}

/* Is node v a convolution or pooling of one spatial dim, or does its input 0 descend from one by operators that keep its
 * shape, or pad it?  Other tensors of three dims are tokens. */
static bool is_line(const struct graph *g, uint32_t v)
{
	for (uint32_t n = 0; v != GRAPH_NONE && n < g->n; n++, v = graph_source(g, v, 0)) {
		enum op_kind kind = g->kind[v];
		enum op_category c = op_info(kind)->category;
		if (g->out_rank[g->out_ptr[v]] != 3)
			return false;
		if (c == OPC_CONV || c == OPC_POOL)
			return true;
		if (c != OPC_UNARY && c != OPC_BINARY && kind != OP_GROUP_NORM && kind != OP_MVN &&
		    kind != OP_PAD)
			return false;
	}
	return false;
}

bool has_planes(const struct graph *g, uint32_t v)
{
	uint32_t rank = g->out_rank[g->out_ptr[v]];
	return rank == 4 || rank == 5 || is_line(g, v);
}

/* The set of dims over which MVN v goes; false: they are not known. */
static bool mvn_axes(const struct graph *g, uint32_t v, const struct step_env *env, uint32_t *set)
{
	struct tensor axes;
	struct err e = ERR_INIT;
	uint32_t rank = g->out_rank[g->out_ptr[v]];
	const char *across = graph_attr(g, v, "across_channels");
	if (g->in_ptr[v + 1] - g->in_ptr[v] > 1)
		return integers(g, graph_source(g, v, 1), env, &axes) &&
		       op_axes(&axes, rank, set, &e) >= 0;
	bool all = !across || strcmp(across, "true") == 0 || strcmp(across, "1") == 0;
	*set = ((1u << rank) - 1) & ~(all ? 1u : 3u);
	return across != NULL;
}

bool norm_joins_channels(const struct graph *g, uint32_t v, const struct step_env *env)
{
	uint32_t set;
	return g->kind[v] == OP_MVN && mvn_axes(g, v, env, &set) && (set & 2);
}

bool is_norm_of_planes(const struct graph *g, uint32_t v, const struct step_env *env)
{
	enum op_kind kind = g->kind[v]; /* others may have no output */
	uint32_t set;
	if ((kind != OP_GROUP_NORM && kind != OP_MVN) || !has_planes(g, v))
		return false;
	if (kind == OP_GROUP_NORM)
		return true;
	uint32_t planes = ((1u << g->out_rank[g->out_ptr[v]]) - 1) & ~3u;
	return mvn_axes(g, v, env, &set) && (set | 2) == (planes | 2) && !(set & 1);
}

bool concat_joins_channels(const struct graph *g, uint32_t v)
{
	const char *axis = graph_attr(g, v, "axis");
	int rank = g->out_rank[g->out_ptr[v]], d = axis ? atoi(axis) : 0;
	return (rank == 4 || rank == 5) && (d == 1 || d == 1 - rank);
}

bool keeps_planes(const struct graph *g, uint32_t v)
{
	uint32_t x = g->in_node[g->in_ptr[v]], o = g->out_ptr[v];
	if (x == GRAPH_NONE)
		return false;
	uint32_t i = g->out_ptr[x] + g->in_port[g->in_ptr[v]], rank = g->out_rank[o];
	const int64_t *a = g->dim + g->dim_ptr[i], *b = g->dim + g->dim_ptr[o];
	bool same = (rank == 4 || rank == 5) && g->out_rank[i] == rank;
	for (uint32_t d = 0; d < rank && same; d++)
		same = d == 1 || a[d] == b[d];
	return same;
}

/* Has output 0 of v the same images, channels and number of pixels as input 0? */
static bool is_view(const struct graph *g, uint32_t v)
{
	enum op_kind kind = g->kind[v];
	uint32_t x = graph_source(g, v, 0), o = g->out_ptr[v];
	if ((kind != OP_RESHAPE && kind != OP_SQUEEZE && kind != OP_UNSQUEEZE) || x == GRAPH_NONE)
		return false;
	uint32_t i = g->out_ptr[x] + g->in_port[g->in_ptr[v]];
	const uint32_t port[2] = {i, o};
	int64_t pixels[2] = {1, 1};
	for (int k = 0; k < 2; k++)
		for (uint32_t d = 0; d < g->out_rank[port[k]]; d++) {
			int64_t n = g->dim[g->dim_ptr[port[k]] + d];
			if (n < 0)
				return false;
			pixels[k] *= d < 2 ? 1 : n;
		}
	const int64_t *a = g->dim + g->dim_ptr[i], *b = g->dim + g->dim_ptr[o];
	return g->out_rank[i] >= 3 && g->out_rank[o] >= 3 && a[0] == b[0] && a[1] == b[1] &&
	       pixels[0] == pixels[1];
}

bool turns_to_tokens(const struct graph *g, uint32_t v, const struct step_env *env)
{
	struct tensor order;
	if (g->kind[v] != OP_TRANSPOSE)
		return false;
	uint32_t rank = g->out_rank[g->out_ptr[v]], x = graph_source(g, v, 0);
	if (rank < 3 || !integers(g, graph_source(g, v, 1), env, &order) ||
	    tensor_elements(&order) != rank)
		return false;
	for (uint32_t d = 0; d < rank; d++)
		if (tensor_int(&order, d) != (d == 0 ? 0 : d + 1 < rank ? d + 1 : 1))
			return false;
	while (x != GRAPH_NONE && is_view(g, x))
		x = graph_source(g, x, 0);
	return x != GRAPH_NONE && has_planes(g, x);
}

/* Is v made of constants alone, through `most` operators at most? */
static bool is_constant(const struct graph *g, uint32_t v, int most)
{
	if (v == GRAPH_NONE || graph_const(g, v) >= 0)
		return true;
	bool all = most > 0 && g->in_ptr[v] < g->in_ptr[v + 1];
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1] && all; i++)
		all = is_constant(g, g->in_node[i], most - 1);
	return all;
}

/* Is v a convolution whose weights are no constants?  Those read planes. */
static bool computes_weights(const struct graph *g, uint32_t v)
{
	enum { MOST = 6 }; /* operators that constant weights go through */
	enum op_kind kind = g->kind[v];
	return (kind == OP_CONVOLUTION || kind == OP_GROUP_CONVOLUTION) &&
	       !is_constant(g, graph_source(g, v, 1), MOST);
}

bool pads_pixels(const struct graph *g, uint32_t v)
{
	uint32_t x = graph_source(g, v, 0), o = g->out_ptr[v];
	if (g->kind[v] != OP_PAD || x == GRAPH_NONE)
		return false;
	uint32_t i = g->out_ptr[x] + g->in_port[g->in_ptr[v]];
	const int64_t *a = g->dim + g->dim_ptr[i], *b = g->dim + g->dim_ptr[o];
	return g->out_rank[i] == g->out_rank[o] && g->out_rank[o] >= 3 && g->out_rank[o] <= 5 &&
	       a[0] == b[0] && a[1] == b[1];
}

/* Does input slot i of node u, which reads the node of output o, read what it holds, and not its shape alone? */
static bool reads_output(const struct graph *g, uint32_t u, uint32_t i, uint32_t o)
{
	return graph_slot_output(g, i) == o && g->kind[u] != OP_SHAPE_OF;
}

bool only_depthwise(const struct graph *g, uint32_t v)
{
	const struct consumers *readers = &g->consumers;
	uint32_t o = g->out_ptr[v];
	bool any = false;
	for (uint32_t k = readers->ptr[v]; k < readers->ptr[v + 1]; k++) {
		uint32_t u = readers->dst[k], i = readers->slot[k];
		if (!reads_output(g, u, i, o))
			continue;
		uint32_t w = graph_source(g, u, 1);
		if (g->kind[u] != OP_GROUP_CONVOLUTION || i != g->in_ptr[u] || w == GRAPH_NONE)
			return false;
		uint32_t p = g->out_ptr[w] + g->in_port[i + 1];
		if (g->out_rank[p] < 4 || g->dim[g->dim_ptr[p] + 2] != 1)
			return false;
		any = true;
	}
	return any;
}

/* ---- which outputs want pixels ---- */

/* What a reader has to say of an output. */
enum opinion { INDIFFERENT, PIXELS, PLANES };

static bool any_wanted(const struct graph *g, uint32_t v, const bool *wanted)
{
	bool any = false;
	for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
		any = any || wanted[o];
	return any;
}

/* Of node u, which reads output o in input slot i; wanted is known of its own outputs. */
static enum opinion opinion_of(const struct graph *g, uint32_t u, uint32_t i, uint32_t o,
			       const bool *wanted, const struct step_env *env)
{
	enum op_kind kind = g->kind[u];
	enum op_category category = op_info(kind)->category;
	bool first = i == g->in_ptr[u];
	struct tensor axes;
	if (category == OPC_CONV)
		return computes_weights(g, u) ? PLANES : PIXELS;
	if (category == OPC_POOL || category == OPC_UNARY || category == OPC_BINARY)
		return PIXELS;
	if (kind == OP_SLICE || kind == OP_STRIDED_SLICE)
		return first && keeps_planes(g, u) && wanted[g->out_ptr[u]] ? PIXELS : PLANES;
	if (op_is_split(kind))
		return first && keeps_planes(g, u) && any_wanted(g, u, wanted) ? PIXELS : PLANES;
	if (kind == OP_INTERPOLATE || is_view(g, u) || pads_pixels(g, u))
		return first && wanted[g->out_ptr[u]] ? PIXELS : PLANES;
	if (turns_to_tokens(g, u, env) || is_norm_of_planes(g, u, env) ||
	    kind == OP_FAKE_QUANTIZE || (kind == OP_CONCAT && concat_joins_channels(g, u)))
		return PIXELS;
	if (kind != OP_REDUCE_MEAN)
		return PLANES;
	return integers(g, graph_source(g, u, 1), env, &axes) &&
			       (is_mean_of_planes(&axes, g->out_rank[o]) ||
				is_mean_of_channels(&axes, g->out_rank[o]))
		       ? PIXELS
		       : INDIFFERENT;
}

/* Pass: bool of each output, from the last node to the first, as readers come later. */
static const void *find_wanted(const struct graph *g, const struct step_env *env, struct arena *a)
{
	const struct consumers *readers = &g->consumers;
	bool *wanted = ARENA_NEWN(a, bool, (size_t)g->out_ptr[g->n] + 1);
	for (uint32_t v = g->n; v-- > 0;)
		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++) {
			enum opinion all = INDIFFERENT;
			for (uint32_t k = readers->ptr[v]; k < readers->ptr[v + 1] && all != PLANES;
			     k++) {
				uint32_t u = readers->dst[k], i = readers->slot[k];
				enum opinion one = reads_output(g, u, i, o)
							   ? opinion_of(g, u, i, o, wanted, env)
							   : INDIFFERENT;
				all = one == INDIFFERENT ? all : one;
			}
			wanted[o] = all == PIXELS;
		}
	return wanted;
}

static const bool *wanted_outputs(const struct graph *g, const struct step_env *env)
{
	return (const bool *)graph_facts_of(env, g, find_wanted);
}

bool wants_pixels(const struct graph *g, uint32_t v, const struct step_env *env)
{
	return wanted_outputs(g, env)[g->out_ptr[v]];
}

bool splits_pixels(const struct graph *g, uint32_t v, const struct step_env *env)
{
	return op_is_split(g->kind[v]) && keeps_planes(g, v) &&
	       any_wanted(g, v, wanted_outputs(g, env));
}

struct mem_form pixels_form(enum elem elem)
{
	return (struct mem_form){.elem = elem, .pixels = true, .scale = 1};
}

bool fits_pixels(const struct tensor *t)
{
	return t->elem == EL_F32 && tensor_is_static(t) && t->rank >= 3 && t->rank <= 5 &&
	       tensor_elements(t) > 0 && t->dim[1] <= FORM_CHANNELS;
}

struct mem_form wanted_form_of(const struct step_node *n, uint32_t port, enum elem elem)
{
	struct mem_form f;
	if (!wanted_outputs(n->graph, n->env)[n->graph->out_ptr[n->v] + port])
		return (struct mem_form){.elem = EL_F32};
	if (elem != EL_I8 || !grid_of(n->graph, n->v, n->env, &f))
		f = pixels_form(elem == EL_BF16 ? EL_BF16 : EL_F32);
	f.pixels = true;
	return f;
}

struct mem_form wanted_form(const struct step_node *n, enum elem elem)
{
	return wanted_form_of(n, 0, elem);
}

bool same_grid(const struct mem_form *a, const struct mem_form *b)
{
	size_t bytes = (size_t)a->n_scales * 3 * sizeof *a->scales;
	return a->elem == b->elem && a->pixels == b->pixels && a->scale == b->scale &&
	       a->zero == b->zero && a->n_scales == b->n_scales &&
	       (a->scales == b->scales || memcmp(a->scales, b->scales, bytes) == 0);
}
