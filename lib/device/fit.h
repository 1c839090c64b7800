/* fit.h - a profile corrected by what a few placements took. */
#ifndef HSDAG_DEVICE_FIT_H
#define HSDAG_DEVICE_FIT_H

#include "device/profile.h"

struct fit_case {
	const uint16_t *device;      /* (n_sets) */
	double lat_s;                /* measured */
};
enum { FIT_LEAST = 4 };      /* cases on several devices below which nothing is learnt */

/* Change out's times (a factor per device), link latencies and slowdown so that devsim's model of
 * g on these k devices comes closest to the cases: least mean of |log(predicted / measured)|, with a
 * small price for factors other than 1 and for latencies that leave what was measured.
 * -1: g cannot be simulated. */
int fit_profile(const struct graph *g, const char *const *names, uint32_t k,
		const struct fit_case *c, uint32_t n, struct profile *out,
		struct err *e) MUST_CHECK;

#endif
