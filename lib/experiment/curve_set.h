/* curve_set.h - the curves of an experiment: what each method had found when, for each seed. */
#ifndef HSDAG_EXPERIMENT_CURVE_SET_H
#define HSDAG_EXPERIMENT_CURVE_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

enum curve_axis { CURVE_EVALUATIONS, CURVE_SECONDS, CURVE_AXES };

/* One search: (n) rows in the order of the file. */
struct curve {
	uint32_t n;
	double *at[CURVE_AXES]; /* (n) evaluations and seconds */
	double *best;           /* (n) what it had then; INFINITY: nothing ran yet */
	double first[CURVE_AXES], end[CURVE_AXES]; /* of rows with a best, of all rows */
};

/* A model and method: (n) seeds. */
struct curve_group {
	const char *model, *method;
	uint32_t n;
	struct curve *seed; /* (n) in the order of the files */
	size_t cap;
};

struct curve_set {
	uint32_t n;
	struct curve_group *group; /* (n) in the order of the files */
	size_t cap;
};

/* Of files that curve_log.h makes, each with one search or more; contents from a, lists from the
 * heap.  ST_INPUT: a row is not in order, or nothing ran in a search. */
int curve_set_read(char *const *paths, uint32_t n, struct arena *a, struct curve_set *out,
		   struct err *e) MUST_CHECK;
void curve_set_release(struct curve_set *s);

/* What c's last row at x or before tells as its best; INFINITY: nothing yet.  Behind the end it
 * stays. */
double curve_best(const struct curve *c, enum curve_axis axis, double x);

/* The same of each seed of g into best (n); false: not all have found something. */
bool curve_group_best(const struct curve_group *g, enum curve_axis axis, double x, double *best);

/* The longest of the group's curves. */
double curve_group_end(const struct curve_group *g, enum curve_axis axis);

#endif
