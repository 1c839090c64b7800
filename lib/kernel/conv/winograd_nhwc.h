/* winograd_nhwc.h - convolutions of 3x3 in each plane with stride 1 by minimal filtering (winograd.c), of tensors with channels
 * behind pixels, in slices.
 *
 * Input (planes, rows, columns, groups * cin), output (planes, rows, columns, groups * cout), one image.  A slice is some rows of tiles;
 * slices are the tasks of threads. */
#ifndef HSDAG_KERNEL_CONV_WINOGRAD_NHWC_H
#define HSDAG_KERNEL_CONV_WINOGRAD_NHWC_H

#include "kernel/kernel_impl.h"
#include "kernel/window.h"

struct winograd_pixels;

struct winograd_pixels_spec {
	struct window g; /* of which every image is one convolution */
	int m;           /* outputs of a tile across: 4 or 2 (cpu_winograd_choose) */
	const struct tensor *
		weights; /* (groups * cout, cin, planes, 3, 3): f32, f16 or bf16; read by the call */
	const float *bias; /* (groups * cout); NULL: none */
	float lo, hi;      /* the output's limits */
};
/* Is it 3x3 in each of its planes, stride 1, in one group or in large ones? */
bool winograd_pixels_does(const struct window *g);
/* NULL: no memory. */
struct winograd_pixels *winograd_pixels_new(const struct winograd_pixels_spec *s,
					    struct cpu_ctx *c);
void winograd_pixels_free(struct winograd_pixels *w); /* w may be NULL */
const struct cpu_pack *winograd_pixels_pack(const struct winograd_pixels *w);

int winograd_pixels_slices(const struct winograd_pixels *w);
struct window_slice winograd_pixels_slice(const struct winograd_pixels *w, int i);
/* x (n_in, groups * cin), y (n, groups * cout), of which the part's channels are written; scratch: 64-byte aligned. */
void winograd_pixels_run(const struct winograd_pixels *w, int i, struct channel_part part,
			 const float *x, float *y, void *scratch);
/* How many parts there can be. */
int winograd_pixels_parts(const struct winograd_pixels *w);

#endif
