/* test_forms.c - loops over tensors in pixels, beside the same one by one: lines of what multiplies, adds and limits between
 * codes and floats, numbers as codes, sums of rows.  Bits are the same at any length; codes by the processor's instructions and
 * without them. */
#include "tap.h"

#include "base/rng.h"
#include "kernel/nhwc/nhwc_form.h"
#include "kernel/nhwc/nhwc_line.h"
#include "kernel/quantize.h"
#include "kernel/isa_level.h"
#include "kernel/vec.h"

#include <math.h>
#include <string.h>

enum { N = 203 };

static float x[N], m[N], a[N], by[N], shift[N], got[N];
static uint8_t codes[N], made[N + 64];

static void fill(void)
{
	struct rng_addr at = {.seed = 5};
	float *all[] = {x, m, a, shift}, u[N];
	for (uint32_t i = 0; i < 4; i++) {
		at.stream = i;
		rng_uniform_f32(&at, -4, 4, all[i], N);
	}
	at.stream = 9;
	rng_uniform_f32(&at, 0, 256, u, N);
	for (int i = 0; i < N; i++) {
		codes[i] = (uint8_t)u[i];
		by[i] = 20 + x[(i * 7) % N];
		shift[i] = 128 + 5 * shift[i];
	}
	x[17] = NAN;
	x[80] = INFINITY;
	x[81] = -INFINITY;
	x[82] = 1e30f;
	x[83] = 3;
	x[84] = -3;
}

static uint8_t code_of(float v, float scale, float more, bool is_signed)
{
	float q = rintf(fmaf(v, scale, more));
	q = q > 0 ? q : 0;
	q = q < 255 ? q : 255;
	return (uint8_t)((int)q - (is_signed ? 128 : 0));
}

static float hswish(float v)
{
	float u = v + 3;
	u = u < 0 ? 0 : u;
	u = u > 6 ? 6 : u;
	return v * (u * (1 / 6.0f));
}

/* ---- numbers as codes ---- */

/* What stands behind the last stays. */
static bool codes_right(int n, int64_t columns, bool is_signed, bool unary)
{
	const struct code_rows r = {columns, by, shift, is_signed, unary};
	memset(made, 77, sizeof made);
	codes_of_rows(&r, x, n, made);
	bool right = made[n] == 77;
	for (int i = 0; i < n; i++) {
		int64_t j = columns ? i % columns : 0;
		float v = unary ? hswish(x[i]) : x[i];
		right = right && made[i] == code_of(v, by[j], shift[j], is_signed);
	}
	return right;
}

static void check_codes(const char *how)
{
	static const int64_t columns[] = {0, 1, 8, 16, 24, 48, 64, 96, 100};
	for (int kind = 0; kind < 4; kind++) {
		int wrong = 0;
		for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
			for (int n = 1; n <= N - 1; n++)
				if ((!columns[c] || n % columns[c] == 0) &&
				    !codes_right(n, columns[c], kind & 1, kind & 2))
					wrong = n;
		tap(!wrong, "codes%s%s, %s: %d", kind & 1 ? ", signed" : "",
		    kind & 2 ? ", after HSwish" : "", how, wrong);
	}
}

/* ---- lines ---- */

static const enum elem elems[] = {EL_F32, EL_U8, EL_I8};

static float value_of(const struct form_line *l, int i)
{
	const uint8_t *c = l->x;
	float v = l->x_elem == EL_F32  ? ((const float *)l->x)[i]
		  : l->x_elem == EL_U8 ? ((float)c[i] - l->x_zero) * l->x_scale
				       : ((float)(int8_t)c[i] - l->x_zero) * l->x_scale;
	v = v * l->x_sign;
	if (l->m)
		v = v * l->m[i];
	if (l->a)
		v = v + l->a_sign * ((const float *)l->a)[i];
	v = v < 0 ? v * l->slope : v;
	v = v < l->lo ? l->lo : v;
	return v > l->hi ? l->hi : v;
}

static bool line_right(struct form_line l, int n)
{
	bool floats = l.y_elem == EL_F32, right;
	l.y = floats ? (void *)got : (void *)made;
	memset(made, 77, sizeof made);
	form_line(&l, n);
	right = floats || made[n] == 77;
	for (int i = 0; i < n; i++) {
		float v = value_of(&l, i);
		right = right &&
			(floats ? got[i] == v || (got[i] != got[i] && v != v)
				: made[i] == code_of(v, l.y_by, l.y_shift, l.y_elem == EL_I8));
	}
	return right;
}

static void check_lines(void)
{
	for (int in = 0; in < 3; in++)
		for (int out = 0; out < 3; out++) {
			int wrong = 0;
			for (int n = 1; n < N; n++)
				for (int k = 0; k < 16; k++) {
					const struct form_line l = {
						.x = in ? (const void *)codes : (const void *)x,
						.m = k & 1 ? m : NULL,
						.a = k & 2 ? a : NULL,
						.x_elem = elems[in],
						.a_elem = EL_F32,
						.y_elem = elems[out],
						.x_scale = 0.03f,
						.x_zero = elems[in] == EL_U8 ? 77 : 0,
						.y_by = 21.5f,
						.y_shift = 40.25f,
						.x_sign = k & 4 ? -1 : 1,
						.a_sign = k & 8 ? -1 : 1,
						.slope = k & 4 ? 0.1f : 1,
						.lo = k & 8 ? -0.5f : -INFINITY,
						.hi = k & 1 ? 6 : INFINITY};
					if (!line_right(l, n))
						wrong = n;
				}
			tap(!wrong, "line from %s to %s: %d", elem_name(elems[in]),
			    elem_name(elems[out]), wrong);
		}
}

/* ---- sums of rows ---- */

static double sum_error(enum elem elem, int64_t rows, int64_t step, int64_t n)
{
	uint16_t narrow[N];
	float wide[N], sum[N];
	double worst = 0;
	for (int i = 0; i < N; i++)
		wide[i] = m[i];
	vec_to_bf16(wide, narrow, N);
	vec_from_bf16(narrow, wide, N);
	const void *from = elem == EL_F32    ? (const void *)wide
			   : elem == EL_BF16 ? (const void *)narrow
					     : codes;
	for (int i = 0; i < N; i++)
		sum[i] = (float)i;
	form_sum(elem, from, rows, step, n, sum);
	for (int64_t i = 0; i < N; i++) {
		double want = (double)i;
		for (int64_t r = 0; r < rows && i < n; r++) {
			int64_t at = r * step + i;
			want += elem == EL_U8   ? (double)codes[at]
				: elem == EL_I8 ? (double)(int8_t)codes[at]
						: (double)wide[at];
		}
		worst = fmax(worst, fabs(want - (double)sum[i]));
	}
	return worst;
}

static void check_sums(const char *how)
{
	static const enum elem kinds[] = {EL_F32, EL_BF16, EL_U8, EL_I8};
	for (int k = 0; k < 4; k++) {
		double worst = 0;
		for (int64_t step = 1; step <= 130; step++)
			for (int64_t rows = 1; rows * step <= N; rows++)
				worst = fmax(worst, sum_error(kinds[k], rows, step,
							      step - (step > 3 && rows % 2)));
		tap(worst < 1e-4, "sums of rows of %s, %s: %.1e", elem_name(kinds[k]), how, worst);
	}
}

int main(void)
{
	int level = cpu_level;
	fill();
	check_codes("all instructions");
	check_sums("all instructions");
	if (form_line_codes())
		check_lines();
	cpu_level = level < 3 ? level : 3;
	check_codes("some");
	check_sums("some");
	return tap_end();
}
