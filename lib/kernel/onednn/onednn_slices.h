/* onednn_slices.h - a convolution of onednn_conv.h, or a part of its output channels, in slices of rows of the output: a
 * primitive each, where they differ.  Of onednn_slices.c for onednn_conv.c; not for others. */
#ifndef HSDAG_KERNEL_ONEDNN_ONEDNN_SLICES_H
#define HSDAG_KERNEL_ONEDNN_ONEDNN_SLICES_H

#include "kernel/onednn/onednn_conv.h"

struct onednn_slices;

/* With a slice for each of so many threads, and more where operands are large.  NULL: the library has no good primitive. */
struct onednn_slices *onednn_slices_new(const struct onednn_conv_spec *s, int n_threads);
/* Weights as the primitives want them, before the first run. */
int onednn_slices_pack(struct onednn_slices *m, const struct onednn_conv_spec *s, struct cpu_ctx *c,
		       struct err *e) MUST_CHECK;
void onednn_slices_free(struct onednn_slices *m);
uint64_t onednn_slices_bytes(const struct onednn_slices *m); /* of packed weights and primitives */

int onednn_slices_count(const struct onednn_slices *m);
double onednn_slices_uneven(const struct onednn_slices *m); /* the longest over the mean */
struct window_slice onednn_slices_at(const struct onednn_slices *m, int i);
int onednn_slices_run(struct onednn_slices *m, int i, const void *x, void *y, void *scratch,
		      struct err *e) MUST_CHECK;

#endif
