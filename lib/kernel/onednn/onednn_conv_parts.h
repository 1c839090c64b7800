/* onednn_conv_parts.h - a convolution as several, each of a part of the output channels: tasks of threads where there are
 * fewer slices than these.  Parts (onednn_conv_parts.c) are convolutions of onednn_conv.c, which has them inside; not for others. */
#ifndef HSDAG_KERNEL_ONEDNN_ONEDNN_CONV_PARTS_H
#define HSDAG_KERNEL_ONEDNN_ONEDNN_CONV_PARTS_H

#include "kernel/onednn/onednn_conv.h"

struct onednn_parts;

/* slices: those of the whole convolution, the longest `uneven` times the mean.  As onednn_conv_new; 0: parts are not worth it, or
 * there are none. */
int onednn_parts_new(const struct onednn_conv_spec *s, int slices, double uneven, struct cpu_ctx *c,
		     struct onednn_parts **out, struct err *e) MUST_CHECK;
void onednn_parts_free(struct onednn_parts *p);

/* The functions of onednn_conv.h, of all parts. */
uint64_t onednn_parts_bytes(const struct onednn_parts *p);
int onednn_parts_slices(const struct onednn_parts *p);
int onednn_parts_count(const struct onednn_parts *p);
struct window_slice onednn_parts_slice(const struct onednn_parts *p, int i);
int onednn_parts_run(const struct onednn_parts *p, int i, struct channel_part part, const void *x,
		     void *y, void *scratch, struct err *e) MUST_CHECK;

#endif
