/* lanes.h - patches of a convolution read from its input as it lies, 16 pixels of a tap in a
 * vector: which of its lanes are inside the input, those that padding hides being 0.  Two spatial dims
 * only (cpu_phases_fit). */
#ifndef HSDAG_KERNEL_CONV_LANES_H
#define HSDAG_KERNEL_CONV_LANES_H

#include "kernel/kernel_impl.h"
#include "kernel/window.h"
#include "kernel/gemm/gemm.h"

/* Floats from a pixel's own place in the input (row and column times stride) to what tap t reads. */
int64_t cpu_lanes_offset(const struct window *g, int64_t t);

/* Stride 1, output as wide as the input; pixels n0 .. n0 + n - 1, n0 a multiple of 16.  bits (taps,
 * words): a word for every 16 pixels. */
void cpu_lanes_shifted(const struct window *g, int64_t n0, int64_t n, int64_t words,
		       uint16_t *bits);

/* Stride 2 across; pixels n0 .. n0 + n - 1, n0 a multiple of 16.  piece: those of one output row in one
 * vector, in order, at most n / 16 + n / width + 3; bits (taps, pieces): those inside, as
 * gemm_gather_halves takes them.  Returns the number of pieces. */
int cpu_lanes_halves(const struct window *g, int64_t n0, int64_t n, struct gemm_piece *piece,
		     uint32_t *bits);

#endif
