/* test_qpanel.c - right-hand sides of products in few bits: every kind of codes, zeros, scales and
 * groups, either way round, at every level of vector instructions, against sums in double
 * precision over codes that are read one by one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernel/isa_level.h"
#include "kernel/gemm/dynamic_quant.h"
#include "kernel/gemm/qpanel.h"
#include "op/value.h"
#include "tap.h"

enum part { NONE, ONE, COLUMN, GROUP }; /* one for all, for a column, for a group of rows */

struct test {
	const char *name;
	enum elem code;
	int64_t k, n, group; /* group 0: all rows */
	bool transpose;
	enum elem zero_elem, scale_elem;
	enum part zero, scale;
};

static const struct test tests[] = {
	{"u4, zeros and scales of groups", EL_U4, 96, 70, 32, true, EL_U4, EL_F16, GROUP, GROUP},
	{"u4, rows in order", EL_U4, 96, 70, 32, false, EL_U4, EL_F16, GROUP, GROUP},
	{"u4, one zero", EL_U4, 64, 33, 16, true, EL_U4, EL_F32, ONE, GROUP},
	{"u4, no zeros", EL_U4, 64, 32, 0, true, EL_U4, EL_F16, NONE, COLUMN},
	{"u4, zeros between codes", EL_U4, 64, 40, 32, true, EL_F16, EL_F16, GROUP, GROUP},
	{"u4, an odd number of rows", EL_U4, 41, 37, 0, true, EL_U4, EL_F16, COLUMN, COLUMN},
	{"u4, groups that end within blocks", EL_U4, 60, 5, 20, true, EL_U4, EL_F16, GROUP, GROUP},
	{"i4, scales of groups", EL_I4, 128, 64, 64, true, EL_I4, EL_F16, NONE, GROUP},
	{"i4, more rows than a block of the cache", EL_I4, 1000, 35, 40, true, EL_I4, EL_F16, NONE,
	 GROUP},
	{"nf4", EL_NF4, 64, 64, 32, true, EL_U4, EL_F16, NONE, GROUP},
	{"f4e2m1, scales that are powers of two", EL_F4E2M1, 64, 40, 32, true, EL_U4, EL_F8E8M0,
	 NONE, GROUP},
	{"u8, zeros of columns", EL_U8, 77, 45, 0, true, EL_U8, EL_F16, COLUMN, COLUMN},
	{"u8, zeros of groups, rows in order", EL_U8, 64, 45, 16, false, EL_U8, EL_F32, GROUP,
	 GROUP},
	{"u8, no zeros", EL_U8, 40, 32, 0, true, EL_U8, EL_F16, NONE, COLUMN},
	{"i8, one scale", EL_I8, 50, 96, 0, true, EL_I8, EL_F32, NONE, ONE},
	{"i8, no scale", EL_I8, 9, 3, 0, false, EL_I8, EL_F32, NONE, NONE},
	{"bf16", EL_BF16, 70, 50, 0, true, EL_DYNAMIC, EL_DYNAMIC, NONE, NONE},
	{"bf16, rows in order", EL_BF16, 7, 33, 0, false, EL_DYNAMIC, EL_DYNAMIC, NONE, NONE},
};

static uint64_t seed = 1;

static double uniform(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(seed >> 11) / 9007199254740992.0;
}

/* The codes' shape: (n, groups, group) or (groups, group, n). */
static void set_shape(const struct test *t, struct tensor *x, enum part part)
{
	int64_t group = t->group ? t->group : t->k;
	int64_t dims[3] = {t->n, t->k / group, group};
	if (part == GROUP)
		dims[2] = 1;
	if (part == COLUMN)
		dims[1] = dims[2] = 1;
	if (part == ONE)
		dims[0] = dims[1] = dims[2] = 1;
	x->rank = 3;
	for (int i = 0; i < 3; i++)
		x->dim[i] = dims[t->transpose ? i : (i + 1) % 3];
}

static struct tensor draw(const struct test *t, enum elem elem, enum part part)
{
	struct tensor x = {.elem = elem};
	set_shape(t, &x, part);
	int64_t n = tensor_elements(&x);
	x.data = MEM_NEWN(char, (size_t)n * 4 + 64);
	for (int64_t i = 0; i < n; i++) {
		if (elem == EL_F16 || elem == EL_F32 || elem == EL_BF16)
			tensor_set_real(&x, i,
					part == NONE ? uniform() - 0.5
						     : floor(uniform() * 64 + 1) / 16);
	}
	if (elem != EL_F16 && elem != EL_F32 && elem != EL_BF16)
		for (int64_t i = 0; i < tensor_bytes(&x); i++)
			((uint8_t *)x.data)[i] = elem == EL_F8E8M0 ? (uint8_t)(120 + uniform() * 9)
								   : (uint8_t)(uniform() * 256);
	return x;
}

/* B as tensor and as (k, n) values. */
struct case_ {
	struct tensor b;
	struct quant quant;
	double *value;
};

static void make(const struct test *t, struct case_ *c)
{
	*c = (struct case_){.b = draw(t, t->code, NONE)};
	set_shape(t, &c->b, NONE);
	c->quant.codes = c->b;
	c->quant.zero = c->quant.scale = (struct tensor){.elem = EL_DYNAMIC};
	if (t->zero != NONE)
		c->quant.zero = draw(t, t->zero_elem, t->zero);
	if (t->scale != NONE)
		c->quant.scale = draw(t, t->scale_elem, t->scale);
	c->b.rank = 2;
	c->b.dim[0] = t->transpose ? t->n : t->k;
	c->b.dim[1] = t->transpose ? t->k : t->n;
	c->b.quant = t->code == EL_BF16 ? NULL : &c->quant;
	c->value = MEM_NEWN(double, (size_t)(t->k * t->n));
	for (int64_t k = 0; k < t->k; k++)
		for (int64_t n = 0; n < t->n; n++) {
			int64_t i = t->transpose ? n * t->k + k : k * t->n + n;
			int64_t group = t->group ? t->group : t->k, g = t->k / group;
			int64_t at = t->transpose ? n * g + k / group : k / group * t->n + n;
			double x = tensor_real(&c->b, i), z = 0, s = 1;
			if (t->zero != NONE)
				z = tensor_real(&c->quant.zero, t->zero == GROUP    ? at
								: t->zero == COLUMN ? n
										    : 0);
			if (t->scale != NONE)
				s = tensor_real(&c->quant.scale, t->scale == GROUP    ? at
								 : t->scale == COLUMN ? n
										      : 0);
			c->value[k * t->n + n] = (x - z) * s;
		}
}

/* The largest error of the thin products with m rows, over their scale. */
static double thin_error(const struct test *t, const struct case_ *c, const struct qpanels *q,
			 int m)
{
	float *a = MEM_NEWN(float, (size_t)t->k *GEMM_M), out[GEMM_M * GEMM_N];
	double worst = 0, scale = 1e-30;
	for (int64_t k = 0; k < t->k; k++)
		for (int i = 0; i < m; i++)
			a[m == 1 ? k : k * GEMM_M + i] = (float)(uniform() - 0.5);
	for (int64_t n0 = 0; n0 < t->n; n0 += GEMM_N) {
		int nr = t->n - n0 < GEMM_N ? (int)(t->n - n0) : GEMM_N;
		for (int i = 0; i < GEMM_M * GEMM_N; i++)
			out[i] = 1e30f;
		qpanel_thin(q, n0 / GEMM_N, m, nr, a, out, GEMM_N);
		for (int i = 0; i < GEMM_M; i++)
			for (int j = 0; j < GEMM_N; j++) {
				double sum = 0;
				if (i >= m || j >= nr) {
					worst += out[i * GEMM_N + j] != 1e30f;
					continue;
				}
				for (int64_t k = 0; k < t->k; k++)
					sum += (double)a[m == 1 ? k : k * GEMM_M + i] *
					       c->value[k * t->n + n0 + j];
				worst = fmax(worst, fabs(sum - (double)out[i * GEMM_N + j]));
				scale = fmax(scale, fabs(sum));
			}
	}
	mem_free(a);
	return worst / scale;
}

static double unpack_error(const struct test *t, const struct case_ *c, const struct qpanels *q)
{
	float *dst = MEM_NEWN(float, (size_t)t->k *GEMM_N);
	double worst = 0, scale = 1e-30;
	for (int64_t n0 = 0; n0 < t->n; n0 += GEMM_N) {
		int64_t half = t->k / 2 / QBLOCK * QBLOCK;
		qpanel_unpack(q, n0 / GEMM_N, 0, half, dst);
		qpanel_unpack(q, n0 / GEMM_N, half, t->k - half, dst + half * GEMM_N);
		for (int64_t k = 0; k < t->k; k++)
			for (int64_t j = 0; j < GEMM_N && n0 + j < t->n; j++) {
				double x = c->value[k * t->n + n0 + j];
				worst = fmax(worst, fabs(x - (double)dst[k * GEMM_N + j]));
				scale = fmax(scale, fabs(x));
			}
	}
	mem_free(dst);
	return worst / scale;
}

/* x as it is after its pieces have been quantised: as dynamic_quant.h says. */
static void round_pieces(const float *x, int64_t k, double *y)
{
	for (int64_t p = 0; p < k; p += DYNAMIC_K) {
		int64_t end = p + DYNAMIC_K < k ? p + DYNAMIC_K : k;
		float most = 0;
		for (int64_t i = p; i < end; i++)
			most = fmaxf(most, fabsf(x[i]));
		for (int64_t i = p; i < end; i++)
			y[i] = most > 0 ? rint((double)(x[i] * (127 / most))) * (double)(most / 127)
					: 0;
	}
}

/* The largest error of products of m rows that are quantised as they come, over their scale. */
static double dynamic_error(const struct test *t, const struct case_ *c, const struct qpanels *q,
			    int64_t m)
{
	float *a = MEM_NEWN(float, (size_t)(m * t->k)), *out = MEM_NEWN(float, (size_t)(m * t->n));
	double *rounded = MEM_NEWN(double, (size_t)(m * t->k)), worst = 0, scale = 1e-30;
	char *rows = mem_try((size_t)m * dynamic_row_bytes(q)),
	     *panel = mem_try(dynamic_panel_bytes(q));
	for (int64_t i = 0; i < m * t->k; i++)
		a[i] = i % 3 == 0 && i / t->k == 1
			       ? 0
			       : (float)(uniform() - 0.3) * (i % 40 == 7 ? 9 : 1);
	for (int64_t i = 0; i < m; i++)
		round_pieces(a + i * t->k, t->k, rounded + i * t->k);
	dynamic_rows(q, a, m, rows);
	for (int64_t n0 = 0; n0 < t->n; n0 += GEMM_N) {
		int64_t nr = t->n - n0 < GEMM_N ? t->n - n0 : GEMM_N;
		dynamic_panel(q, n0 / GEMM_N, panel);
		dynamic_multiply(q, rows, panel, m, nr, out + n0, t->n);
	}
	for (int64_t i = 0; i < m; i++)
		for (int64_t j = 0; j < t->n; j++) {
			double sum = 0;
			for (int64_t k = 0; k < t->k; k++)
				sum += rounded[i * t->k + k] * c->value[k * t->n + j];
			worst = fmax(worst, fabs(sum - (double)out[i * t->n + j]));
			scale = fmax(scale, fabs(sum));
		}
	mem_free(a);
	mem_free(out);
	mem_free(rounded);
	mem_free(rows);
	mem_free(panel);
	return worst / scale;
}

static void check(const struct test *t)
{
	static const int rows[] = {1, 2, 3, 4, 5, 7, 8, 11, 12};
	struct case_ c;
	struct qpanels q;
	make(t, &c);
	if (!tap(qpanels_fit(&c.b, t->transpose), "%s: fits", t->name))
		return;
	qpanels_plan(&c.b, t->transpose, &q);
	char *data = mem_try(qpanels_bytes(&q));
	qpanels_pack(&q, &c.b, t->transpose, data);
	double worst = unpack_error(t, &c, &q);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		worst = fmax(worst, thin_error(t, &c, &q, rows[i]));
	tap(worst < 2e-6, "%s: level %d, error %.1e", t->name, cpu_level, worst);
	if (dynamic_fits(&q)) {
		worst = 0;
		for (int64_t m = 1; m <= 13; m++)
			worst = fmax(worst, dynamic_error(t, &c, &q, m));
		tap(worst < 5e-6, "%s: rows quantised as they come, error %.1e", t->name, worst);
	}
	if (c.b.quant) {
		float *flat = MEM_NEWN(float, (size_t)(t->k * t->n));
		double off = 0, scale = 1e-30;
		quant_read(&c.b, 3, t->k * t->n - 3, flat + 3);
		for (int64_t i = 3; i < t->k * t->n; i++) {
			double x = c.value[t->transpose ? i % t->k * t->n + i / t->k : i];
			off = fmax(off, fabs(x - (double)flat[i]));
			scale = fmax(scale, fabs(x));
		}
		tap(off / scale < 1e-6, "%s: read in order", t->name);
		mem_free(flat);
	}
	mem_free(data);
	mem_free(c.b.data);
	mem_free(c.quant.zero.data);
	mem_free(c.quant.scale.data);
	mem_free(c.value);
}

int main(void)
{
	int best = cpu_level;
	for (cpu_level = best; cpu_level >= 1; cpu_level--)
		if (cpu_level != 2)
			for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
				check(&tests[i]);
	cpu_level = best;
	return tap_end();
}
