/* curve_table.h - the curves of an experiment as a table: quartiles over seeds, and how far seeds
 * are from each other. */
#ifndef HSDAG_EXPERIMENT_CURVE_TABLE_H
#define HSDAG_EXPERIMENT_CURVE_TABLE_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

#define CURVES_HEADER "model\tmethod\tover\tat\tseeds\tbest_s\tbest_s_q1\tbest_s_q3\n"

/* Of files of curve_log.h, with a header, for each model and method over evaluations and over
 * seconds at points of a geometric scale: median and quartiles over seeds of the best until then.
 * Points begin where every seed has found something, and end with the longest seed; a shorter one
 * stays at what it has. */
int curve_table(char *const *paths, uint32_t n, FILE *out, struct err *e) MUST_CHECK;

/* Of the same files, with a header, for each method at `at` evaluations, or with 0 at 10, 20, 50,
 * 100, ... and at the end:
 *   model method evaluations seeds best_ms least_ms most_ms spread_% spread_%_lo spread_%_hi
 * Median, least and most over seeds of the best until then.  spread: standard deviation of its
 * logarithm over seeds of the same model, as a share; 95 % interval by chi squared.  Rows of model
 * "all" have the deviation of all models together; best_ms is then empty. */
int spread_table(char *const *paths, uint32_t n, double at, FILE *out, struct err *e) MUST_CHECK;

#endif
