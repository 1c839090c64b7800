/* quant.c - finding constants in few bits in a graph, and reading them. */
#include "op/quant.h"
#include "op/value.h"

/* ---- in the graph ---- */

struct finder {
	const struct graph *g;
	const struct op *op;
};

/* The output that input i of node v reads; GRAPH_NONE: none. */
static uint32_t input_of(const struct graph *g, uint32_t v, uint32_t i)
{
	uint32_t slot = g->in_ptr[v] + i;
	if (slot >= g->in_ptr[v + 1] || g->in_node[slot] == GRAPH_NONE)
		return GRAPH_NONE;
	return g->out_ptr[g->in_node[slot]] + g->in_port[slot];
}

static bool is_kind(const struct finder *f, uint32_t o, enum op_kind k)
{
	return o != GRAPH_NONE && f->op[graph_node_of(f->g, o)].kind == k;
}

/* o, or what a Convert to a real type in front of it reads. */
static uint32_t before_convert(const struct finder *f, uint32_t o)
{
	if (!is_kind(f, o, OP_CONVERT) || !elem_is_real((enum elem)f->g->out_elem[o]))
		return o;
	return input_of(f->g, graph_node_of(f->g, o), 0);
}

static bool is_code(enum elem t)
{
	switch (t) {
	/* clang-format off */
	case EL_U4: case EL_I4: case EL_NF4: case EL_F4E2M1:
	case EL_U8: case EL_I8: case EL_F8E4M3: case EL_F8E5M2:
		return true;
	/* clang-format on */
	default: return false;
	}
}

/* The codes behind a Convert. */
static uint32_t codes_of(const struct finder *f, uint32_t o)
{
	uint32_t c = before_convert(f, o);
	return c != o && is_kind(f, c, OP_CONST) && is_code((enum elem)f->g->out_elem[c])
		       ? c
		       : GRAPH_NONE;
}

/* A constant, perhaps converted; GRAPH_NONE: something else. */
static uint32_t plain_constant(const struct finder *f, uint32_t o)
{
	uint32_t c = before_convert(f, o);
	return is_kind(f, c, OP_CONST) ? c : GRAPH_NONE;
}

/* Does numpy's broadcasting leave the shape of the codes as it is? */
static bool broadcasts(const struct finder *f, uint32_t codes, uint32_t part)
{
	struct tensor c, p;
	if (part == GRAPH_NONE)
		return true;
	if (!tensor_describe(f->g, codes, &c) || !tensor_describe(f->g, part, &p) ||
	    !tensor_is_static(&c) || !tensor_is_static(&p) || p.rank > c.rank)
		return false;
	for (uint32_t d = 0; d < p.rank; d++) {
		int64_t n = p.dim[p.rank - 1 - d];
		if (n != 1 && n != c.dim[c.rank - 1 - d])
			return false;
	}
	return true;
}

bool quant_find(const struct graph *g, const struct op *op, uint32_t o, struct quant_parts *p)
{
	const struct finder f = {g, op};
	uint32_t at = o;
	*p = (struct quant_parts){GRAPH_NONE, GRAPH_NONE, GRAPH_NONE};
	if (!is_kind(&f, codes_of(&f, at), OP_CONST))
		at = before_convert(&f, at);
	if (is_kind(&f, at, OP_RESHAPE) || is_kind(&f, at, OP_SQUEEZE) ||
	    is_kind(&f, at, OP_UNSQUEEZE))
		at = input_of(g, graph_node_of(g, at), 0);
	if (is_kind(&f, at, OP_MULTIPLY)) {
		p->scale = plain_constant(&f, input_of(g, graph_node_of(g, at), 1));
		if (p->scale == GRAPH_NONE)
			return false;
		at = input_of(g, graph_node_of(g, at), 0);
	}
	if (is_kind(&f, at, OP_SUBTRACT)) {
		p->zero = plain_constant(&f, input_of(g, graph_node_of(g, at), 1));
		if (p->zero == GRAPH_NONE)
			return false;
		at = input_of(g, graph_node_of(g, at), 0);
	}
	p->codes = at == GRAPH_NONE ? GRAPH_NONE : codes_of(&f, at);
	return p->codes != GRAPH_NONE && broadcasts(&f, p->codes, p->zero) &&
	       broadcasts(&f, p->codes, p->scale);
}

void quant_describe(const struct quant_parts *p, const struct tensor *value, uint32_t o,
		    struct quant *q, struct tensor *t)
{
	const struct tensor none = {.elem = EL_DYNAMIC};
	*q = (struct quant){value[p->codes], p->zero == GRAPH_NONE ? none : value[p->zero],
			    p->scale == GRAPH_NONE ? none : value[p->scale]};
	*t = value[o];
	t->elem = q->codes.elem;
	t->data = q->codes.data;
	t->quant = q;
}

/* ---- values ---- */

/* Where element i of the codes finds its value in a tensor that is broadcast to them. */
static int64_t part_index(const struct tensor *codes, const struct tensor *part, int64_t i)
{
	int64_t at = 0, step = 1;
	for (uint32_t d = 0; d < part->rank; d++) {
		int64_t n = part->dim[part->rank - 1 - d], size = codes->dim[codes->rank - 1 - d];
		at += n == 1 ? 0 : i % size * step;
		step *= n;
		i /= size;
	}
	return at;
}

float quant_zero(const struct quant *q, int64_t i)
{
	return q->zero.elem == EL_DYNAMIC
		       ? 0.0f
		       : (float)tensor_real(&q->zero, part_index(&q->codes, &q->zero, i));
}

float quant_scale(const struct quant *q, int64_t i)
{
	return q->scale.elem == EL_DYNAMIC
		       ? 1.0f
		       : (float)tensor_real(&q->scale, part_index(&q->codes, &q->scale, i));
}

/* The dim number d from the right. */
static int64_t dim_back(const struct tensor *t, uint32_t d)
{
	return t->elem == EL_DYNAMIC || d >= t->rank ? 1 : t->dim[t->rank - 1 - d];
}

int64_t quant_run(const struct quant *q)
{
	int64_t run = 1;
	for (uint32_t d = 0; d < q->codes.rank; d++) {
		if (dim_back(&q->zero, d) != 1 || dim_back(&q->scale, d) != 1)
			break;
		run *= dim_back(&q->codes, d);
	}
	return run;
}

/* n codes from number `first` on with one zero and scale. */
static void read_run(const struct quant *q, int64_t first, int64_t n, float *dst)
{
	const struct tensor *t = &q->codes;
	float zero = quant_zero(q, first), scale = quant_scale(q, first);
	const uint8_t *bytes = t->data;
	if (t->elem == EL_I8 || t->elem == EL_U8) {
		int flip = t->elem == EL_I8 ? 128 : 0;
		for (int64_t i = 0; i < n; i++)
			dst[i] = ((float)((bytes[first + i] ^ flip) - flip) - zero) * scale;
	} else if (elem_bits(t->elem) == 4 && n >= 16) {
		uint8_t codes[8] = {0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe};
		const struct tensor all = {.elem = t->elem, .rank = 1, .dim = {16}, .data = codes};
		float level[16];
		for (int i = 0; i < 16; i++)
			level[i] = ((float)tensor_real(&all, i) - zero) * scale;
		for (int64_t i = first; i < first + n; i++)
			dst[i - first] = level[bytes[i / 2] >> i % 2 * 4 & 15];
	} else {
		for (int64_t i = 0; i < n; i++)
			dst[i] = ((float)tensor_real(t, first + i) - zero) * scale;
	}
}

void quant_read(const struct tensor *t, int64_t first, int64_t n, float *dst)
{
	int64_t run = quant_run(t->quant);
	for (int64_t end = first + n; first < end;) {
		int64_t part = run - first % run < end - first ? run - first % run : end - first;
		read_run(t->quant, first, part, dst);
		first += part;
		dst += part;
	}
}
