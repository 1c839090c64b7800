/* propose.h - what to run next around an incumbent, for a loop whose runs are made elsewhere: a
 * list of moves with features and scores.  Nothing is remembered between calls: a list depends on
 * its arguments alone, so that a loop that was stopped goes on with the same bytes. */
#ifndef HSDAG_PLACE_LEARNED_PROPOSE_H
#define HSDAG_PLACE_LEARNED_PROPOSE_H

#include "place/learned/learned_params.h"
#include "place/learned/patch.h"

struct proposer;

/* m is borrowed; ST_USAGE: not the schedule's rules.  NULL on error. */
struct proposer *proposer_new(const struct place_model *m, struct err *e) MUST_CHECK;
void proposer_free(struct proposer *x);

/* One shot: the placement of the learned policy, device (n_sets), the best of its list schedules as
 * predicted; *value: its prediction.  group (n_sets): groups to place as one in some of them, or
 * NULL.  -1 (ST_RUNTIME): no list schedule is legal. */
int proposer_shot(struct proposer *x, const struct learned_params *params, const uint32_t *group,
		  uint16_t *device, double *value, struct err *e) MUST_CHECK;

/* Moves of an incumbent, with features (n,PATCH_FEATURES) and, where params are given, scores. */
struct proposals {
	uint32_t n;
	const struct patch *patch;
	const float *feature, *score;
};

/* At most `most` moves of incumbent (n_sets), drawn by `at`; group (n_sets) or NULL: patches are
 * also parts of these groups; tried (n_tried): hashes (proposal_hash) of placements that are not
 * to be proposed.  The answer is x's own until the next call; n 0: the incumbent has no schedule, or
 * nothing new was drawn. */
struct proposals proposer_list(struct proposer *x, const struct learned_params *params,
			       const uint16_t *incumbent, const struct rng_addr *at,
			       const uint32_t *group, const uint64_t *tried, uint32_t n_tried,
			       uint32_t most);

/* out (n_sets): the incumbent after move i of the last list. */
void proposer_apply(const struct proposer *x, const uint16_t *incumbent, uint32_t i, uint16_t *out);

/* A number of a placement (n_sets): equal placements have equal ones. */
uint64_t placement_hash(const uint16_t *device, uint32_t n_sets);

#endif
