/* open_rank.c - tensors whose rank the file leaves open.
 *
 * A port of unknown rank has no dims in the file, like one of a scalar.  The two are told apart here: Parameters and variables have
 * their shape in an attribute; an output without dims is a scalar where the ranks of the inputs and the constants among them make it
 * one.  Where they do not say, its rank is open, and found while the model runs. */
#include <string.h>

#include "base/mem.h"
#include "ir/raw.h"
#include "op/op.h"

struct ranks {
	struct graph *g;
	bool *constant; /* (n) */
};

/* The output that input i of node v reads; GRAPH_NONE: none. */
static uint32_t input(const struct graph *g, uint32_t v, uint32_t i)
{
	uint32_t slot = g->in_ptr[v] + i;
	return slot < g->in_ptr[v + 1] && g->in_node[slot] != GRAPH_NONE
		       ? g->out_ptr[g->in_node[slot]] + g->in_port[slot]
		       : GRAPH_NONE;
}

static bool is_open(const struct graph *g, uint32_t o)
{
	return o != GRAPH_NONE && g->out_rank[o] == RANK_DYNAMIC;
}

static bool any_open_input(const struct graph *g, uint32_t v)
{
	for (uint32_t i = 0; i < g->in_ptr[v + 1] - g->in_ptr[v]; i++)
		if (is_open(g, input(g, v, i)))
			return true;
	return false;
}

static bool is_static(const struct graph *g, uint32_t o)
{
	if (o == GRAPH_NONE || is_open(g, o))
		return false;
	for (uint32_t d = g->dim_ptr[o]; d < g->dim_ptr[o + 1]; d++)
		if (g->dim[d] < 0)
			return false;
	return true;
}

/* Is it not known how many elements input i of node v has? */
static bool open_length(const struct graph *g, uint32_t v, uint32_t i)
{
	uint32_t o = input(g, v, i);
	return o != GRAPH_NONE && !is_static(g, o);
}

static bool open_value(const struct ranks *r, uint32_t v, uint32_t i)
{
	uint32_t slot = r->g->in_ptr[v] + i;
	return input(r->g, v, i) != GRAPH_NONE && !r->constant[r->g->in_node[slot]];
}

static bool is_true(const struct graph *g, uint32_t v, const char *key)
{
	const char *s = graph_attr(g, v, key);
	return s && (strcmp(s, "true") == 0 || strcmp(s, "True") == 0 || strcmp(s, "1") == 0);
}

/* Output i of a node with bodies: what their Results read is open, or of several ranks. */
static bool open_result(const struct graph *g, uint32_t v, uint32_t i)
{
	bool open = false, any = false;
	uint32_t rank = 0;
	for (uint32_t b, end = graph_bodies(g, v, &b); b < end; b++) {
		const struct graph_body *body = &g->body[b];
		for (uint32_t k = 0; k < body->n_maps; k++) {
			const struct port_map *m = &body->map[k];
			if (!m->output || m->external != (int64_t)i)
				continue;
			uint32_t o = input(body->graph, m->internal, 0);
			if (o == GRAPH_NONE)
				continue;
			open = open || is_open(body->graph, o) ||
			       (any && rank != body->graph->out_rank[o]);
			rank = body->graph->out_rank[o];
			any = true;
		}
	}
	return open;
}

static bool squeeze_opens(const struct ranks *r, uint32_t v)
{
	const struct graph *g = r->g;
	if (is_open(g, input(g, v, 0)) || open_value(r, v, 1))
		return true;
	bool sizes_decide = input(g, v, 1) == GRAPH_NONE || is_true(g, v, "allow_axis_skip");
	return sizes_decide && !is_static(g, input(g, v, 0));
}

/* May output i of node v, which has no dims, be something else than a scalar? */
static bool opens(const struct ranks *r, uint32_t v, uint32_t i)
{
	const struct graph *g = r->g;
	enum op_kind kind = g->kind[v];
	const char *shape;
	switch (kind) {
	case OP_PARAMETER:
	case OP_CONST: return false;
	case OP_READ_VALUE:
		shape = graph_attr(g, v, "variable_shape");
		return shape ? strstr(shape, "...") != NULL : any_open_input(g, v);
	case OP_RESHAPE: return open_length(g, v, 1);
	/* clang-format off */
	case OP_BROADCAST: case OP_TILE: case OP_STRIDED_SLICE:
	case OP_GATHER_ND: /* by the last dim of the indices */
		/* clang-format on */
		return any_open_input(g, v) || open_length(g, v, 1);
	case OP_UNSQUEEZE: /* axes may name one dim twice */
		return any_open_input(g, v) || open_length(g, v, 1) || open_value(r, v, 1);
	case OP_RANDOM_UNIFORM: return open_length(g, v, 0);
	case OP_EYE: return open_length(g, v, 3);
	case OP_SQUEEZE: return squeeze_opens(r, v);
	/* clang-format off */
	case OP_IF: case OP_LOOP: case OP_TENSOR_ITERATOR: return open_result(g, v, i);
	/* clang-format on */
	default:
		if (op_info(kind)->category == OPC_REDUCE && !is_true(g, v, "keep_dims") &&
		    open_value(r, v, 1))
			return true;
		return any_open_input(g, v);
	}
}

static bool is_constant(const struct ranks *r, uint32_t v)
{
	const struct graph *g = r->g;
	enum op_kind kind = g->kind[v];
	enum op_category c = op_info(kind)->category;
	if (kind == OP_CONST)
		return true;
	if (kind == OP_SHAPE_OF)
		return is_static(g, input(g, v, 0));
	if (c == OPC_SOURCE || c == OPC_SINK || c == OPC_CONTROL || c == OPC_OTHER)
		return false;
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
		if (g->in_node[i] != GRAPH_NONE && !r->constant[g->in_node[i]])
			return false;
	return true;
}

void open_ranks(struct graph *g)
{
	struct ranks r = {g, MEM_NEWN(bool, (size_t)g->n + 1)};
	for (uint32_t v = 0; v < g->n; v++) {
		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
			if (g->out_rank[o] == 0 && opens(&r, v, o - g->out_ptr[v]))
				g->out_rank[o] = RANK_DYNAMIC;
		r.constant[v] = is_constant(&r, v);
	}
	mem_free(r.constant);
}
