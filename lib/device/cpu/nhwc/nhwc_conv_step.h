/* nhwc_conv_step.h - what steps of a convolution and of a transposed one share: functions of struct step_kind. */
#ifndef HSDAG_DEVICE_CPU_NHWC_NHWC_CONV_STEP_H
#define HSDAG_DEVICE_CPU_NHWC_NHWC_CONV_STEP_H

#include "kernel/nhwc/nhwc_conv.h"

void conv_step_release(void *x);
void conv_step_memory(const void *x, void (*fn)(void *arg, const void *key, uint64_t bytes),
		      void *arg);
void conv_step_detail(const void *x, char *dst, size_t cap);

#endif
