/* move_update.h - the update of the scorer of moves: each list that was recorded is scored again,
 * and the log-probability of the chosen move is weighed by what its run gained. */
#ifndef HSDAG_LEARN_TRAIN_MOVE_UPDATE_H
#define HSDAG_LEARN_TRAIN_MOVE_UPDATE_H

#include "learn/params/params.h"
#include "learn/train/recipe.h"
#include "learn/train/rollout.h"
#include "place/learned/learned_params.h"
#include "record/updaterec.h"

/* A scorer, and Adam's moments. */
struct move_scorer {
	struct learned_params *params; /* owned; NULL: none */
	struct adam adam;
};

struct move_learner {
	/* costs: what came; it learns where it is fresh.  Else adapt does, from nothing, which chooses some
	 * of the moves. */
	struct move_scorer costs, adapt;
	bool fresh; /* costs had learned nothing when this training began */
};

void move_learner_release(struct move_learner *l);

/* From a params record of block costs or adapt, unless there are some and `replace` is not set; zero
 * moments. */
int move_learner_params(struct move_learner *l, const struct rec *r, bool replace,
			struct err *e) MUST_CHECK;

/* A step of Adam over the moves of an episode, as often as the recipe has epochs; coef as in
 * advantage.h, for all samples; the loss is the update rule's.  Into u, by the first: their mean entropy, their loss besides, the gradient's norm where it is the larger.  *changed: the
 * parameters did.  ST_INPUT: other features, or a replay that differs from the record. */
int move_update(struct move_learner *l, const struct recipe *recipe, const struct rollout *r,
		const double *coef, struct update_rec *u, bool *changed, struct err *e) MUST_CHECK;

#endif
