/* grouping_table.h - learned groups beside random ones. */
#ifndef HSDAG_EXPERIMENT_GROUPING_TABLE_H
#define HSDAG_EXPERIMENT_GROUPING_TABLE_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

/* Of measured files of grouping-learned and grouping-random (the lines of latency_table.h),
 * three lines per model and method, best, median and worst over seeds by latency over that of
 * the CPU alone:
 *   model method which seeds latency_ms times_as_fast_as_CPU longer_than_learned_% failed */
int grouping_table(char *const *paths, uint32_t n, FILE *out, struct err *e) MUST_CHECK;

#endif
