/* binary.c - element-wise operators with two inputs and numpy broadcasting. */
#include "kernel/kernel_impl.h"
#include "kernel/vec.h"

#include <math.h>

struct binary_run {
	enum op_kind kind;
	bool floor; /* quotients of integers are rounded down, not towards zero */
	const struct tensor *a, *b, *out;
};

/* ---- one row, by type ---- */

static int64_t floor_mod(int64_t p, int64_t q)
{
	if (q == 0 || q == -1)
		return 0;
	int64_t r = p % q;
	return r && (r < 0) != (q < 0) ? r + q : r;
}

/* Rounded down. */
static int64_t floor_divide(int64_t p, int64_t q)
{
	if (q == 0)
		return 0;
	if (q == -1)
		return (int64_t)(0 - (uint64_t)p);
	return p / q - (p % q != 0 && (p < 0) != (q < 0));
}

static int64_t divide(int64_t p, int64_t q)
{
	if (q == 0)
		return 0;
	if (q == -1)
		return (int64_t)(0 - (uint64_t)p);
	return p / q; /* towards zero, as OpenVINO's CPU plugin */
}

static int64_t power(int64_t p, int64_t q)
{
	uint64_t x = 1, base = (uint64_t)p;
	if (q < 0)
		return p == 1 ? 1 : p == -1 ? (q & 1 ? -1 : 1) : p == 0 ? INT32_MIN : 0;
	for (; q; q >>= 1, base *= base)
		if (q & 1)
			x *= base;
	return (int64_t)x;
}

static double floor_mod_real(double p, double q)
{
	double r = fmod(p, q);
	return r != 0 && (r < 0) != (q < 0) ? r + q : r;
}

/* Strides are 0, or 1 where the rows are long: each pair is a loop of its own, which vectorises. */
#define LOOP(T, Y, expr) \
	do { \
		const T *a = pa, *b = pb; \
		Y *y = py; \
		if (sa == 1 && sb == 1) \
			for (int64_t i = 0; i < n; i++) { \
				T p = a[i], q = b[i]; \
				(void)p, (void)q; \
				y[i] = (Y)(expr); \
			} \
		else if (sa == 1 && sb == 0) { \
			T q = b[0]; \
			for (int64_t i = 0; i < n; i++) { \
				T p = a[i]; \
				(void)p, (void)q; \
				y[i] = (Y)(expr); \
			} \
		} else \
			for (int64_t i = 0; i < n; i++) { \
				T p = a[i * sa], q = b[i * sb]; \
				(void)p, (void)q; \
				y[i] = (Y)(expr); \
			} \
		return; \
	} while (0)
#define ROW(T, expr) LOOP(T, T, expr)
#define TEST(T, expr) LOOP(T, uint8_t, expr)

#define TESTS(T) \
	case OP_EQUAL: TEST(T, p == q); \
	case OP_NOT_EQUAL: TEST(T, p != q); \
	case OP_LESS: TEST(T, p < q); \
	case OP_LESS_EQUAL: TEST(T, p <= q); \
	case OP_GREATER: TEST(T, p > q); \
	case OP_GREATER_EQUAL: TEST(T, p >= q); \
	case OP_LOGICAL_AND: TEST(T, p != 0 && q != 0); \
	case OP_LOGICAL_OR: TEST(T, p != 0 || q != 0); \
	case OP_LOGICAL_XOR: \
		TEST(T, (p != 0) != (q != 0));

#define REAL_ROW(name, T, fmod_, pow_) \
	static void name(enum op_kind kind, const void *pa, int64_t sa, const void *pb, \
			 int64_t sb, void *py, int64_t n) \
	{ \
		switch (kind) { \
		case OP_ADD: ROW(T, p + q); \
		case OP_SUBTRACT: ROW(T, p - q); \
		case OP_MULTIPLY: ROW(T, p *q); \
		case OP_DIVIDE: ROW(T, p / q); \
		case OP_MAXIMUM: ROW(T, p > q ? p : q); \
		case OP_MINIMUM: ROW(T, p < q ? p : q); \
		case OP_SQUARED_DIFFERENCE: ROW(T, (p - q) * (p - q)); \
		case OP_MOD: ROW(T, fmod_(p, q)); \
		case OP_FLOOR_MOD: ROW(T, floor_mod_real((double)p, (double)q)); \
		case OP_POWER: ROW(T, q == 2 ? p * p : pow_(p, q)); TESTS(T) \
		default: MISSED(kind); \
		} \
	}
REAL_ROW(row_f32, float, fmodf, powf)
REAL_ROW(row_f64, double, fmod, pow)

/* Integers in U: unsigned, so that overflow wraps; divisions and comparisons in T. */
#define INT_ROW(name, T, U, div, mod, fmod_) \
	static void name(enum op_kind kind, const void *pa, int64_t sa, const void *pb, \
			 int64_t sb, void *py, int64_t n) \
	{ \
		switch (kind) { \
		case OP_ADD: ROW(T, (U)p + (U)q); \
		case OP_SUBTRACT: ROW(T, (U)p - (U)q); \
		case OP_MULTIPLY: ROW(T, (U)p *(U)q); \
		case OP_SQUARED_DIFFERENCE: ROW(T, ((U)p - (U)q) * ((U)p - (U)q)); \
		case OP_DIVIDE: ROW(T, div); \
		case OP_MOD: ROW(T, mod); \
		case OP_FLOOR_MOD: ROW(T, fmod_); \
		case OP_POWER: ROW(T, power((int64_t)p, (int64_t)q)); \
		case OP_MAXIMUM: ROW(T, p > q ? p : q); \
		case OP_MINIMUM: ROW(T, p < q ? p : q); \
		case OP_BITWISE_AND: ROW(T, p &q); \
		case OP_BITWISE_OR: ROW(T, p | q); \
		case OP_BITWISE_XOR: ROW(T, p ^ q); \
		case OP_BITWISE_LEFT_SHIFT: \
			ROW(T, q < 0 || (size_t)q >= 8 * sizeof(T) ? 0 : (U)p << q); \
		case OP_BITWISE_RIGHT_SHIFT: \
			ROW(T, q < 0 || (size_t)q >= 8 * sizeof(T) ? 0 : p >> q); \
			TESTS(T) \
		default: MISSED(kind); \
		} \
	}
INT_ROW(row_i64, int64_t, uint64_t, divide(p, q), q == 0 || q == -1 ? 0 : p % q, floor_mod(p, q))
INT_ROW(row_i32, int32_t, uint32_t, divide(p, q), q == 0 || q == -1 ? 0 : p % q, floor_mod(p, q))
#pragma GCC diagnostic ignored "-Wtype-limits"
INT_ROW(row_u64, uint64_t, uint64_t, q ? p / q : 0, q ? p % q : 0, q ? p % q : 0)

/* Booleans, 0 or 1. */
static void row_boolean(enum op_kind kind, const void *pa, int64_t sa, const void *pb, int64_t sb,
			void *py, int64_t n)
{
	switch (kind) {
	case OP_BITWISE_AND: TEST(uint8_t, p & q);
	case OP_BITWISE_OR: TEST(uint8_t, p | q);
	case OP_BITWISE_XOR: TEST(uint8_t, p ^ q); TESTS(uint8_t)
	default: MISSED(kind);
	}
}

void cpu_binary_f32(enum op_kind kind, const float *a, int sa, const float *b, int sb, float *y,
		    int64_t n)
{
	if (n == 1)
		sa = 1; /* vec_binary wants one operand that moves */
	if (!sa && !sb) {
		float v;
		cpu_binary_f32(kind, a, 1, b, 1, &v, 1);
		for (int64_t i = 0; i < n; i++)
			y[i] = v;
	} else if (!vec_binary(kind, a, sa, b, sb, y, n)) {
		row_f32(kind, a, sa, b, sb, y, n);
	}
}

/* Quotients of constants, as OpenVINO's reference implementations have them: rounded down. */
static void floor_row(const struct binary_run *r, const void *a, int64_t sa, const void *b,
		      int64_t sb, void *y, int64_t n)
{
	if (r->a->elem == EL_I32) {
		const int32_t *p = a, *q = b;
		for (int64_t i = 0; i < n; i++)
			((int32_t *)y)[i] = (int32_t)floor_divide(p[i * sa], q[i * sb]);
	} else {
		const int64_t *p = a, *q = b;
		for (int64_t i = 0; i < n; i++)
			((int64_t *)y)[i] = floor_divide(p[i * sa], q[i * sb]);
	}
}

/* Divisions of i32 and i64: how many of the elements are done. */
static int64_t divide_row(const struct binary_run *r, const void *a, int64_t sa, const void *b,
			  int64_t sb, void *y, int64_t n)
{
	bool quotient = r->kind == OP_DIVIDE, floor = r->kind == OP_FLOOR_MOD;
	if (r->floor) {
		floor_row(r, a, sa, b, sb, y, n);
		return n;
	}
	if (!quotient && !floor && r->kind != OP_MOD)
		return 0;
	if (r->a->elem == EL_I32)
		return vec_divide_i32(quotient, floor, a, sa != 0, b, sb != 0, y, n);
	if (r->a->elem == EL_I64)
		return vec_divide_i64(quotient, floor, a, sa != 0, b, sb != 0, y, n);
	return 0;
}

static void run_row(const struct binary_run *r, const void *a, int64_t sa, const void *b,
		    int64_t sb, void *y, int64_t n)
{
	switch (r->a->elem) {
	case EL_F32: cpu_binary_f32(r->kind, a, sa != 0, b, sb != 0, y, n); break;
	case EL_F64: row_f64(r->kind, a, sa, b, sb, y, n); break;
	case EL_I32: row_i32(r->kind, a, sa, b, sb, y, n); break;
	case EL_BOOLEAN: row_boolean(r->kind, a, sa, b, sb, y, n); break;
	case EL_U64: row_u64(r->kind, a, sa, b, sb, y, n); break;
	case EL_I64: row_i64(r->kind, a, sa, b, sb, y, n); break;
	default: MISSED(r->a->elem);
	}
}

static void binary_row(void *arg, int64_t out, const void *const *in, const int64_t *stride,
		       int64_t n)
{
	const struct binary_run *r = arg;
	size_t size = cpu_elem_size(r->a->elem);
	const char *a = in[0], *b = in[1];
	char *y = (char *)r->out->data + (size_t)out * cpu_elem_size(r->out->elem);
	int64_t done = divide_row(r, a, stride[0], b, stride[1], y, n);
	if (done < n)
		run_row(r, a + (size_t)(done * stride[0]) * size, stride[0],
			b + (size_t)(done * stride[1]) * size, stride[1], y + (size_t)done * size,
			n - done);
}

int run_binary(const struct kernel_call *k, struct err *e)
{
	struct tensor b;
	struct binary_run r = {.kind = k->op->kind, .a = &k->in[0], .b = &b, .out = &k->out[0]};
	struct bcast c;
	r.floor = r.kind == OP_DIVIDE && cpu_is_folded(k) && k->op->a.broadcast.floor &&
		  (r.a->elem == EL_I32 || r.a->elem == EL_I64);
	if (!op_align(k->op, &k->in[0], 1, &k->in[1], &b))
		return err_set(e, ST_INPUT, "shapes do not broadcast");
	if (r.a->elem != b.elem)
		return err_set(e, ST_INPUT, "inputs of types %s and %s", elem_name(r.a->elem),
			       elem_name(b.elem));
	cpu_bcast_init(&c, r.out, (const struct tensor *const[]){r.a, &b}, 2);
	cpu_bcast_run(k->ctx, &c, binary_row, &r);
	return 0;
}

/* x where x > 0, slope * x elsewhere; a vector of slopes belongs to the channels. */
static void prelu_row(void *arg, int64_t out, const void *const *in, const int64_t *stride,
		      int64_t n)
{
	const struct binary_run *r = arg;
	cpu_binary_f32(OP_PRELU, in[0], stride[0] != 0, in[1], stride[1] != 0,
		       (float *)r->out->data + out, n);
}

int run_prelu(const struct kernel_call *k, struct err *e)
{
	struct tensor slope;
	struct binary_run r = {.kind = k->op->kind, .a = &k->in[0], .b = &slope, .out = &k->out[0]};
	struct bcast c;
	struct tensor whole = {.elem = EL_F32};
	if (!op_align(k->op, r.a, 1, &k->in[1], &slope) || !op_broadcast(r.a, &slope, &whole) ||
	    !tensor_same_shape(&whole, r.a))
		return err_set(e, ST_INPUT, "slopes do not broadcast");
	cpu_bcast_init(&c, r.out, (const struct tensor *const[]){r.a, &slope}, 2);
	cpu_bcast_run(k->ctx, &c, prelu_row, &r);
	return 0;
}
