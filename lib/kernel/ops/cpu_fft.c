/* cpu_fft.c - Fourier transforms of bundles of lines: factors, roots, stages. */
#include "kernel/ops/cpu_fft.h"

#include <math.h>

/* clang-format off */
#ifdef __clang__
#define IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define IVDEP _Pragma("GCC ivdep")
#endif
/* clang-format on */
#define LEVEL_FILE "kernel/ops/cpu_fft_loops.h"
#include "kernel/cpu_levels.h"

/* Roots in double precision; those beyond an eighth of the circle mirror others, where the length
 * allows it. */
static void fill_roots(float *root, int64_t n, bool inverse)
{
	const double turn = (inverse ? 2 : -2) * 3.14159265358979323846;
	const float sign = inverse ? 1 : -1;
	for (int64_t i = 0; i < n; i++) {
		const float *a = root; /* of an angle that is known */
		float re, im;
		if (2 * i > n) {
			a = root + 2 * (n - i);
			re = a[0];
			im = -a[1];
		} else if (4 * i > n && n % 2 == 0) {
			a = root + 2 * (n / 2 - i);
			re = -a[0];
			im = a[1];
		} else if (8 * i > n && n % 4 == 0) {
			a = root + 2 * (n / 4 - i);
			re = sign * a[1];
			im = sign * a[0];
		} else {
			re = (float)cos(turn * (double)i / (double)n);
			im = (float)sin(turn * (double)i / (double)n);
		}
		root[2 * i] = re;
		root[2 * i + 1] = im;
	}
}

int fft_init(struct fft *f, struct cpu_ctx *ctx, int64_t n, bool inverse, struct err *e)
{
	int64_t rest = n;
	*f = (struct fft){.n = n};
	f->root = cpu_slot_scratch(ctx, SLOT_EXTRA, (size_t)(2 * n) * sizeof *f->root);
	if (!f->root)
		return cpu_no_memory(e);
	for (; rest % 4 == 0; rest /= 4)
		f->factor[f->n_factors++] = 4;
	for (int64_t p = 2; rest > 1; p = p * p > rest ? rest : p + 1)
		for (; rest % p == 0; rest /= p)
			f->factor[f->n_factors++] = p;
	fill_roots(f->root, n, inverse);
	return 0;
}

float *fft_run(const struct fft *f, float *x, float *y, int64_t w)
{
	int64_t n = f->n, s = 1;
	for (int i = 0; i < f->n_factors; i++) {
		float *result = y;
		LEVEL_CALL(fft_stage, f->root, n, s, f->factor[i], x, y, w);
		y = x;
		x = result;
		n /= f->factor[i];
		s *= f->factor[i];
	}
	return x;
}

void fft_take(const float *x, const int64_t *at, int64_t step, const float *times, float *y,
	      int64_t n, int64_t w)
{
	LEVEL_CALL(fft_take, x, at, step, times, y, n, w);
}

void fft_put(const float *x, float scale, float *y, const int64_t *at, int64_t step, int64_t n,
	     int64_t w)
{
	LEVEL_CALL(fft_put, x, scale, y, at, step, n, w);
}
