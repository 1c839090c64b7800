/* depthwise_tokens.h - depthwise convolution of pixels whose channels lie side by side, as in the sequences of
 * tokens between the products of Transformers: (images, pixels, channels). */
#ifndef HSDAG_KERNEL_CONV_DEPTHWISE_TOKENS_H
#define HSDAG_KERNEL_CONV_DEPTHWISE_TOKENS_H

#include "kernel/epilogue.h"
#include "kernel/kernel_impl.h"
#include "kernel/window.h"

/* Is it one channel a group, with two spatial dims and channels enough for vectors? */
bool cpu_tokens_fit(const struct window *g);

/* Weights (channels,taps) of type `elem` (f32, f16, bf16) into dst (taps,channels). */
void cpu_tokens_pack(float *dst, enum elem elem, const void *src, int64_t channels, int64_t taps);

struct tokens_call {
	const struct window *g;
	const float *x;              /* (images,pixels,channels) */
	const float *weights, *bias; /* packed; (channels), or NULL */
	float *y;                    /* the same order, or planes: (images,channels,pixels) */
	bool planes;
	const struct epilogue *post; /* over y as it lies; NULL: none */
	struct cpu_ctx *ctx;
};
/* 0 or -1: ST_RUNTIME, no memory. */
int cpu_tokens_run(const struct tokens_call *c, struct err *e) MUST_CHECK;

/* ---- rows of one image, for who shares them out ---- */

/* Pixels that are computed together. */
struct tokens_blocks {
	int variant, pixels, rows; /* rows 1: no loops for this window alone */
};
struct tokens_blocks cpu_tokens_blocks(const struct window *g);
struct tokens_rows {
	const struct window *g;
	struct tokens_blocks b;
	const float *x; /* from pixel number `from` of the image on, all that the rows see */
	int64_t from;
	const float *weights, *bias;
	float lo, hi;   /* limits as Clamp's */
	int64_t y0, y1; /* output rows y0 .. y1 - 1 */
	float *y;       /* theirs */
};
size_t cpu_tokens_scratch(const struct window *g); /* bytes, 64-byte aligned, of one thread */
void cpu_tokens_rows(const struct tokens_rows *r, void *scratch);

#endif
