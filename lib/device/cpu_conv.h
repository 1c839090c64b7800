/* cpu_conv.h - inside the convolutions. */
#ifndef HSDAG_DEVICE_CPU_CONV_H
#define HSDAG_DEVICE_CPU_CONV_H

#include "device/cpu_window.h"

/* One input channel for each group, two spatial dims, a window of moderate size? */
bool cpu_is_depthwise(const struct window *g);
/* Such a convolution; weights (groups, cout, taps) f32; post may be NULL. */
int cpu_depthwise(struct cpu_ctx *c, const struct window *g, const float *x, const float *weights,
		  float *y, const struct epilogue *post, struct err *e) MUST_CHECK;

#endif
