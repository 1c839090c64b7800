/* fill_role.c - what each constant of a model is for, read off its consumers.
 *
 * From the last row to the first: a node that is computed from constants alone
 * has the role that its first consumer with an opinion gives it; operators that
 * only move elements hand on the role of their own output. */
#include "ir/fill.h"
#include "op/op.h"

#include <math.h>
#include <string.h>

struct ctx {
	const struct graph *g;
	bool *constant;     /* (n) computed from constants alone */
	enum elem *origin;  /* (n) element type of the largest constant behind it */
	struct role *role;  /* (n) of the node's outputs */
	struct role **body; /* (n_bodies) roles inside */
};

/* Has its output the elements of input 0, in another order or number? */
static bool is_mover(enum op_kind kind)
{
	switch (kind) {
	case OP_CONVERT:
	case OP_RESHAPE:
	case OP_TRANSPOSE:
	case OP_SQUEEZE:
	case OP_UNSQUEEZE:
	case OP_BROADCAST:
	case OP_TILE:
	case OP_SPLIT:
	case OP_VARIADIC_SPLIT:
	case OP_STRIDED_SLICE:
	case OP_SLICE:
	case OP_PAD:
	case OP_READ_VALUE:
	case OP_CONVERT_LIKE:
	case OP_REVERSE:
	case OP_ROLL:
	case OP_DEPTH_TO_SPACE:
	case OP_SPACE_TO_DEPTH:
	case OP_SHUFFLE_CHANNELS:
	case OP_IDENTITY:
	case OP_INTERPOLATE: return true;
	default: return false;
	}
}

bool fill_is_sequence(enum op_kind kind)
{
	return kind == OP_LSTM_SEQUENCE || kind == OP_GRU_SEQUENCE || kind == OP_RNN_SEQUENCE ||
	       kind == OP_AUGRU_SEQUENCE;
}

static bool is_cell(enum op_kind kind)
{
	return fill_is_sequence(kind) || kind == OP_LSTM_CELL || kind == OP_GRU_CELL ||
	       kind == OP_RNN_CELL || kind == OP_AUGRU_CELL;
}

static struct role value(float lo, float hi)
{
	return (struct role){.kind = ROLE_VALUE, .lo = lo, .hi = hi};
}

static struct role factor(float about)
{
	return value(0.9f * about, 1.1f * about);
}

static struct role weight(double gain, double fan_in)
{
	float bound = (float)sqrt(3 * gain / (fan_in > 1 ? fan_in : 1)); /* uniform: bound^2 / 3 */
	return (struct role){.kind = ROLE_WEIGHT, .lo = -bound, .hi = bound};
}

/* Output behind input k of v, as an index into the output columns. */
static uint32_t source(const struct graph *g, uint32_t v, uint32_t k)
{
	uint32_t s = g->in_ptr[v] + k;
	return g->out_ptr[g->in_node[s]] + g->in_port[s];
}

static uint32_t n_inputs(const struct graph *g, uint32_t v)
{
	return g->in_ptr[v + 1] - g->in_ptr[v];
}

static int64_t elements(const struct graph *g, uint32_t v, uint32_t k)
{
	return graph_out_elements(g, source(g, v, k));
}

/* Dimension i of input k of v, from the end when i < 0; 1 when it is not known. */
static double dim(const struct graph *g, uint32_t v, uint32_t k, int i)
{
	uint32_t o = source(g, v, k), rank = g->dim_ptr[o + 1] - g->dim_ptr[o];
	uint32_t at = i < 0 ? rank - (uint32_t)-i : (uint32_t)i;
	return at < rank && g->dim[g->dim_ptr[o] + at] > 0 ? (double)g->dim[g->dim_ptr[o] + at] : 1;
}

bool fill_attr_true(const struct graph *g, uint32_t v, const char *key)
{
	const char *s = graph_attr(g, v, key);
	return s && (*s == 't' || *s == 'T' || *s == '1');
}

/* Products whose input k is a weight: products that one output sums. */
static struct role product_role(const struct graph *g, uint32_t v, uint32_t k)
{
	enum op_kind kind = g->kind[v];
	double n = fmax((double)elements(g, v, k), 1);
	bool deformable = kind == OP_DEFORMABLE_CONVOLUTION;
	if (kind == OP_MATMUL && k < 2) {
		bool last = k == 0 ? !fill_attr_true(g, v, "transpose_a")
				   : fill_attr_true(g, v, "transpose_b");
		return weight(1, dim(g, v, k, last ? -1 : -2));
	}
	if ((kind == OP_CONVOLUTION || kind == OP_BINARY_CONVOLUTION) && k == 1)
		return weight(2, n / dim(g, v, k, 0));
	if (deformable && k == 2)
		return weight(2, n / dim(g, v, k, 0));
	if (kind == OP_GROUP_CONVOLUTION && k == 1)
		return weight(2, n / dim(g, v, k, 0) / dim(g, v, k, 1));
	if (kind == OP_CONVOLUTION_BACKPROP && k == 1)
		return weight(2, n / dim(g, v, k, 1));
	if (kind == OP_GROUP_CONVOLUTION_BACKPROP && k == 1)
		return weight(2, n / dim(g, v, k, 0) / dim(g, v, k, 2));
	if (kind == OP_EINSUM)
		return weight(1, sqrt(n));
	return (struct role){0};
}

/* Cells: X, H, [C,] [lengths of sequences,] W, R, B. */
static struct role cell_role(const struct graph *g, uint32_t v, uint32_t k)
{
	enum op_kind kind = g->kind[v];
	bool sequence = fill_is_sequence(kind),
	     lstm = kind == OP_LSTM_CELL || kind == OP_LSTM_SEQUENCE;
	uint32_t lengths = lstm ? 3 : 2, w = lengths + sequence;
	if (sequence && k == lengths)
		return (struct role){.kind = ROLE_INDEX, .node = v, .input = k};
	if (k == w || k == w + 1)
		return weight(1, dim(g, v, k, -1));
	return value(-0.1f, 0.1f);
}

/* Add, Subtract, Multiply and Divide. */
static struct role arithmetic_role(const struct ctx *c, uint32_t v, uint32_t k)
{
	const struct graph *g = c->g;
	const struct consumers *readers = &g->consumers;
	enum op_kind kind = g->kind[v];
	bool product = kind == OP_MULTIPLY || kind == OP_DIVIDE;
	uint32_t other = g->in_node[g->in_ptr[v] + 1 - k];
	if (c->constant[v]) {
		int64_t mine = elements(g, v, k), theirs = elements(g, v, 1 - k);
		if (mine > theirs || (mine == theirs && k == 0))
			return c->role[v];
		double half = elem_half_range(c->origin[other]);
		if (product && half > 0)
			return factor(c->role[v].kind == ROLE_WEIGHT ? (float)(c->role[v].hi / half)
								     : (float)(1 / half));
		if (!product && half > 0)
			return (struct role){.kind = ROLE_ZERO_POINT, .elem = c->origin[other]};
	}
	if (product || (kind == OP_SUBTRACT && k == 0))
		return factor(1);
	for (uint32_t i = readers->ptr[v]; i < readers->ptr[v + 1]; i++) {
		enum op_kind by = g->kind[readers->dst[i]];
		if (by == OP_SQRT || by == OP_LOG || by == OP_POWER || by == OP_DIVIDE)
			return value(0.05f, 0.15f); /* must not make its sum negative or zero */
	}
	return value(-0.1f, 0.1f);
}

/* Limits of FakeQuantize: the range of what it quantises. */
static struct role quantize_role(const struct ctx *c, uint32_t v, uint32_t k)
{
	double bound = 3, half = elem_half_range(c->origin[c->g->in_node[c->g->in_ptr[v]]]);
	if (k == 0)
		return c->role[v];
	if (c->constant[v] && c->role[v].kind == ROLE_WEIGHT)
		bound = c->role[v].hi;
	if (k <= 2 && c->constant[v] && half > 0)
		bound = half;
	return factor((float)(k % 2 ? -bound : bound));
}

/* Element-wise operators with constants of their own, and others with float parameters. */
static struct role other_role(const struct ctx *c, uint32_t v, uint32_t k)
{
	static const struct {
		enum op_kind kind;
		uint32_t input;
		float lo, hi;
	} table[] = {{OP_POWER, 1, 1, 1},
		     {OP_POWER, 0, 0.9f, 1.1f},
		     {OP_PRELU, 1, 0.15f, 0.35f},
		     {OP_SWISH, 1, 0.9f, 1.1f},
		     {OP_SQUARED_DIFFERENCE, 0, -0.1f, 0.1f},
		     {OP_SQUARED_DIFFERENCE, 1, -0.1f, 0.1f},
		     {OP_MAXIMUM, 0, -0.1f, 0},
		     {OP_MAXIMUM, 1, -0.1f, 0},
		     {OP_MINIMUM, 0, 3, 6},
		     {OP_MINIMUM, 1, 3, 6},
		     {OP_HARD_SIGMOID, 1, 0.2f, 0.2f},
		     {OP_HARD_SIGMOID, 2, 0.5f, 0.5f},
		     {OP_SELU, 1, 1.6733f, 1.6733f},
		     {OP_SELU, 2, 1.0507f, 1.0507f},
		     {OP_BATCH_NORM, 1, 0.9f, 1.1f},
		     {OP_BATCH_NORM, 2, -0.1f, 0.1f},
		     {OP_BATCH_NORM, 3, -0.1f, 0.1f},
		     {OP_BATCH_NORM, 4, 0.9f, 1.1f},
		     {OP_GROUP_NORM, 1, 0.9f, 1.1f},
		     {OP_GROUP_NORM, 2, -0.1f, 0.1f},
		     {OP_GATHER_ND, 0, -1, 1},
		     {OP_GATHER_ELEMENTS, 0, -1, 1},
		     {OP_EMBEDDING_OFFSETS_SUM, 0, -1, 1},
		     {OP_EMBEDDING_PACKED_SUM, 0, -1, 1},
		     {OP_EMBEDDING_SEGMENTS_SUM, 0, -1, 1},
		     {OP_EMBEDDING_OFFSETS, 0, -1, 1},
		     {OP_EMBEDDING_PACKED, 0, -1, 1},
		     {OP_CONCAT, UINT32_MAX, -1, 1},
		     {OP_RESULT, 0, -1, 1},
		     {OP_ONE_HOT, 2, 1, 1},
		     {OP_ONE_HOT, 3, 0, 0},
		     {OP_SCATTER_UPDATE, 0, -1, 1},
		     {OP_SCATTER_UPDATE, 2, -1, 1},
		     {OP_SCATTER_ND_UPDATE, 0, -1, 1},
		     {OP_SCATTER_ND_UPDATE, 2, -1, 1},
		     {OP_SCATTER_ELEMENTS_UPDATE, 0, -1, 1},
		     {OP_SCATTER_ELEMENTS_UPDATE, 2, -1, 1}};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (c->g->kind[v] == table[i].kind &&
		    (table[i].input == k || table[i].input == UINT32_MAX))
			return value(table[i].lo, table[i].hi);
	return (struct role){0};
}

bool fill_is_index(enum op_kind kind, uint32_t k)
{
	static const struct {
		enum op_kind kind;
		uint32_t first, last;
	} table[] = {{OP_RESHAPE, 1, 1},      {OP_TRANSPOSE, 1, 1},
		     {OP_SQUEEZE, 1, 1},      {OP_UNSQUEEZE, 1, 1},
		     {OP_BROADCAST, 1, 2},    {OP_TILE, 1, 1},
		     {OP_SPLIT, 1, 1},        {OP_VARIADIC_SPLIT, 1, 2},
		     {OP_GATHER, 1, 2},       {OP_INTERPOLATE, 1, 3},
		     {OP_TOP_K, 1, 1},        {OP_ONE_HOT, 1, 1},
		     {OP_NORMALIZE_L2, 1, 1}, {OP_LRN, 1, 1},
		     {OP_MVN, 1, 1},          {OP_RANGE, 0, 2},
		     {OP_LOOP, 0, 1},         {OP_IF, 0, 0},
		     {OP_SLICE, 1, 4},        {OP_STRIDED_SLICE, 1, 3},
		     {OP_PAD, 1, 2},          {OP_CUM_SUM, 1, 1}};
	if (op_info(kind)->category == OPC_REDUCE && k == 1)
		return true;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (kind == table[i].kind)
			return k >= table[i].first && k <= table[i].last;
	return false;
}

/* A control-flow node hands on the role that its body gives to the Parameter. */
static struct role body_role(const struct ctx *c, uint32_t v, uint32_t k)
{
	for (uint32_t b, end = graph_bodies(c->g, v, &b); b < end; b++) {
		const struct graph_body *body = &c->g->body[b];
		for (uint32_t i = 0; i < body->n_maps; i++)
			if (!body->map[i].output && body->map[i].external == k) {
				struct role r = c->body[b][body->map[i].internal];
				if (r.kind == ROLE_VALUE || r.kind == ROLE_WEIGHT)
					return r;
			}
	}
	return (struct role){0};
}

/* The role that input k of v gives to what feeds it. */
static struct role role_at(const struct ctx *c, uint32_t v, uint32_t k)
{
	enum op_kind kind = c->g->kind[v];
	struct role r = product_role(c->g, v, k);
	if (r.kind != ROLE_NONE)
		return r;
	if (is_cell(kind))
		return cell_role(c->g, v, k);
	if (kind == OP_ADD || kind == OP_SUBTRACT || kind == OP_MULTIPLY || kind == OP_DIVIDE)
		return k < 2 && n_inputs(c->g, v) == 2 ? arithmetic_role(c, v, k) : r;
	if (kind == OP_FAKE_QUANTIZE)
		return quantize_role(c, v, k);
	if (fill_is_index(kind, k))
		return (struct role){.kind = ROLE_INDEX, .node = v, .input = k};
	if (c->constant[v] &&
	    ((k == 0 && is_mover(kind)) || kind == OP_CONCAT || (kind == OP_GATHER && k == 0)))
		return c->role[v];
	if (kind == OP_GATHER && k == 0)
		return value(-1, 1);
	if (c->g->n_bodies && (r = body_role(c, v, k)).kind != ROLE_NONE)
		return r;
	return other_role(c, v, k);
}

/* Which nodes are constant, and the type of the largest constant behind each. */
static void find_constants(struct ctx *c, struct arena *a, bool in_body)
{
	const struct graph *g = c->g;
	c->constant = ARENA_NEWN(a, bool, g->n);
	c->origin = ARENA_NEWN(a, enum elem, g->n);
	for (uint32_t v = 0; v < g->n; v++) {
		int64_t most = -1;
		bool is_source = g->kind[v] == OP_CONST || (in_body && g->kind[v] == OP_PARAMETER);
		c->constant[v] = is_source || n_inputs(g, v) > 0;
		if (is_source)
			c->origin[v] = g->out_elem[g->out_ptr[v]];
		for (uint32_t k = 0; k < n_inputs(g, v); k++) {
			uint32_t u = g->in_node[g->in_ptr[v] + k];
			c->constant[v] &= c->constant[u];
			if (elements(g, v, k) > most) {
				most = elements(g, v, k);
				c->origin[v] = c->origin[u];
			}
		}
	}
}

struct role *fill_roles(const struct graph *g, bool in_body, struct arena *a)
{
	struct ctx c = {.g = g};
	const struct consumers *readers = &g->consumers;
	find_constants(&c, a, in_body);
	c.role = ARENA_NEWN(a, struct role, g->n);
	c.body = ARENA_NEWN(a, struct role *, g->n_bodies);
	for (uint32_t b = 0; b < g->n_bodies; b++)
		c.body[b] = fill_roles(g->body[b].graph, true, a);
	for (uint32_t v = g->n; v-- > 0;) {
		if (!c.constant[v])
			continue;
		for (uint32_t i = readers->ptr[v];
		     i < readers->ptr[v + 1] && c.role[v].kind == ROLE_NONE; i++) {
			uint32_t w = readers->dst[i];
			c.role[v] = role_at(&c, w, readers->slot[i] - g->in_ptr[w]);
		}
	}
	return c.role;
}
