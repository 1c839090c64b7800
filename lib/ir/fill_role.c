/* fill_role.c - what each constant of a model is for, read off its consumers.
 *
 * From the last row to the first: a node that is computed from constants alone
 * has the role that its first consumer with an opinion gives it; operators that
 * only move elements hand on the role of their own output. */
#include "ir/fill.h"

#include <math.h>
#include <string.h>

struct ctx {
	const struct graph *g;
	struct consumers cons;
	bool *constant;     /* (n) computed from constants alone */
	enum elem *origin;  /* (n) element type of the largest constant behind it */
	struct role *role;  /* (n) of the node's outputs */
	struct role **body; /* (n_bodies) roles inside */
};

static bool is_one_of(const char *type, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(type, *list) == 0)
			return true;
	return false;
}

/* Operators whose output has the elements of input 0, in another order or number. */
static const char *const movers[] = {"Convert",
				     "Reshape",
				     "Transpose",
				     "Squeeze",
				     "Unsqueeze",
				     "Broadcast",
				     "Tile",
				     "Split",
				     "VariadicSplit",
				     "StridedSlice",
				     "Slice",
				     "Pad",
				     "ReadValue",
				     "ConvertLike",
				     "Reverse",
				     "Roll",
				     "DepthToSpace",
				     "SpaceToDepth",
				     "ShuffleChannels",
				     "Identity",
				     "Interpolate",
				     NULL};

static const char *const cells[] = {"LSTMCell",    "LSTMSequence",  "GRUCell",
				    "GRUSequence", "RNNCell",       "RNNSequence",
				    "AUGRUCell",   "AUGRUSequence", NULL};

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
	const char *t = g->type[v];
	double n = fmax((double)elements(g, v, k), 1);
	bool deformable = strcmp(t, "DeformableConvolution") == 0;
	if (strcmp(t, "MatMul") == 0 && k < 2) {
		bool last = k == 0 ? !fill_attr_true(g, v, "transpose_a")
				   : fill_attr_true(g, v, "transpose_b");
		return weight(1, dim(g, v, k, last ? -1 : -2));
	}
	if ((strcmp(t, "Convolution") == 0 || strcmp(t, "BinaryConvolution") == 0) && k == 1)
		return weight(2, n / dim(g, v, k, 0));
	if (deformable && k == 2)
		return weight(2, n / dim(g, v, k, 0));
	if (strcmp(t, "GroupConvolution") == 0 && k == 1)
		return weight(2, n / dim(g, v, k, 0) / dim(g, v, k, 1));
	if (strcmp(t, "ConvolutionBackpropData") == 0 && k == 1)
		return weight(2, n / dim(g, v, k, 1));
	if (strcmp(t, "GroupConvolutionBackpropData") == 0 && k == 1)
		return weight(2, n / dim(g, v, k, 0) / dim(g, v, k, 2));
	if (strcmp(t, "Einsum") == 0)
		return weight(1, sqrt(n));
	return (struct role){0};
}

/* Cells: X, H, [C,] [lengths of sequences,] W, R, B. */
static struct role cell_role(const struct graph *g, uint32_t v, uint32_t k)
{
	const char *t = g->type[v];
	bool sequence = strstr(t, "Sequence") != NULL;
	uint32_t lengths = strncmp(t, "LSTM", 4) == 0 ? 3 : 2, w = lengths + sequence;
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
	const char *t = g->type[v];
	bool product = strcmp(t, "Multiply") == 0 || strcmp(t, "Divide") == 0;
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
	if (product || (strcmp(t, "Subtract") == 0 && k == 0))
		return factor(1);
	for (uint32_t i = c->cons.ptr[v]; i < c->cons.ptr[v + 1]; i++) {
		static const char *const positive[] = {"Sqrt", "Log", "Power", "Divide", NULL};
		if (is_one_of(g->type[c->cons.dst[i]], positive))
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
		const char *type;
		uint32_t input;
		float lo, hi;
	} table[] = {{"Power", 1, 1, 1},
		     {"Power", 0, 0.9f, 1.1f},
		     {"PReLU", 1, 0.15f, 0.35f},
		     {"Swish", 1, 0.9f, 1.1f},
		     {"SquaredDifference", 0, -0.1f, 0.1f},
		     {"SquaredDifference", 1, -0.1f, 0.1f},
		     {"Maximum", 0, -0.1f, 0},
		     {"Maximum", 1, -0.1f, 0},
		     {"Minimum", 0, 3, 6},
		     {"Minimum", 1, 3, 6},
		     {"HardSigmoid", 1, 0.2f, 0.2f},
		     {"HardSigmoid", 2, 0.5f, 0.5f},
		     {"Selu", 1, 1.6733f, 1.6733f},
		     {"Selu", 2, 1.0507f, 1.0507f},
		     {"BatchNormInference", 1, 0.9f, 1.1f},
		     {"BatchNormInference", 2, -0.1f, 0.1f},
		     {"BatchNormInference", 3, -0.1f, 0.1f},
		     {"BatchNormInference", 4, 0.9f, 1.1f},
		     {"GroupNormalization", 1, 0.9f, 1.1f},
		     {"GroupNormalization", 2, -0.1f, 0.1f},
		     {"GatherND", 0, -1, 1},
		     {"GatherElements", 0, -1, 1},
		     {"EmbeddingBagOffsetsSum", 0, -1, 1},
		     {"EmbeddingBagPackedSum", 0, -1, 1},
		     {"EmbeddingSegmentsSum", 0, -1, 1},
		     {"EmbeddingBagOffsets", 0, -1, 1},
		     {"EmbeddingBagPacked", 0, -1, 1},
		     {"Concat", UINT32_MAX, -1, 1},
		     {"Result", 0, -1, 1},
		     {"OneHot", 2, 1, 1},
		     {"OneHot", 3, 0, 0},
		     {"ScatterUpdate", 0, -1, 1},
		     {"ScatterUpdate", 2, -1, 1},
		     {"ScatterNDUpdate", 0, -1, 1},
		     {"ScatterNDUpdate", 2, -1, 1},
		     {"ScatterElementsUpdate", 0, -1, 1},
		     {"ScatterElementsUpdate", 2, -1, 1}};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (strcmp(c->g->type[v], table[i].type) == 0 &&
		    (table[i].input == k || table[i].input == UINT32_MAX))
			return value(table[i].lo, table[i].hi);
	return (struct role){0};
}

bool fill_is_index(const char *t, uint32_t k)
{
	static const struct {
		const char *type;
		uint32_t first, last;
	} table[] = {{"Reshape", 1, 1},     {"Transpose", 1, 1},     {"Squeeze", 1, 1},
		     {"Unsqueeze", 1, 1},   {"Broadcast", 1, 2},     {"Tile", 1, 1},
		     {"Split", 1, 1},       {"VariadicSplit", 1, 2}, {"Gather", 1, 2},
		     {"Interpolate", 1, 3}, {"TopK", 1, 1},          {"OneHot", 1, 1},
		     {"NormalizeL2", 1, 1}, {"LRN", 1, 1},           {"MVN", 1, 1},
		     {"Range", 0, 2},       {"Loop", 0, 1},          {"If", 0, 0},
		     {"Slice", 1, 4},       {"StridedSlice", 1, 3},  {"Pad", 1, 2},
		     {"CumSum", 1, 1}};
	if (strncmp(t, "Reduce", 6) == 0 && k == 1)
		return true;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (strcmp(t, table[i].type) == 0)
			return k >= table[i].first && k <= table[i].last;
	return false;
}

/* A control-flow node hands on the role that its body gives to the Parameter. */
static struct role body_role(const struct ctx *c, uint32_t v, uint32_t k)
{
	for (uint32_t b = 0; b < c->g->n_bodies; b++) {
		const struct graph_body *body = &c->g->body[b];
		for (uint32_t i = 0; body->node == v && i < body->n_maps; i++)
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
	const char *t = c->g->type[v];
	struct role r = product_role(c->g, v, k);
	if (r.kind != ROLE_NONE)
		return r;
	if (is_one_of(t, cells))
		return cell_role(c->g, v, k);
	if (strcmp(t, "Add") == 0 || strcmp(t, "Subtract") == 0 || strcmp(t, "Multiply") == 0 ||
	    strcmp(t, "Divide") == 0)
		return k < 2 && n_inputs(c->g, v) == 2 ? arithmetic_role(c, v, k) : r;
	if (strcmp(t, "FakeQuantize") == 0)
		return quantize_role(c, v, k);
	if (fill_is_index(t, k))
		return (struct role){.kind = ROLE_INDEX, .node = v, .input = k};
	if (c->constant[v] && ((k == 0 && is_one_of(t, movers)) || strcmp(t, "Concat") == 0 ||
			       (strcmp(t, "Gather") == 0 && k == 0)))
		return c->role[v];
	if (strcmp(t, "Gather") == 0 && k == 0)
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
		bool is_source = strcmp(g->type[v], "Const") == 0 ||
				 (in_body && strcmp(g->type[v], "Parameter") == 0);
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

void fill_roles(const struct graph *g, bool in_body, struct arena *a, struct roles *out)
{
	struct ctx c = {.g = g};
	c.cons = g->consumers;
	find_constants(&c, a, in_body);
	c.role = ARENA_NEWN(a, struct role, g->n);
	c.body = ARENA_NEWN(a, struct role *, g->n_bodies);
	for (uint32_t b = 0; b < g->n_bodies; b++) {
		struct roles inner;
		fill_roles(g->body[b].graph, true, a, &inner);
		c.body[b] = inner.role;
	}
	for (uint32_t v = g->n; v-- > 0;) {
		if (!c.constant[v])
			continue;
		for (uint32_t i = c.cons.ptr[v];
		     i < c.cons.ptr[v + 1] && c.role[v].kind == ROLE_NONE; i++) {
			uint32_t w = c.cons.dst[i];
			c.role[v] = role_at(&c, w, c.cons.slot[i] - g->in_ptr[w]);
		}
	}
	*out = (struct roles){c.role, c.cons};
}
