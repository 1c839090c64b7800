/* judge.h - how well predictions rank and meet measurements.
 *
 * Two statistics of a placement's runs, fastest and mean (placement_times.h).  Judged is the one
 * that repeats better: Spearman's correlation of odd with even rounds, of the good placements;
 * predictions have no say.  The good ones are those within 1.5 times of the best measured.  Of r
 * between halves the whole has the reliability R = 2 r / (1 + r) (Spearman 1910, Brown 1910),
 * and what has no error itself correlates with it by sqrt(R).  Errors of means are those of
 * ratios to the geometric mean of the common placements: how slow the machine is in the mean
 * is no property of a placement.  Ranks of ties are means of ranks; intervals are percentiles of
 * bootstrap samples of placements. */
#ifndef HSDAG_CALIBRATE_JUDGE_H
#define HSDAG_CALIBRATE_JUDGE_H

#include "base/tabfile.h"
#include "calibrate/placement_times.h"
#include "stats/interval.h"
#include "stats/rank.h"

struct judge_row {
	const char *placement, *source, *copies, *predicted_busy, *measured_busy;
	double copy_bytes, predicted_s;
	bool is_common, in_one_pass; /* in_one_pass: has no times of odd or of even passes */
	double s[OF_KINDS][STATISTICS];
};

/* placements.tsv, and what is drawn for its bootstrap samples. */
struct judge_input {
	uint32_t n;
	struct judge_row *row; /* (n) */
	bool has[OF_KINDS];    /* columns are there */
	bool has_halves;       /* all placements have times of odd and of even rounds */
	double explained;      /* share of variance that cores' speed tells; 0: none, or not told */
	bool has_common;       /* some placement is */
	struct minstd draws;
};

/* Columns by their names: placement source predicted_s fastest_s mean_s copies copy_bytes
 * predicted_busy_s measured_busy_s, and where there are, those of placement_times.h; busy times per
 * device with commas between them.  -1: malformed, or fewer than two placements. */
int judge_read(const char *path, struct arena *a, struct judge_input *out,
	       struct err *e) MUST_CHECK;

/* The placements within 1.5 times of the best by a statistic of all runs. */
struct good {
	uint32_t n, *item; /* (n) */
	double best_s;
};
struct good judge_good(const struct judge_input *in, int of, int statistic, struct arena *a);

/* Correlation of odd with even rounds, or passes, over the good ones; of passes over those that
 * have both.  *n: of how many; below two the correlation is 0. */
struct interval judge_repeats(struct judge_input *in, int statistic, bool passes, uint32_t *n);

/* Correlation of predictions with a statistic: over `good`, or all when it is NULL. */
struct interval judge_ranks(struct judge_input *in, int of, int statistic, const struct good *good);

/* error[n]: prediction over measurement less 1, by ratios to the common placements when
 * `relative`. */
void judge_errors(const struct judge_input *in, int of, int statistic, bool relative,
		  double *error);

/* Repeatability of each statistic, and which is judged. */
struct repeatability {
	int judged;
	double r; /* of the judged one; -2: there are no halves */
	struct interval of[STATISTICS];
};
struct repeatability judge_repeatability(struct judge_input *in);

/* What a perfect prediction would correlate, of r between halves. */
double judge_ceiling(double r);

#endif
