/* latency_table.h - how long what each method found takes, over seeds, beside the CPU alone. */
#ifndef HSDAG_EXPERIMENT_LATENCY_TABLE_H
#define HSDAG_EXPERIMENT_LATENCY_TABLE_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

/* Of files .../MODEL/METHOD.NAME.tsv with the lines of rounds_table.h, "roles CPU GPU ALL" and
 * "failed SEED REASON", a line per model and method, in the order in which they come:
 *   model method player seeds  latency lo hi (ms)  speedup lo hi (%)  times_as_fast
 *   interval_over remark
 * Methods "cpu" and "gpu" are the devices in these roles, which player names.  A single device
 * is measured by every job: its interval is over jobs.  Of one seed the interval is that of its
 * rounds, else of the geometric mean (Student's t).  A latency is the CPU's over all jobs times
 * the ratio to it in the same rounds: jobs run one after another, and the machine drifts. */
int latency_table(char *const *paths, uint32_t n, FILE *out, struct err *e) MUST_CHECK;

#endif
