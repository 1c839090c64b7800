/* cpu_passes.h - passes over a graph, once for each graph of a model, in an order in which each finds what it reads: where spatial dims
 * are, which values lie on grids, which tensors lie in NHWC; and passes over a group of nodes that is to be one step. */
#ifndef HSDAG_DEVICE_CPU_PASS_CPU_PASSES_H
#define HSDAG_DEVICE_CPU_PASS_CPU_PASSES_H

#include "device/cpu/graph/cpu_graph.h"
#include "device/cpu/pass/cpu_rewrite.h"

/* What the passes found about g, the model's graph or a body of it; kept for as long as env is. */
const struct cpu_graph *cpu_graph_of(const struct graph *g, const struct step_env *env);

/* What the passes over a group made of it. */
enum { REWRITE_PASSES = 2 };
struct rewritten {
	const struct step_spec *spec; /* of the group, or into `by` */
	struct rewrite by[REWRITE_PASSES];
	const struct rewrite_pass *pass[REWRITE_PASSES]; /* NULL: it changed nothing */
};
void group_rewrite(struct rewritten *r, const struct step_how *how, const struct step_spec *s);
/* The constants of new nodes, to be freed behind the step, and how many bytes they are; s as before.  NULL: there are none, or
 * (-1, ST_RUNTIME) no memory. */
int group_constants(struct rewritten *r, const struct step_spec *s, float **data, uint64_t *bytes,
		    struct err *e) MUST_CHECK;

#endif
