/* bisect.h - the search in what is sorted. */
#ifndef HSDAG_BASE_BISECT_H
#define HSDAG_BASE_BISECT_H

#include <stddef.h>

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
