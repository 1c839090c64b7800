/* curve_log.h - what a search has found when: a line for each placement that ran, as it comes. */
#ifndef HSDAG_EXPERIMENT_CURVE_LOG_H
#define HSDAG_EXPERIMENT_CURVE_LOG_H

#include <stdbool.h>

#include "stream/filter.h"

/* The header of such a file.  evaluation counts from 1; seconds since the log began, on the clock
 * of a machine that is played since it began; latency in seconds, or the objective's value where
 * runs have one, empty where the placement cannot run; best: the least so far, empty before. */
#define CURVE_HEADER "model\tmethod\tseed\tevaluation\tseconds\tlatency\tbest\n"

struct curve_log_options {
	const char *to; /* the file */
	const char *model, *method;
	int64_t seed;
	int64_t first; /* so many placements have lines; 0: all */
	bool more; /* keep what the file has, and go on where its last line of this search ends; an
		    * unfinished last line goes */
};

/* Passes f's streams on.  Runs of source "single" are references, not counted.  Lines are in the
 * file before their run is passed on. */
int curve_log(struct filter *f, const struct curve_log_options *o, struct err *e) MUST_CHECK;

#endif
