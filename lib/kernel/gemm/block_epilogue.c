/* block_epilogue.c - see block_epilogue.h. */
#include "kernel/gemm/block_epilogue.h"
#include "kernel/kernel_impl.h"

#include <math.h>
#include <string.h>

static bool is_value(const struct epi_source *s, int value)
{
	return !s->operand && s->index == value;
}

/* One value for each row, or one for all. */
static bool is_bias(const struct epi_operand *o)
{
	return o->col == 0;
}

/* One value for each element, or for each column. */
static bool is_summand(const struct epi_operand *o, const struct epilogue *e)
{
	return o->col == 1 && (o->row == 0 || (o->div == 1 && o->mod >= e->rows));
}

/* A factor of each column, of a sum to which at most one summand of columns was added; false: it is something else. */
static bool add_scale(struct cpu_post *p, const struct epi_operand *o)
{
	if (!p->product || p->scale || p->bias || p->more || o->col != 1 || o->row != 0 ||
	    (p->residual && p->residual->row != 0))
		return false;
	p->scale = o;
	p->before = p->residual;
	p->residual = NULL;
	return true;
}

/* Takes one instruction into p, whose value so far is `value`; false: it is none of the simple
 * ones. */
static bool add_simple(struct cpu_post *p, const struct epilogue *e, const struct epi_code *k,
		       int value)
{
	if (k->to.operand || p->lo > -INFINITY || p->hi < INFINITY || p->hswish || p->swish != 0)
		return false;
	if (k->kind == OP_RELU && k->n_sources == 1 && is_value(&k->source[0], value)) {
		p->lo = 0;
		return true;
	}
	if (k->kind == OP_HSWISH && k->n_sources == 1 && is_value(&k->source[0], value)) {
		p->hswish = true;
		return true;
	}
	if (k->kind == OP_SWISH && k->n_sources == 1 && is_value(&k->source[0], value) &&
	    k->args.a != 0 && !k->args.coarse) {
		p->swish = k->args.a;
		return true;
	}
	if (k->kind == OP_CLAMP && k->n_sources == 1 && is_value(&k->source[0], value)) {
		p->lo = k->args.a;
		p->hi = k->args.b;
		return true;
	}
	if ((k->kind != OP_ADD && k->kind != OP_MULTIPLY) || k->n_sources != 2)
		return false;
	int other = is_value(&k->source[0], value) ? 1 : 0;
	if (!is_value(&k->source[!other], value) || !k->source[other].operand)
		return false;
	const struct epi_operand *o = &e->operand[k->source[other].index];
	if (k->kind == OP_MULTIPLY)
		return add_scale(p, o);
	if (!p->bias && is_bias(o))
		p->bias = o;
	else if (!p->residual && is_summand(o, e))
		p->residual = o;
	else if (!p->more && is_summand(o, e))
		p->more = o;
	else
		return false;
	return true;
}

/* A unary operator of the value so far that only values of f32 need. */
static bool is_tail(const struct epi_code *k, int value)
{
	return !k->to.operand && !k->codes && k->kind != OP_RESULT && k->n_sources == 1 &&
	       is_value(&k->source[0], value);
}

void cpu_post_init(struct cpu_post *p, const struct epilogue *e, bool product)
{
	int value = 0;
	*p = (struct cpu_post){
		.whole = e, .simple = true, .product = product, .lo = -INFINITY, .hi = INFINITY};
	for (int i = 0; e && i < e->n_code && p->simple; i++) {
		const struct epi_code *k = &e->code[i];
		p->simple = add_simple(p, e, k, value);
		if (!p->simple && product && i + 1 == e->n_code && is_tail(k, value)) {
			p->simple = true;
			p->tail = k;
		}
		value = k->to.index;
	}
	p->simple = p->simple && value == 0;
	p->tail = p->simple ? p->tail : NULL;
}

/* The bias of rows row .. row + n - 1. */
static void bias_of(const struct epi_operand *o, int64_t row, int n, float *bias)
{
	int64_t again = 0, at = row;
	if (o->div > 1) {
		again = row % o->div;
		at = row / o->div;
	}
	if (at >= o->mod)
		at %= o->mod;
	for (int i = 0; i < n; i++) {
		bias[i] = o->data[at * o->row];
		if (++again < o->div)
			continue;
		again = 0;
		at = at + 1 < o->mod ? at + 1 : 0;
	}
}

const struct gemm_post *cpu_post_rows(const struct cpu_post *p, int64_t row, int n, int64_t col,
				      struct cpu_post_rows *to)
{
	const struct epi_operand *b = p->bias, *r = p->residual, *m = p->more;
	if (!p->whole || !p->simple)
		return NULL;
	if (b)
		bias_of(b, row, n, to->bias);
	else
		memset(to->bias, 0, (size_t)n * sizeof *to->bias);
	to->post = (struct gemm_post){
		.bias = to->bias, .lo = p->lo, .hi = p->hi, .hswish = p->hswish, .swish = p->swish};
	if (p->scale)
		to->post.scale = p->scale->data + col;
	if (p->before)
		to->post.before = p->before->data + col;
	if (r) {
		to->post.residual = r->data + row * r->row + col;
		to->post.ld = r->row;
	}
	if (m) {
		to->post.more = m->data + row * m->row + col;
		to->post.more_ld = m->row;
	}
	return &to->post;
}

void cpu_post_tile(const struct cpu_post *p, float *c, int64_t ldc, int64_t row, int64_t n_rows,
		   int64_t col, int64_t n)
{
	if (p->whole && !p->simple)
		cpu_epilogue_tile(p->whole, c, ldc, row, n_rows, col, n);
	for (int64_t i = 0; p->tail && i < n_rows; i++)
		cpu_unary_f32(p->tail->kind, &p->tail->args, c + i * ldc, 1, c + i * ldc, n);
}

void cpu_post_sums(const struct cpu_post *p, float *c, int64_t ldc, int64_t row, int64_t n_rows,
		   int64_t col, int64_t n)
{
	struct cpu_post_rows rows;
	for (int64_t i = 0; p->whole && p->simple && i < n_rows; i += GEMM_M) {
		int m = n_rows - i < GEMM_M ? (int)(n_rows - i) : GEMM_M;
		gemm_finish(cpu_post_rows(p, row + i, m, col, &rows), c + i * ldc, ldc, m, n);
	}
	cpu_post_tile(p, c, ldc, row, n_rows, col, n);
}
