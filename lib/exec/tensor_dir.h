/* tensor_dir.h - tensors into a directory: a file N.npy for each, N from 0, and index.tsv, a line for each: file,
 * layer name, type and shape, and what the caller adds.
 *
 * All files take their names at the end, so that a full disk leaves what the directory had; of more tensors than files may
 * be open at once (500, or half of the process's limit) the first ones take theirs before. */
#ifndef HSDAG_EXEC_TENSOR_DIR_H
#define HSDAG_EXEC_TENSOR_DIR_H

#include "base/mem.h"
#include "base/newfile.h"
#include "op/tensor.h"

struct tensor_dir {
	const char *path;
	uint32_t n; /* tensors so far */
	struct newfile *file;
	size_t n_open, cap; /* files that wait for their names */
	size_t max_open;    /* with more the first of them get theirs */
	struct newfile index;
	struct arena *arena;
};

/* The directory is made if need be.  path stays the caller's. */
int tensor_dir_open(struct tensor_dir *d, const char *path, struct err *e) MUST_CHECK;
/* The next tensor.  more: further columns, each behind a tab, or "". */
int tensor_dir_add(struct tensor_dir *d, const char *name, const struct tensor *t, const char *more,
		   struct err *e) MUST_CHECK;
/* rc < 0: leave the directory as it was.  Returns rc, or -1 when closing fails. */
int tensor_dir_close(struct tensor_dir *d, int rc, struct err *e) MUST_CHECK;

#endif
