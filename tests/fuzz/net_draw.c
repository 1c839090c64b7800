/* net_draw.c - see net_draw.h.  Nodes come from the lines of net_rows.h; one whose shapes cannot be inferred is left out.
 * If, TensorIterator and Loop, with bodies of operators that keep shapes, come from functions here. */
#include "net_draw.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net_rows.h"
#include "op/op.h"

enum {
	MOST_NODES = 200,
	MOST_SLOTS = 600,
	MOST_OUTPUTS = 400,
	MOST_DIMS = 2000,
	MOST_ATTRIBUTES = 1200,
	MOST_INPUTS = 10,
	MOST_BODIES = 8,
	MOST_MAPS = 6,
	MOST_ELEMENTS = 1500,
	MOST_WORK = 50000,
	LARGE = 6, /* times as much in large networks, which are few */
	TAIL = 1 << 18,
	NONE = MOST_OUTPUTS
};

enum row_flags { SMOOTH = 1, RANDOM = 2 };

static const struct row {
	enum op_kind kind;
	int opset, outputs;
	unsigned flags;
	const char *attributes, *inputs;
} rows[] = {
#define ROW(kind, opset, outputs, flags, attributes, inputs) \
	{OP_##kind, opset, outputs, flags, attributes, inputs},
#define UNARY_ROW(kind) ROW(kind, 1, 1, SMOOTH, "", "va:@")
#define WILD_ROW(kind) ROW(kind, 1, 1, 0, "", "va:@")
#define REDUCE_ROW(kind, flags) ROW(kind, 1, 1, flags, "keep_dims=true|false", "va:@ ci:A=axes")
#define BINARY_ROW(kind, flags, type) \
	ROW(kind, 1, 1, flags, "auto_broadcast=numpy|numpy|pdpd", "v" #type ":@ v" #type ":~") \
	ROW(kind, 1, 1, flags, "", "v" #type ":@ v" #type ":*")
	NET_ROWS(ROW) UNARY_ROWS(UNARY_ROW) WILD_ROWS(WILD_ROW) REDUCE_ROWS(REDUCE_ROW)
		BINARY_ROWS(BINARY_ROW)};
enum { N_ROWS = sizeof rows / sizeof *rows };

/* What is often met behind each other, by which fused steps begin. */
static const enum op_kind chains[][8] = {
	{OP_FAKE_QUANTIZE, OP_CONVOLUTION, OP_ADD, OP_RELU, OP_FAKE_QUANTIZE, OP_CONVOLUTION,
	 OP_FAKE_QUANTIZE},
	{OP_FAKE_QUANTIZE, OP_MATMUL, OP_ADD, OP_GELU, OP_FAKE_QUANTIZE, OP_MATMUL, OP_ADD},
	{OP_FAKE_QUANTIZE, OP_GROUP_CONVOLUTION, OP_CLAMP, OP_FAKE_QUANTIZE, OP_CONVOLUTION},
	{OP_FAKE_QUANTIZE, OP_MATMUL, OP_SOFTMAX, OP_FAKE_QUANTIZE, OP_MATMUL},
	{OP_FAKE_QUANTIZE, OP_MAX_POOL, OP_TRANSPOSE, OP_RESHAPE, OP_FAKE_QUANTIZE, OP_MATMUL},
	{OP_CONVOLUTION, OP_ADD, OP_RELU, OP_MAX_POOL, OP_CONVOLUTION, OP_CONCAT, OP_CONVOLUTION},
	{OP_CONVOLUTION, OP_MULTIPLY, OP_ADD, OP_HSWISH, OP_GROUP_CONVOLUTION, OP_REDUCE_MEAN,
	 OP_MULTIPLY},
	{OP_CONVOLUTION, OP_INTERPOLATE, OP_CONCAT, OP_CONVOLUTION, OP_SIGMOID, OP_MULTIPLY},
	{OP_CONVOLUTION, OP_SPLIT, OP_CONCAT, OP_CONVOLUTION, OP_SLICE, OP_CONVOLUTION},
	{OP_PAD, OP_CONVOLUTION, OP_PAD, OP_AVG_POOL, OP_GROUP_CONVOLUTION},
	{OP_CONVOLUTION, OP_MVN, OP_MULTIPLY, OP_ADD, OP_CONVOLUTION, OP_DEPTH_TO_SPACE,
	 OP_CONVOLUTION},
	{OP_CONVOLUTION, OP_TRANSPOSE, OP_RESHAPE, OP_MATMUL, OP_RESHAPE, OP_TRANSPOSE,
	 OP_CONVOLUTION},
	{OP_CONVOLUTION, OP_CONVOLUTION_BACKPROP, OP_ADD, OP_SPACE_TO_DEPTH, OP_CONVOLUTION},
	{OP_MATMUL, OP_MULTIPLY, OP_ADD, OP_SOFTMAX, OP_MATMUL, OP_TRANSPOSE, OP_RESHAPE},
	{OP_MATMUL, OP_DIVIDE, OP_SELECT, OP_SOFTMAX, OP_MATMUL},
	{OP_MVN, OP_MULTIPLY, OP_ADD, OP_MATMUL, OP_ADD, OP_GELU, OP_MATMUL},
	{OP_RESHAPE, OP_TRANSPOSE, OP_RESHAPE, OP_CONVOLUTION, OP_RESHAPE, OP_TRANSPOSE},
	{OP_REDUCE_MEAN, OP_SUBTRACT, OP_POWER, OP_REDUCE_MEAN, OP_SQRT, OP_DIVIDE},
	{OP_ROLL, OP_SLICE, OP_CONCAT, OP_PAD, OP_STRIDED_SLICE, OP_TRANSPOSE},
	{OP_CONVOLUTION, OP_SHUFFLE_CHANNELS, OP_GROUP_CONVOLUTION, OP_BATCH_NORM, OP_PRELU},
	{OP_GATHER, OP_RMS, OP_MATMUL, OP_SWISH, OP_MULTIPLY, OP_MATMUL},
};

/* What is known of an output. */
struct made {
	struct tensor t; /* data: of a constant that is written down */
	uint32_t node, port;
	bool constant, dynamic, read;
};

static struct net {
	const uint8_t *data;
	size_t left;
	uint32_t noise;
	bool large;  /* sizes that blocks of kernels are made for */
	bool misfit; /* some dims are others than a line says */
	struct graph *g;
	struct made made[MOST_OUTPUTS];
	int64_t bound[MOST_NODES];
	bool smooth[MOST_OUTPUTS], random[MOST_OUTPUTS];
	uint32_t wanted; /* the value to be read next; NONE: any */
	int64_t work;
} net;

static uint8_t tail[TAIL] __attribute__((aligned(64)));

uint32_t draw_byte(uint32_t bound)
{
	if (net.left == 0)
		return 0;
	net.left--;
	return *net.data++ % bound;
}

void draw_begin(const uint8_t *data, size_t size)
{
	net.data = data;
	net.left = size;
}

static int64_t most_elements(void)
{
	return net.large ? LARGE * MOST_ELEMENTS : MOST_ELEMENTS;
}

/* ---- columns ---- */

static uint32_t n_outputs(void)
{
	return net.g->out_ptr[net.g->n];
}

/* Columns of g, from its arena. */
static void give_columns(struct graph *g)
{
	struct arena *a = g->arena;
	g->ir_version = 11;
	g->id = ARENA_NEWN(a, int64_t, MOST_NODES);
	g->node_name = ARENA_NEWN(a, const char *, MOST_NODES);
	g->type = ARENA_NEWN(a, const char *, MOST_NODES);
	g->opset = ARENA_NEWN(a, const char *, MOST_NODES);
	g->kind = ARENA_NEWN(a, enum op_kind, MOST_NODES);
	g->attr_ptr = ARENA_NEWN(a, uint32_t, MOST_NODES + 1);
	g->attr_key = ARENA_NEWN(a, const char *, MOST_ATTRIBUTES);
	g->attr_value = ARENA_NEWN(a, const char *, MOST_ATTRIBUTES);
	g->in_ptr = ARENA_NEWN(a, uint32_t, MOST_NODES + 1);
	g->in_node = ARENA_NEWN(a, uint32_t, MOST_SLOTS);
	g->in_port = ARENA_NEWN(a, uint32_t, MOST_SLOTS);
	g->out_ptr = ARENA_NEWN(a, uint32_t, MOST_NODES + 1);
	g->out_elem = ARENA_NEWN(a, uint8_t, MOST_OUTPUTS);
	g->dim_ptr = ARENA_NEWN(a, uint32_t, MOST_OUTPUTS + 1);
	g->dim = ARENA_NEWN(a, int64_t, MOST_DIMS);
	g->out_rank = ARENA_NEWN(a, uint8_t, MOST_OUTPUTS);
	g->out_names = ARENA_NEWN(a, const char *, MOST_OUTPUTS);
	g->const_node = ARENA_NEWN(a, uint32_t, MOST_NODES);
	g->const_offset = ARENA_NEWN(a, uint64_t, MOST_NODES);
	g->const_bytes = ARENA_NEWN(a, uint64_t, MOST_NODES);
	g->body = ARENA_NEWN(a, struct graph_body, MOST_BODIES);
	g->tail = tail;
}

static void new_graph(void)
{
	graph_free(net.g);
	net.g = graph_new();
	give_columns(net.g);
}

/* Is there room for one more node with its inputs and outputs? */
static bool has_room(uint32_t n_in, uint32_t n_out)
{
	return net.g->n + 1 < MOST_NODES && net.g->in_ptr[net.g->n] + n_in < MOST_SLOTS &&
	       n_outputs() + n_out < MOST_OUTPUTS &&
	       net.g->dim_ptr[n_outputs()] + n_out * TENSOR_DIMS < MOST_DIMS;
}

/* The next row without its outputs; it counts when end_node has been called. */
static uint32_t begin_node(enum op_kind kind, int opset, const uint32_t *in, uint32_t n_in,
			   uint32_t n_out)
{
	static const char *const opsets[] = {"opset0",  "opset1",  "opset2",  "opset3",  "opset4",
					     "opset5",  "opset6",  "opset7",  "opset8",  "opset9",
					     "opset10", "opset11", "opset12", "opset13", "opset14",
					     "opset15", "opset16", "opset17"};
	struct graph *g = net.g;
	uint32_t v = g->n, slot = g->in_ptr[v];
	g->id[v] = v;
	g->node_name[v] = "n";
	g->type[v] = op_info(kind)->type;
	g->opset[v] = opsets[opset];
	g->kind[v] = kind;
	for (uint32_t i = 0; i < n_in; i++, slot++) {
		g->in_node[slot] = net.made[in[i]].node;
		g->in_port[slot] = net.made[in[i]].port;
	}
	g->attr_ptr[v + 1] = g->attr_ptr[v];
	g->in_ptr[v + 1] = slot;
	g->out_ptr[v + 1] = g->out_ptr[v] + n_out;
	return v;
}

static void add_attribute(const char *key, const char *value)
{
	struct graph *g = net.g;
	uint32_t i = g->attr_ptr[g->n + 1];
	if (i == MOST_ATTRIBUTES)
		return;
	g->attr_key[i] = key;
	g->attr_value[i] = value;
	g->attr_ptr[g->n + 1]++;
}

/* The node that was begun, with these outputs; the first of them. */
static uint32_t end_node(const struct tensor *out, bool constant, bool dynamic)
{
	struct graph *g = net.g;
	uint32_t v = g->n++, first = g->out_ptr[v], dim = g->dim_ptr[first];
	net.bound[v] = 0;
	for (uint32_t o = first; o < g->out_ptr[v + 1]; o++) {
		const struct tensor *t = &out[o - first];
		g->out_elem[o] = (uint8_t)t->elem;
		g->out_rank[o] = (uint8_t)t->rank;
		g->out_names[o] = "";
		for (uint32_t i = 0; i < t->rank; i++)
			g->dim[dim++] = dynamic ? DIM_DYNAMIC : t->dim[i];
		g->dim_ptr[o + 1] = dim;
		net.made[o] = (struct made){*t, v, o - first, constant, dynamic, false};
	}
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
		net.made[graph_slot_output(g, i)].read = true;
	return first;
}

/* ---- sources ---- */

void draw_fill(const struct tensor *t, uint32_t noise, int64_t bound)
{
	int64_t n = tensor_elements(t);
	for (int64_t i = 0; i < n; i++) {
		noise = noise * 1664525u + 1013904223u;
		float x = (float)(int32_t)(noise & ~255u) * 0x1p-31f;
		if (t->elem == EL_F32 && t->data)
			((float *)t->data)[i] = x;
		else if (elem_is_real(t->elem) && elem_bits(t->elem) >= 8)
			tensor_set_real(t, i, x);
		else if (elem_bits(t->elem) < 8)
			tensor_set_code(t, i, noise >> 20 & ((1u << elem_bits(t->elem)) - 1));
		else if (t->elem == EL_BOOLEAN)
			tensor_set_int(t, i, noise >> 30 & 1);
		else
			tensor_set_int(t, i, (int64_t)(noise >> 16) % (bound ? bound : 5));
	}
}

static uint32_t add_parameter(const struct tensor *t, int64_t bound)
{
	if (!has_room(0, 1))
		return NONE;
	begin_node(OP_PARAMETER, 1, NULL, 0, 1);
	uint32_t o = end_node(t, false, false);
	net.bound[net.made[o].node] = bound;
	net.smooth[o] = true;
	net.random[o] = false;
	return o;
}

/* A constant with room for its elements, which the caller sets. */
static uint32_t add_constant(const struct tensor *t)
{
	struct graph *g = net.g;
	uint64_t at = (g->tail_bytes + 63) / 64 * 64;
	int64_t bytes = tensor_bytes(t);
	if (!has_room(0, 1) || bytes < 0 || at + (uint64_t)bytes > TAIL)
		return NONE;
	uint32_t v = begin_node(OP_CONST, 1, NULL, 0, 1), c = g->n_const++;
	g->const_node[c] = v;
	g->const_offset[c] = at;
	g->const_bytes[c] = (uint64_t)bytes;
	g->tail_bytes = at + (uint64_t)bytes;
	struct tensor made = *t;
	made.data = tail + at;
	uint32_t o = end_node(&made, true, false);
	memset(tail + at, 0, (size_t)bytes);
	net.smooth[o] = true;
	net.random[o] = false;
	return o;
}

static uint32_t add_noise(const struct tensor *t, int64_t bound)
{
	uint32_t o = add_constant(t);
	if (o != NONE)
		draw_fill(&net.made[o].t, net.noise += 7919, bound);
	return o;
}

/* ---- nodes ---- */

/* Real numbers whose last bit is far from those of f32. */
static bool is_coarse(enum elem t)
{
	return elem_is_real(t) && elem_bits(t) < 32;
}

/* The node that was begun: its outputs, as far as they can be inferred; NONE: it is left out. */
static uint32_t finish_node(const uint32_t *in, uint32_t n_in, uint32_t n_out, unsigned flags)
{
	struct tensor t[MOST_INPUTS], out[8];
	struct op op;
	struct err e = ERR_INIT;
	bool constant = true, dynamic = false, smooth = flags & SMOOTH, random = flags & RANDOM;
	int64_t work = 0;
	for (uint32_t i = 0; i < n_in; i++) {
		const struct made *x = &net.made[in[i]];
		t[i] = x->t;
		smooth = smooth && (x->constant || !is_coarse(x->t.elem));
		constant = constant && x->constant;
		dynamic = dynamic || x->dynamic;
		smooth = smooth && net.smooth[in[i]];
		random = random || net.random[in[i]];
	}
	if (op_decode(net.g, net.g->n, &op, &e) < 0 || op_infer(&op, t, out, &e) < 0) {
		(void)err_unread(&e);
		return NONE;
	}
	for (uint32_t i = 0; i < n_out; i++) {
		if (elem_bits(out[i].elem) == 0 || out[i].rank > 6 ||
		    tensor_elements(&out[i]) > most_elements())
			return NONE;
		work += tensor_elements(&out[i]);
	}
	if (op.kind == OP_CONVOLUTION || op.kind == OP_GROUP_CONVOLUTION || op.kind == OP_MATMUL)
		work *= tensor_elements(&t[1]) /
			(out[0].rank > 1 && out[0].dim[1] ? out[0].dim[1] : 1);
	if ((net.work += work) > (net.large ? LARGE * MOST_WORK : MOST_WORK))
		return NONE;
	dynamic = dynamic || (op_is_bounded(&op) && draw_byte(4) == 0);
	uint32_t first = end_node(out, constant && !random, dynamic);
	for (uint32_t i = 0; i < n_out; i++) {
		net.smooth[first + i] = smooth && !dynamic && !is_coarse(out[i].elem);
		net.random[first + i] = random;
	}
	return first;
}

static uint32_t add_plain(enum op_kind kind, const uint32_t *in, uint32_t n_in, unsigned flags)
{
	if (!has_room(n_in, 1))
		return NONE;
	begin_node(kind, 1, in, n_in, 1);
	return finish_node(in, n_in, 1, flags);
}

static uint32_t add_convert(uint32_t o, const char *type)
{
	if (!has_room(1, 1))
		return NONE;
	begin_node(OP_CONVERT, 1, &o, 1, 1);
	add_attribute("destination_type", type);
	return finish_node(&o, 1, 1, SMOOTH);
}

/* Weights in few bits: codes, perhaps less a zero, times scales; or f16; or plain. */
static uint32_t add_weights(const struct tensor *t)
{
	static const enum elem codes[] = {EL_I8, EL_U8, EL_I4, EL_U4, EL_I8, EL_NF4};
	uint32_t how = draw_byte(16);
	struct tensor c = *t, s = {.elem = EL_F32, .rank = t->rank};
	if (t->elem != EL_F32 || how < 8)
		return add_noise(t, 0);
	c.elem = how < 10 ? EL_F16 : codes[how - 10];
	uint32_t o = add_noise(&c, 0);
	o = o == NONE ? NONE : add_convert(o, "f32");
	if (o == NONE || how < 10)
		return o;
	uint32_t channels = draw_byte(3);
	for (uint32_t i = 0; i < s.rank; i++)
		s.dim[i] = channels && i + channels == (channels == 1 ? 1 : s.rank + 1) ? t->dim[i]
											: 1;
	if (draw_byte(2)) {
		struct tensor zero = s;
		zero.elem = c.elem == EL_NF4 ? EL_F32 : c.elem;
		uint32_t z = add_noise(&zero, 0);
		z = z == NONE || zero.elem == EL_F32 ? z : add_convert(z, "f32");
		o = z == NONE ? NONE : add_plain(OP_SUBTRACT, (uint32_t[]){o, z}, 2, SMOOTH);
	}
	uint32_t scale = add_noise(&s, 0);
	return o == NONE || scale == NONE
		       ? NONE
		       : add_plain(OP_MULTIPLY, (uint32_t[]){o, scale}, 2, SMOOTH);
}

/* ---- a line of the table ---- */

/* What its letters are, while it is read. */
struct reading {
	int64_t size['Z' + 1]; /* -1: not yet known */
	enum elem real, any, integer;
	uint32_t in[MOST_INPUTS], n_in, n_out;
	struct tensor axes; /* of input 0: a permutation of them */
};

/* Most are small, few large, fewer nothing. */
static int64_t draw_size(void)
{
	static const uint8_t blocks[] = {16, 32, 33, 24, 64, 17, 48, 14};
	uint32_t x = draw_byte(256);
	if (net.large && x % 2)
		return x < 128 ? 8 + x / 8 : blocks[x / 2 % 8];
	return x < 170 ? 1 + x % 5 : x < 230 ? 1 + x % 9 : x < 254 ? 8 + (x - 230) : 0;
}

static int64_t size_of(struct reading *r, char letter)
{
	int64_t *x = &r->size[(int)letter];
	if (*x < 0)
		*x = letter == 'A'           ? (r->n_in && net.made[r->in[0]].t.rank
							? 1 + draw_byte(net.made[r->in[0]].t.rank)
							: 1)
		     : strchr("XYZ", letter) ? 1 + draw_byte(3)
					     : draw_size();
	return *x;
}

/* A number, a size, a multiple of one, or one more: behind *p. */
static int64_t read_size(struct reading *r, const char **p)
{
	char *end;
	bool number = **p == '-' || isdigit((unsigned char)**p);
	int64_t x = number ? strtoll(*p, &end, 10) : 1;
	*p = number ? end : *p;
	if (**p == '%')
		x = r->n_out, ++*p;
	else if (isupper((unsigned char)**p))
		x *= size_of(r, *(*p)++);
	if (**p == '+') {
		x += strtoll(*p + 1, &end, 10);
		*p = end;
	}
	return x;
}

static enum elem draw_type(char letter)
{
	static const enum elem reals[] = {EL_F16, EL_BF16, EL_F64};
	static const enum elem any[] = {EL_I64, EL_I32, EL_U8,      EL_I8,  EL_F16, EL_BF16, EL_F64,
					EL_I16, EL_U16, EL_BOOLEAN, EL_U32, EL_U64, EL_U4,   EL_I4};
	uint32_t x = draw_byte(16);
	if (letter == 'f')
		return x < 14 ? EL_F32 : reals[draw_byte(3)];
	if (letter == 'i')
		return x < 8 ? EL_I64 : EL_I32;
	return x < 9 ? EL_F32 : any[draw_byte(14)];
}

/* The types that input of this letter has; `bound` is where it is kept. */
static enum elem *shared_type(struct reading *r, char letter)
{
	return letter == 'f'   ? &r->real
	       : letter == 'a' ? &r->any
	       : letter == 'i' ? &r->integer
			       : NULL;
}

static bool type_fits(struct reading *r, char letter, enum elem have)
{
	enum elem *shared = shared_type(r, letter);
	if (shared && *shared != EL_DYNAMIC)
		return have == *shared;
	switch (letter) {
	case 'f': return have == EL_F32 || have == EL_F16 || have == EL_F64 || have == EL_BF16;
	case 'i': return have == EL_I64 || have == EL_I32;
	case 'l': return have == EL_I64;
	case 'u': return have == EL_U8;
	case 'b': return have == EL_BOOLEAN;
	case 'p': return have == EL_U1;
	default: return true;
	}
}

static enum elem type_of(struct reading *r, char letter)
{
	enum elem *shared = shared_type(r, letter), t;
	if (shared && *shared != EL_DYNAMIC)
		return *shared;
	t = letter == 'l'   ? EL_I64
	    : letter == 'u' ? EL_U8
	    : letter == 'b' ? EL_BOOLEAN
	    : letter == 'p' ? EL_U1
			    : draw_type(letter);
	if (shared)
		*shared = t;
	return t;
}

/* One input of a line. */
struct wish {
	char from, type;
	const char *dims, *bound, *values;
};

/* Are the dims of t these?  A size alone that was not known is what it has there. */
static bool dims_fit(struct reading *r, const char *p, const struct tensor *t)
{
	for (uint32_t i = 0; i < t->rank; i++) {
		bool alone = isupper((unsigned char)*p) && p[1] != '+' && !strchr("AR", *p);
		if (alone && r->size[(int)*p] < 0)
			r->size[(int)*p++] = t->dim[i];
		else if (read_size(r, &p) != t->dim[i])
			return false;
		if (*p != ',')
			return i + 1 == t->rank;
		p++;
	}
	return false;
}

/* Is output o what the wish says?  Sizes that were not known are what it makes them. */
static bool wish_fits(struct reading *r, const struct wish *w, uint32_t o)
{
	const struct tensor *t = &net.made[o].t, *first = &net.made[r->n_in ? r->in[0] : 0].t;
	int64_t size['Z' + 1];
	if (!type_fits(r, w->type, t->elem))
		return false;
	if (*w->dims == '@')
		return true;
	if (*w->dims == '*')
		return tensor_same_shape(t, first);
	if (*w->dims == '~') {
		struct tensor all;
		return op_broadcast(first, t, &all);
	}
	if (*w->dims == '.')
		return t->rank == 0;
	memcpy(size, r->size, sizeof size);
	if (dims_fit(r, w->dims, t))
		return true;
	memcpy(r->size, size, sizeof size);
	return false;
}

/* A value that is there: the one that is wanted, or the last that fits, from a drawn one down. */
static uint32_t find_value(struct reading *r, const struct wish *w)
{
	uint32_t n = n_outputs(), from;
	if (net.wanted != NONE) {
		from = net.wanted;
		net.wanted = NONE;
		if (wish_fits(r, w, from))
			return from;
	}
	if (n == 0 || draw_byte(5) == 0)
		return NONE;
	from = draw_byte(3) ? n - 1 : draw_byte(256) % n;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t o = (from + n - k) % n;
		if (!net.made[o].constant && net.bound[net.made[o].node] == 0 && wish_fits(r, w, o))
			return o;
	}
	return NONE;
}

/* A dim that is one more or less than it should be, where networks are to have some. */
static int64_t blurred(int64_t dim)
{
	uint32_t how = net.misfit ? draw_byte(8) : 0;
	return how == 1 ? dim + 1 + draw_byte(3) : how == 2 && dim > 0 ? dim - 1 : dim;
}

static void wished_shape(struct reading *r, const struct wish *w, struct tensor *t)
{
	t->rank = 0;
	if (*w->dims == '@') {
		t->rank = draw_byte(6);
		for (uint32_t i = 0; i < t->rank; i++)
			t->dim[i] = draw_size();
	} else if (*w->dims == '*' || *w->dims == '~') {
		const struct tensor *first = &net.made[r->in[0]].t;
		uint32_t ones = *w->dims == '~' ? draw_byte(256) : 0;
		uint32_t less = ones ? draw_byte(first->rank + 1) * (draw_byte(2)) : 0;
		for (uint32_t i = less; i < first->rank; i++)
			t->dim[t->rank++] = blurred(ones >> i & 1 ? 1 : first->dim[i]);
	} else if (*w->dims != '.') {
		const char *p = w->dims;
		do {
			if (*p == ',')
				p++;
			t->dim[t->rank++] = blurred(read_size(r, &p));
		} while (*p == ',' && t->rank < TENSOR_DIMS);
	}
}

/* Element i of values of this word. */
static double value_of(struct reading *r, const char *word, int64_t i, int64_t n)
{
	const struct tensor *first = r->n_in ? &net.made[r->in[0]].t : NULL;
	int64_t rank = first ? first->rank : 0, axis = i < TENSOR_DIMS ? r->axes.dim[i] : 0;
	int64_t dim = rank ? first->dim[n == rank ? i : axis % rank] : 1;
	char *end;
	if (isdigit((unsigned char)*word) || *word == '-' || isupper((unsigned char)*word)) {
		for (int64_t k = 0;
		     k < i && strchr(word, ';') && strcspn(word, " ") > strcspn(word, ";"); k++)
			word = strchr(word, ';') + 1;
		double x = isupper((unsigned char)*word) ? 0 : strtod(word, &end);
		if (isupper((unsigned char)*word) || isupper((unsigned char)*end))
			return (double)read_size(r, &word);
		return x;
	}
#define IS(name) (strncmp(word, name, sizeof name - 1) == 0)
	if (IS("axis") || IS("axes") || IS("perm"))
		return (double)(axis - (draw_byte(8) == 1 ? rank : 0));
	if (IS("small"))
		return draw_byte(3);
	if (IS("signed"))
		return (double)draw_byte(5) - 2;
	if (IS("ones"))
		return 1 + draw_byte(4);
	if (IS("steps"))
		return draw_byte(4) < 3 ? 1 : (double)draw_byte(5) - 2;
	if (IS("ends"))
		return draw_byte(4) ? (double)(dim - draw_byte(2)) : (double)draw_byte(12) - 3;
	if (IS("dims"))
		return draw_byte(4) ? (double)dim : 1 + draw_byte(4);
	if (IS("scale"))
		return 0.5 * (1 + draw_byte(5));
	if (IS("sorted"))
		return -1 + 0.25 * (double)i;
	if (IS("parts"))
		return (double)(i / 2);
	if (IS("positive"))
		return 0.5 + 0.125 * draw_byte(8);
	if (IS("low"))
		return -0.5 - 0.125 * draw_byte(8);
	if (IS("image"))
		return i < 2 ? 8 + draw_byte(8) : 1;
	if (IS("boxes"))
		return i % 5 == 0 ? 0 : (double)(i % 5 + draw_byte(3));
#undef IS
	return 0;
}

/* The numbers of a Reshape: dims whose product is that of input 0. */
static void fill_shape(const struct reading *r, const struct tensor *t)
{
	int64_t n = tensor_elements(&net.made[r->in[0]].t), last = t->dim[0] - 1;
	bool rest = draw_byte(4) == 1;
	for (int64_t i = 0; i < last; i++) {
		int64_t x = 1 + draw_byte(8);
		x = n % x ? 1 : x;
		tensor_set_int(t, i, draw_byte(16) == 1 ? 0 : x);
		n /= x;
	}
	if (last >= 0)
		tensor_set_int(t, last, rest ? -1 : n);
}

/* Lengths of the parts of the first axis, along which input 0 is cut. */
static void fill_split(const struct reading *r, const struct tensor *t)
{
	const struct tensor *first = &net.made[r->in[0]].t;
	int64_t left = first->rank ? first->dim[r->axes.dim[0]] : 0, n = tensor_elements(t);
	for (int64_t i = 0; i < n; i++) {
		int64_t x = i + 1 == n ? left : draw_byte(4);
		x = x > left ? left : x;
		tensor_set_int(t, i, x);
		left -= x;
	}
}

static void fill_values(struct reading *r, const char *word, const struct tensor *t)
{
	if (strncmp(word, "shape", 5) == 0) {
		fill_shape(r, t);
	} else if (strncmp(word, "split", 5) == 0) {
		fill_split(r, t);
	} else {
		int64_t n = tensor_elements(t);
		for (int64_t i = 0; i < n; i++)
			tensor_set_real(t, i, value_of(r, word, i, n));
	}
}

/* After input 0: its rank, and its axes in a drawn order. */
static void note_first(struct reading *r)
{
	const struct tensor *t = &net.made[r->in[0]].t;
	uint32_t n = r->axes.rank = t->rank;
	r->size['R'] = n;
	for (uint32_t i = 0; i < n; i++)
		r->axes.dim[i] = i;
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = draw_byte(i);
		int64_t x = r->axes.dim[i - 1];
		r->axes.dim[i - 1] = r->axes.dim[j];
		r->axes.dim[j] = x;
	}
}

/* The input that the wish asks for; NONE: there is no room. */
static uint32_t grant(struct reading *r, const struct wish *w)
{
	struct tensor t = {0};
	int64_t bound = 0;
	if (w->from == 'v' && !w->bound && !w->values) {
		uint32_t o = find_value(r, w);
		enum elem *shared = shared_type(r, w->type);
		if (o != NONE && shared)
			*shared = net.made[o].t.elem;
		if (o != NONE)
			return o;
	}
	t.elem = type_of(r, w->type);
	wished_shape(r, w, &t);
	int64_t n = tensor_elements(&t);
	if (n < 0 || n > most_elements())
		return NONE;
	if (w->bound) {
		const char *p = w->bound;
		bound = read_size(r, &p);
		bound = bound < 1 ? 1 : bound;
		bound += draw_byte(64) == 1;
	}
	if (w->values) {
		uint32_t o = add_constant(&t);
		if (o != NONE)
			fill_values(r, w->values, &net.made[o].t);
		return o;
	}
	if (w->from == 'w' && draw_byte(8) != 7)
		return add_weights(&t);
	return w->from == 'c' || (w->from == 'v' && draw_byte(3) == 2) ? add_noise(&t, bound)
								       : add_parameter(&t, bound);
}

static bool read_inputs(struct reading *r, const char *p)
{
	while (*p && r->n_in < MOST_INPUTS) {
		struct wish w = {0};
		size_t length = strcspn(p, " ");
		if (*p == '?' && draw_byte(2))
			return true;
		p += *p == '?';
		length = strcspn(p, " ");
		w.from = p[0];
		w.type = p[1];
		w.dims = p + 3;
		for (size_t i = 3; i < length; i++)
			if (p[i] == '<')
				w.bound = p + i + 1;
			else if (p[i] == '=')
				w.values = p + i + 1;
		uint32_t o = grant(r, &w);
		if (o == NONE)
			return false;
		r->in[r->n_in++] = o;
		if (r->n_in == 1)
			note_first(r);
		p += length;
		p += *p == ' ';
	}
	return true;
}

/* One of the alternatives p[0 .. length-1], with what stands for numbers in it. */
static const char *read_value(struct reading *r, const char *p, size_t length)
{
	char text[200];
	size_t n = 0, count = 1;
	for (size_t i = 0; i < length; i++)
		count += p[i] == '|';
	for (size_t k = count > 1 ? draw_byte((uint32_t)count) : 0; k > 0; k--)
		while (*p++ != '|')
			;
	while (*p && *p != ' ' && *p != '|' && n + 24 < sizeof text) {
		if (*p == '#') {
			char *end;
			uint32_t bound = (uint32_t)strtoul(p + 1, &end, 10);
			n += (size_t)snprintf(text + n, sizeof text - n, "%u", draw_byte(bound));
			p = end;
		} else if (*p == '$') {
			p++;
			n += (size_t)snprintf(text + n, sizeof text - n, "%lld",
					      (long long)read_size(r, &p));
		} else if (*p == '%') {
			p++;
			n += (size_t)snprintf(text + n, sizeof text - n, "%u", r->n_out);
		} else if (*p == '@') {
			p++;
			n += (size_t)snprintf(text + n, sizeof text - n, "%d", (int)r->axes.dim[0]);
		} else {
			text[n++] = *p++;
		}
	}
	return arena_strndup(net.g->arena, text, n);
}

static void read_attributes(struct reading *r, const char *p)
{
	while (*p) {
		size_t key = strcspn(p, "="), all = strcspn(p, " ");
		add_attribute(arena_strndup(net.g->arena, p, key),
			      read_value(r, p + key + 1, all - key - 1));
		p += all;
		p += *p == ' ';
	}
}

/* A node as the line says; its first output, or NONE: then its inputs are not there either. */
static uint32_t add_row(const struct row *row)
{
	struct graph *g = net.g;
	struct reading r = {.n_in = 0};
	uint32_t n = g->n, n_const = g->n_const, o = NONE;
	uint64_t tail_bytes = g->tail_bytes;
	memset(r.size, -1, sizeof r.size);
	r.n_out = row->outputs ? (uint32_t)row->outputs : 1 + draw_byte(3);
	if (read_inputs(&r, row->inputs) && has_room(r.n_in, r.n_out)) {
		begin_node(row->kind, row->opset, r.in, r.n_in, r.n_out);
		read_attributes(&r, row->attributes);
		o = finish_node(r.in, r.n_in, r.n_out, row->flags);
	}
	if (o == NONE) {
		g->n = n;
		g->n_const = n_const;
		g->tail_bytes = tail_bytes;
	}
	return o;
}

/* ---- networks ---- */

/* One of the lines of an operator. */
static const struct row *row_of(enum op_kind kind)
{
	static uint16_t first[OP_COUNT], count[OP_COUNT], order[N_ROWS];
	if (count[OP_ABS] == 0) {
		uint16_t n = 0;
		for (int k = 0; k < OP_COUNT; k++) {
			first[k] = n;
			for (uint16_t i = 0; i < N_ROWS; i++)
				if ((int)rows[i].kind == k)
					order[n++] = i;
			count[k] = (uint16_t)(n - first[k]);
		}
	}
	return &rows[order[first[kind] + draw_byte(count[kind])]];
}

static const struct row *any_row(void)
{
	uint32_t high = draw_byte(1 + N_ROWS / 256), i = 256 * high + draw_byte(256);
	return &rows[i % N_ROWS];
}

static void add_chain(void)
{
	const enum op_kind *chain = chains[draw_byte(sizeof chains / sizeof *chains)];
	uint32_t last = NONE;
	for (int i = 0; i < 8 && chain[i] && net.left > 0; i++) {
		if (draw_byte(8) == 7)
			continue;
		net.wanted = last;
		uint32_t o = add_row(row_of(chain[i]));
		last = o == NONE ? last : o;
	}
	net.wanted = NONE;
}

/* x through one or two operators, and together with x again: gates, residual sums, root mean squares. */
static void add_branch(void)
{
	static const enum op_kind inner[] = {OP_SIGMOID,  OP_CONVOLUTION, OP_REDUCE_MEAN,
					     OP_RELU,     OP_MATMUL,      OP_MULTIPLY,
					     OP_HSIGMOID, OP_TRANSPOSE};
	static const enum op_kind outer[] = {OP_MULTIPLY, OP_ADD, OP_CONCAT, OP_DIVIDE};
	uint32_t n = n_outputs(), x = n ? n - 1 : NONE, y;
	if (x == NONE || net.made[x].constant)
		return;
	net.wanted = x;
	y = add_row(row_of(inner[draw_byte(8)]));
	net.wanted = y == NONE ? x : y;
	if (draw_byte(2) && y != NONE)
		y = add_row(row_of(inner[draw_byte(8)]));
	net.wanted = NONE;
	if (y != NONE) {
		uint32_t kind = draw_byte(4), in[2] = {x, y};
		if (!has_room(2, 1))
			return;
		begin_node(outer[kind], 1, in, 2, 1);
		if (kind == 2)
			add_attribute("axis", "0");
		(void)finish_node(in, 2, 1, kind == 3 ? 0 : SMOOTH);
	}
}

/* RMSNorm, spelled out. */
static void add_rms(void)
{
	static const struct row square = {OP_REDUCE_MEAN, 1, 1, 0, "keep_dims=true",
					  "vf:@ ci:1=-1"};
	struct tensor one = {.elem = EL_F32};
	uint32_t n = n_outputs(), x = n ? n - 1 : NONE, o;
	if (x == NONE || net.made[x].constant || net.made[x].t.elem != EL_F32)
		return;
	o = add_plain(OP_MULTIPLY, (uint32_t[]){x, x}, 2, SMOOTH);
	net.wanted = o;
	o = o == NONE ? NONE : add_row(&square);
	net.wanted = NONE;
	uint32_t eps = o == NONE ? NONE : add_constant(&one);
	if (eps == NONE)
		return;
	tensor_set_real(&net.made[eps].t, 0, 0.01);
	o = add_plain(OP_ADD, (uint32_t[]){o, eps}, 2, SMOOTH);
	o = o == NONE ? NONE : add_plain(OP_SQRT, &o, 1, 0);
	if (o != NONE)
		(void)add_plain(OP_DIVIDE, (uint32_t[]){x, o}, 2, 0);
}

/* What is drawn is a body of the last node, until end_body; `outer` keeps what was drawn before. */
static void begin_body(struct net *outer)
{
	struct arena *a = net.g->arena;
	*outer = net;
	net.g = ARENA_NEWN(a, struct graph, 1);
	net.g->name = net.g->xml = net.g->weights = "";
	net.g->arena = a;
	give_columns(net.g);
}

static struct graph *end_body(struct net *outer)
{
	struct graph *g = net.g;
	outer->data = net.data;
	outer->left = net.left;
	net = *outer;
	return g;
}

/* A few operators that keep shapes, behind o, and a Result. */
static void draw_keepers(uint32_t o)
{
	static const enum op_kind inner[] = {OP_RELU,    OP_NEGATIVE, OP_ABS,      OP_TANH,
					     OP_SIGMOID, OP_SIN,      OP_HSIGMOID, OP_SOFT_SIGN};
	for (uint32_t k = 1 + draw_byte(3); k > 0; k--) {
		uint32_t next = add_plain(inner[draw_byte(8)], &o, 1, SMOOTH);
		o = next == NONE ? o : next;
	}
	begin_node(OP_RESULT, 1, &o, 1, 0);
	(void)end_node(NULL, false, false);
}

static struct net outer_net;

/* A body: of one Parameter, or of two that are added, a few operators that keep shapes, and a Result. */
static struct graph *draw_body(const struct tensor *x, uint32_t n_params)
{
	begin_body(&outer_net);
	uint32_t in[2] = {NONE, NONE}, o;
	for (uint32_t i = 0; i < n_params; i++)
		in[i] = add_parameter(x, 0);
	o = n_params > 1 ? add_plain(OP_ADD, in, 2, SMOOTH) : in[0];
	draw_keepers(o == NONE ? in[0] : o); /* NONE: there was no room */
	return end_body(&outer_net);
}

/* The body of a Loop: Parameters state, counter and bound, the state's Result, and one that says whether the counter is below the
 * bound; then whether there is one. */
static struct graph *draw_loop_body(const struct tensor *x)
{
	const struct tensor number = {.elem = EL_I64};
	begin_body(&outer_net);
	uint32_t state = add_parameter(x, 0), in[2];
	in[0] = add_parameter(&number, 0);
	in[1] = add_parameter(&number, 0);
	uint32_t below = add_plain(OP_LESS, in, 2, 0);
	draw_keepers(state);
	begin_node(OP_RESULT, 1, &below, 1, 0);
	(void)end_node(NULL, false, false);
	return end_body(&outer_net);
}

static struct port_map *connect(struct graph_body *b, bool output, int64_t external,
				uint32_t internal)
{
	struct port_map *m = &b->map[b->n_maps++];
	*m = (struct port_map){.output = output, .external = external, .internal = internal};
	return m;
}

static struct graph_body *add_body(uint32_t v, const char *role, struct graph *drawn)
{
	struct graph_body *b = &net.g->body[net.g->n_bodies++];
	*b = (struct graph_body){.node = v, .role = role, .graph = drawn};
	b->map = ARENA_NEWN(net.g->arena, struct port_map, MOST_MAPS);
	return b;
}

/* The state goes from the Result `from` of an iteration to the Parameter `to` of the next. */
static void connect_back(struct graph_body *b, uint32_t from, uint32_t to)
{
	b->back_from = ARENA_NEWN(net.g->arena, uint32_t, 1);
	b->back_to = ARENA_NEWN(net.g->arena, uint32_t, 1);
	b->back_from[0] = from;
	b->back_to[b->n_back++] = to;
}

/* The last value in f32 that nothing but its dims tells of; NONE: there is none. */
static uint32_t last_plain(void)
{
	for (uint32_t o = n_outputs(); o-- > 0;) {
		const struct made *x = &net.made[o];
		if (x->t.elem == EL_F32 && x->t.rank > 0 && tensor_elements(&x->t) > 0 &&
		    !x->constant && !x->dynamic)
			return o;
	}
	return NONE;
}

static void end_control(const struct tensor *out, uint32_t n_out, uint32_t x, bool dynamic)
{
	uint32_t first = end_node(out, false, dynamic);
	for (uint32_t i = 0; i < n_out; i++) {
		net.smooth[first + i] = net.smooth[x];
		net.random[first + i] = net.random[x];
	}
}

/* If, on a condition that is an input. */
static void add_if(uint32_t x)
{
	const struct tensor t = net.made[x].t, flag = {.elem = EL_BOOLEAN};
	uint32_t in[2] = {add_parameter(&flag, 0), x};
	uint32_t v = begin_node(OP_IF, 8, in, 2, 1);
	static const char *const role[] = {"then", "else"};
	for (int i = 0; i < 2; i++) {
		struct graph_body *b = add_body(v, role[i], draw_body(&t, 1));
		connect(b, false, 1, 0);
		connect(b, true, 0, b->graph->n - 1);
	}
	end_control(&t, 1, x, false);
}

/* TensorIterator over slices of x, with a state. */
static void add_iterator(uint32_t x)
{
	struct tensor out[2] = {net.made[x].t, net.made[x].t};
	uint32_t axis = draw_byte(out[0].rank);
	out[0].dim[axis] = 1;
	uint32_t in[2] = {x, add_parameter(&out[0], 0)};
	uint32_t v = begin_node(OP_TENSOR_ITERATOR, 1, in, 2, 2);
	struct graph_body *b = add_body(v, "body", draw_body(&out[0], 2));
	struct port_map *slices[2] = {connect(b, false, 0, 0), NULL};
	connect(b, false, 1, 1);
	connect(b, true, 0, b->graph->n - 1);
	slices[1] = connect(b, true, 1, b->graph->n - 1);
	bool back = draw_byte(4) == 1;
	for (int i = 0; i < 2; i++) {
		slices[i]->has_axis = true;
		slices[i]->axis = axis;
		slices[i]->start = back ? -1 : 0;
		slices[i]->end = back ? 0 : -1;
		slices[i]->stride = back ? -1 : 1;
		slices[i]->part_size = 1;
	}
	connect_back(b, b->graph->n - 1, 1);
	end_control(out, 2, x, false);
}

/* Loop with x as its state: as many iterations as an input says at most, while another one says so and the counter is below a third.
 * All states together, if they are an output, have open dims. */
static void add_loop(uint32_t x)
{
	enum { STATE, COUNTER, BOUND }; /* Parameters of the body */
	struct tensor out[2] = {net.made[x].t, net.made[x].t};
	const struct tensor number = {.elem = EL_I64}, flag = {.elem = EL_BOOLEAN};
	bool all = draw_byte(2);
	uint32_t in[4] = {add_parameter(&number, 0), add_parameter(&flag, 0), x,
			  add_parameter(&number, 0)};
	uint32_t v = begin_node(OP_LOOP, 5, in, 4, all ? 2 : 1);
	struct graph_body *b = add_body(v, "body", draw_loop_body(&out[0]));
	uint32_t below = b->graph->n - 1, state = below - 1;
	connect(b, false, 2, STATE);
	connect(b, false, -1, COUNTER)->counter = true;
	connect(b, false, 3, BOUND);
	connect(b, true, 0, state);
	connect(b, true, -1, below)->condition = true;
	if (all) {
		struct port_map *m = connect(b, true, 1, state);
		m->has_axis = true;
		m->axis = draw_byte(out[0].rank);
		m->end = -1;
		m->stride = 1;
		m->part_size = out[0].dim[m->axis];
	}
	connect_back(b, state, STATE);
	end_control(out, all ? 2 : 1, x, all);
}

static void add_control(bool loop)
{
	uint32_t x = last_plain();
	if (x == NONE || !has_room(4, 5) || net.g->n + 6 > MOST_NODES ||
	    net.g->n_bodies + 2 > MOST_BODIES)
		return;
	if (loop)
		add_loop(x);
	else
		draw_byte(2) ? add_if(x) : add_iterator(x);
}

static void add_results(void)
{
	uint32_t n = n_outputs();
	for (uint32_t o = 0; o < n; o++) {
		const struct made *x = &net.made[o];
		enum op_kind kind = net.g->kind[x->node];
		if (x->read || kind == OP_CONST || kind == OP_PARAMETER || kind == OP_ASSIGN ||
		    (x->port > 0 && draw_byte(4) == 3) || !has_room(1, 1))
			continue;
		begin_node(OP_RESULT, 1, &o, 1, 0);
		(void)end_node(NULL, false, false);
	}
}

void draw_net(struct drawn *out)
{
	new_graph();
	uint32_t first = draw_byte(256);
	net.noise = 1 + first % 4;
	net.large = first >= 248;
	net.misfit = first >= 224 && first < 248;
	net.wanted = NONE;
	net.work = 0;
	for (uint32_t k = 1 + draw_byte(4); k > 0 && (net.left > 0 || n_outputs() == 0); k--)
		switch (draw_byte(8)) {
		case 0:
		case 1: add_chain(); break;
		case 2: add_branch(); break;
		case 3: add_rms(); break;
		default: (void)add_row(any_row()); break;
		}
	if (first >= 188 && first < 224)
		add_control(first < 200);
	add_results();
	struct graph *g = net.g;
	uint32_t n = g->n;
	out->graph = n > 0 && g->kind[n - 1] == OP_RESULT ? g : NULL;
	out->bound = net.bound;
	out->smooth = net.smooth;
	out->random = net.random;
	if (out->graph)
		graph_finish(g);
}
