/* search_result.h - what a search found, of its run records. */
#ifndef HSDAG_EXPERIMENT_SEARCH_RESULT_H
#define HSDAG_EXPERIMENT_SEARCH_RESULT_H

#include <stdio.h>

#include "base/mem.h"
#include "stream/rec.h"

/* A line, tab-separated: placements that ran, the best latency, the mean of the last fifth of
 * them, latency of the best single device (seconds), and with `groups` the mean number of groups
 * of the update records.  Runs of source "single" are references, not counted.  first > 0: only so
 * many placements count, failed ones among them.  -1: also when no placement ran (ST_RUNTIME). */
int search_result(const char *path, bool groups, uint64_t first, FILE *out,
		  struct err *e) MUST_CHECK;

#endif
