/* savings.h - what neighbouring sets save on a device when they run as one. */
#ifndef HSDAG_PROFILE_SAVINGS_H
#define HSDAG_PROFILE_SAVINGS_H

#include "profile/device_times.h"
#include "profile/profile.h"

struct saving {
	struct set_pair pair;
	uint32_t d;
	struct interval s;
};

struct savings {
	struct saving *v;
	size_t n, cap;
};

/* What the groups of x->joined that join sets save, in equal parts for the pairs that each joins.
 * Both plans run most steps in the same way; by these they are made comparable, as the machine was
 * not equally fast for both.  A saving that is not certain is 0. */
void savings_find(const struct device_times *x, struct savings *out);

/* Distinct pairs with a column for each of k devices, into out; frees x.  Memory from a. */
void savings_store(struct savings *x, uint32_t k, struct arena *a, struct profile *out);

#endif
