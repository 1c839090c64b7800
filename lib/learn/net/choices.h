/* choices.h - devices that a network chooses group after group, each with the devices of the groups
 * before it in sight.
 *
 * The network walks through the groups in runs.  While it draws, a run is one group: the next one
 * needs the device that was drawn.  In a replay all devices are known, and one run has all groups.
 * So that one walk serves both:
 *
 *   for (uint32_t at = 0, n; (n = choices_run(c, at)) > 0; at += n)
 *           choices_take(c, at, n, logits of groups at .. at + n from choices_before(c, at, n));
 *
 * The placements of a step, its samples, are side by side: row i * n_samples + s is that of group
 * at + i in sample s. */
#ifndef HSDAG_LEARN_NET_CHOICES_H
#define HSDAG_LEARN_NET_CHOICES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "learn/tape/tape.h"

struct handover;

struct choices {
	uint32_t n_groups, n_samples, k;
	const uint32_t *group; /* (n) of each set, and the other members of struct to_place */
	const uint8_t *mask;   /* (n_groups,k) */
	const float *bias;     /* (n_groups,k) */
	const uint16_t *start; /* (n_groups) */
	/* While drawing; NULL: the actions are known. */
	const struct draw *draw;
	uint32_t *try; /* (n_samples) how often a sample was drawn before */
	bool *done;    /* (n_samples) it stays as it is */

	const uint16_t *action;    /* (n_samples, n_groups) */
	uint16_t *drawn;           /* the same while drawing */
	struct mat **logp;         /* known: (n_samples) of (n_groups,k) */
	float *drawn_logp;         /* (n_samples, n_groups, k) while drawing */
	struct handover *handover; /* written while drawing, else read; NULL: neither */
	struct tape *t;
};

/* How many groups from `at` on are chosen at once; 0: `at` is the end. */
uint32_t choices_run(const struct choices *c, uint32_t at);

/* (n * n_samples) what stands before each of these groups: the device of the group before it, k in
 * front of the first. */
const uint32_t *choices_before(const struct choices *c, uint32_t at, uint32_t n);

/* Devices of all groups while group `at` is chosen for sample s: what was chosen before it, the start
 * from there on. */
void choices_now(const struct choices *c, uint32_t s, uint32_t at, uint16_t *device);

/* logits (n * n_samples, k) of these groups. */
void choices_take(struct choices *c, uint32_t at, uint32_t n, struct mat *logits);

#endif
