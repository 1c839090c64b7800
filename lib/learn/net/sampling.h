/* sampling.h - actions of a policy: a device for every group, from the groups'
 * log-probabilities. */
#ifndef HSDAG_LEARN_NET_SAMPLING_H
#define HSDAG_LEARN_NET_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"

/* action (n_groups) from logp (n_groups,k); -inf is never drawn.  home (n_groups, NULL:
 * none) are the actions that change nothing of an incumbent: drawing all of them would
 * run it once more, so another draw is tried, a few times. */
void sample_actions(const float *logp, uint32_t n_groups, uint32_t k, const struct rng_addr *rng,
		    const uint16_t *home, uint16_t *action);

/* One of them, from logp (k) and number `index` of the stream. */
uint16_t sample_action(const float *logp, uint32_t k, const struct rng_addr *rng, uint32_t index);

/* The same without a home, for a policy that is drawn from often: from sum (n_groups,k), the sums of the probabilities
 * up to each device. */
void sampling_sums(double *sum, const float *logp, uint32_t n_groups, uint32_t k);
void sample_by_sums(const double *sum, uint32_t n_groups, uint32_t k, const struct rng_addr *rng,
		    uint16_t *action);

/* What to draw of a policy, whatever network it has. */
struct draw {
	uint32_t n_samples;
	bool most_probable;         /* instead of a draw */
	const struct rng_addr *rng; /* (n_samples) */
	const uint16_t *home;       /* as in sample_actions, or NULL */
	struct handover *handover;  /* of all steps that are drawn at once (handover.h), or NULL */
};

/* The most probable ones; the lowest device wins a tie. */
void most_probable_actions(const float *logp, uint32_t n_groups, uint32_t k, uint16_t *action);

#endif
