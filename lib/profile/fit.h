/* fit.h - a profile corrected by what a few placements took. */
#ifndef HSDAG_PROFILE_FIT_H
#define HSDAG_PROFILE_FIT_H

#include "profile/profile.h"

struct fit_case {
	const uint16_t *device; /* (n_sets) */
	double lat_s;           /* measured */
	const uint64_t
		*need; /* (k) bytes of its plan, scratch of kernels not counted; NULL: not known */
};
enum { FIT_LEAST = 4 }; /* cases on several devices below which nothing is learnt */

struct fit_devices {
	uint32_t k;
	const char **names;    /* (k) */
	const uint32_t *alike; /* (k) the first device that has the same times */
	const bool *host;      /* (k) computes in host memory */
	/* (k) what is in latencies and in seconds a byte of links from and to a device for boundaries of segments: guesses; 0: it
	 * has none */
	const double *boundary_s, *boundary_byte_s;
	const uint8_t *turns; /* (k,k) which take turns; NULL: none do */
	uint32_t n_rules;     /* of copies, one of which out gets */
	struct copy_rule rule[COPY_RULES];
};

/* What plans of the cases need on a device beyond what the simulator expects of them, at most, becomes
 * part of out->held.work: there values have no gaps between them, and sets run as wholes.
 *
 * Change out's times (a factor per device), link latencies, what boundaries of segments take for a tensor and for a byte, slowdown and multi_slowdown so that
 * devsim's model of g on these devices comes closest to the cases: least mean of |log(predicted /
 * measured)|, coordinate by coordinate, with a price for factors other than 1, for latencies that
 * leave what was measured, and for slowing each other.  Devices that are alike have one factor,
 * links between such pairs one latency.  Between devices in host memory nothing is queued or
 * copied, so that there latencies stay close to what was measured.  Of several rules of copies that one stays with
 * which the cases fit best.  It ends when most_s are over, behind the first sweeps.
 * -1: g cannot be simulated. */
int fit_profile(const struct graph *g, const struct fit_devices *devices, const struct fit_case *c,
		uint32_t n, double most_s, struct profile *out, struct err *e) MUST_CHECK;

#endif
