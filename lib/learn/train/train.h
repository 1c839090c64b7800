/* train.h - learning from recorded episodes: the replay of every step with the weights of
 * advantage.h, and a step of Adam; one per episode (Paper, section 3.4), or as many as the update
 * rule uses a batch. */
#ifndef HSDAG_LEARN_TRAIN_TRAIN_H
#define HSDAG_LEARN_TRAIN_TRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "learn/train/advantage.h"
#include "learn/train/candidates.h"
#include "learn/train/move_update.h"
#include "learn/train/update_list.h"
#include "learn/train/update_rule.h"
#include "learn/train/walk.h"
#include "learn/net/handover.h"
#include "learn/net/net.h"
#include "learn/train/paramblock.h"
#include "learn/train/recipe.h"
#include "learn/train/rollout.h"

/* All that changes while learning, and nothing else: what a checkpoint holds. */
struct learner {
	struct param_block block[N_BLOCKS];
	struct adam adam[N_BLOCKS]; /* moments of each block */
	struct move_learner moves;
	struct walk walk; /* the incumbent, where moves are run */
	uint32_t episode; /* episodes done */
	struct baseline reward;
	bool noisy;            /* latencies are measured: they differ from run to run */
	double best_ratio;     /* of the policy's placements so far; 0: none ran */
	uint32_t best_episode; /* when it was found */
	struct candidates cand;
	struct update_list updates;
};

/* Take the initial parameters of a block, unless it has some; zero moments. */
int learner_params(struct learner *l, const struct rec *r, struct err *e) MUST_CHECK;
void learner_release(struct learner *l);

/* What does not change: the problem, and the machinery. */
struct trainer {
	const struct recipe *recipe;
	const struct ugraph *graph;
	const uint32_t *together; /* as in struct net_model */
	uint32_t n, d, k;         /* sets, feature columns, devices */
	const float *x;           /* (n,d) features at step 0 */
	const uint8_t *mask;      /* (n,k) or NULL */
	struct pool *pool;
	struct replayer *replayer;
	struct net_work *work;
	struct arena *arena; /* scratch of one update */
	struct handover_taker taker;
	uint32_t n_handed;               /* steps of the last update that were not computed again */
	bool net_changed, moves_changed; /* parameters, in the last episode */
};

void trainer_init(struct trainer *t, struct pool *pool);
void trainer_release(struct trainer *t);

/* One episode: replay, gradient, step of Adam, as often as the recipe has epochs; fills u, by the first.  The rollout is complete.
 * ST_INPUT: a part that is not of this graph, or a replay that differs from what was
 * recorded. */
int train_episode(struct trainer *t, struct learner *l, const struct rollout *r,
		  struct update_rec *u, struct err *e) MUST_CHECK;

#endif
