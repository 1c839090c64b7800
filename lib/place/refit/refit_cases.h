/* refit_cases.h - placements of a stream and what they took, as cases for refit.h. */
#ifndef HSDAG_PLACE_REFIT_REFIT_CASES_H
#define HSDAG_PLACE_REFIT_REFIT_CASES_H

#include "place/refit/refit.h"
#include "stream/rec.h"

struct refit_cases;

struct refit_cases *refit_cases_new(void);
void refit_cases_free(struct refit_cases *x);

/* Look at a record of in's stream: a placement is kept, a run that is not simulated goes with the
 * first placement with its keys and its source, of several with the first that has fewer runs; one of source "single" without such
 * a placement is everything on the device with its sample's number.  -1 (ST_INPUT): malformed. */
int refit_cases_take(struct refit_cases *x, const struct rec *r, const struct place_inputs *in,
		     struct err *e) MUST_CHECK;

/* The cases so far, for in's costs; *n of them.  Where runs tell a ratio or the best single device
 * around them, times are as they would have been had that taken as long as in the mean.  The array
 * lives until the next call. */
const struct refit_case *refit_cases_all(struct refit_cases *x, const struct place_inputs *in,
					 uint32_t *n);

/* Of the stream's first devices and costs, and of the cases that refit_cases_all gave: what a fit to them follows from. */
uint64_t refit_cases_key(const struct refit_cases *x, const struct place_inputs *in);
/* The stream's `fit` record that was found from these; NULL: it has none. */
const struct fit_rec *refit_cases_fit(const struct refit_cases *x, const struct place_inputs *in);

#endif
