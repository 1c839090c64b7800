/* indirect.h - convolutions of tensors with channels behind pixels as products whose rows are found through pointers, in
 * slices.
 *
 * A tile of output pixels by two vectors of output channels stays in registers while the taps of the window pass by; the
 * input pixels of a tap are read where they are, and taps that see only padding are left out.  Any window, stride,
 * dilation, number of groups.
 * Input (planes, rows, columns, groups * cin), output (planes, rows, columns, groups * cout), one image.  Slices are the
 * tasks of threads.
 * Source: Dukhan, "The Indirect Convolution Algorithm", 2019. */
#ifndef HSDAG_KERNEL_CONV_INDIRECT_H
#define HSDAG_KERNEL_CONV_INDIRECT_H

#include "kernel/kernel_impl.h"
#include "kernel/window.h"

struct indirect;

struct indirect_spec {
	struct window g; /* of which every image is one convolution */
	const struct tensor
		*weights;  /* (groups * cout, cin, taps): f32, f16 or bf16; read by the call */
	const float *bias; /* (groups * cout); NULL: none */
	float lo, hi;      /* the output's limits */
};
/* Is it faster than oneDNN's convolution on this processor? */
bool indirect_pays(const struct window *g);
/* NULL: no memory. */
struct indirect *indirect_new(const struct indirect_spec *s, struct cpu_ctx *c);
void indirect_free(struct indirect *m); /* m may be NULL */
const struct cpu_pack *indirect_pack(const struct indirect *m);

int indirect_slices(const struct indirect *m);
struct window_slice indirect_slice(const struct indirect *m, int i);
/* x (n_in, groups * cin), y (n, groups * cout), of which the part's channels are written; scratch: 64-byte aligned. */
void indirect_run(const struct indirect *m, int i, struct channel_part part, const float *x,
		  float *y, void *scratch);
/* How many parts there can be. */
int indirect_parts(const struct indirect *m);

#endif
