/* nhwc_codes.h - which codes convolutions in NHWC read, and make. */
#ifndef HSDAG_DEVICE_CPU_NHWC_NHWC_CODES_H
#define HSDAG_DEVICE_CPU_NHWC_NHWC_CODES_H

#include "device/cpu/nhwc/nhwc_step.h"
#include "kernel/nhwc/nhwc_conv.h"

/* Where depthwise convolutions alone read what FakeQuantize v makes: codes with a scale for each of n channels, as *want, which is
 * how v's output is to lie in NHWC so far.  The scales, which the caller owns; NULL: nothing has changed. */
float *codes_of_channels(const struct step_how *how, uint32_t v, int64_t n, struct mem_form *want);
/* The form of the codes that the convolution of s->g, of node n, reads, into s->x: the grid that its input lies on.  False: none. */
bool codes_of_conv_input(struct conv_step *s, const struct step_how *how,
			 const struct step_node *n);

#endif
