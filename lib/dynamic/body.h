/* body.h - the body of a control-flow operator, prepared to run many times: constants
 * folded, weights packed once, memory of tensors reused as soon as their last
 * reader has run, and kept from run to run.
 *
 * Shapes are found while running, so that parameters may change theirs between
 * runs.  Not thread-safe: one device runs it. */
#ifndef HSDAG_DYNAMIC_BODY_H
#define HSDAG_DYNAMIC_BODY_H

#include "dynamic/flex.h"

struct body;

/* g is a body's graph.  known[g->n]: for a Parameter that is the same in all runs its value, else
 * no data; borrowed with the data, and may be NULL.  -1 (ST_INPUT): operators that cannot run,
 * constants beyond the weights. */
int body_new(const struct graph *g, const struct tensor *known, const struct step_env *env,
	     struct cpu_ctx *ctx, struct body **out, struct err *e) MUST_CHECK;
void body_free(struct body *b);
uint64_t body_bytes(const struct body *b);
bool body_supports(const struct graph *g, char *why, size_t cap);

/* Before body_run: the value of Parameter v, borrowed for the run. */
void body_set(struct body *b, uint32_t v, const struct tensor *t);
/* Run all nodes.  Afterwards the Results' values are there until body_release. */
int body_run(struct body *b, struct err *e) MUST_CHECK;
/* What Result v reads. */
const struct tensor *body_result(const struct body *b, uint32_t v);
/* Is it the same in all runs?  (Then body_result is good before the first run, too.) */
bool body_result_known(const struct body *b, uint32_t v);

/* After body_run: what Results from[n] read is for Parameters to[n] of the next run, without
 * copying; everything else is released.  n 0: a plain release. */
void body_carry(struct body *b, uint32_t n, const uint32_t *from, const uint32_t *to);

#endif
