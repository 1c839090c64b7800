/* ascending.h - numbers in ascending order, for qsort and bsearch; the search in what is sorted. */
#ifndef HSDAG_BASE_ASCENDING_H
#define HSDAG_BASE_ASCENDING_H

#include <stddef.h>
#include <stdint.h>

static inline int ascending_u32(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return (a > b) - (a < b);
}

/* No NaN among them. */
static inline int ascending_real(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

/* lo and hi, variables, become the first place from lo on that is not before what is looked for; hi where all
 * are.  before: an expression of the place i. */
#define BISECT(lo, hi, i, before) \
	while (lo < hi) { \
		size_t i = (size_t)(lo + (hi - lo) / 2); \
		if (before) \
			lo = i + 1; \
		else \
			hi = i; \
	}

#endif
