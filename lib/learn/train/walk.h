/* walk.h - a walk over placements, as learned moves need it: which run becomes the incumbent of
 * the next episode, and what was tried around it.
 *
 * A run may be a little worse and stay: the incumbent of ratio c gives way to a run of ratio
 * < c (1 + h z), h = heat times the share of the budget that is left, z exponential of mean 1.  z is
 * a function of graph and episode alone. */
#ifndef HSDAG_LEARN_TRAIN_WALK_H
#define HSDAG_LEARN_TRAIN_WALK_H

#include "learn/train/candidates.h"
#include "learn/train/rollout.h"

struct walk {
	uint32_t n_sets;
	uint16_t *device; /* (n_sets) the incumbent, owned; NULL: none yet */
	double ratio;     /* its value to that of the best single device */
	bool again;       /* it ran once, where runs differ: not sure yet */
	uint64_t *tried;  /* (n_tried) hashes of runs around it that did not become it, owned */
	uint32_t n_tried;
	size_t tried_cap;
};

void walk_release(struct walk *w);

/* device (n_sets) becomes the incumbent, with nothing tried. */
void walk_set(struct walk *w, const uint16_t *device, uint32_t n_sets, double ratio);
void walk_add_tried(struct walk *w, uint64_t hash);

/* Behind an episode whose placements are in `all`: the best of its moves, by chance a worse one,
 * becomes the incumbent, or all of them were tried.  h: heat now; noisy: runs differ. */
void walk_step(struct walk *w, const struct rollout *r, const struct candidates *all, double h,
	       bool noisy);

#endif
