/* incumbent.h - a policy around the best placement so far.
 *
 * In the default recipe a sample changes a few groups of the best placement that
 * has been run, the incumbent, and leaves the others as they are.  Every group has a
 * home: the device on which most of its sets are.  A constant added to the logit of the
 * home, the same for all groups of a step, makes as many groups leave in the mean as
 * were asked for; the policy decides which, and where to.  An action that is the home
 * leaves the group's sets where they are, even those that are elsewhere.
 *
 * The constant depends on the policy's own probabilities, but no gradient flows
 * through it: what the policy learns is who leaves, not how many. */
#ifndef HSDAG_LEARN_TRAIN_INCUMBENT_H
#define HSDAG_LEARN_TRAIN_INCUMBENT_H

#include <stdint.h>

/* home (n_groups): the device of most sets of each group, among those that group_mask
 * (n_groups,k; NULL: all) allows; the lowest wins a tie.  device (n) < k, group (n). */
void incumbent_home(const uint16_t *device, uint32_t n, const uint32_t *group, uint32_t n_groups,
		    uint32_t k, const uint8_t *group_mask, uint16_t *home);

/* The constant for the homes' logits with which `leaves` groups are expected to leave,
 * from the log-probabilities logp (n_groups,k) without it. */
double incumbent_stay(const float *logp, uint32_t n_groups, uint32_t k, const uint16_t *home,
		      double leaves);

/* bias (n_groups,k): stay where k is the group's home, else 0. */
void incumbent_bias(const uint16_t *home, uint32_t n_groups, uint32_t k, double stay, float *bias);

/* The placement out (n) that actions (n_groups) make of the incumbent `device` (n). */
void incumbent_apply(const uint16_t *device, uint32_t n, const uint32_t *group,
		     const uint16_t *home, const uint16_t *action, uint16_t *out);

#endif
