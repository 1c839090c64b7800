/* convert.c - conversion between element types. */
#include "kernel/kernel_impl.h"
#include "kernel/vec.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 32768, PIECE = 1024 };

size_t cpu_elem_size(enum elem t)
{
	unsigned bits = elem_bits(t);
	return bits % 8 ? 0 : bits / 8;
}

/* Real numbers to integers as OpenVINO's CPU plugin and x86 do it: truncated to 32 bits, or to 64
 * for the wider types, where what does not fit is the least integer; the caller keeps the low bits. */
static int64_t truncated(double x, enum elem to)
{
	bool wide = elem_bits(to) > 32 || to == EL_U32;
	double bound = wide ? 0x1p63 : 0x1p31;
	if (to == EL_U64 && x >= 0x1p63 && x < 0x1p64)
		return (int64_t)(uint64_t)x;
	if (!(x > -bound - (wide ? 0 : 1) && x < bound))
		return wide ? INT64_MIN : INT32_MIN;
	return (int64_t)x;
}

/* Is x a number that the type holds?  Narrow types are computed in 32 bits. */
static bool holds(enum elem t, float x)
{
	float below = t == EL_U64         ? 0x1p64f
		      : elem_bits(t) > 32 ? 0x1p63f
		      : t == EL_U32       ? 0x1p32f
					  : 0x1p31f;
	return x >= (elem_bits(t) > 32 ? -0x1p63f : -0x1p31f) && x < below;
}

int64_t cpu_rounded(float x, enum elem to)
{
	if (!holds(to, x))
		return INT32_MIN;
	return x < 0x1p63f ? (int64_t)nearbyintf(x) : (int64_t)(uint64_t)x;
}

int64_t cpu_limited(float x, enum elem to)
{
	return x > 0 && !holds(to, x) ? (int64_t)nextafterf(0x1p31f, 0) : cpu_rounded(x, to);
}

static void convert_any(const struct tensor *dst, const struct tensor *src, int64_t n)
{
	bool from_real = elem_is_real(src->elem), to_real = elem_is_real(dst->elem);
	for (int64_t i = 0; i < n; i++) {
		if (dst->elem == EL_BOOLEAN)
			tensor_set_int(dst, i,
				       from_real ? tensor_real(src, i) != 0
						 : tensor_int(src, i) != 0);
		else if (to_real)
			tensor_set_real(dst, i, tensor_real(src, i));
		else if (from_real)
			tensor_set_int(dst, i, truncated(tensor_real(src, i), dst->elem));
		else
			tensor_set_int(dst, i, tensor_int(src, i));
	}
}

#define LEVEL_FILE "kernel/ops/convert_loops.h"
#include "kernel/isa_dispatch.h"

static bool is_half(enum elem t)
{
	return t == EL_F16 || t == EL_BF16;
}

/* The frequent pairs; false for the others. */
static bool convert_fast(enum elem to, void *dst, enum elem from, const void *src, int64_t n)
{
	size_t size = cpu_elem_size(from);
	if (to == from && size) {
		memcpy(dst, src, (size_t)n * cpu_elem_size(to));
		return true;
	}
	if (to == EL_F32 && from == EL_F16) {
		vec_from_half(src, dst, n);
		return true;
	}
	if (to == EL_F32 && from == EL_BF16) {
		vec_from_bf16(src, dst, n);
		return true;
	}
	if (LEVEL_CALL(convert, to, dst, from, src, n))
		return true;
	if (to == EL_F32 || from == EL_F32 || !(is_half(from) || is_half(to)) || !size)
		return false;
	for (int64_t i = 0; i < n; i += PIECE) { /* by way of f32 */
		float some[PIECE];
		int64_t now = n - i < PIECE ? n - i : PIECE;
		if (!convert_fast(EL_F32, some, from, (const char *)src + (size_t)i * size, now) ||
		    !convert_fast(to, (char *)dst + (size_t)i * cpu_elem_size(to), EL_F32, some,
				  now))
			return false;
	}
	return true;
}

void cpu_convert(enum elem to, void *dst, enum elem from, const void *src, int64_t n)
{
	union {
		const void *c;
		void *p;
	} source = {src};
	if (convert_fast(to, dst, from, src, n))
		return;
	struct tensor d = {.elem = to, .data = dst}, s = {.elem = from, .data = source.p};
	convert_any(&d, &s, n);
}

void cpu_convert_saturated(enum elem to, void *dst, enum elem from, const void *src, int64_t n)
{
	union {
		const void *c;
		void *p;
	} source = {src};
	struct tensor d = {.elem = to, .data = dst}, s = {.elem = from, .data = source.p};
	int64_t lo = to == EL_U8 ? 0 : INT8_MIN, hi = to == EL_U8 ? UINT8_MAX : INT8_MAX;
	for (int64_t i = 0; i < n; i++) {
		int64_t x = tensor_int(&s, i);
		tensor_set_int(&d, i, x < lo ? lo : x > hi ? hi : x);
	}
}

/* n integers of i32 as bytes, limited to lo .. hi. */
static void limit_bytes(const int32_t *x, uint8_t *y, int32_t lo, int32_t hi, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (uint8_t)(x[i] < lo ? lo : x[i] > hi ? hi : x[i]);
}

void cpu_convert_rounded(enum elem to, void *dst, const float *x, int64_t n)
{
	struct tensor d = {.elem = to, .data = dst};
	int32_t some[PIECE], lo = to == EL_U8 ? 0 : INT8_MIN,
			     hi = to == EL_U8 ? UINT8_MAX : INT8_MAX;
	if (to == EL_I32) {
		vec_to_integers(x, dst, n);
		return;
	}
	for (int64_t i = 0; (to == EL_I8 || to == EL_U8) && i < n; i += PIECE) {
		int64_t now = n - i < PIECE ? n - i : PIECE;
		vec_to_integers(x + i, some, now);
		limit_bytes(some, (uint8_t *)dst + i, lo, hi, now);
	}
	for (int64_t i = 0; to != EL_I8 && to != EL_U8 && i < n; i++)
		tensor_set_int(&d, i, cpu_rounded(x[i], to));
}

struct convert_run {
	struct tensor in, out;
	int64_t n;
	int n_tasks;
};

static void convert_task(void *arg, int task, int thread)
{
	const struct convert_run *r = arg;
	int64_t lo, hi;
	(void)thread;
	cpu_range(r->n, r->n_tasks, task, &lo, &hi);
	cpu_convert(r->out.elem, (char *)r->out.data + (size_t)lo * cpu_elem_size(r->out.elem),
		    r->in.elem, (const char *)r->in.data + (size_t)lo * cpu_elem_size(r->in.elem),
		    hi - lo);
}

/* Convert, ConvertLike; ConvertPromoteTypes has two inputs and as many outputs. */
int run_convert(const struct kernel_call *k, struct err *e)
{
	for (int i = 0; i < k->op->n_out; i++) {
		struct convert_run r = {k->in[i], k->out[i], tensor_elements(&k->out[i]), 1};
		if (elem_bits(r.in.elem) == 0 || elem_bits(r.out.elem) == 0)
			return err_set(e, ST_INPUT, "conversion from %s to %s is not supported",
				       elem_name(r.in.elem), elem_name(r.out.elem));
		if (cpu_elem_size(r.in.elem) && cpu_elem_size(r.out.elem))
			r.n_tasks = cpu_tasks(r.n, GRAIN);
		cpu_parallel(k->ctx, r.n_tasks, convert_task, &r);
	}
	return 0;
}
