/* pretrain_state.h - the state of a pretraining in one file, itself a stream, so that one that was killed goes on:
 *
 *   pretraining  seed, tasks, moves, policy, lr, without: the plan; start: a digest of the parameters
 *                that it began with; part, round: what is next
 *   params       block costs
 *   moments      block, m f32, v f32, t
 *   teachers     known: how many ever; number u32, sets u32, device u16: problems with their best placements, the ring's first
 *                first
 *
 * The file takes its name when it is complete (newfile.h). */
#ifndef HSDAG_LEARN_PRETRAIN_PRETRAIN_STATE_H
#define HSDAG_LEARN_PRETRAIN_PRETRAIN_STATE_H

#include "learn/pretrain/pretrain.h"

enum { KNOWN_KEPT = 2048 };

/* A problem whose teacher is known. */
struct known {
	uint32_t number, n_sets;
	uint16_t *best; /* (n_sets) NULL: none yet */
};

struct pretrain_state {
	uint64_t start;       /* digest of the parameters that it began with */
	uint32_t part, round; /* what is next; a round of 0 begins with new moments */
	struct adam adam;     /* of the part */
	struct known *known;  /* (KNOWN_KEPT) a ring */
	uint32_t n_known;     /* ever */
};

void pretrain_state_init(struct pretrain_state *s, const struct learned_params *x);
void pretrain_state_release(struct pretrain_state *s);

int pretrain_state_write(const struct pretrain_state *s, const struct learned_params *x,
			 const struct pretrain_plan *plan, struct err *e) MUST_CHECK;

/* Into s, which is initialised, and *x.  ST_INPUT: the file is damaged, or of another plan, parts or parameters. */
int pretrain_state_read(struct pretrain_state *s, struct learned_params **x,
			const struct pretrain_plan *plan, struct err *e) MUST_CHECK;

#endif
