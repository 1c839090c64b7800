/* scorer.h - a scorer: a small network that gives each row of features a score, the same for all
 * rows.
 *
 *     s(x) = w3 relu(relu(x W1 + b1) W2 + b2) + b3
 *
 * Whoever chooses among rows takes the highest score, or a softmax of them; so how many rows there
 * are, and their order, does not matter (the deep sets of M. Zaheer et al., NeurIPS 2017, without
 * the sum). Results do not depend on the instruction set. */
#ifndef HSDAG_LEARN_PARAMS_SCORER_H
#define HSDAG_LEARN_PARAMS_SCORER_H

#include "learn/params/params.h"

/* Units of both hidden layers. */
enum scorer_hidden { SCORER_SMALL = 32, SCORER_LARGE = 64 };

/* Where a scorer's matrices are in a block of parameters. */
struct scorer {
	uint32_t n_features, hidden;
	uint64_t off; /* bit i: feature i is not looked at (ablations), i < 64 */
	uint32_t
		first; /* matrix: w1 (n_features,hidden), b1, w2 (hidden,hidden), b2, w3 (1,hidden),
			   b3 (1,1) */
};

/* Appends the matrices NAME.w1 .. NAME.b3 to p. */
struct scorer scorer_add(struct params *p, const char *name, uint32_t n_features,
			 enum scorer_hidden hidden);

/* score (n) of the rows x (n,n_features). */
void scorer_run(const struct scorer *s, const struct params *p, const float *x, uint32_t n,
		float *score);

/* Adds to grad (p->n) the gradient of sum_i weight[i] * s(x[i]); rows of weight 0 cost nothing. */
void scorer_back(const struct scorer *s, const struct params *p, const float *x, uint32_t n,
		 const float *weight, float *grad);

#endif
