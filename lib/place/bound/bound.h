/* bound.h - what no legal placement can beat, in units of what the model minimises. */
#ifndef HSDAG_PLACE_BOUND_BOUND_H
#define HSDAG_PLACE_BOUND_BOUND_H

#include <stdbool.h>

struct place_units;

struct place_bound {
	double value;     /* 0: nothing is known */
	const char *kind; /* of which bound (bounds.h); "sum": of a mixture's */
};

/* The largest of the lower bounds that hold for the model's rules and objective (bounds.h).
 * Of a mixture the sum of weighted bounds, each of its own metric.  share (k; or NULL): becomes the
 * load bound's shares of devices (bound_parts.h); false in *shared when there was no load bound. */
struct place_bound place_bound(const struct place_units *u, double *share, bool *shared);

/* Its value. */
double place_lower_bound(const struct place_units *u);

#endif
