/* verdict_outputs.h - the outputs of a verdict's answer beside those of a single device. */
#ifndef HSDAG_MEASURE_VERDICT_OUTPUTS_H
#define HSDAG_MEASURE_VERDICT_OUTPUTS_H

#include "measure/verdict.h"

/* Fills v's diff and compared, by v->final, or not_compared.  A device that fails here, and results that cannot be compared, take
 * the comparison with them, not the verdict.  -1: every device has failed, or the output's reader has gone. */
int verdict_compare_outputs(struct session *s, struct verdict *v, struct arena *a,
			    struct err *e) MUST_CHECK;

#endif
