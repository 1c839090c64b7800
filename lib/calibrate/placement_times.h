/* placement_times.h - one time per placement from runs in many calls of devrun, in two ways.  A run is here what devrun --rounds
 * calls a sample: the median of a burst.
 *
 * Runs are in rounds, and calls in passes; each call has some of the placements, a few of them
 * are in all calls.  What a machine does to the runs has a part that all runs of a round have in
 * common, a part that the cores' speed tells, and the rest, which only ever adds time.  Of a
 * placement's runs
 *   fastest  is the fastest, each call's runs divided by how much slower the common placements'
 *            fastest runs were there than anywhere (a geometric mean).  Of more runs the fastest
 *            would be faster: it is the expected fastest of m of its runs, m the fewest that a
 *            placement has (in a call: expected_least)
 *   mean     is exp u_i of log t = u_i + v_round + noise (stats/twoway.h), the logs freed first of
 *            what the cores' speed explains (speed_effect.h); in the end u is of the faster three
 *            quarters of a placement's runs, without the fastest eighth. */
#ifndef HSDAG_CALIBRATE_PLACEMENT_TIMES_H
#define HSDAG_CALIBRATE_PLACEMENT_TIMES_H

#include "calibrate/run_list.h"

/* What one call of devrun measured.  Sample j of each run is of round j of its pass. */
struct call {
	uint32_t pass; /* from 1 */
	struct run_list runs;
};

struct calls {
	uint32_t n;
	struct call *call; /* (n) */
};

/* The calls in files named ...PASS.CALL.SUFFIX; memory from a. */
int calls_read(char *const *paths, uint32_t n, struct arena *a, struct calls *out,
	       struct err *e) MUST_CHECK;

enum { STATISTIC_FASTEST, STATISTIC_MEAN, STATISTICS };
extern const char *const statistic_name[STATISTICS]; /* "fastest", "mean" */

/* Which runs a time is of: all; all, not put on one scale (undivided, no effects of rounds or
 * cores); those of odd and even rounds or passes alone. */
enum { OF_ALL, OF_ALL_RAW, OF_ODD_ROUNDS, OF_EVEN_ROUNDS, OF_ODD_PASSES, OF_EVEN_PASSES, OF_KINDS };
extern const char *const of_suffix[OF_KINDS]; /* "_s", "_raw_s", "_odd_rounds_s", ... */

struct placement_time {
	uint64_t sample; /* the placement's number, from 0 */
	bool is_common;  /* in every call */
	uint32_t n_runs;
	double s[OF_KINDS][STATISTICS]; /* NAN: no such runs */
};

struct placement_times {
	uint32_t n;
	struct placement_time *item; /* (n) those that ran, in the order of the calls */
	double explained; /* share of the runs' variance within placements that cores' speed tells */
};

/* Of all runs that went well; without what cores' speed explains unless `use_speed`.  Memory
 * from a.  -1 (ST_RUNTIME): OpenBLAS, which the regression needs, cannot be loaded. */
int placement_times_find(const struct calls *c, bool use_speed, struct arena *a,
			 struct placement_times *out, struct err *e) MUST_CHECK;

/* Names of columns, and a placement's values: common runs explained, then for each part of the runs
 * both statistics ("fastest_odd_rounds_s"), "-" where there are no such runs. */
void placement_times_print_head(FILE *out);
void placement_times_print(const struct placement_times *t, uint32_t i, FILE *out);

#endif
