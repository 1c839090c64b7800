/* error_limit.h - a contest under a limit of error (session.max_error): who computes the model as exactly as is asked for.
 *
 * The error of a placement is how far its outputs are from those of the model as it was written, in f32 (exec/output_error.h), on
 * the session's inputs: of several lists of shapes, and of replicas, the largest.  In f32 computes the first device of the
 * session that does, and can run the whole model, with whatever memory; where there is none, all cores, in a session of
 * their own. */
#ifndef HSDAG_MEASURE_ERROR_LIMIT_H
#define HSDAG_MEASURE_ERROR_LIMIT_H

#include "measure/kept_results.h"

/* Outputs in f32. */
struct error_reference {
	struct kept_results kept;
	char of[sizeof((struct device *)0)->name]; /* the device that computed them */
};

/* -1: none could. */
int error_reference_open(struct error_reference *x, struct session *s, struct arena *a,
			 struct err *e) MUST_CHECK;
void error_reference_close(struct error_reference *x);

/* The error of a placement of (1 + n_more, n_sets), by its plan where there is one (NULL: none).  -1: it cannot run. */
int error_of(const struct error_reference *x, struct session *s, const uint16_t *device,
	     uint32_t n_more, struct plan *plan, double *error, struct err *e) MUST_CHECK;

/* Single devices 0 .. k-1, then candidates; everything is borrowed. */
struct error_limited {
	struct session *s;
	uint32_t k, n;
	struct trial *const *trial; /* (n) */
	const int *like;            /* (n) as that one; -1: as none before it */
	struct plan *plan;          /* (n) of those that take part */
	bool *in;                   /* (n) true: it has a plan, and takes part */
	const uint32_t *order;      /* (n) in which they are tried */
};

/* Before the contest: trials get their errors; what is beyond the limit leaves, and what there is no time for, with the reason.
 * of[cap] gets the device that computed in f32.  ST_RUNTIME: nothing is within the limit. */
int error_limit_open(const struct error_limited *x, struct arena *a, char *of, size_t cap,
		     struct err *e) MUST_CHECK;

#endif
