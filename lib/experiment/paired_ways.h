/* paired_ways.h - ways of an experiment beside one of them, in pairs of the same model and seed. */
#ifndef HSDAG_EXPERIMENT_PAIRED_WAYS_H
#define HSDAG_EXPERIMENT_PAIRED_WAYS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

/* Of files .../MODEL/WAY.SEED.tsv, a line of search_result.h each, a row per model and way over
 * its seeds, in the order of the files: geometric means with 95 % intervals (stats/interval.h)
 * of the best latency, the last fifth's, and of how much longer the best one is than that of the
 * way `base` with the same model and seed (with `late` the last fifth's mean, not the best); with several
 * models rows of all pairs of a way, too.
 * A header line names the columns; `ways` is the name of the ways' column. */
struct paired_options {
	const char *base, *ways;
	bool late;
	bool relative; /* ratios are of latencies over the best single device's of the same search,
			* which takes out that the machine drifts between searches */
};
int paired_ways(char *const *paths, uint32_t n, const struct paired_options *o, FILE *out,
		struct err *e) MUST_CHECK;

#endif
