/* amx_epilogue.c - see amx_epilogue.h. */
#include "kernel/gemm/amx_epilogue.h"

#include <math.h>

/* Instruction i adds an operand to the value so far, which was made by the one before: that operand; NULL: it does not. */
static const struct epi_operand *addend_of(const struct epilogue *p, int i)
{
	const struct epi_code *c = &p->code[i];
	for (int j = 0; j < 2 && c->kind == OP_ADD && c->n_sources == 2; j++) {
		const struct epi_source *x = &c->source[j], *o = &c->source[1 - j];
		if (!x->operand && x->index == (i ? p->code[i - 1].to.index : 0) && o->operand)
			return &p->operand[o->index];
	}
	return NULL;
}

static bool unary_of(const struct epilogue *p, int i, struct tiles_post *t)
{
	const struct epi_code *c = &p->code[i];
	if (c->n_sources != 1 || c->source[0].operand ||
	    c->source[0].index != (i ? p->code[i - 1].to.index : 0))
		return false;
	switch (c->kind) {
	case OP_RELU: t->lo = 0; return true;
	case OP_CLAMP:
		t->lo = c->args.a;
		t->hi = c->args.b;
		return true;
	case OP_HSWISH: t->unary = TILES_HSWISH; return true;
	case OP_SIGMOID: t->unary = TILES_SIGMOID; return c->args.coarse;
	case OP_SWISH:
		t->unary = TILES_SWISH;
		t->beta = c->args.a;
		return c->args.coarse;
	case OP_GELU: t->unary = TILES_GELU; return c->args.coarse && !c->args.gelu_tanh;
	default: return false;
	}
}

bool ending_of(const struct epilogue *p, struct ending *e)
{
	int i = 0, n = p ? p->n_code : 0;
	*e = (struct ending){.post = {.lo = -INFINITY, .hi = INFINITY}};
	for (int j = 0; j < n; j++)
		if (p->code[j].to.operand)
			return false;
	const struct epi_operand *o = n > 0 ? addend_of(p, 0) : NULL;
	if (o && o->col == 1 && (o->row == 0 || o->mod == 1)) {
		e->bias = o->data;
		i++;
	}
	if (i < n && unary_of(p, i, &e->post))
		i++;
	o = i < n ? addend_of(p, i) : NULL;
	if (o && o->col == 1 && o->row == p->cols && o->div == 1 && o->mod >= p->rows) {
		e->add = o->data;
		i++;
	}
	return i == n && (n == 0 || p->code[n - 1].to.index == 0);
}
