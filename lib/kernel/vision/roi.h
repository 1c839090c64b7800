/* roi.h - what poolings of regions of interest share. */
#ifndef HSDAG_KERNEL_VISION_ROI_H
#define HSDAG_KERNEL_VISION_ROI_H

#include "kernel/kernel_impl.h"

struct plane {
	int64_t h, w;
};

/* Not a number becomes lo. */
float roi_clamp(float x, float lo, float hi);

/* Bilinear value of f (h,w) at (y, x), both inside the plane. */
float roi_bilinear(const float *f, struct plane p, float y, float x);

/* ST_INPUT: a region lies in an image that is not there. */
int roi_outside(int64_t image, struct err *e);

#endif
