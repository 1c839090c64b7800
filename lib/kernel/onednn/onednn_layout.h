/* onednn_layout.h - f32 tensors to and from what oneDNN reads: bf16, channels behind pixels. */
#ifndef HSDAG_KERNEL_ONEDNN_ONEDNN_LAYOUT_H
#define HSDAG_KERNEL_ONEDNN_ONEDNN_LAYOUT_H

#include <stdint.h>

/* n pixels of c planes, `step` floats apart, to y (n,c), rounded. */
void layout_to_pixels(const float *x, int64_t step, int64_t c, int64_t n, uint16_t *y);
/* x (n,c) to n pixels of c planes, `step` floats apart. */
void layout_to_planes(const float *x, int64_t c, int64_t n, float *y, int64_t step);

#endif
