/* cpu_moves.h - several nodes that only move elements, as one copy for each tensor that leaves.
 *
 * Transpose, Split, VariadicSplit, Slice, StridedSlice and Gather of one index each say where an element of the output lies in the
 * input, at strides; so do several of them, one behind another, with views between.  As the heads of an attention, which are cut
 * out of one product and turned. */
#ifndef HSDAG_DEVICE_CPU_CPU_MOVES_H
#define HSDAG_DEVICE_CPU_CPU_MOVES_H

#include "device/device.h"
#include "kernel/kernel.h"

struct moves;

/* May these nodes, two or more, run so?  Allocates nothing. */
bool moves_fit(const struct step_spec *s);
/* ctx is borrowed.  NULL: moves_fit says no. */
struct moves *moves_new(const struct step_spec *s, struct cpu_ctx *ctx);
void moves_free(struct moves *m);
uint64_t moves_bytes(const struct moves *m);
/* in: the step's one input. */
void moves_run(const struct moves *m, const void *in, void *const *out);

#endif
