/* taps.h - windows over one plane at a time: weighted sums (depthwise convolution, average
 * pooling) or maxima, with a simple epilogue in registers.
 *
 * Square windows of 2, 3, 5 or 7 with stride 1 or 2 go by rows: a block of output rows, one vector
 * wide, stays in registers, and every vector of input is loaded once for each column of the window.
 * With AVX-512 these are loads from the plane itself, under masks that hide what lies outside; on
 * other levels from its phases (phase.h).  All other windows: a few vectors of output pixels at
 * a time, tap by tap, from the phases. */
#ifndef HSDAG_KERNEL_CONV_TAPS_H
#define HSDAG_KERNEL_CONV_TAPS_H

#include "kernel/gemm/gemm.h"
#include "kernel/conv/phase.h"

enum { TAPS_ACROSS = 7 }; /* the widest window that goes by rows */

struct taps_vector {
	int64_t from, to;
	int n;
}; /* n pixels at y + to from x + from on */

struct taps {
	const struct window *g;
	bool max;
	bool in_place;         /* the plane itself is read */
	struct phases p;       /* else */
	int64_t floats, batch; /* of one plane's phases; planes split at a time */

	int block;                   /* output rows of a block; 0: not by rows */
	int variant;                 /* of the loops */
	int64_t across;              /* vectors in an output row */
	int64_t column[TAPS_ACROSS]; /* of each column of the window, in a row of what is read */
	uint32_t *bits; /* in place: (across, columns) of the vectors read (16 floats, or 32
				      * for stride 2), those inside the row */
	float *blank;   /* in place: a row of padding */

	int64_t n_vectors;          /* else: of an output plane */
	int64_t *offset;            /* (taps) of each tap in what is read */
	struct taps_vector *vector; /* (n_vectors) */
};

/* Tables for sums or maxima over windows that cpu_phases_fit; they live in the context's slot
 * SLOT_WHOLE.  -1: no memory. */
int cpu_taps_init(struct taps *t, const struct window *g, bool max, struct cpu_ctx *c,
		  struct err *e) MUST_CHECK;
/* What cpu_taps_run reads for input plane i of x: the plane itself, or its phases in scratch.  To
 * be called for i = lo, lo + 1, .., hi - 1 in turn with the same scratch of so many bytes: several
 * planes are split at a time, because vectors that were just stored in other pieces load slowly. */
size_t cpu_taps_scratch(const struct taps *t);
const float *cpu_taps_source(const struct taps *t, const float *x, int64_t lo, int64_t i,
			     int64_t hi, float *scratch);
/* One output plane: sums weighted by w (taps); or maxima, at least -FLT_MAX (w is not read).  post:
 * for one row as long as the plane; NULL: none. */
void cpu_taps_run(const struct taps *t, const float *source, const float *w, float *y,
		  const struct gemm_post *post);

#endif
