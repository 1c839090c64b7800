/* disjoint.h - disjoint sets of numbers: union-find with path halving.  The representative of a
 * set is its smallest member. */
#ifndef HSDAG_BASE_DISJOINT_H
#define HSDAG_BASE_DISJOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

/* up (n): every number by itself; memory from a. */
static inline uint32_t *disjoint_new(uint32_t n, struct arena *a)
{
	uint32_t *up = (uint32_t *)arena_raw(a, n, sizeof(*up));

	for (uint32_t i = 0; i < n; i++)
		up[i] = i;
	return up;
}

static inline uint32_t disjoint_find(uint32_t *up, uint32_t i)
{
	while (up[i] != i)
		i = up[i] = up[up[i]];
	return i;
}

/* Join the sets of x and y; false when they are one already. */
static inline bool disjoint_join(uint32_t *up, uint32_t x, uint32_t y)
{
	x = disjoint_find(up, x);
	y = disjoint_find(up, y);
	if (x == y)
		return false;
	up[x > y ? x : y] = x > y ? y : x;
	return true;
}

#endif
