/* opcost.c - operations and bytes of a node from its recorded shapes, and which
 * nodes are constant.  Estimates for features and the simulator; the devices
 * measure. */
#include "op/opimpl.h"
#include "op/stored.h"

#include <math.h>
#include <string.h>

enum { TRANSCENDENTAL = 8 }; /* operations that exp and tanh count as */

/* Elements of output o with dynamic dims as 1; 1 for an unknown rank. */
static uint64_t elements(const struct graph *g, uint32_t o)
{
	uint64_t n = 1;
	if (g->out_rank[o] == RANK_DYNAMIC)
		return 1;
	for (uint32_t i = 0; i < g->out_rank[o]; i++) {
		int64_t d = g->dim[g->dim_ptr[o] + i];
		if (d >= 0 && __builtin_mul_overflow(n, (uint64_t)d, &n))
			return UINT64_MAX;
	}
	return n;
}

static uint64_t bytes_of(const struct graph *g, uint32_t o)
{
	uint64_t b;
	if (!elem_bytes((enum elem)g->out_elem[o], elements(g, o), &b))
		return UINT64_MAX;
	return b;
}

/* The output that feeds input i of v, or GRAPH_NONE. */
static uint32_t source(const struct graph *g, uint32_t v, uint32_t i)
{
	uint32_t slot = g->in_ptr[v] + i;
	if (slot >= g->in_ptr[v + 1] || g->in_node[slot] == GRAPH_NONE)
		return GRAPH_NONE;
	return g->out_ptr[g->in_node[slot]] + g->in_port[slot];
}

static uint64_t in_elements(const struct graph *g, uint32_t v, uint32_t i)
{
	uint32_t o = source(g, v, i);
	return o == GRAPH_NONE ? 0 : elements(g, o);
}

/* Dim d (from the end when negative) of input i; 1 when it is not known. */
static uint64_t in_dim(const struct graph *g, uint32_t v, uint32_t i, int d)
{
	uint32_t o = source(g, v, i);
	if (o == GRAPH_NONE || g->out_rank[o] == RANK_DYNAMIC)
		return 1;
	if (d < 0)
		d += g->out_rank[o];
	if (d < 0 || d >= g->out_rank[o])
		return 1;
	int64_t x = g->dim[g->dim_ptr[o] + (uint32_t)d];
	return x < 0 ? 1 : (uint64_t)x;
}

static uint64_t mul(uint64_t a, uint64_t b)
{
	uint64_t x;
	return __builtin_mul_overflow(a, b, &x) ? UINT64_MAX : x;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t x;
	return __builtin_add_overflow(a, b, &x) ? UINT64_MAX : x;
}

static uint64_t out_elements(const struct graph *g, uint32_t v)
{
	uint64_t n = 0;
	for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
		n = add(n, elements(g, o));
	return n;
}

static bool attr_true(const struct graph *g, uint32_t v, const char *key)
{
	const char *s = graph_attr(g, v, key);
	return s && (*s == 't' || *s == 'T' || *s == '1');
}

/* Each output meets weights / rows of them; of a transposed convolution each input does, whose
 * channels are the rows.  w_at: the input that has the weights. */
static uint64_t conv_flops(const struct graph *g, uint32_t v, uint32_t w_at, uint64_t weight)
{
	unsigned flags = op_info(g->kind[v])->flags;
	bool grouped = flags & OPF_GROUPED;
	uint64_t groups = grouped ? in_dim(g, v, w_at, 0) : 1;
	uint64_t rows = mul(groups, in_dim(g, v, w_at, grouped));
	uint64_t n_weights = in_elements(g, v, w_at);
	if (n_weights == 0 || rows == 0)
		return 0;
	uint64_t places = flags & OPF_TRANSPOSED ? in_elements(g, v, 0) : out_elements(g, v);
	return mul(weight, mul(places, n_weights / rows));
}

uint64_t flops_conv(const struct graph *g, uint32_t v, uint64_t weight)
{
	return conv_flops(g, v, 1, weight);
}

uint64_t flops_deformable(const struct graph *g, uint32_t v, uint64_t weight)
{
	return conv_flops(g, v, 2, weight);
}

uint64_t flops_none(const struct graph *g, uint32_t v, uint64_t weight)
{
	(void)g, (void)v, (void)weight;
	return 0;
}

uint64_t flops_out(const struct graph *g, uint32_t v, uint64_t weight)
{
	return mul(weight, out_elements(g, v));
}

uint64_t flops_in(const struct graph *g, uint32_t v, uint64_t weight)
{
	return mul(weight, in_elements(g, v, 0));
}

uint64_t flops_matmul(const struct graph *g, uint32_t v, uint64_t weight)
{
	int inner = attr_true(g, v, "transpose_a") ? -2 : -1;
	return mul(weight, mul(out_elements(g, v), in_dim(g, v, 0, inner)));
}

/* Each row meets one matrix. */
uint64_t flops_grouped(const struct graph *g, uint32_t v, uint64_t weight)
{
	return mul(weight, mul(out_elements(g, v), in_dim(g, v, 0, -1)));
}

uint64_t flops_window(const struct graph *g, uint32_t v, uint64_t weight)
{
	const char *s = graph_attr(g, v, "kernel");
	uint64_t window = 1, k = 0;
	for (; s && *s; s++) {
		if (*s >= '0' && *s <= '9')
			k = k < 100000 ? k * 10 + (uint64_t)(*s - '0') : k;
		if ((*s == ',' || !s[1]) && k) {
			window = mul(window, k);
			k = 0;
		}
	}
	return mul(weight, mul(window, out_elements(g, v)));
}

/* Each step multiplies a batch row by all of W and R: inputs with gates * hidden rows. */
uint64_t flops_cell(const struct graph *g, uint32_t v, uint64_t weight)
{
	uint64_t most = 0, second = 0;
	for (uint32_t i = 1; i < g->in_ptr[v + 1] - g->in_ptr[v]; i++) {
		uint64_t n = in_elements(g, v, i);
		if (n > most) {
			second = most;
			most = n;
		} else if (n > second) {
			second = n;
		}
	}
	return mul(weight, mul(in_dim(g, v, 0, 0), add(most, second)));
}

uint64_t flops_sequence(const struct graph *g, uint32_t v, uint64_t weight)
{
	return mul(in_dim(g, v, 0, 1), flops_cell(g, v, weight));
}

uint64_t flops_attention(const struct graph *g, uint32_t v, uint64_t weight)
{
	uint64_t q = in_elements(g, v, 0), s = in_dim(g, v, 1, -2), d = in_dim(g, v, 0, -1);
	uint64_t scores = d ? mul(q / d, s) : 0;
	return add(mul(weight, mul(q, s)), mul(scores, TRANSCENDENTAL));
}

/* How often the body of a loop runs: as many times as the parts of a slice fit; 0: not known. */
static uint64_t iterations(const struct graph *g, const struct graph_body *b)
{
	for (uint32_t k = 0; k < b->n_maps; k++) {
		const struct port_map *m = &b->map[k];
		if (!m->has_axis || m->external < 0 || m->part_size <= 0)
			continue;
		uint32_t o = m->output ? g->out_ptr[b->node] + (uint32_t)m->external
				       : source(g, b->node, (uint32_t)m->external);
		if (o == GRAPH_NONE || g->out_rank[o] == RANK_DYNAMIC)
			continue;
		int axis = op_axis(m->axis, g->out_rank[o]);
		int64_t dim = axis < 0 ? -1 : g->dim[g->dim_ptr[o] + (uint32_t)axis];
		if (dim >= 0)
			return (uint64_t)(dim / m->part_size);
	}
	return 0;
}

double op_body_times(const struct graph *g, const struct graph_body *b)
{
	uint32_t i, end = graph_bodies(g, b->node, &i);
	for (; i < end; i++)
		if (g->body[i].times > 0)
			return b->times;
	return strcmp(b->role, "body") == 0 && iterations(g, b) > 0 ? (double)iterations(g, b) : -1;
}

/* Bodies, as often as they run, once where that is not known; of If then the larger one. */
uint64_t flops_bodies(const struct graph *g, uint32_t v, uint64_t weight)
{
	uint64_t most = 0, all = 0;
	bool known = true;
	for (uint32_t i, end = graph_bodies(g, v, &i); i < end; i++) {
		const struct graph_body *b = &g->body[i];
		double times = op_body_times(g, b);
		uint64_t sum = 0;
		for (uint32_t u = 0; u < b->graph->n; u++)
			sum = add(sum, op_flops(b->graph, u));
		most = sum > most ? sum : most;
		known = known && times >= 0;
		double part = times * (double)sum;
		all = add(all, part < 1e18 ? (uint64_t)fmax(part, 0) : (uint64_t)1e18);
	}
	return mul(weight, known ? all : most);
}

/* ---- what was told of bodies, beside what ran ---- */

double op_work(const struct graph *g, uint32_t v, bool told)
{
	enum { LEAST = 1000 };
	double sum = LEAST;
	uint32_t first, end = graph_bodies(g, v, &first);
	if (op_info(g->kind[v])->category != OPC_CONTROL)
		return sum + (double)op_flops(g, v) + (double)op_bytes(g, v);
	for (uint32_t i = first; i < end; i++) {
		const struct graph_body *b = &g->body[i];
		const struct body_runs *ran = b->runs;
		double times = op_body_times(g, b), inner = 0;
		if (ran && ran->runs && (!told || times < 0))
			times = (double)ran->rounds / (double)ran->runs;
		if (times < 0)
			times = 1.0 / (end - first);
		for (uint32_t u = 0; u < b->graph->n; u++)
			inner += op_work(b->graph, u, told);
		sum += times * inner;
	}
	return sum;
}

uint64_t op_flops(const struct graph *g, uint32_t v)
{
	static const struct {
		flops_fn *flops;
		unsigned weight;
	} table[OP_COUNT] = {[OP_UNKNOWN] = {flops_out, 1},
#define OP(kind, type, category, min, max, out, values, scalars, cost, w, flags, attrs, shapes) \
	[OP_##kind] = {flops_##cost, w},
			     OP_LIST(OP)
#undef OP
	};
	enum op_kind kind = op_kind_listed(g->kind[v]);
	return table[kind].flops(g, v, table[kind].weight);
}

/* What compressed weights are made of a constant by. */
static bool decompresses(enum op_kind kind)
{
	switch (kind) {
	/* clang-format off */
	case OP_CONVERT: case OP_SUBTRACT: case OP_MULTIPLY: case OP_RESHAPE: case OP_SQUEEZE: case OP_UNSQUEEZE: case OP_TRANSPOSE:
		return true;
	/* clang-format on */
	default: return false;
	}
}

struct stored {
	uint64_t bytes;    /* of the constants */
	uint64_t elements; /* of the largest of them */
	enum elem type;    /* of its elements */
	int left;          /* nodes that may still be looked at */
};

static bool add_stored(const struct graph *g, uint32_t o, struct stored *x);

/* The share that output o has of what it is cut from. */
static bool add_share(const struct graph *g, uint32_t o, uint32_t from, struct stored *x)
{
	uint64_t before = x->bytes;
	if (from == GRAPH_NONE || elements(g, from) == 0 || !add_stored(g, from, x))
		return false;
	double share = (double)elements(g, o) / (double)elements(g, from);
	x->bytes = add(before, (uint64_t)(share * (double)(x->bytes - before)));
	return true;
}

/* The constants behind output o; false: not constants alone. */
static bool add_stored(const struct graph *g, uint32_t o, struct stored *x)
{
	uint32_t v = graph_node_of(g, o);
	enum op_kind kind = op_kind_listed(g->kind[v]);
	if (kind == OP_CONST) {
		x->bytes = add(x->bytes, bytes_of(g, o));
		if (elements(g, o) > x->elements) {
			x->elements = elements(g, o);
			x->type = (enum elem)g->out_elem[o];
		}
		return true;
	}
	if (--x->left >= 0 && (kind == OP_SLICE || kind == OP_SPLIT))
		return add_share(g, o, source(g, v, 0), x);
	if (x->left < 0 || !decompresses(kind))
		return false;
	for (uint32_t i = 0; i < g->in_ptr[v + 1] - g->in_ptr[v]; i++) {
		uint32_t in = source(g, v, i);
		if (in == GRAPH_NONE || !add_stored(g, in, x))
			return false;
	}
	return true;
}

op_keeps op_keeps_usual(void)
{
	enum { FEW_BITS = 8 };
	op_keeps keeps = 0;
	for (int t = 0; t < EL_COUNT; t++)
		if (elem_bits((enum elem)t) <= FEW_BITS)
			keeps |= (op_keeps)1 << t;
	return keeps;
}

uint64_t op_stored_bytes_on(const struct graph *g, uint32_t o, op_keeps keeps)
{
	enum { DEPTH = 12 };
	struct stored x = {.left = DEPTH};
	uint64_t whole = bytes_of(g, o);
	return add_stored(g, o, &x) && keeps >> x.type & 1 && x.bytes < whole ? x.bytes : whole;
}

uint64_t op_stored_bytes(const struct graph *g, uint32_t o)
{
	return op_stored_bytes_on(g, o, op_keeps_usual());
}

uint64_t op_bytes(const struct graph *g, uint32_t v)
{
	return op_bytes_on(g, v, op_keeps_usual());
}

uint64_t op_bytes_on(const struct graph *g, uint32_t v, op_keeps keeps)
{
	const struct op_info *info = op_info(g->kind[v]);
	enum op_category category = info->category;
	if (category == OPC_VIEW || category == OPC_SOURCE || category == OPC_SINK)
		return 0;
	uint64_t out = 0, total;
	for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
		out = add(out, bytes_of(g, o));
	total = out;
	for (uint32_t i = 0; i < g->in_ptr[v + 1] - g->in_ptr[v]; i++) {
		uint32_t o = source(g, v, i);
		if (o == GRAPH_NONE)
			continue;
		uint64_t b = op_stored_bytes_on(g, o, keeps);
		total = add(total, i == 0 && info->flags & OPF_READS_PART && b > out ? out : b);
	}
	return total;
}

static bool never_constant(enum op_kind kind)
{
	switch (op_info(kind)->category) {
	/* clang-format off */
	case OPC_SOURCE: case OPC_SINK: case OPC_CONTROL: case OPC_OTHER:
		return kind != OP_CONST;
	/* clang-format on */
	default: return false;
	}
}

static bool is_static(const struct graph *g, uint32_t o)
{
	return o != GRAPH_NONE && graph_out_elements(g, o) >= 0;
}

void op_constant_nodes(const struct graph *g, bool *constant)
{
	for (uint32_t v = 0; v < g->n; v++) {
		enum op_kind kind = g->kind[v];
		constant[v] = !never_constant(kind);
		if (kind == OP_SHAPE_OF && is_static(g, source(g, v, 0)))
			continue;
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1] && constant[v]; i++)
			if (g->in_node[i] != GRAPH_NONE)
				constant[v] = constant[g->in_node[i]];
	}
}
