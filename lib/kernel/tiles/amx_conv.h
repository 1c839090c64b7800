/* amx_conv.h - convolutions in bf16 or integers of tensors with channels behind pixels by matrix tiles (amx_tiles.h), in slices.
 *
 * Sixteen output pixels of a row, or fewer, are the rows of a tile: their input channels at one tap lie a constant step apart.
 * Rows of the input are copied with their padding first, unless they have none.  Narrow groups meet side by side in one
 * tile, with zeros where they do not belong to each other.
 * Input (planes, rows, columns, groups * cin), output (planes, rows, columns, groups * cout), one image.  Slices are the
 * tasks of threads.  Sums are f32 of bf16, and exact of integers. */
#ifndef HSDAG_KERNEL_TILES_AMX_CONV_H
#define HSDAG_KERNEL_TILES_AMX_CONV_H

#include "kernel/kernel_impl.h"
#include "kernel/window.h"
#include "kernel/tiles/amx_tiles.h"

struct tiled_conv;

struct tiled_conv_spec {
	struct window g; /* of which every image is one convolution */
	const struct tensor *
		weights; /* (groups * cout, cin, taps): f32, f16 or bf16, i8 for integers; read by the call */
	const void *key; /* of the pack: the address of the constant that they are made of */
	/* (groups * cout), bias NULL: none; of integers the output is (sum + bias) * scale. */
	const float *bias, *scale;
	enum elem src, dst; /* EL_BF16 to it or EL_F32; EL_U8 or EL_I8 to either or EL_F32 */
	struct tiles_post post;
};
/* Has the processor tiles, does the context multiply so, and are there so many channels that tiles pay? */
bool tiled_conv_does(const struct cpu_ctx *c, const struct window *g, enum elem src);
/* NULL: no memory. */
struct tiled_conv *tiled_conv_new(const struct tiled_conv_spec *s, struct cpu_ctx *c);
void tiled_conv_free(struct tiled_conv *m); /* m may be NULL */
const struct cpu_pack *tiled_conv_pack(const struct tiled_conv *m);

int tiled_conv_slices(const struct tiled_conv *m);
struct window_slice tiled_conv_slice(const struct tiled_conv *m, int i);
/* What is added to the results, that lies as they do, and the limits behind it; then the results are `to`, whatever the specification
 * says.  bf16 to bf16; or integers to integers: results are rounded to integers of the specification's dst first, and the sum is these
 * times made_scale and what is added times add_scale. */
struct tiled_conv_sum {
	const void *add; /* (n, groups * cout) */
	enum elem elem, to;
	float lo, hi, made_scale, add_scale;
};
/* x (n_in, groups * cin), y (n, groups * cout), of which the part's channels are written; scratch: 64-byte aligned.  sum: NULL:
 * nothing is added. */
void tiled_conv_run(const struct tiled_conv *m, int i, struct channel_part part, const void *x,
		    void *y, const struct tiled_conv_sum *sum, void *scratch);
/* How many parts there can be. */
int tiled_conv_parts(const struct tiled_conv *m);

#endif
