/* cpu_layout.h - passes: where the spatial dims of a graph's tensors are, and which tensors lie in NHWC. */
#ifndef HSDAG_DEVICE_CPU_PASS_CPU_LAYOUT_H
#define HSDAG_DEVICE_CPU_PASS_CPU_LAYOUT_H

#include "device/cpu/graph/cpu_graph.h"

/* x->planes; memory from a. */
void planes_find(struct cpu_graph *x, struct arena *a);
/* x->nhwc and x->nhwc_pays, of x->planes. */
void layout_find(struct cpu_graph *x, struct arena *a);

/* Does the environment say which layout f32 has (HSDAG_PIXELS)? */
bool layout_is_told(void);
/* Why output o of node v lies as it does, for people, into dst[cap]. */
void layout_reason(const struct cpu_graph *x, uint32_t v, uint32_t o, char *dst, size_t cap);

#endif
