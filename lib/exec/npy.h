/* npy.h - NumPy's .npy files: one tensor each, little-endian; written in C order, read in Fortran order, too.
 *
 * Types that NumPy does not have are written as numbers that hold each of their values: bf16, f8e4m3, f8e5m2, f8e8m0, f4e2m1 and
 * nf4 as f32, i4 as i8, u1 to u6 as u8, one element each.  They are read from these, and from their bits: bf16 from u16 or V2, 8-bit
 * floats from u8 or V1, f4e2m1 and nf4 from u8 or V1, integers of few bits from V1 (V: what ml_dtypes are saved as).
 *
 * Source: numpy.lib.format, versions 1.0 and 2.0. */
#ifndef HSDAG_EXEC_NPY_H
#define HSDAG_EXEC_NPY_H

#include "base/newfile.h"
#include "op/tensor.h"

/* Read the regular file `path` into t->data, which holds a tensor of t's type and
 * shape; a file of another type or shape, or with an integer that the type does not have, is refused
 * (ST_INPUT), an unreadable one too (ST_RUNTIME). */
int npy_read(const char *path, const struct tensor *t, struct err *e) MUST_CHECK;

/* Begin a file that holds t whole and has no name until newfile_commit.  ST_RUNTIME when the file cannot be written, ST_INPUT for a type that .npy does
 * not have: then there is nothing to commit or to abandon. */
int npy_create(struct newfile *f, const char *path, const struct tensor *t,
	       struct err *e) MUST_CHECK;

#endif
