/* onednn_conv.h - a convolution whose operands lie with channels behind pixels, in slices.
 *
 * The output is cut into slices of rows that fit a cache; slices are the tasks of threads, too.
 * Batches are one image after another.  Sums are f32 of f32 and bf16 operands, and exact of integers. */
#ifndef HSDAG_KERNEL_ONEDNN_ONEDNN_CONV_H
#define HSDAG_KERNEL_ONEDNN_ONEDNN_CONV_H

#include "kernel/vec.h"
#include "kernel/kernel_impl.h"
#include "kernel/window.h"

struct onednn_conv;

struct onednn_conv_spec {
	struct window g;
	enum elem src; /* EL_F32, EL_BF16; EL_U8, EL_I8 */
	enum elem
		dst; /* EL_F32; of integers also EL_U8 or EL_I8, of bf16 also EL_BF16: rounded and limited */
	/* (groups * cout, cin, taps): f32, f16 or bf16 for EL_F32 and EL_BF16, i8 for integers; read by the call. */
	struct tensor weights;
	const void *key; /* of the pack: the address of the constant that the weights are made of */
	/* (groups * cout) or NULL: the output is (sum + bias) * scale. */
	const float *scale, *bias;
	int zero;       /* of integers: the code that stands for 0, as padding does */
	bool parts;     /* of output channels, where threads share these better than slices */
	bool has_unary; /* this operator, which onednn_conv_does, comes behind it */
	enum op_kind unary;
	struct unary_args args;
};
/* Can a convolution end with this unary operator? */
bool onednn_conv_does(enum op_kind unary, const struct unary_args *args);
/* 1; 0: the library has no good primitive for it; -1: ST_RUNTIME. */
int onednn_conv_new(const struct onednn_conv_spec *s, struct cpu_ctx *c, struct onednn_conv **out,
		    struct err *e) MUST_CHECK;
void onednn_conv_free(struct onednn_conv *m);
uint64_t onednn_conv_bytes(const struct onednn_conv *m); /* of packed weights and primitives */

int onednn_conv_slices(const struct onednn_conv *m);
struct window_slice onednn_conv_slice(const struct onednn_conv *m, int i);
int onednn_conv_parts(const struct onednn_conv *m); /* that a slice can be run in */
/* x (n_in, groups * cin), y (n, groups * cout), of which the part's channels are written: all, or those of one of
 * onednn_conv_parts; scratch: 64-byte aligned. */
int onednn_conv_run(struct onednn_conv *m, int i, struct channel_part part, const void *x, void *y,
		    void *scratch, struct err *e) MUST_CHECK;

#endif
