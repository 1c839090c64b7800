/* kept_results.h - copies of a model's results, to compare those of other placements with; of a model with several lists of shapes
 * those of each. */
#ifndef HSDAG_MEASURE_KEPT_RESULTS_H
#define HSDAG_MEASURE_KEPT_RESULTS_H

#include "measure/session.h"

struct kept_results {
	const struct session *s; /* borrowed */
	void ***copy;            /* (1 + s->n_more, n_results) */
};

void kept_results_init(struct kept_results *x, const struct session *s, struct arena *a);
void kept_results_release(struct kept_results *x);

/* As session_results has fn, with x as arg: copies them.  ST_RUNTIME: no memory. */
int kept_results_take(void *arg, uint32_t i, const void *const *result, struct err *e) MUST_CHECK;

/* Those of case i, as plan.result has them. */
const void *const *kept_results_of(const struct kept_results *x, uint32_t i);

#endif
