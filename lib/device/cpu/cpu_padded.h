/* cpu_padded.h - a Pad of zeros and the one convolution that reads it, as the convolution alone. */
#ifndef HSDAG_DEVICE_CPU_CPU_PADDED_H
#define HSDAG_DEVICE_CPU_CPU_PADDED_H

#include "device/cpu/fuse/cpu_fuse.h"
#include "device/device.h"

enum { PADDED_ARGS = 4 * FUSE_NODES };

/* A step without the Pad that it began with.  It points into the step's own description, and into itself. */
struct padded_step {
	struct op conv;
	struct step_node node[FUSE_NODES];
	struct step_arg arg[PADDED_ARGS]; /* of all nodes */
	struct step_out out[FUSE_NODES];
	struct step_spec spec;
};

/* False: s does not begin so, or Pad's output is read by others, too. */
bool padded_step_init(struct padded_step *p, const struct step_spec *s);

#endif
