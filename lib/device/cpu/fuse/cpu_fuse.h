/* cpu_fuse.h - several nodes as one step of the cpu device.
 *
 * Such a step is a row of parts.  A part is one pass over a matrix of f32 (epilogue.h): a
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

#include "device/cpu/step/cpu_kind.h"

/* Does it begin with a convolution that reads its pixels as tokens (cpu_fuse_tokens.c)? */
bool cpu_fuse_is_tokens(const struct step_spec *s);
extern const struct step_kind fused_kind;

#endif
