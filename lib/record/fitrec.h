/* fitrec.h - the `fit` record of docs/reference/stream.md: what costs that fit measured placements were found to be.  devsim --refit
 * writes it; --refit and --fit take it instead of finding the same again. */
#ifndef HSDAG_RECORD_FITREC_H
#define HSDAG_RECORD_FITREC_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "stream/rec.h"

struct fit_rec {
	uint64_t graph;
	uint64_t key;            /* of all that it was found from */
	uint32_t n;              /* unknowns */
	const double *z;         /* (n) in deviations of the prior */
	const double *precision; /* (n,n) Cholesky factor of the posterior's precision, lower */
	double model_error;      /* standard deviation of a logarithm */
	uint32_t cases;          /* placements that ran */
	double before, after;    /* mean of |log(predicted / measured)| */
};

int fit_encode(const struct fit_rec *x, struct rec_writer *w, struct err *e) MUST_CHECK;
/* Arrays are in memory of a.  -1 (ST_INPUT): malformed, a number is not finite, or the factor has a diagonal that is not positive. */
int fit_decode(const struct rec *r, struct arena *a, struct fit_rec *out, struct err *e) MUST_CHECK;

#endif
