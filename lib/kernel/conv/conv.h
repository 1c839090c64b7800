/* conv.h - inside the convolutions. */
#ifndef HSDAG_KERNEL_CONV_CONV_H
#define HSDAG_KERNEL_CONV_CONV_H

#include "kernel/gemm/block_epilogue.h"
#include "kernel/kernel_impl.h"
#include "kernel/window.h"

/* How a convolution is computed; what the packed weights' second key says. */
enum {
	CONV_PATCHES,
	CONV_DEPTHWISE,
	CONV_WHOLE,
	CONV_SEEN,
	CONV_WINOGRAD,                            /* + m */
	CONV_WINOGRAD_PIXELS = CONV_WINOGRAD + 5, /* + m */
	CONV_INDIRECT = CONV_WINOGRAD_PIXELS + 5
};
/* Weights that were not prepared, f32, for CONV_PATCHES, m 0, or for CONV_WINOGRAD + m: in SLOT_EXTRA, until
 * the next call.  NULL: no memory. */
const float *cpu_conv_pack(struct cpu_ctx *c, const struct tensor *w, const struct window *g,
			   int m);

/* One input channel for each group, a window of moderate size? */
bool cpu_is_depthwise(const struct window *g);
/* Such a convolution; weights (groups, cout, taps) f32. */
int cpu_depthwise(struct cpu_ctx *c, const struct window *g, const float *x, const float *weights,
		  float *y, const struct cpu_post *post, struct err *e) MUST_CHECK;

/* One group, and the window is the whole input? */
bool cpu_is_whole(const struct window *g);
/* Such a convolution; weights packed by gemm_pack_b as (cin * taps, cout).  post may be NULL: over
 * (images, channels). */
int cpu_conv_whole(struct cpu_ctx *c, const struct window *g, const float *x, const void *weights,
		   bool half, float *y, const struct epilogue *post, struct err *e) MUST_CHECK;

/* Does padding hide so much of the input from the taps that a product for each tap, over the pixels that
 * see it, is faster?  One task has all that is summed into an element. */
bool cpu_conv_is_seen(const struct window *g);
/* Weights in its form: how many floats; all of w. */
int64_t cpu_conv_seen_floats(const struct window *g);
void cpu_conv_seen_pack(float *dst, const struct tensor *w, const struct window *g);
int cpu_conv_seen(struct cpu_ctx *c, const struct window *g, const float *x, const float *weights,
		  float *y, const struct cpu_post *post, struct err *e) MUST_CHECK;

/* The m with which F(m x m, 3x3) is likely faster than direct sums: 4 or 2; 0: none.  With three
 * spatial dims each tap along the depth counts as channels of its own: cin below is cin kernel[0]. */
int cpu_winograd_choose(const struct window *g);
/* The same for weights that are packed before each run. */
int cpu_winograd_choose_computed(const struct window *g);
/* u (n,n) = G g G^T of a filter g (3,3), n = m + 2. */
void cpu_winograd_filter(int m, const double g[9], double *u);
/* One group's weights in its form: how many floats; from elements `first` on of w.  Panel after panel of
 * GEMM_M channels: (points, cin, GEMM_M). */
int64_t cpu_winograd_floats(int m, int64_t cout, int64_t cin);
void cpu_winograd_pack(int m, float *dst, const struct tensor *w, int64_t first, int64_t cout,
		       int64_t cin);
/* Such a convolution; weights: packed, group after group. */
int cpu_winograd(struct cpu_ctx *c, const struct window *g, int m, const float *x,
		 const float *weights, float *y, const struct cpu_post *post,
		 struct err *e) MUST_CHECK;

#endif
