/* bound.h - what no legal placement can beat, in units of what the model minimises. */
#ifndef HSDAG_PLACE_BOUND_BOUND_H
#define HSDAG_PLACE_BOUND_BOUND_H

#include <stdbool.h>
#include <stdint.h>

struct place_units;

struct place_bound {
	double value;        /* 0: nothing is known */
	const char *kind;    /* of which bound (bounds.h); "sum": of a mixture's */
	uint32_t n_left_out; /* bounds that the deadline left out */
};

/* The largest of the lower bounds that hold for the model's rules and objective (bounds.h).  deadline_s (of clock_s; 0: none): what
 * would only raise it is left out from then on.  Of a mixture the sum of weighted bounds, each of its own metric.  share (k; or NULL): becomes the
 * load bound's shares of devices (bound_parts.h); false in *shared when there was no load bound. */
struct place_bound place_bound(const struct place_units *u, double deadline_s, double *share,
			       bool *shared);

/* Its value. */
double place_lower_bound(const struct place_units *u, double deadline_s);

#endif
