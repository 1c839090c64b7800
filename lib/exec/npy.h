/* npy.h - NumPy's .npy files: one tensor each, C order, little-endian.
 *
 * Source: numpy.lib.format, versions 1.0 and 2.0. */
#ifndef HSDAG_EXEC_NPY_H
#define HSDAG_EXEC_NPY_H

#include "base/newfile.h"
#include "op/tensor.h"

/* Read the regular file `path` into t->data, which holds a tensor of t's type and
 * shape; a file of another type or shape is refused (ST_INPUT), an unreadable
 * one too (ST_RUNTIME). */
int npy_read(const char *path, const struct tensor *t, struct err *e) MUST_CHECK;

/* Begin a file that holds t whole and has no name until newfile_commit.  bf16 is written as f32, which holds
 * it exactly.  ST_RUNTIME when the file cannot be written, ST_INPUT for a type that .npy does
 * not have: then there is nothing to commit or to abandon. */
int npy_create(struct newfile *f, const char *path, const struct tensor *t,
	       struct err *e) MUST_CHECK;

#endif
