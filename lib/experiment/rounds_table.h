/* rounds_table.h - what devrun --rounds measured, as lines of an experiment's table. */
#ifndef HSDAG_EXPERIMENT_ROUNDS_TABLE_H
#define HSDAG_EXPERIMENT_ROUNDS_TABLE_H

#include <stdio.h>

#include "calibrate/run_list.h"

struct rounds_table_options {
	const char *cpu;           /* the device that ratios are to */
	const char *beside;        /* this single device is the answer; NULL: none is */
	const char *const *answer; /* (n_answers) names of the runs behind the single devices' */
	uint32_t n_answers;
};

/* From a stream with devs and run records, of which the first are the single devices', in the
 * order of devs.  Lines, tab-separated:
 *   single|answer  name  latency lo hi (s)  latency/cpu's lo hi  rounds  copies  bytes
 *   reason  alone
 * Ratios are those of the same rounds; medians and 95 % intervals.  alone: the only device that
 * had anything to do; such an answer is that device, with the same figures.  -1: also when a
 * device has no run (ST_RUNTIME). */
int rounds_table(const char *path, const struct rounds_table_options *o, FILE *out,
		 struct err *e) MUST_CHECK;

#endif
