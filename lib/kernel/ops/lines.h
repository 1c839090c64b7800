/* lines.h - the lines of a tensor along an axis. */
#ifndef HSDAG_KERNEL_OPS_LINES_H
#define HSDAG_KERNEL_OPS_LINES_H

#include "kernel/kernel_impl.h"

/* An axis as lines: element j of line i lies at line_start(i) + j * step. */
struct lines {
	int64_t n, length, step;
};

static inline struct lines lines_of(const struct tensor *t, int axis)
{
	struct lines l = {1, t->dim[axis], 1};
	for (uint32_t d = 0; d < t->rank; d++) {
		l.n *= (int)d == axis ? 1 : t->dim[d];
		l.step *= (int)d > axis ? t->dim[d] : 1;
	}
	return l;
}

static inline int64_t line_start(const struct lines *l, int64_t i)
{
	return i / l->step * l->step * l->length + i % l->step;
}

#endif
