/* move_policy.h - the policy that sees costs: one placement without an incumbent, and with one a
 * move of it.  What it knows comes from the stream: graph, devs, cost, params of block `costs`.
 *
 * All it draws is a function of seed, episode, step, sample, incumbent and parameters. */
#ifndef HSDAG_LEARN_TRAIN_MOVE_POLICY_H
#define HSDAG_LEARN_TRAIN_MOVE_POLICY_H

#include "place/learned/propose.h"
#include "place/problem/placeinputs.h"
#include "record/episoderec.h"
#include "record/placerec.h"

struct move_policy {
	struct learned_params *params, *adapt;   /* owned; NULL: none came */
	struct rec *graph, *devs, *cost, *group; /* as they came, until they are made a model */
	struct place_inputs in;
	struct place_model model;
	struct proposer *proposer; /* NULL: no model yet */
	struct arena *arena;
	double adapted; /* share of moves that adapt chooses */
	/* placements around the incumbent that are not to be proposed again */
	uint64_t *tried;
	uint32_t n_tried;
	size_t tried_cap;
};

void move_policy_init(struct move_policy *x);
void move_policy_release(struct move_policy *x);
void move_policy_reset(struct move_policy *x); /* for the next stream */

/* Keeps a graph, devs, cost or group record, of which it looks at nothing yet.  Sets of one given
 * group stay together. */
int move_policy_note(struct move_policy *x, const struct rec *r, struct err *e) MUST_CHECK;

/* A params record of block costs or adapt. */
int move_policy_params(struct move_policy *x, const struct rec *r, struct err *e) MUST_CHECK;

/* Costs and parameters are there. */
bool move_policy_knows(const struct move_policy *x);

/* The placement without an incumbent into device (n_sets), for devices names (k), with the groups
 * group (n_sets).  0: there is none, as where a set can run nowhere; 1: it is there. */
int move_policy_shot(struct move_policy *x, const char *const *names, uint32_t k,
		     const uint32_t *group, uint16_t *device, struct err *e) MUST_CHECK;

/* The next choices are around this incumbent.  true: adapt was wanted for the first time; it is
 * there now, from the seed. */
bool move_policy_around(struct move_policy *x, const struct incumbent *i, uint64_t seed);

/* A move of the incumbent `from` (n_sets) for sample id, with random numbers of `seed`: device
 * (n_sets), and in *out moves, move, logp and entropy, valid until the next call.  draw: from the
 * softmax of the scores, else the highest score.  What was chosen counts as tried.  0: no move is
 * left. */
int move_policy_choose(struct move_policy *x, const char *const *names, uint32_t k, uint64_t seed,
		       const struct rollout_id *id, const uint32_t *group, const uint16_t *from,
		       bool draw, uint16_t *device, struct place_rec *out,
		       struct err *e) MUST_CHECK;

/* p (n): softmax of score (n); returns the entropy. */
double move_softmax(const float *score, uint32_t n, double *p);

#endif
