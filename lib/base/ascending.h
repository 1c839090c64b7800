/* ascending.h - numbers in ascending order, for qsort and bsearch. */
#ifndef HSDAG_BASE_ASCENDING_H
#define HSDAG_BASE_ASCENDING_H

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

#endif
