/* fft.c - Fourier transforms of bundles of lines: factors, roots, stages. */
#include "kernel/ops/fft.h"
#include "kernel/transpose.h"

#include <math.h>

/* clang-format off */
#ifdef __clang__
#define IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define IVDEP _Pragma("GCC ivdep")
#endif
/* clang-format on */
#define LEVEL_FILE "kernel/ops/fft_loops.h"
#include "kernel/isa_dispatch.h"

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

enum { BLOCK = 32 }; /* pairs of a line that are turned at once */

/* Do w lines begin so many floats apart? 0: no. */
static int64_t distance(const int64_t *at, int64_t w)
{
	int64_t step = w > 1 ? at[1] - at[0] : 1;
	for (int64_t l = 0; l < w; l++)
		if (at[l] < 0 || at[l] != at[0] + l * step)
			return 0;
	return step;
}

bool fft_take_pairs(const float *x, const int64_t *at, const float *times, float *re, float *im,
		    int64_t n, int64_t w)
{
	float block[2 * BLOCK * FFT_LINES];
	int64_t apart = distance(at, w);
	if (apart <= 2)
		return false;
	for (int64_t i0 = 0; i0 < n; i0 += BLOCK) {
		int64_t m = n - i0 < BLOCK ? n - i0 : BLOCK;
		cpu_turn(x + at[0] + 2 * i0, apart, w, 2 * m, block, w);
		for (int64_t i = 0; i < m; i++) {
			float f = times ? times[i0 + i] : 1;
			for (int64_t l = 0; l < w; l++) {
				re[(i0 + i) * w + l] = block[2 * i * w + l] * f;
				im[(i0 + i) * w + l] = block[(2 * i + 1) * w + l] * f;
			}
		}
	}
	return true;
}

bool fft_put_pairs(const float *re, const float *im, float scale, float *y, const int64_t *at,
		   int64_t n, int64_t w)
{
	float block[2 * BLOCK * FFT_LINES];
	int64_t apart = distance(at, w);
	if (apart <= 2)
		return false;
	for (int64_t i0 = 0; i0 < n; i0 += BLOCK) {
		int64_t m = n - i0 < BLOCK ? n - i0 : BLOCK;
		for (int64_t i = 0; i < m; i++)
			for (int64_t l = 0; l < w; l++) {
				block[2 * i * w + l] = re[(i0 + i) * w + l] * scale;
				block[(2 * i + 1) * w + l] = im[(i0 + i) * w + l] * scale;
			}
		cpu_turn(block, w, 2 * m, w, y + at[0] + 2 * i0, apart);
	}
	return true;
}
