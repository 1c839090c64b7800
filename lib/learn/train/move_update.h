/* move_update.h - the update of the scorer of moves: each list that was recorded is scored again,
 * and the log-probability of the chosen move is weighed by what its run gained. */
#ifndef HSDAG_LEARN_TRAIN_MOVE_UPDATE_H
#define HSDAG_LEARN_TRAIN_MOVE_UPDATE_H

#include "learn/params/params.h"
#include "learn/train/recipe.h"
#include "learn/train/rollout.h"
#include "place/learned/learned_params.h"
#include "record/updaterec.h"

struct move_learner {
	struct learned_params *params; /* owned; NULL: none, so no moves */
	struct adam adam;
	bool fresh; /* nothing had been learned when this training began */
};

void move_learner_release(struct move_learner *l);

/* From a params record of block costs; zero moments. */
int move_learner_params(struct move_learner *l, const struct rec *r, struct err *e) MUST_CHECK;

/* One step of Adam over the moves of an episode; coef as in advantage.h, for all samples.  Into u:
 * their mean entropy, their loss besides, the gradient's norm where it is the larger.  *changed: the
 * parameters did.  ST_INPUT: other features, or a replay that differs from the record. */
int move_update(struct move_learner *l, const struct recipe *recipe, const struct rollout *r,
		const double *coef, struct update_rec *u, bool *changed, struct err *e) MUST_CHECK;

#endif
