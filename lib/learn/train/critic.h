/* critic.h - a learned value: what is expected of a state before anything is chosen in it.
 *
 *     V(s) = mean over the rows of s of a scorer (learn/params/scorer.h)
 *
 * The rows are what the policy saw: the embeddings of the groups, or the features of the moves in a
 * list.  So every network has one, and no gradient flows from it into the network.  It learns by
 * Adam from (R - V)^2 / 2 (A2C: Mnih et al. 2016, section 4.3, with a critic of its own). */
#ifndef HSDAG_LEARN_TRAIN_CRITIC_H
#define HSDAG_LEARN_TRAIN_CRITIC_H

#include "learn/params/params.h"
#include "learn/params/scorer.h"

struct critic {
	uint64_t seed;    /* of its first values */
	struct params *p; /* owned; NULL: it has seen no state */
	struct scorer score;
	struct adam adam;
	float *grad; /* (p->n) of the states since the last step */
};

void critic_release(struct critic *c);

/* Room and first values for rows of this width, unless it has some. */
void critic_begin(struct critic *c, uint32_t width);

/* V of n rows x (n,width), where width is the critic's. */
double critic_value(const struct critic *c, const float *x, uint32_t n);

/* Adds the gradient of weight * (V(x) - target)^2 / 2. */
void critic_add(struct critic *c, const float *x, uint32_t n, double target, double weight);

/* One step of Adam with what was added. */
void critic_step(struct critic *c, double lr);

#endif
