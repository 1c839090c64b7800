/* depthwise_nhwc.h - depthwise convolutions of images with channels last, in slices (depthwise_tokens.h). */
#ifndef HSDAG_KERNEL_CONV_DEPTHWISE_NHWC_H
#define HSDAG_KERNEL_CONV_DEPTHWISE_NHWC_H

#include "kernel/kernel_impl.h"
#include "kernel/window.h"

struct depthwise_rows;

struct depthwise_rows_spec {
	struct window g;              /* of which every image is one convolution */
	const struct tensor *weights; /* (channels, 1, taps): f32, f16 or bf16; read by the call */
	const float *bias;            /* (channels); NULL: none */
	float lo, hi;                 /* the output's limits */
};
/* Are there loops for such a window, which are faster than oneDNN's on every processor? */
bool depthwise_rows_does(const struct window *g);
/* NULL: no memory. */
struct depthwise_rows *depthwise_rows_new(const struct depthwise_rows_spec *s, struct cpu_ctx *c);
void depthwise_rows_free(struct depthwise_rows *m); /* m may be NULL */
const struct cpu_pack *depthwise_rows_pack(const struct depthwise_rows *m);

int depthwise_rows_slices(const struct depthwise_rows *m);
struct window_slice depthwise_rows_slice(const struct depthwise_rows *m, int i);
/* x (n_in, channels), y (n, channels); scratch: 64-byte aligned. */
void depthwise_rows_run(const struct depthwise_rows *m, int i, const float *x, float *y,
			void *scratch);

#endif
