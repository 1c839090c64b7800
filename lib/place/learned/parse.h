/* parse.h - graph parsing with costs: which neighbours should share a device.
 *
 * A scorer says of every edge how likely its ends are on one device in a good placement.  Then as
 * in the graph parsing network (Y. Song et al., "Graph parsing networks", ICLR 2024): in each round
 * every node keeps its edge of the highest score, connected nodes become one node of the next
 * round.  No number of groups is given; a group of more work than a device's fair share is not
 * made. */
#ifndef HSDAG_PLACE_LEARNED_PARSE_H
#define HSDAG_PLACE_LEARNED_PARSE_H

#include "place/learned/costview.h"
#include "place/learned/learned_features.h"
#include "place/learned/learned_params.h"
#include "place/simulate/units.h"

enum { PARSE_ROUNDS = 4 };

struct parse {
	uint32_t n_rounds;             /* that changed anything */
	uint32_t *group[PARSE_ROUNDS]; /* (n_sets) after each round */
	uint32_t n_groups[PARSE_ROUNDS];
};

/* Memory from a.  Sets that run nothing are groups of their own. */
void parse_run(struct parse *x, const struct cost_view *view, const struct place_units *u,
	       const struct learned_params *params, struct arena *a);

/* Learning: adds the gradient of the mean cross-entropy of "both ends share a device" in device
 * (n_sets), times weight, to grad; returns the cross-entropy. */
double parse_learn(const struct cost_view *view, const struct learned_params *params,
		   const uint16_t *device, double weight, float *grad);

#endif
