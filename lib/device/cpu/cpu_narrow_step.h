/* cpu_narrow_step.h - a step in 8 or 16 bits: cpu_narrow.c chooses its kind, cpu_narrow_conv.c prepares convolutions,
 * cpu_narrow_run.c runs it; not for others. */
#ifndef HSDAG_DEVICE_CPU_CPU_NARROW_STEP_H
#define HSDAG_DEVICE_CPU_CPU_NARROW_STEP_H

#include "device/cpu/cpu_narrow_impl.h"
#include "kernel/onednn/onednn_conv.h"

enum narrow_kind {
	NARROW_CONV,
	NARROW_PROGRAM,
	NARROW_POOL,
	NARROW_CONCAT,
	NARROW_TURN,
	NARROW_RESIZE
};

struct narrow_step {
	struct cpu_ctx *ctx;
	bool bf16; /* else 8 bits */
	enum narrow_kind kind;
	uint32_t n_out;
	struct mem_form *want; /* (n_out) of outputs that only this device reads */
	struct form_shape in_shape, shape;
	struct window g;   /* of a convolution */
	uint32_t x_in;     /* the input with the data */
	struct mem_form x; /* its grid */
	struct onednn_conv *conv;
	bool direct; /* the convolution writes codes of this form */
	struct mem_form codes;
	bool has_program;
	struct pixel_program program;
	struct narrow_pool pool;
	struct narrow_concat concat;
	struct narrow_turn turn;
	struct narrow_resize resize;
};

/* s for a convolution and what is fused behind it.  1; 0: no narrow step; -1: ST_RUNTIME. */
int narrow_conv_init(struct narrow_step *s, const struct step_spec *spec, struct fuse_plan *p,
		     struct err *e) MUST_CHECK;

#endif
