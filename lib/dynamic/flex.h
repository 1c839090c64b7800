/* flex.h - one operator whose shapes are found when it runs: inputs may have other
 * shapes from call to call, outputs get their shapes and their memory during
 * the call.  Operators with bodies (control.h) are among them.
 *
 * The kernels, packed weights and threads are those of kernel.h; what was prepared
 * for the shapes of the last call serves the next one when they are the same. */
#ifndef HSDAG_DYNAMIC_FLEX_H
#define HSDAG_DYNAMIC_FLEX_H

#include "kernel/kernel.h"
#include "kernel/step_env.h"

struct flex;

/* Who gives memory to outputs.  place is called at most once in a call for each output, with its
 * type and shape (of an operator with bounded sizes, the bound), and sets out->data. */
struct flex_place {
	int (*place)(void *arg, uint32_t i, struct tensor *out, struct err *e);
	void *arg;
};

/* Memory that only grows.  grow: at least need bytes, contents lost; -1 (ST_RUNTIME) when the
 * machine does not have as much. */
struct flex_buffer {
	void *p;
	size_t cap;
};
int flex_grow(struct flex_buffer *b, int64_t need, struct err *e) MUST_CHECK;

/* Can it run, with all that its bodies hold?  Otherwise why[cap] says why not. */
bool flex_supports(const struct op *op, char *why, size_t cap);

/* in[op->n_in]: those with data are constants (data is borrowed and stays); of the others
 * nothing is read.  env and ctx are borrowed.  -1 (ST_INPUT): bodies that make no sense. */
int flex_new(const struct op *op, const struct tensor *in, const struct step_env *env,
	     struct cpu_ctx *ctx, struct flex **out, struct err *e) MUST_CHECK;
void flex_free(struct flex *f);
uint64_t flex_bytes(const struct flex *f); /* packed weights and memory of bodies held now */

/* Shapes of the outputs for these inputs (data where values decide them), into out[n_out].
 * Not for operators with bodies. */
int flex_infer(struct flex *f, const struct tensor *in, struct tensor *out,
	       struct err *e) MUST_CHECK;
/* Run: out[n_out] comes out with the real shapes and the data that `to` gave.  Constants given to
 * flex_new are used instead of what in says. */
int flex_run(struct flex *f, const struct tensor *in, struct tensor *out,
	     const struct flex_place *to, struct err *e) MUST_CHECK;

#endif
