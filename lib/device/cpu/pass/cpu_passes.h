/* cpu_passes.h - passes over a graph, once for each graph of a model, in an order in which each finds what it reads: where spatial dims
 * are, which values lie on grids, which tensors lie in NHWC. */
#ifndef HSDAG_DEVICE_CPU_PASS_CPU_PASSES_H
#define HSDAG_DEVICE_CPU_PASS_CPU_PASSES_H

#include "device/cpu/graph/cpu_graph.h"

/* What the passes found about g, the model's graph or a body of it, for devices that compute in `elem` (step_how.elem); kept for as long
 * as env is. */
const struct cpu_graph *cpu_graph_of(const struct graph *g, const struct step_env *env,
				     enum elem elem);

#endif
