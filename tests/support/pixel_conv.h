/* pixel_conv.h - convolutions with channels behind pixels, for tests: operands, what is right, slices alone. */
#ifndef HSDAG_TESTS_PIXEL_CONV_H
#define HSDAG_TESTS_PIXEL_CONV_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "kernel/kernel_impl.h"
#include "kernel/window.h"

static float *drawn(uint32_t stream, int64_t n)
{
	const struct rng_addr a = {.seed = 7, .stream = stream};
	float *x = MEM_NEWN(float, (size_t)n);
	rng_uniform_f32(&a, -1, 1, x, (size_t)n);
	return x;
}

/* Where tap t of output pixel p reads; -1: padding. */
static int64_t pixel_of(const struct window *g, int64_t p, int64_t t)
{
	int64_t o[3] = {p / g->out[2] / g->out[1], p / g->out[2] % g->out[1], p % g->out[2]};
	int64_t k[3] = {t / g->kernel[2] / g->kernel[1], t / g->kernel[2] % g->kernel[1],
			t % g->kernel[2]};
	int64_t at = 0;
	for (int d = 0; d < 3; d++) {
		int64_t i = o[d] * g->stride[d] + k[d] * g->dilation[d] - g->pad[d];
		if (i < 0 || i >= g->in[d])
			return -1;
		at = at * g->in[d] + i;
	}
	return at;
}

/* Channel o of output pixel p, before bias and limits. */
static double direct(const struct window *g, const float *x, const float *w, int64_t p, int64_t o)
{
	double sum = 0;
	for (int64_t t = 0; t < g->taps; t++) {
		int64_t at = pixel_of(g, p, t);
		for (int64_t c = 0; at >= 0 && c < g->cin; c++)
			sum += (double)x[(at * g->groups + o / g->cout) * g->cin + c] *
			       (double)w[(o * g->cin + c) * g->taps + t];
	}
	return sum;
}

/* (out_plane, groups * cout) sums in double precision and the bias, before limits. */
static double *sums_of(const struct window *g, const float *x, const float *w, const float *bias)
{
	int64_t n = g->groups * g->cout;
	double *sum = MEM_NEWN(double, (size_t)(g->out_plane * n));
	for (int64_t p = 0; p < g->out_plane; p++)
		for (int64_t o = 0; o < n; o++)
			sum[p * n + o] = direct(g, x, w, p, o) + (double)bias[o];
	return sum;
}

/* How far y is from these sums within limits, beside the root of their length. */
__attribute__((unused)) static double worst_of(const struct window *g, const double *sum,
					       const float *y, float lo, float hi)
{
	double worst = 0;
	for (int64_t i = 0; i < g->out_plane * g->groups * g->cout; i++) {
		double v = fmin(fmax(sum[i], (double)lo), (double)hi);
		worst = fmax(worst, fabs(v - (double)y[i]));
	}
	return worst / sqrt((double)(g->taps * g->cin));
}

/* What a slice is run with: nothing but its own pixels, and scratch that nobody has cleared. */
struct slice_room {
	float *in;
	void *scratch;
};

__attribute__((unused)) static struct slice_room slice_room(const struct window *g,
							    const struct window_slice *s,
							    const float *x)
{
	int64_t cin = g->groups * g->cin;
	struct slice_room r = {
		.in = mem_copy(x + s->from * cin, (size_t)(s->n_in * cin), sizeof *r.in),
		.scratch = aligned_alloc(64, (s->scratch + 63) / 64 * 64)};
	memset(r.scratch, 0xff, s->scratch);
	return r;
}

__attribute__((unused)) static void slice_room_release(struct slice_room *r)
{
	free(r->scratch);
	mem_free(r->in);
}

#endif
