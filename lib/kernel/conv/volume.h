/* volume.h - volumes with their padding around them, so that windows of three dims become
 * offsets.  Rows come in phases, every stride-th column of a row: outputs that are neighbours read
 * neighbours.
 *
 * Output row (z, y) begins at position cpu_volume_row; tap t of the window reads
 * volume[offset[t] + position]. */
#ifndef HSDAG_KERNEL_CONV_VOLUME_H
#define HSDAG_KERNEL_CONV_VOLUME_H

#include "kernel/isa_level.h"
#include "kernel/kernel_impl.h"
#include "kernel/window.h"

struct volume {
	int64_t dim[3]; /* with padding; the last one: all phases of a row */
	int64_t pitch;  /* of one phase */
	int64_t plane;  /* floats of one channel */
};

enum { VOLUME_SLACK = 64 }; /* floats readable behind the last channel */

/* n floats of a row, which often has few. */
static inline void cpu_volume_copy(float *dst, const float *from, int64_t n)
{
	int64_t i = 0;
	for (; i + 4 <= n; i += 4)
		*(vec4 *)(void *)(dst + i) = *(const vec4 *)(const void *)(from + i);
	for (; i < n; i++)
		dst[i] = from[i];
}

void cpu_volume_init(struct volume *v, const struct window *g);
int64_t cpu_volume_offset(const struct volume *v, const struct window *g, int64_t tap);
/* Row number z * g->out[1] + y. */
int64_t cpu_volume_row(const struct volume *v, const struct window *g, int64_t row);
/* One channel of the input within zeros. */
void cpu_volume_fill(const struct volume *v, const struct window *g, const float *x, float *dst);
/* The same into a volume whose zeros are there. */
void cpu_volume_refill(const struct volume *v, const struct window *g, const float *x, float *dst);

#endif
