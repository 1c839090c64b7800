/* fft.h - Fourier transforms of bundles of lines of any length, in f32.
 *
 * A bundle has w lines; element i of all of them is w floats in a row: real parts (n, w), then
 * imaginary parts (n, w).  So vectors run across lines, whatever the length's factors are.
 * Lines do not depend on each other: a line's result is the same in any bundle. */
#ifndef HSDAG_KERNEL_OPS_FFT_H
#define HSDAG_KERNEL_OPS_FFT_H

#include "kernel/kernel_impl.h"

enum {
	FFT_LINES = 16, /* lines of a full bundle */
	FFT_FACTORS = 64
};

struct fft {
	int64_t n;
	int n_factors;
	int64_t factor[FFT_FACTORS];
	float *root; /* (n, 2) powers of e^(-+2 pi i / n); scratch of a context */
};

/* n >= 1.  The roots are in ctx's SLOT_EXTRA.  -1: no memory. */
int fft_init(struct fft *f, struct cpu_ctx *ctx, int64_t n, bool inverse, struct err *e) MUST_CHECK;

/* The transform of a bundle in x, without a factor of 1/n; y is room of the same size (2 n w).
 * Returns the one of them that has the result; the other has nothing of use. */
float *fft_run(const struct fft *f, float *x, float *y, int64_t w);

/* y (n, w): element i of line l is x[at[l] + i * step], 0 where at[l] < 0, times times[i] (NULL: 1). */
void fft_take(const float *x, const int64_t *at, int64_t step, const float *times, float *y,
	      int64_t n, int64_t w);
/* y[at[l] + i * step] = scale x (n, w), but where at[l] < 0. */
void fft_put(const float *x, float scale, float *y, const int64_t *at, int64_t step, int64_t n,
	     int64_t w);

/* The same of both planes at once, pairs of a line one behind the other; false, and nothing done: the
 * lines do not begin at equal distances. */
bool fft_take_pairs(const float *x, const int64_t *at, const float *times, float *re, float *im,
		    int64_t n, int64_t w);
bool fft_put_pairs(const float *re, const float *im, float scale, float *y, const int64_t *at,
		   int64_t n, int64_t w);

#endif
