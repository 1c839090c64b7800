/* bounds.h - the table of lower bounds.  One line registers one: X(name) stands for `const struct
 * lower_bound bound_name`, which the file that computes it defines.  They are computed in this
 * order; one that uses another's result comes after it. */
#ifndef HSDAG_PLACE_BOUND_BOUNDS_H
#define HSDAG_PLACE_BOUND_BOUNDS_H

#include "place/bound/bound_parts.h"

/* clang-format off */
#define LOWER_BOUNDS(X) \
	X(load) \
	X(turns) \
	X(path) \
	X(window) \
	X(series) \
	X(slowed) \
	X(cut) \
	X(pattern) \
	X(energy) \
	X(memory) \
	X(dnnpart_path) \
	X(pieces) \
	X(separators) \
/* end */
/* clang-format on */

/* What a bound is about: the largest load of a device, a schedule's length, joules, the largest
 * peak of memory.  No schedule is shorter than its largest load, so a bound of the period counts
 * for the latency of schedules, too. */
enum bound_metric { METRIC_PERIOD, METRIC_LATENCY, METRIC_ENERGY, METRIC_MEMORY, N_METRICS };

/* What bounds compute with, and what those before have found. */
struct bound_problem {
	struct bound_view v;
	const struct reach *reach; /* dnnpart-latency; NULL: too many tasks */
	double *head_s, *tail_s;   /* (tasks) of bound_path_s, for bound_window_s */
	struct bound_value {
		double value;
		const char *kind; /* NULL: none was computed */
	} best[N_METRICS];
};

/* One bound.  `rules` has bits 1 << enum place_rules. */
struct lower_bound {
	const char *kind;   /* as placebase -v tells it */
	const char *source; /* whose idea it is */
	unsigned rules;
	enum bound_metric metric;
	/* 0: nothing is known, or it is not worth its time here */
	double (*value)(struct bound_problem *x);
};
#define LOWER_BOUND_DECLARE(name) extern const struct lower_bound bound_##name;
LOWER_BOUNDS(LOWER_BOUND_DECLARE)
extern const struct lower_bound *const lower_bounds[]; /* NULL ends */

#endif
