/* visits.h - rewards on the way to a sample, as Placeto has them (Addanki et al. 2019, section 2).
 *
 * A sample changes one group after another, from the start of its step.  Where the recipe has `visits`
 * V, placepolicy also emits what there is behind every V groups, unless it is what was emitted before,
 * and all of it is run.  Records of these placements: source "start", sample 0, once in a step; source
 * "visit", sample i * n_groups + v, behind v groups of sample i; the sample itself is behind all.
 *
 * With R of a placement as in advantage.h, a group's reward is what the next run gained on the run
 * before: r = R(behind) - R(before), a decrease of the run time.  Its return is the sum of the rewards from
 * there on, each weighed by `discount` more than the one before.  Returns become
 * advantages as the update rule says; of reinforce and ppo the mean return of the group's place in the
 * order is subtracted, over the last `window` episodes. */
#ifndef HSDAG_LEARN_TRAIN_VISITS_H
#define HSDAG_LEARN_TRAIN_VISITS_H

#include "learn/train/recipe.h"
#include "learn/train/rollout.h"

/* Mean returns of the last episodes, for each place in the order. */
struct visit_baseline {
	uint32_t window, n; /* places */
	double *mean;       /* (n,window) in a circle */
	uint32_t *count;    /* (n) episodes that had the place */
	double square;      /* moving mean of squared advantages */
	bool begun;
};

void visit_baseline_release(struct visit_baseline *b);

/* More places; new ones have seen no episode. */
void visit_baseline_grow(struct visit_baseline *b, uint32_t window, uint32_t n);

struct baseline;
struct returns;

/* For update rules: returns minus the mean of their place; with `normalise` by the root of the moving mean
 * of their squares. */
void visits_over_means(struct returns *x);

/* The loss is the sum over samples i and groups g of coef_group[i][g] times the log-probability of g's
 * device, plus coef[i] times that of the groups, where they were drawn; both are 0 or NULL for samples
 * that the policy did not draw.  coef, coef_group (n_samples), memory of the latter from a.  With
 * mean_loss both are over the number of samples and of groups.
 * ST_INPUT: a sample without a start. */
int visit_coefficients(const struct recipe *recipe, struct baseline *b, const struct rollout *r,
		       struct arena *a, double *coef, double **coef_group, double *mean_reward,
		       struct err *e) MUST_CHECK;

#endif
