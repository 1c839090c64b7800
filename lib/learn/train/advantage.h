/* advantage.h - from the latencies of an episode to the weight of each sample in
 * the loss: rewards, what is subtracted from them, discounts. */
#ifndef HSDAG_LEARN_TRAIN_ADVANTAGE_H
#define HSDAG_LEARN_TRAIN_ADVANTAGE_H

#include <stdbool.h>

#include "learn/train/critic.h"
#include "learn/train/recipe.h"
#include "learn/train/rollout.h"
#include "learn/train/visits.h"

struct returns;

/* What is subtracted from rewards.  Moving mean and variance of the rewards of feasible placements; the mean goes on with what failing is worth where
 * all placements of an episode fail, and counts those whose failure is `graded`. */
struct baseline {
	double mean, var;
	bool begun;
	struct visit_baseline visits; /* of visits */
	struct critic critic;         /* of an update rule that learns a value */
};

/* Where runs have a value of another objective (docs/reference/stream.md), lat and ref are that and its
 * reference.  coef (n_samples): the loss is sum_i coef[i] log p_i over the samples i that the
 * policy drew, at step t_i = 1..x; 0 for the others.  With the reward
 *
 *   r = 1 / lat, infeasible 0            (Paper, section 3.4), or with log_reward
 *   r = -log(lat / ref), with sqrt_reward -sqrt(lat / ref), with time_reward -lat / ref: infeasible
 *       `penalty` below the worst feasible of the episode; after failed_episodes it has no weight.
 *       With `graded`, one that lacks the share s of all memory is penalty (1 + s / (s + graded))
 *       below, and has weight as long as the training goes on
 *
 * the advantage A is the update rule's (update_rule.h), of the first one
 *
 *   advantage_gain(r - r of the incumbent)  when the episode has one and log_reward
 *   (r - mean) / deviation, within 4        baseline > 0, normalise; b moves
 *   r - mean                                baseline > 0; b moves
 *   r                                       baseline 0
 *
 * Around an incumbent every rule has the first line's in the place of r.  coef = -gamma^t A, or with
 * whole_return -R, R = A_1 + gamma (A_2 + ...), the published code's; with mean_loss over the number of
 * samples, and where the rule is so over the number of choices.
 * *mean_reward: over the policy's samples. */
void advantage_coefficients(const struct recipe *recipe, struct baseline *b,
			    const struct rollout *r, double *coef, double *mean_reward);

/* r of the samples that count (n_samples); 0 for the others. */
void advantage_rewards(const struct recipe *recipe, const struct rollout *r,
		       bool (*counts)(const struct sample *), double *reward);

/* For update rules: are returns gains over an incumbent; returns minus the moving mean, over the
 * moving deviation (not of visits). */
bool advantage_has_incumbent(const struct recipe *recipe, const struct rollout *r);
void advantage_over_mean(struct returns *x);

/* What a change of the incumbent counts that gained d of log latency; gain: the recipe's gain or, of a
 * move, move_gain:
 *
 *   d > least:   min(1, d / gain)
 *   else:        -blame (idle + min(1, max(0, -d) / loss))
 *
 * Most changes gain nothing and must count a little against themselves, or the policy
 * would end in changing what does not matter. */
double advantage_gain(const struct recipe *recipe, double gain, double d);

#endif
