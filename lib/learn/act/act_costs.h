/* act_costs.h - placements by costs: one without an incumbent, then moves of it, or of the incumbent. */
#ifndef HSDAG_LEARN_ACT_ACT_COSTS_H
#define HSDAG_LEARN_ACT_ACT_COSTS_H

#include "learn/act/act.h"
#include "learn/train/move_policy.h"
#include "record/partrec.h"

struct act_costs {
	struct move_policy moves;
	uint16_t *shot;        /* (n_sets) its placement without an incumbent; NULL: none yet */
	uint32_t shot_episode; /* in which that was */
};

void act_costs_init(struct act_costs *x);
void act_costs_release(struct act_costs *x);
void act_costs_reset(struct act_costs *x); /* for the next stream */

/* The samples of a part: 1; 0: they are the other policy's, which draws groups.  A loop without
 * incumbents has one placement that costs suggest, and none besides in that episode.  run: memory
 * that lives as long as the stream. */
int act_costs_place(struct act_costs *x, const struct act *a, const struct part_rec *p,
		    struct arena *run, struct err *e) MUST_CHECK;

#endif
