/* dynop.h - one operator whose shapes are found when it runs: inputs may have other
 * shapes from call to call, outputs get their shapes and their memory during
 * the call.  Operators with bodies are among them.
 *
 * What they run is recursive: a dynamic operator may be a Loop, a Loop runs a subgraph, and a
 * subgraph's nodes are dynamic operators.  The files are not: control.h stands on subgraph.h, this
 * on dynop.h, and who makes a dynamic operator says what runs bodies, control_bodies.
 *
 * The kernels, packed weights and threads are those of kernel.h; what was prepared
 * for the shapes of the last call serves the next one when they are the same. */
#ifndef HSDAG_DYNAMIC_DYNOP_H
#define HSDAG_DYNAMIC_DYNOP_H

#include "kernel/kernel.h"
#include "kernel/step_env.h"

struct dynop;

/* Who gives memory to outputs.  alloc is called at most once in a call for each output, with its
 * type and shape (of an operator with bounded sizes, the bound), and sets out->data. */
struct dynop_allocator {
	int (*alloc)(void *arg, uint32_t i, struct tensor *out, struct err *e);
	void *arg;
};

/* Memory that only grows.  grow: at least need bytes, contents lost; -1 (ST_RUNTIME) when the
 * machine does not have as much. */
struct dynop_buffer {
	void *p;
	size_t cap;
};
int dynop_buffer_grow(struct dynop_buffer *b, int64_t need, struct err *e) MUST_CHECK;

/* What runs operators with bodies; the functions are as those of dynop below. */
struct control;
struct dynop_bodies {
	bool (*supports)(const struct op *op, char *why, size_t cap);
	/* Inputs with data that all iterations see alike are constants of the body. */
	int (*prepare)(const struct op *op, const struct tensor *in, const struct step_env *env,
		       struct cpu_ctx *ctx, struct control **out, struct err *e);
	void (*release)(struct control *c); /* NULL is one, too */
	uint64_t (*bytes)(const struct control *c);
	int (*run)(struct control *c, const struct tensor *in, struct tensor *out,
		   const struct dynop_allocator *to, struct err *e);
};

/* Can it run, with all that its bodies hold?  Otherwise why[cap] says why not. */
bool dynop_supports(const struct op *op, const struct dynop_bodies *bodies, char *why, size_t cap);

/* in[op->n_in]: those with data are constants (data is borrowed and stays); of the others
 * nothing is read.  env and ctx are borrowed.  -1 (ST_INPUT): bodies that make no sense. */
int dynop_new(const struct op *op, const struct tensor *in, const struct step_env *env,
	      struct cpu_ctx *ctx, const struct dynop_bodies *bodies, struct dynop **out,
	      struct err *e) MUST_CHECK;
void dynop_free(struct dynop *f);
uint64_t dynop_bytes(const struct dynop *f); /* packed weights and memory of bodies held now */

/* Shapes of the outputs for these inputs (data where values decide them), into out[n_out].
 * Not for operators with bodies. */
int dynop_infer(struct dynop *f, const struct tensor *in, struct tensor *out,
		struct err *e) MUST_CHECK;
/* Run: out[n_out] comes out with the real shapes and the data that `to` gave.  Constants given to
 * dynop_new are used instead of what in says. */
int dynop_run(struct dynop *f, const struct tensor *in, struct tensor *out,
	      const struct dynop_allocator *to, struct err *e) MUST_CHECK;

#endif
