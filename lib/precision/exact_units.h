/* exact_units.h - units in topological order, each of which is computed reduced (faster, less exactly) or exact: which are to be exact,
 * so that the error of all is within a limit, and the least time is lost.
 *
 * Begins with all reduced.  Then blocks of units are halved, the one with the most error first, and the error of each half is
 * measured alone, all else exact: what carries the error is found by bisection.  Of these blocks those are made exact first that have the
 * most error for each second that they save, as many as it takes; which is the least number is found by bisection, too, and each
 * choice is measured as a whole, since errors do not add up.  Last, of blocks that are exact halves are given back where the limit
 * allows it. */
#ifndef HSDAG_PRECISION_EXACT_UNITS_H
#define HSDAG_PRECISION_EXACT_UNITS_H

#include "base/err.h"
#include "base/mem.h"

struct exact_units {
	uint32_t n;
	const double *
		saved_s; /* (n) seconds that a unit saves where it is reduced, about; may be below 0 */
	double limit;    /* of the error, 0 or more */
	uint32_t most; /* calls of the two below, about */
	/* The error where the marked units (n) are reduced, and no others.  -1: the end of all. */
	int (*error)(void *ctx, const bool *reduced, double *error, struct err *e);
	/* The same, and the seconds of a run. */
	int (*measure)(void *ctx, const bool *reduced, double *error, double *lat_s, struct err *e);
	bool (*late)(void *ctx); /* is the time over? */
	void *ctx;
};

/* A choice that was measured. */
struct exact_choice {
	bool *reduced; /* (n) */
	double error, lat_s;
};

struct exact_way {
	uint32_t n;
	struct exact_choice
		*choice; /* (n) in the order in which they were measured, all reduced first */
	int best;        /* the fastest within the limit; -1: none is */
};

/* Memory from a.  -1: one of the functions said so. */
int exact_units_choose(const struct exact_units *x, struct arena *a, struct exact_way *out,
		       struct err *e) MUST_CHECK;

#endif
