/* phase.h - planes with their padding, split by stride, so that windows become
 * offsets.
 *
 * Pixel (y, x) of the padded plane goes to phase (y mod s, x mod s), which is again a plane,
 * `pitch` floats wide.  Output positions are counted in the same pitch: position p = oy * pitch +
 * ox is a pixel when ox < out width, else waste.  Tap t of the window reads phases[offset[t] + p],
 * whatever the stride: all positions of a tap are one contiguous run. */
#ifndef HSDAG_KERNEL_CONV_PHASE_H
#define HSDAG_KERNEL_CONV_PHASE_H

#include "kernel/kernel_impl.h"
#include "kernel/window.h"

enum { PHASE_SLACK = 64 }; /* floats readable behind the last phase */

enum { PHASE_MAX_STRIDE = 16 };

struct phases {
	int64_t rows, pitch;
	/* Of phase i of a row: its first input column, where that goes, how many there are. */
	int64_t first[PHASE_MAX_STRIDE], at[PHASE_MAX_STRIDE], n[PHASE_MAX_STRIDE];
	uint32_t use_y, use_x; /* bit i: some tap reads phase i of the rows, of the columns */
	int64_t plane;         /* floats of all phases of one plane */
	int64_t span;          /* positions: (out rows - 1) * pitch + out columns */
};

/* Two spatial dims only (window.in[0] == kernel[0] == 1), strides of at most PHASE_MAX_STRIDE. */
bool cpu_phases_fit(const struct window *g);
void cpu_phases_init(struct phases *p, const struct window *g);
int64_t cpu_phase_offset(const struct phases *p, const struct window *g, int64_t tap);

/* One input plane into those of its phases that a tap reads, with the padding's value around. */
void cpu_phases_fill(const struct phases *p, const struct window *g, const float *x, float padding,
		     float *dst);

#endif
