/* cpu_merged.h - convolutions of one tensor that are added up, as one convolution.
 *
 * As networks have them that were trained with branches (RepVGG, MobileOne, GhostNetV3): windows of several sizes, and the tensor itself
 * times a factor a channel, all with the same strides.  Their weights add up where their windows meet, and so do constants that
 * are added on the way.  Sums are of another order then: where a placement cuts branches apart last bits differ. */
#ifndef HSDAG_DEVICE_CPU_CPU_MERGED_H
#define HSDAG_DEVICE_CPU_CPU_MERGED_H

#include "device/cpu/cpu_rewrite.h"

/* A step with one convolution in place of them. */
struct merged_step {
	struct op conv;
	struct tensor weights,
		bias;      /* without data; bias: of rank 0 where at most one constant is added */
	struct rewrite to; /* it refers to these */
};

/* False: s has no two of them, or what they add up to is not all that is read. */
bool merged_step_init(struct merged_step *m, const struct step_spec *s);
uint64_t merged_step_bytes(const struct merged_step *m);
/* Weights and constants, f32, which m->weights and m->bias refer to from then on; s as above.  NULL: no memory. */
float *merged_step_weights(struct merged_step *m, const struct step_spec *s);

#endif
