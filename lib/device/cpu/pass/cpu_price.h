/* cpu_price.h - pass: what NHWC costs in f32, part by part of a graph. */
#ifndef HSDAG_DEVICE_CPU_PASS_CPU_PRICE_H
#define HSDAG_DEVICE_CPU_PASS_CPU_PRICE_H

#include "device/cpu/graph/cpu_graph.h"

/* Nanoseconds, on one core, that convolution v is modelled to take in planes and in NHWC; false: its shapes are not known. */
bool price_convolution(const struct cpu_graph *x, uint32_t v, double *plain, double *nhwc);
/* Parts of the graph whose tensors are joined in NHWC (x->nhwc) become plain where their convolutions, and what brings tensors into NHWC and
 * out of it, cost more so than in planes; fills x->price, and x->planar of their convolutions.  Memory from a. */
void prices_compare(struct cpu_graph *x, struct arena *a);

#endif
