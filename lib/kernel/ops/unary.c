/* unary.c - element-wise operators with one data input. */
#include "kernel/kernel_impl.h"
#include "kernel/isa_level.h"
#include "kernel/vec.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { GRAIN = 16384 };

static double round_half(double v, bool away)
{
	return away ? round(v) : nearbyint(v);
}

/* The inverse of erf: a first guess, and Halley's steps. The guess for large arguments is that of Abramowitz and
 * Stegun, "Handbook of Mathematical Functions", 26.2.22, the other two terms of the series. */
static double erf_inverse(double v)
{
	const double slope = 1.1283791670955126; /* 2 / sqrt(pi) */
	double size = fabs(v), p = 1 - size, y;
	if (!(size < 1))
		return size == 1 ? copysign(INFINITY, v) : NAN;
	if (size < 0.5) {
		y = size / slope * (1 + size * size * 0.2617993877991494);
		for (int i = 0; i < 3; i++) {
			double off = erf(y) - size;
			y -= off / (slope * exp(-y * y) + off * y);
		}
	} else {
		double t = sqrt(-2 * log(p / 2));
		y = 0.7071067811865476 *
		    (t - (2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481)));
		for (int i = 0; i < 3; i++) {
			double off = erfc(y) - p;
			y += off / (slope * exp(-y * y) - off * y);
		}
	}
	return copysign(y, v);
}

/* One element in double precision: every operator, used for f64. */
static double unary_real(enum op_kind kind, const struct unary_args *u, double v)
{
	double a = (double)u->a, b = (double)u->b;
	switch (kind) {
	case OP_ABS: return fabs(v);
	case OP_ACOS: return acos(v);
	case OP_ACOSH: return acosh(v);
	case OP_ASIN: return asin(v);
	case OP_ASINH: return asinh(v);
	case OP_ATAN: return atan(v);
	case OP_ATANH: return atanh(v);
	case OP_CEILING: return ceil(v);
	case OP_CLAMP: return v < a ? a : v > b ? b : v;
	case OP_COS: return cos(v);
	case OP_COSH: return cosh(v);
	case OP_ELU: return v > 0 ? v : a * expm1(v);
	case OP_ERF: return erf(v);
	case OP_ERF_INV: return erf_inverse(v);
	case OP_EXP: return exp(v);
	case OP_FLOOR: return floor(v);
	case OP_GELU:
		return u->gelu_tanh
			       ? 0.5 * v *
					 (1 + tanh(0.7978845608028654 * (v + 0.044715 * v * v * v)))
			       : 0.5 * v * (1 + erf(v * 0.7071067811865476));
	case OP_HARD_SIGMOID: return fmax(0, fmin(1, a * v + b));
	case OP_HSIGMOID: return fmin(fmax(v + 3, 0), 6) / 6;
	case OP_HSWISH: return v * fmin(fmax(v + 3, 0), 6) / 6;
	case OP_LOG: return log(v);
	case OP_MISH: return v * tanh(v > 30 ? v : log1p(exp(v)));
	case OP_NEGATIVE: return -v;
	case OP_RELU: return v > 0 ? v : 0;
	case OP_ROUND: return round_half(v, u->half_away);
	case OP_SELU: return v > 0 ? b * v : b * a * expm1(v);
	case OP_SIGMOID: return 1 / (1 + exp(-v));
	case OP_SIGN: return isnan(v) ? v : (v > 0) - (v < 0);
	case OP_SIN: return sin(v);
	case OP_SINH: return sinh(v);
	case OP_SOFT_PLUS: return v > 30 ? v : log1p(exp(v));
	case OP_SOFT_SIGN: return v / (1 + fabs(v));
	case OP_SQRT: return sqrt(v);
	case OP_SWISH: return v / (1 + exp(-a * v));
	case OP_TAN: return tan(v);
	case OP_TANH: return tanh(v);
	case OP_IS_FINITE: return isfinite(v);
	case OP_IS_INF: return isinf(v) && (v < 0 ? u->neg_inf : u->pos_inf);
	case OP_IS_NAN: return isnan(v);
	case OP_LOGICAL_NOT: return v == 0;
	default: MISSED(kind); return v;
	}
}

/* v is of type `of`; functions with real values are rounded. */
static int64_t unary_int(enum op_kind kind, const struct unary_args *u, enum elem of, int64_t v)
{
	switch (kind) {
	case OP_ABS: return v < 0 ? (int64_t)(0 - (uint64_t)v) : v;
	case OP_NEGATIVE: return (int64_t)(0 - (uint64_t)v);
	case OP_BITWISE_NOT: return u->boolean ? !v : ~v;
	case OP_LOGICAL_NOT: return !v;
	case OP_SIGN: return (v > 0) - (v < 0);
	case OP_RELU: return v > 0 ? v : 0;
	/* clang-format off */
	case OP_FLOOR: case OP_CEILING: case OP_ROUND: return v;
	/* clang-format on */
	case OP_CLAMP:
		/* The bounds are reals: round them inwards. */
		if ((double)v < ceil((double)u->a))
			return (int64_t)ceil((double)u->a);
		return (double)v > floor((double)u->b) ? (int64_t)floor((double)u->b) : v;
	/* clang-format off */
	case OP_ATANH: case OP_COSH: case OP_SINH:
		/* clang-format on */
		return cpu_limited((float)unary_real(kind, u, (double)v), of);
	default: /* functions with real values */
		return cpu_rounded((float)unary_real(kind, u, (double)v), of);
	}
}

/* u64 from 2^63 on: what differs from the signed integers. */
static uint64_t unary_huge(enum op_kind kind, const struct unary_args *u, uint64_t v)
{
	switch (kind) {
	case OP_SIGN: return 1;
	/* clang-format off */
	case OP_ABS: case OP_RELU: return v;
	/* clang-format on */
	case OP_CLAMP: {
		double hi = floor((double)u->b);
		return (double)v > hi ? hi > 0 ? (uint64_t)hi : 0 : v;
	}
	/* clang-format off */
	case OP_FLOOR: case OP_CEILING: case OP_ROUND: case OP_BITWISE_NOT: case OP_LOGICAL_NOT:
	case OP_NEGATIVE:
		/* clang-format on */
		return (uint64_t)unary_int(kind, u, EL_U64, (int64_t)v);
	default: /* functions with real values */
		return (uint64_t)cpu_rounded((float)unary_real(kind, u, (double)v), EL_U64);
	}
}

#define EACH(expr) \
	for (int64_t i = 0; i < n; i++) { \
		float v = x[i]; \
		y[i] = (expr); \
	} \
	return

/* Operators that have no vector form at this level, by the functions of the C library for f32. */
static void unary_f32(enum op_kind kind, const struct unary_args *u, const float *x, float *y,
		      int64_t n)
{
	switch (kind) {
	case OP_ACOS: EACH(acosf(v));
	case OP_ACOSH: EACH(acoshf(v));
	case OP_ASIN: EACH(asinf(v));
	case OP_ASINH: EACH(asinhf(v));
	case OP_ATAN: EACH(atanf(v));
	case OP_ATANH: EACH(atanhf(v));
	case OP_COS: EACH(cosf(v));
	case OP_COSH: EACH(coshf(v));
	case OP_SIN: EACH(sinf(v));
	case OP_SINH: EACH(sinhf(v));
	case OP_TAN: EACH(tanf(v));
	default: /* in double precision */ EACH((float)unary_real(kind, u, (double)v));
	}
}
#undef EACH

void cpu_unary_f32(enum op_kind kind, const struct unary_args *u, const float *x, int sx, float *y,
		   int64_t n)
{
	if (sx == 0) {
		float v = x[0];
		cpu_unary_f32(kind, u, &v, 1, &v, 1);
		for (int64_t i = 0; i < n; i++)
			y[i] = v;
		return;
	}
	if (!vec_unary(kind, u, x, y, n))
		unary_f32(kind, u, x, y, n);
}

struct unary_run {
	enum op_kind kind;
	struct unary_args args;
	struct tensor in, out;
	enum elem of; /* what the graph says that the output is: in may be converted */
	bool folded;
	int64_t n;
	int n_tasks;
};

#define EACH(expr) \
	for (int64_t i = lo; i < hi; i++) \
		y[i] = (expr); \
	return true

/* Tests of f32 and of booleans; false: another operator, or other types. */
static bool test_fast(const struct unary_run *r, int64_t lo, int64_t hi)
{
	const uint8_t *b = r->in.data;
	const float *x = r->in.data;
	uint8_t *y = r->out.data;
	bool minus = r->args.neg_inf, plus = r->args.pos_inf;
	if (r->in.elem == EL_BOOLEAN && (r->kind == OP_LOGICAL_NOT || r->kind == OP_BITWISE_NOT)) {
		EACH(b[i] == 0);
	} else if (r->in.elem == EL_F32 && r->out.elem == EL_BOOLEAN) {
		switch (r->kind) {
		case OP_IS_NAN: EACH(x[i] != x[i]);
		case OP_IS_FINITE: EACH(fabsf(x[i]) <= FLT_MAX);
		case OP_IS_INF: EACH((minus & (x[i] < -FLT_MAX)) | (plus & (x[i] > FLT_MAX)));
		case OP_LOGICAL_NOT: EACH(x[i] == 0);
		default: return false;
		}
	}
	return false;
}
#undef EACH

/* Operators on i32 and i64 that are integers all the way, as unary_int has them; false: another, or other types. */
#define EACH(T, expr) \
	do { \
		const T *x = r->in.data; \
		T *y = r->out.data; \
		for (int64_t i = lo; i < hi; i++) { \
			T v = x[i]; \
			y[i] = (T)(expr); \
		} \
		return true; \
	} while (0)
#define INTEGERS(T, U) \
	switch (r->kind) { \
	case OP_ABS: EACH(T, v < 0 ? 0 - (U)v : (U)v); \
	case OP_NEGATIVE: EACH(T, 0 - (U)v); \
	case OP_BITWISE_NOT: EACH(T, ~v); \
	case OP_SIGN: EACH(T, (v > 0) - (v < 0)); \
	case OP_RELU: EACH(T, v > 0 ? v : 0); \
	default: return false; \
	}

static bool integers_fast(const struct unary_run *r, int64_t lo, int64_t hi)
{
	if (r->in.elem != r->out.elem || r->args.boolean)
		return false;
	if (r->in.elem == EL_I32)
		INTEGERS(int32_t, uint32_t)
	if (r->in.elem == EL_I64)
		INTEGERS(int64_t, uint64_t)
	return false;
}
#undef EACH
#undef INTEGERS

/* Functions whose folded integers OpenVINO cuts off; it rounds the others. */
static bool cuts(enum op_kind kind)
{
	return kind == OP_EXP || kind == OP_LOG || kind == OP_SIN || kind == OP_ASIN;
}

static void unary_task(void *arg, int task, int thread)
{
	struct unary_run *r = arg;
	int64_t lo, hi;
	(void)thread;
	cpu_range(r->n, r->n_tasks, task, &lo, &hi);
	if (r->in.elem == EL_F32 && r->out.elem == EL_F32) {
		cpu_unary_f32(r->kind, &r->args, (const float *)r->in.data + lo, 1,
			      (float *)r->out.data + lo, hi - lo);
	} else if (test_fast(r, lo, hi) || integers_fast(r, lo, hi)) {
		return;
	} else if (elem_is_real(r->in.elem)) {
		for (int64_t i = lo; i < hi; i++)
			tensor_set_real(&r->out, i,
					unary_real(r->kind, &r->args, tensor_real(&r->in, i)));
	} else {
		for (int64_t i = lo; i < hi; i++) {
			int64_t v = tensor_int(&r->in, i);
			bool huge = r->in.elem == EL_U64 && v < 0;
			if (r->folded && cuts(r->kind)) {
				float x = (float)unary_real(r->kind, &r->args, (double)v);
				tensor_set_int(&r->out, i, cpu_rounded(truncf(x), r->of));
				continue;
			}
			tensor_set_int(&r->out, i,
				       huge ? (int64_t)unary_huge(r->kind, &r->args, (uint64_t)v)
					    : unary_int(r->kind, &r->args, r->of, v));
		}
	}
}

struct unary_args cpu_unary_args(const struct op *op, const struct tensor *in,
				 const struct cpu_ctx *ctx)
{
	bool coarse = ctx && cpu_level >= 4 && (ctx->bf16_products || (ctx->codes && op->rounded));
	const struct op_act_args p =
		op_act_args(op, op->n_in > 1 ? &in[1] : NULL, op->n_in > 2 ? &in[2] : NULL);
	return (struct unary_args){.a = p.a,
				   .b = p.b,
				   .gelu_tanh = p.gelu_tanh,
				   .half_away = p.half_away,
				   .boolean = op->kind == OP_BITWISE_NOT &&
					      op->g->out_elem[op->g->out_ptr[op->v]] == EL_BOOLEAN,
				   .coarse = coarse,
				   .neg_inf = p.neg_inf,
				   .pos_inf = p.pos_inf};
}

int run_unary(const struct kernel_call *k, struct err *e)
{
	(void)e;
	struct unary_run r = {.kind = k->op->kind,
			      .args = cpu_unary_args(k->op, k->in, k->ctx),
			      .in = k->in[0],
			      .out = k->out[0],
			      .of = cpu_graph_elem(k),
			      .folded = cpu_is_folded(k),
			      .n = tensor_elements(&k->out[0])};
	r.n_tasks = cpu_tasks(r.n, GRAIN);
	cpu_parallel(k->ctx, r.n_tasks, unary_task, &r);
	return 0;
}
