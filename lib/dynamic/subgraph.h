/* subgraph.h - the body of a control-flow operator, prepared to run many times: constants
 * folded, weights packed once, memory of tensors reused as soon as their last
 * reader has run, and kept from run to run.
 *
 * Shapes are found while running, so that parameters may change theirs between
 * runs.  Not thread-safe: one device runs it. */
#ifndef HSDAG_DYNAMIC_SUBGRAPH_H
#define HSDAG_DYNAMIC_SUBGRAPH_H

#include "dynamic/dynop.h"

struct subgraph;

/* g is a body's graph.  known[g->n]: for a Parameter that is the same in all runs its value, else
 * no data; borrowed with the data, and may be NULL.  bodies: for nodes that have some.  -1 (ST_INPUT): operators that cannot run,
 * constants beyond the weights. */
int subgraph_new(const struct graph *g, const struct tensor *known, const struct step_env *env,
		 struct cpu_ctx *ctx, const struct dynop_bodies *bodies, struct subgraph **out,
		 struct err *e) MUST_CHECK;
void subgraph_free(struct subgraph *s);
uint64_t subgraph_bytes(const struct subgraph *s);
bool subgraph_supports(const struct graph *g, const struct dynop_bodies *bodies, char *why,
		       size_t cap);

/* Before subgraph_run: the value of Parameter v, borrowed for the run. */
void subgraph_set(struct subgraph *s, uint32_t v, const struct tensor *t);
/* Run all nodes.  Afterwards the Results' values are there until subgraph_release. */
int subgraph_run(struct subgraph *s, struct err *e) MUST_CHECK;
/* What Result v reads. */
const struct tensor *subgraph_result(const struct subgraph *s, uint32_t v);
/* Is it the same in all runs?  (Then subgraph_result is good before the first run, too.) */
bool subgraph_result_known(const struct subgraph *s, uint32_t v);

/* After subgraph_run: what Results from[n] read is for Parameters to[n] of the next run, without
 * copying; everything else is released.  n 0: a plain release. */
void subgraph_carry(struct subgraph *s, uint32_t n, const uint32_t *from, const uint32_t *to);

#endif
