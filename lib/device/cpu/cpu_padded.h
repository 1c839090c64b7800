/* cpu_padded.h - a Pad of zeros and the one convolution that reads it, as the convolution alone. */
#ifndef HSDAG_DEVICE_CPU_CPU_PADDED_H
#define HSDAG_DEVICE_CPU_CPU_PADDED_H

#include "device/cpu/cpu_rewrite.h"

/* A step without the Pad that it began with. */
struct padded_step {
	struct op conv;
	struct rewrite to; /* it refers to conv */
};

/* False: s does not begin so, or Pad's output is read by others, too. */
bool padded_step_init(struct padded_step *p, const struct step_spec *s);

#endif
