/* cpu_fuse.h - several nodes as one step of the cpu device.
 *
 * Such a step is a row of parts.  A part is one pass over a matrix of f32 (cpu_epilogue.h): a
 * program of element-wise operators, in the first part perhaps behind a kernel (a convolution, a
 * product, a depthwise convolution with the transpositions around it, ..) whose output it changes tile by tile.  Split and VariadicSplit compute nothing:
 * they say where a later part finds its operands.  A value that a later part reads in another
 * shape lies in scratch memory, every other inner value in registers and the first-level cache.
 *
 * Not taken: other types than f32, dynamic shapes, element-wise operators without a vector or f32
 * form, operands that do not repeat along whole rows or columns, and everything else that does
 * not fit the limits below. */
#ifndef HSDAG_DEVICE_CPU_FUSE_CPU_FUSE_H
#define HSDAG_DEVICE_CPU_FUSE_CPU_FUSE_H

#include "device/device.h"
#include "kernel/cpu_codes.h"
#include "kernel/kernel.h"

enum { FUSE_NODES = 24 }; /* nodes of a step */

struct fused;

/* May these nodes run as one step?  Allocates nothing. */
bool cpu_fuse_fits(const struct step_spec *s);
/* Does it begin with a convolution that reads its pixels as tokens (cpu_fuse_tokens.c)? */
bool cpu_fuse_is_tokens(const struct step_spec *s);
/* Such a step; ctx is borrowed.  The spec may go, graph and constants stay.  Errors as
 * cpu_kernel_prepare. */
int cpu_fuse_new(const struct step_spec *s, struct cpu_ctx *ctx, struct fused **out,
		 struct err *e) MUST_CHECK;
void cpu_fuse_free(struct fused *f);
/* Inputs and outputs that are rows of codes, not of numbers; UINT32_MAX: none. */
struct fuse_codes {
	uint32_t in, out;
};
/* What may be codes, and on which grids.  in: whatever memory is in that form may stay so; out: where all that read it take
 * it. */
struct fuse_codes cpu_fuse_codes(const struct fused *f, struct code_grid *in,
				 struct code_grid *out);
int cpu_fuse_run(struct fused *f, void *const *in, void *const *out, struct fuse_codes codes,
		 struct err *e) MUST_CHECK;

/* May output `out` lie where input `in` lies, if both have one size? */
bool cpu_fuse_in_place(const struct fused *f, uint32_t in, uint32_t out);
/* Pieces of memory as device_class.step_memory tells them. */
void cpu_fuse_memory(const struct fused *f, void (*fn)(void *arg, const void *key, uint64_t bytes),
		     void *arg);

#endif
