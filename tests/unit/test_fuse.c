/* test_fuse.c - fused steps of the cpu device against the same nodes one by one: random
 * element-wise programs with random broadcasting, kernels with epilogues, splits; every level of instructions,
 * one thread and several. */
#include "base/mem.h"
#include "base/pool.h"
#include "device/cpu/fuse/cpu_fuse.h"
#include "kernel/isa_level.h"
#include "tap.h"

#include <math.h>
#include <string.h>

enum { NODES = 16, EXTERNAL = 48 };

static uint32_t seed = 1;

static uint32_t below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* A step under construction; every node's output exists in `value` for the reference. */
struct bench {
	struct step_spec spec;
	struct step_node node[NODES];
	struct op op[NODES];
	struct step_arg arg[NODES][5];
	struct tensor out[NODES][4];
	float *value[NODES][4];
	bool used[NODES][4], read[NODES];
	const struct tensor *in[EXTERNAL];
	struct tensor external[EXTERNAL];
	struct step_out leaves[NODES * 4];
	uint32_t n_external;
	bool sealed; /* only what nobody reads leaves */
};

static uint32_t no_edges[NODES + 1];
static struct graph no_graph = {.in_ptr = no_edges, .out_ptr = no_edges};

static float *floats(const struct tensor *t)
{
	int64_t n = tensor_elements(t);
	float *p = mem_try((size_t)n * sizeof *p);
	for (int64_t i = 0; i < n; i++)
		p[i] = (float)(int)below(4001) / 1000 - 2;
	return p;
}

static struct tensor shape(uint32_t rank, const int64_t *dim)
{
	struct tensor t = {.elem = EL_F32, .rank = rank};
	memcpy(t.dim, dim, rank * sizeof *dim);
	return t;
}

/* A tensor from outside: an input of the step, or a constant. */
static struct step_arg outside(struct bench *b, struct tensor t, bool constant)
{
	struct tensor *x = &b->external[b->n_external++];
	*x = t;
	x->data = floats(&t);
	if (constant)
		return (struct step_arg){.from = FROM_CONST, .tensor = x};
	b->in[b->spec.n_in] = x;
	return (struct step_arg){.from = FROM_INPUT, .index = b->spec.n_in++, .tensor = x};
}

static struct step_arg inside(struct bench *b, uint32_t node, uint32_t port)
{
	b->read[node] = true;
	b->used[node][port] = true;
	return (struct step_arg){
		.from = FROM_NODE, .index = node, .port = port, .tensor = &b->out[node][port]};
}

static struct op *add_node(struct bench *b, enum op_kind kind, uint32_t n_in, uint32_t n_out,
			   const struct tensor *out)
{
	uint32_t v = b->spec.n_nodes++;
	b->op[v] = (struct op){
		.kind = kind, .version = 8, .g = &no_graph, .n_in = (int)n_in, .n_out = (int)n_out};
	b->node[v] = (struct step_node){.graph = &no_graph,
					.op = &b->op[v],
					.n_in = n_in,
					.n_out = n_out,
					.in = b->arg[v],
					.out = b->out[v],
					.used = b->used[v]};
	for (uint32_t i = 0; i < n_out; i++) {
		b->out[v][i] = out[i];
		b->value[v][i] = floats(&out[i]);
	}
	return &b->op[v];
}

static void free_bench(struct bench *b)
{
	for (uint32_t i = 0; i < b->n_external; i++)
		mem_free(b->external[i].data);
	for (uint32_t v = 0; v < b->spec.n_nodes; v++)
		for (uint32_t i = 0; i < b->node[v].n_out; i++)
			mem_free(b->value[v][i]);
	mem_free(b);
}

/* What nobody reads leaves, and a third of the rest. */
static void close_bench(struct bench *b)
{
	b->spec.node = b->node;
	b->spec.in = b->in;
	b->spec.out = b->leaves;
	for (uint32_t v = 0; v < b->spec.n_nodes; v++)
		for (uint32_t i = 0; i < b->node[v].n_out; i++)
			if (!b->used[v][i] || (!b->sealed && below(3) == 0)) {
				b->used[v][i] = true;
				b->leaves[b->spec.n_out++] = (struct step_out){v, i};
			}
}

/* Node by node, by the kernels. */
static bool reference(struct bench *b, struct cpu_ctx *ctx)
{
	struct err e = ERR_INIT;
	for (uint32_t v = 0; v < b->spec.n_nodes; v++) {
		struct step_node *n = &b->node[v];
		struct tensor in[5] = {{0}}, out[4];
		struct cpu_prep *prep = NULL;
		for (uint32_t i = 0; i < n->n_in; i++) {
			const struct step_arg *a = &n->in[i];
			in[i] = *a->tensor;
			if (a->from == FROM_NODE)
				in[i].data = b->value[a->index][a->port];
		}
		for (uint32_t i = 0; i < n->n_out; i++) {
			out[i] = n->out[i];
			out[i].data = b->value[v][i];
		}
		bool ok = cpu_kernel_prepare(n->op, in, out, ctx, &prep, &e) == 0 &&
			  cpu_kernel_run(n->op, prep, in, out, ctx, &e) == 0;
		cpu_prep_free(prep);
		if (!ok)
			return false;
	}
	return true;
}

/* The fused step: 1 equal, 0 different, -1 it does not fit.  place: outputs over inputs where that
 * is allowed.  bits: of all outputs. */
static int fused(struct bench *b, struct cpu_ctx *ctx, bool place, uint64_t *bits)
{
	struct err e = ERR_INIT;
	const struct step_how how = {.ctx = ctx, .elem = EL_F32};
	struct mem_form want[NODES * 4];
	void *f = mem_alloc(1, fused_kind.size);
	void *in[EXTERNAL], *out[NODES * 4], *owned[NODES * 4];
	bool taken[EXTERNAL] = {false};
	int same = 1;
	int made = fused_kind.group(&how, &b->spec) & GROUP_YES
			   ? fused_kind.init(f, &how, &b->spec, want, &e)
			   : 0;
	if (made < 1) {
		fused_kind.release(f);
		mem_free(f);
		return made < 0 ? 0 : -1;
	}
	for (uint32_t i = 0; i < b->spec.n_in; i++)
		in[i] = mem_copy(b->in[i]->data, (size_t)tensor_bytes(b->in[i]), 1);
	for (uint32_t i = 0; i < b->spec.n_out; i++) {
		const struct tensor *t = &b->out[b->leaves[i].node][b->leaves[i].port];
		owned[i] = out[i] = mem_try((size_t)tensor_bytes(t));
		for (uint32_t j = 0; place && j < b->spec.n_in && out[i] == owned[i]; j++)
			if (!taken[j] && tensor_bytes(b->in[j]) == tensor_bytes(t) &&
			    fused_kind.in_place(f, j, i)) {
				taken[j] = true;
				out[i] = in[j];
			}
	}
	const struct step_io io = {.plain_in = in, .plain_out = out};
	if (fused_kind.run(f, &io, &e) < 0)
		same = 0;
	*bits = 14695981039346656037u;
	for (uint32_t i = 0; i < b->spec.n_out; i++) {
		const struct step_out *o = &b->leaves[i];
		const float *right = b->value[o->node][o->port], *got = out[i];
		int64_t n = tensor_elements(&b->out[o->node][o->port]);
		for (int64_t k = 0; k < n; k++) {
			uint32_t u;
			memcpy(&u, &got[k], sizeof u);
			*bits = (*bits ^ u) * 1099511628211u;
			float scale = fabsf(right[k]) > 1 ? fabsf(right[k]) : 1;
			if (!(fabsf(got[k] - right[k]) <= 2e-5f * scale) &&
			    !(isnan(got[k]) && isnan(right[k])) && got[k] != right[k])
				same = 0;
		}
		mem_free(owned[i]);
	}
	for (uint32_t i = 0; i < b->spec.n_in; i++)
		mem_free(in[i]);
	fused_kind.release(f);
	mem_free(f);
	return same;
}

/* ---- random programs ---- */

/* Some dims of `whole` become 1, leading ones may go. */
static struct tensor smaller(const struct tensor *whole)
{
	struct tensor t = *whole;
	uint32_t cut = below(3) ? 0 : below(t.rank), keep = below(4);
	t.rank -= cut;
	memmove(t.dim, t.dim + cut, t.rank * sizeof *t.dim);
	for (uint32_t d = 0; d < t.rank; d++)
		if (keep == 0 || (keep < 3 && below(2)))
			t.dim[d] = 1;
	return t;
}

static void add_random(struct bench *b, const struct tensor *whole, uint32_t first)
{
	static const enum op_kind unary[] = {OP_RELU,  OP_SIGMOID, OP_TANH, OP_HSWISH, OP_GELU,
					     OP_CLAMP, OP_ABS,     OP_SIN,  OP_SWISH};
	static const enum op_kind binary[] = {OP_ADD,     OP_SUBTRACT, OP_MULTIPLY,
					      OP_MAXIMUM, OP_MINIMUM,  OP_SQUARED_DIFFERENCE,
					      OP_DIVIDE};
	uint32_t v = b->spec.n_nodes;
	struct step_arg a =
		v > first ? inside(b, first + below(v - first), 0) : outside(b, *whole, false);
	if (v == first && first > 0)
		a = inside(b, first - 1, 0);
	switch (below(5)) {
	/* clang-format off */
	case 0: case 1: {
		struct op *op = add_node(b, unary[below(9)], 1, 1, whole);
		/* clang-format on */
		op->a.act.lo = -0.5f;
		op->a.act.hi = 1;
		b->arg[v][0] = a;
		break;
	}
	case 2:
		add_node(b, OP_FAKE_QUANTIZE, 5, 1, whole)->a.quantize.levels = 16;
		b->arg[v][0] = a;
		for (int i = 1; i < 5; i++)
			b->arg[v][i] = outside(b, smaller(whole), below(2));
		break;
	default: {
		uint32_t other = below(3);
		add_node(b, binary[below(7)], 2, 1, whole);
		struct step_arg c = v > first && other == 0
					    ? inside(b, first + below(v - first), 0)
					    : outside(b, smaller(whole), other == 1);
		bool swap = below(2);
		b->arg[v][swap] = a;
		b->arg[v][!swap] = c;
	}
	}
}

static void random_shape(struct tensor *t)
{
	static const int64_t sizes[] = {1, 2, 3, 5, 7, 16, 33, 300};
	int64_t dim[4], n = 1;
	uint32_t rank = 1 + below(4);
	for (uint32_t d = 0; d < rank; d++) {
		dim[d] = sizes[below(n > 500 ? 3 : 8)];
		n *= dim[d];
	}
	*t = shape(rank, dim);
}

struct score {
	int same, different, refused, unequal_bits, broken;
};

static void try(struct bench *b, struct cpu_ctx *one, struct cpu_ctx *many, struct score *s)
{
	uint64_t bits[3] = {0};
	close_bench(b);
	if (!reference(b, one)) {
		s->broken++;
	} else {
		int r = fused(b, one, false, &bits[0]);
		s->same += r == 1;
		s->different += r == 0;
		s->refused += r < 0;
		if (r >= 0) {
			fused(b, one, true, &bits[1]);
			fused(b, many, below(2), &bits[2]);
			s->unequal_bits += bits[0] != bits[1] || bits[0] != bits[2];
		}
	}
	free_bench(b);
}

static void programs(struct cpu_ctx *one, struct cpu_ctx *many)
{
	struct score s = {0};
	for (int i = 0; i < 400; i++) {
		struct bench *b = MEM_NEW(struct bench);
		struct tensor whole;
		random_shape(&whole);
		for (uint32_t n = 1 + below(10); n > 0; n--)
			add_random(b, &whole, 0);
		try(b, one, many, &s);
	}
	tap(s.broken == 0 && s.different == 0 && s.same > 200,
	    "level %d: %d random programs, %d different, %d refused", cpu_level, s.same,
	    s.different, s.refused);
	tap(s.unequal_bits == 0, "level %d: the same bits in place, on three threads", cpu_level);
}

/* ---- kernels with epilogues ---- */

static struct tensor add_matmul(struct bench *b)
{
	static const int64_t rows[] = {1, 2, 9, 13, 40};
	int64_t m = rows[below(5)], k = 1 + below(90), n = 1 + below(120), batch = 1 + below(2);
	bool constant = below(2);
	struct tensor out = shape(3, (int64_t[]){batch, m, n});
	add_node(b, OP_MATMUL, 2, 1, &out);
	b->arg[0][0] = outside(b, shape(3, (int64_t[]){batch, m, k}), false);
	b->arg[0][1] = outside(b, shape(2, (int64_t[]){k, n}), constant);
	return out;
}

static struct tensor add_norm(struct bench *b)
{
	struct tensor out = shape(3, (int64_t[]){1 + below(4), 1 + below(9), 2 + below(300)});
	if (below(2)) {
		add_node(b, OP_SOFTMAX, 1, 1, &out)->a.axis.axis = (int64_t)below(3);
	} else {
		static int64_t axis[] = {2};
		struct op *op = add_node(b, OP_MVN, 2, 1, &out);
		op->a.norm.eps = 1e-5;
		op->a.norm.normalize_variance = op->a.norm.eps_inside_sqrt = true;
		struct tensor *t = &b->external[b->n_external++];
		*t = (struct tensor){.elem = EL_I64, .rank = 1, .dim = {1}};
		t->data = mem_copy(axis, 1, sizeof *axis);
		b->arg[0][1] = (struct step_arg){.from = FROM_CONST, .tensor = t};
	}
	b->arg[0][0] = outside(b, out, false);
	return out;
}

static void kernels(struct cpu_ctx *one, struct cpu_ctx *many)
{
	struct score s = {0};
	for (int i = 0; i < 200; i++) {
		struct bench *b = MEM_NEW(struct bench);
		struct tensor whole = i % 2 ? add_matmul(b) : add_norm(b);
		for (uint32_t n = 1 + below(5); n > 0; n--)
			add_random(b, &whole, 1);
		try(b, one, many, &s);
	}
	tap(s.broken == 0 && s.different == 0 && s.same > 100,
	    "level %d: %d kernels with epilogues, %d different, %d refused", cpu_level, s.same,
	    s.different, s.refused);
	tap(s.unequal_bits == 0, "level %d: the same bits on three threads", cpu_level);
}

static struct step_arg add_unary(struct bench *b, enum op_kind kind, struct step_arg a)
{
	uint32_t v = b->spec.n_nodes;
	add_node(b, kind, 1, 1, a.tensor);
	b->arg[v][0] = a;
	return inside(b, v, 0);
}

static struct step_arg add_binary(struct bench *b, enum op_kind kind, struct step_arg a,
				  struct step_arg c)
{
	uint32_t v = b->spec.n_nodes;
	add_node(b, kind, 2, 1, a.tensor);
	b->arg[v][0] = a;
	b->arg[v][1] = c;
	return inside(b, v, 0);
}

/* Factors and summands of columns behind a product, then summands, then limits: what is done in registers. */
static void chains(struct cpu_ctx *one, struct cpu_ctx *many)
{
	static const enum op_kind last[] = {OP_RELU, OP_HSWISH, OP_SWISH, OP_RESULT};
	struct score s = {0};
	for (int i = 0; i < 120; i++) {
		struct bench *b = MEM_NEW(struct bench);
		struct tensor whole = add_matmul(b), row = shape(1, &whole.dim[2]);
		struct step_arg x = inside(b, 0, 0);
		if (below(2))
			x = add_binary(b, OP_ADD, x, outside(b, row, below(2)));
		x = add_binary(b, OP_MULTIPLY, x, outside(b, row, below(2)));
		for (uint32_t n = below(4); n > 0; n--)
			x = add_binary(b, OP_ADD, x, outside(b, below(2) ? row : whole, below(2)));
		enum op_kind end = last[below(4)];
		if (end != OP_RESULT)
			add_unary(b, end, x);
		try(b, one, many, &s);
	}
	tap(s.broken == 0 && s.different == 0 && s.same > 80 && s.unequal_bits == 0,
	    "level %d: %d products with factors of columns, %d different, %d refused", cpu_level,
	    s.same, s.different, s.refused);
}

/* ---- an LSTM cell: sums, a split into gates, two outputs ---- */

static struct bench *lstm(int64_t batch, int64_t h)
{
	static int64_t axis = 1, lengths[4];
	struct bench *b = MEM_NEW(struct bench);
	struct tensor gates = shape(2, (int64_t[]){batch, 4 * h}), part[4], *t;
	struct step_arg sum =
		add_binary(b, OP_ADD, outside(b, gates, false), outside(b, gates, false));
	sum = add_binary(b, OP_ADD, sum, outside(b, shape(2, (int64_t[]){1, 4 * h}), true));
	for (int i = 0; i < 4; i++) {
		part[i] = shape(2, (int64_t[]){batch, h});
		lengths[i] = h;
	}
	uint32_t v = b->spec.n_nodes;
	add_node(b, OP_VARIADIC_SPLIT, 3, 4, part);
	b->arg[v][0] = sum;
	t = &b->external[b->n_external++];
	*t = (struct tensor){.elem = EL_I64, .data = mem_copy(&axis, 1, sizeof axis)};
	b->arg[v][1] = (struct step_arg){.from = FROM_CONST, .tensor = t};
	t = &b->external[b->n_external++];
	*t = (struct tensor){.elem = EL_I64,
			     .rank = 1,
			     .dim = {4},
			     .data = mem_copy(lengths, 4, sizeof *lengths)};
	b->arg[v][2] = (struct step_arg){.from = FROM_CONST, .tensor = t};
	struct step_arg i = add_unary(b, OP_SIGMOID, inside(b, v, 0));
	struct step_arg f = add_unary(b, OP_SIGMOID, inside(b, v, 1));
	struct step_arg g = add_unary(b, OP_TANH, inside(b, v, 2));
	struct step_arg o = add_unary(b, OP_SIGMOID, inside(b, v, 3));
	f = add_binary(b, OP_MULTIPLY, f, outside(b, part[0], false));
	struct step_arg c = add_binary(b, OP_ADD, f, add_binary(b, OP_MULTIPLY, i, g));
	add_binary(b, OP_MULTIPLY, o, add_unary(b, OP_TANH, c));
	b->used[b->spec.n_nodes - 1][0] = false;
	return b;
}

static void cells(struct cpu_ctx *one, struct cpu_ctx *many)
{
	struct score s = {0};
	for (int i = 0; i < 24; i++)
		try(lstm(1 + below(4), 1 + below(700)), one, many, &s);
	tap(s.same == 24 && s.unequal_bits == 0,
	    "level %d: %d LSTM cells, %d different, %d refused", cpu_level, s.same, s.different,
	    s.refused);
}

/* ---- depthwise convolutions between transpositions ---- */

/* Output 0 of a node as another shape of as many elements. */
static struct step_arg seen_as(struct bench *b, uint32_t node, struct tensor t)
{
	struct step_arg a = inside(b, node, 0);
	b->external[b->n_external] = t;
	a.tensor = &b->external[b->n_external++];
	return a;
}

/* A node that moves dim `from` of t to `to`. */
static void add_turn(struct bench *b, struct step_arg a, uint32_t from, uint32_t to)
{
	struct tensor out = *a.tensor, *order = &b->external[b->n_external++];
	uint32_t v = b->spec.n_nodes;
	*order = (struct tensor){.elem = EL_I64, .rank = 1, .dim = {out.rank}};
	int64_t *at = order->data = mem_try(out.rank * sizeof *at);
	for (uint32_t i = 0, d = 0; i < out.rank; i++) {
		d += d == from;
		at[i] = i == to ? from : d++;
		out.dim[i] = a.tensor->dim[at[i]];
	}
	out.data = NULL;
	add_node(b, OP_TRANSPOSE, 2, 1, &out);
	b->arg[v][0] = a;
	b->arg[v][1] = (struct step_arg){.from = FROM_CONST, .tensor = order};
}

/* Images (y, x, c) in tokens to planes, convolved, perhaps with a bias, and back. */
static struct tensor add_tokens(struct bench *b)
{
	static const int64_t channels[] = {16, 24, 35, 100}, sizes[] = {3, 7, 8, 14, 16, 23};
	static const int64_t windows[][2] = {{3, 3}, {3, 3}, {5, 5}, {7, 7}, {1, 1}, {3, 5}};
	int64_t n = 1 + below(2), c = channels[below(4)], y = sizes[below(6)], x = sizes[below(6)];
	const int64_t *k = windows[below(6)];
	int64_t s = 1 + below(2), d = below(4) ? 1 : 2;
	bool flat = below(2), bias = below(2), back = below(4);
	struct tensor pixels = shape(4, (int64_t[]){n, c, y, x});
	struct tensor in =
		flat ? shape(3, (int64_t[]){n, y * x, c}) : shape(4, (int64_t[]){n, y, x, c});
	add_turn(b, outside(b, in, false), in.rank - 1, 1);
	int64_t top = k[0] / 2 * d, left = k[1] / 2 * d, end = below(3) ? 0 : 1;
	int64_t height = (y + 2 * top + end - (k[0] - 1) * d - 1) / s + 1;
	int64_t width = (x + 2 * left + end - (k[1] - 1) * d - 1) / s + 1;
	struct tensor out = shape(4, (int64_t[]){n, c, height, width});
	add_node(b, OP_GROUP_CONVOLUTION, 2, 1, &out)->a.window =
		(struct op_window){.n_spatial = 2,
				   .stride = {s, s},
				   .dilation = {d, d},
				   .pad_begin = {top, left},
				   .pad_end = {top + end, left + end},
				   .grouped = true};
	b->arg[1][0] = seen_as(b, 0, pixels);
	b->arg[1][1] = outside(b, shape(5, (int64_t[]){c, 1, 1, k[0], k[1]}), true);
	if (bias) {
		add_node(b, OP_ADD, 2, 1, &out);
		b->arg[2][0] = inside(b, 1, 0);
		b->arg[2][1] = outside(b, shape(4, (int64_t[]){1, c, 1, 1}), true);
	}
	uint32_t last = b->spec.n_nodes - 1;
	if (!back)
		return out;
	if (flat)
		add_turn(b, seen_as(b, last, shape(3, (int64_t[]){n, c, height * width})), 1, 2);
	else
		add_turn(b, inside(b, last, 0), 1, 3);
	return b->out[last + 1][0];
}

static void tokens(struct cpu_ctx *one, struct cpu_ctx *many)
{
	struct score s = {0};
	for (int i = 0; i < 150; i++) {
		struct bench *b = MEM_NEW(struct bench);
		struct tensor out = add_tokens(b);
		uint32_t last = b->spec.n_nodes - 1;
		b->sealed = below(8);
		if (below(2)) {
			add_node(b, OP_GELU, 1, 1, &out);
			b->arg[last + 1][0] = inside(b, last, 0);
		} else if (below(2)) {
			add_node(b, OP_ADD, 2, 1, &out);
			b->arg[last + 1][0] = inside(b, last, 0);
			b->arg[last + 1][1] = outside(b, smaller(&out), below(2));
		}
		try(b, one, many, &s);
	}
	tap(s.broken == 0 && s.different == 0 && s.same > 120,
	    "level %d: %d convolutions of tokens, %d different, %d refused", cpu_level, s.same,
	    s.different, s.refused);
	tap(s.unequal_bits == 0, "level %d: the same bits on three threads", cpu_level);
}

int main(void)
{
	int best = cpu_level;
	struct pool *pool = pool_new(3, NULL);
	struct cpu_ctx *one = cpu_ctx_new(NULL, NULL), *many = cpu_ctx_new(pool, NULL);
	for (cpu_level = 1; cpu_level <= best; cpu_level += cpu_level == 1 ? 2 : 1) {
		programs(one, many);
		kernels(one, many);
		chains(one, many);
		cells(one, many);
		tokens(one, many);
	}
	cpu_ctx_free(one);
	cpu_ctx_free(many);
	pool_free(pool);
	return tap_end();
}
