/* patch_effect.h - what a move would do, as far as the incumbent's schedule tells: how late its tasks
 * and those that read from them would be, what it takes off the critical chain, what it adds to loads
 * and copies.  Seconds.  Nothing is scheduled anew. */
#ifndef HSDAG_PLACE_LEARNED_PATCH_EFFECT_H
#define HSDAG_PLACE_LEARNED_PATCH_EFFECT_H

#include "place/learned/patch.h"

/* Of the units that go one way. */
struct part_effect {
	uint16_t from, to;
	double cost_from, cost_to;
	double first_s, busy_s; /* on the target, in gaps: when inputs are there, what is taken */
	double late;            /* the most that a reader would be late */
	double min_slack;
	uint32_t n_tasks, n_critical;
	double pushed_s; /* by how much tasks of the target are late; 0: no task goes back */
};

/* Of a patch. */
struct patch_effect {
	struct part_effect part[2]; /* there, and back (a swap) */
	double cost_from, cost_to;  /* of the patch */
	double copy_new, copy_gone; /* seconds of copies that come and go */
	uint32_t n_new, n_gone;
	double late, late_all, late_plain; /* the most that a reader would be late */
	double end_s;                      /* on the targets, in gaps */
	double min_slack, slack;
	uint32_t n_critical, n_tasks;
	double chain_s, chain_copy_s;        /* change of the critical chain */
	double chain_waits;                  /* waits for the device that it ends */
	double near_to, near_from, near_all; /* bytes exchanged with the outside */
	double wait_s;                       /* from what is there to the start, now */
	double reader_slack;                 /* the least slack of a reader */
	double oct_from, oct_to;
};

/* p->task then has the patch's tasks, by start. */
struct patch_effect patch_effect_of(struct patcher *p, const struct patch *y);

#endif
