/* cpu_taps.h - windows over one plane at a time: weighted sums (depthwise convolution, average
 * pooling) or maxima, a vector of output pixels at a time, all taps in registers.
 *
 * With stride 1 and an output as wide as the input the plane itself is read, shifted, bits saying
 * which pixels the padding hides; else its phases (cpu_phase.h), row by row. */
#ifndef HSDAG_DEVICE_CPU_TAPS_H
#define HSDAG_DEVICE_CPU_TAPS_H

#include "device/cpu_phase.h"

struct taps_vector { int64_t from, to; int n; };   /* n pixels at y + to from x + from on */

struct taps {
	const struct window *g;
	bool shifted;
	struct phases p;             /* else */
	int64_t n_vectors;
	int64_t *offset;             /* (taps) of each tap in what is read */
	struct taps_vector *vector;  /* (n_vectors) */
	uint16_t *bits;              /* shifted: (taps, n_vectors) */
	int64_t floats, batch;       /* not shifted: of one plane's phases; planes split at a time */
};

/* Tables for windows that cpu_phases_fit; they live in the context's slot SLOT_WHOLE.  -1: no
 * memory. */
int cpu_taps_init(struct taps *t, const struct window *g, struct cpu_ctx *c,
		  struct err *e) MUST_CHECK;
/* What cpu_taps_run reads for input plane i of x: the plane itself, or its phases in scratch.  To be
 * called for i = lo, lo + 1, .., hi - 1 in turn with the same scratch of so many bytes: several
 * planes are split at a time, because vectors that were just stored in other pieces load slowly. */
size_t cpu_taps_scratch(const struct taps *t);
const float *cpu_taps_source(const struct taps *t, const float *x, int64_t lo, int64_t i, int64_t hi,
			     float padding, float *scratch);
/* One output plane: sums weighted by w (taps); or, w NULL, maxima, at least -FLT_MAX. */
void cpu_taps_run(const struct taps *t, const float *source, const float *w, float *y);

#endif
