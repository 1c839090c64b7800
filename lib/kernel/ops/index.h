/* index.h - where indices point: what gathering and scattering operators share. */
#ifndef HSDAG_KERNEL_OPS_INDEX_H
#define HSDAG_KERNEL_OPS_INDEX_H

#include "kernel/kernel_impl.h"

/* Index i of a dim of size n, negative ones from the end; -1: outside. */
static inline int64_t index_fix(int64_t i, int64_t n)
{
	if (i < 0)
		i += n;
	return i < 0 || i >= n ? -1 : i;
}

/* Of dims from .. to - 1. */
static inline int64_t index_product(const int64_t *dim, int64_t from, int64_t to)
{
	int64_t n = 1;
	for (; from < to; from++)
		n *= dim[from];
	return n;
}

/* Have all indices a place in the data, but for the axis? */
bool index_fits(const struct tensor *data, const struct tensor *index, int axis);

enum { WALK = 256 }; /* elements whose places are found at once */

/* Where elements lo .. hi - 1 of indices point in the data, when the index replaces the coordinate of
 * `axis`; the other coordinates are those in index's shape.  to[hi - lo]: elements, -1: outside. */
void index_places(const struct tensor *data, const struct tensor *index, int axis, int64_t lo,
		  int64_t hi, int64_t *to);

/* Offset of the slice of data that the index tuple number t selects, in slices, `length` dims from
 * first_dim on; -1: outside. */
int64_t index_tuple(const struct tensor *data, int64_t first_dim, const struct tensor *index,
		    int64_t length, int64_t t);

#endif
