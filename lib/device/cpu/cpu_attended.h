/* cpu_attended.h - attention of several nodes as one step.
 *
 * Either ScaledDotProductAttention of queries, keys and values that moves (cpu_moves.h) cut out of products, and perhaps a Transpose that
 * joins the heads again: rows are read and written where they are, nothing is copied.  Or what a network spells out:
 *
 *   MatMul (queries, keys), Multiply or Divide by a factor, up to two Adds, SoftMax over the keys, MatMul (values)
 *
 * with views between, as windows and position biases are written down (Swin Transformer, LeViT, BoTNet).  Scores never are in
 * memory (kernel/dense/cpu_attention.h).  A row whose scores are all minus infinity gives 0, as the operator does, where SoftMax
 * alone makes NaN of it. */
#ifndef HSDAG_DEVICE_CPU_CPU_ATTENDED_H
#define HSDAG_DEVICE_CPU_CPU_ATTENDED_H

#include "device/device.h"
#include "kernel/kernel.h"

struct attended_step;

/* Are these nodes one (FUSE_YES), or the beginning of one (FUSE_WITH_MORE), that is faster so?  Allocates nothing. */
enum fuse_answer attended_fits(const struct step_spec *s, const struct cpu_ctx *ctx);
/* ctx is borrowed.  NULL: attended_fits does not say yes. */
struct attended_step *attended_new(const struct step_spec *s, struct cpu_ctx *ctx);
void attended_free(struct attended_step *m);
uint64_t attended_bytes(const struct attended_step *m);
/* in: the step's inputs.  Errors as cpu_kernel_run. */
int attended_run(const struct attended_step *m, void *const *in, void *out,
		 struct err *e) MUST_CHECK;

#endif
