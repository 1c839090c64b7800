/* checkpoint.h - the whole state of a training run in one file, itself a
 * stream (incumbent, tried: the walk's, where moves are run):
 *
 *   checkpoint  graph, n_sets, devices [str], recipe (map), episode, counters, baseline,
 *               incumbent u16, incumbent_ratio, incumbent_again, tried u64,
 *               visit_window, visit_means f64, visit_counts u32, visit_square: struct visit_baseline
 *   params      all blocks           moments  block, m f32, v f32, t; costs, adapt: fresh
 *   update      one per episode      candidate  one per placement kept
 *   critic      width, data, m, v f32, t, where the update rule learns a value
 *
 * A checkpoint takes its name when it is complete (newfile.h), after an episode's
 * update and before the next episode is asked for: a run that is killed at any
 * instant finds the state after a whole number of episodes. */
#ifndef HSDAG_LEARN_TRAIN_CHECKPOINT_H
#define HSDAG_LEARN_TRAIN_CHECKPOINT_H

#include "base/err.h"
#include "learn/train/train.h"
#include "stream/filter.h"

/* What the state belongs to. */
struct checkpoint_key {
	uint64_t graph;
	uint32_t n_sets, k;
	const char *const *devices; /* (k) */
};

/* f: whose program and options the header tells. */
int checkpoint_write(const char *path, const struct checkpoint_key *key,
		     const struct recipe *recipe, const struct learner *l, const struct filter *f,
		     struct err *e) MUST_CHECK;

/* Into l, which learner_release must not have to free; *key, in memory of a, is for
 * checkpoint_fits.  ST_INPUT when the file is damaged, ST_USAGE when its recipe differs. */
int checkpoint_read(const char *path, const struct recipe *recipe, struct learner *l,
		    struct checkpoint_key *key, struct arena *a, struct err *e) MUST_CHECK;

/* ST_INPUT when a checkpoint of `have` cannot go on with `want`. */
int checkpoint_fits(const struct checkpoint_key *have, const struct checkpoint_key *want,
		    struct err *e) MUST_CHECK;

#endif
