/* featrec.h - the `feat` record of docs/reference/stream.md: a row of features for each co-location set.  dagfeat
 * writes it, gpnembed and reinforce read it. */
#ifndef HSDAG_RECORD_FEATREC_H
#define HSDAG_RECORD_FEATREC_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "stream/rec.h"

struct feat_rec {
	uint64_t graph; /* its digest */
	uint32_t n_sets, d;
	const char *const *columns; /* (d) names; not read back */
	const float *x;             /* (n_sets,d) */
	const char *encoding;       /* "fixed" or "paper"; not read back */
};

int feat_encode(const struct feat_rec *x, struct rec_writer *w, struct err *e) MUST_CHECK;
/* Memory from a. */
int feat_decode(const struct rec *r, struct arena *a, struct feat_rec *out,
		struct err *e) MUST_CHECK;

#endif
