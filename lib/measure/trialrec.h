/* trialrec.h - what devrun adds to a stream: `run` records of trials, the final `best` record of
 * a verdict. */
#ifndef HSDAG_MEASURE_TRIALREC_H
#define HSDAG_MEASURE_TRIALREC_H

#include "measure/verdict.h"
#include "record/bestrec.h"
#include "record/placerec.h"
#include "record/runrec.h"

/* The `run` record of t, which answers p; slot[p->k] are p's devices as the session counts them
 * (NULL: the same). */
int trial_encode(const struct session *s, const struct place_rec *p, const uint32_t *slot,
		 const struct trial *t, struct rec_writer *w, struct err *e) MUST_CHECK;

/* "1.234 ms", or of several requests in flight "810.4 a second, 4 at once", into dst[cap]. */
void trial_text(const struct session *s, const struct trial *t, char *dst, size_t cap);

/* The final `best` record; p says where the winner comes from, and names the session's devices; rivals[n] are the records of
 * the candidates. */
int verdict_encode(const struct verdict *v, const struct session *s, const struct place_rec *p,
		   const struct place_rec *const *rivals, uint32_t n_groups, struct rec_writer *w,
		   struct err *e) MUST_CHECK;

#endif
