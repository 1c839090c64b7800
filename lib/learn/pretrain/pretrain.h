/* pretrain.h - learning the scorers from synthetic problems (synthetic.h).
 *
 * Moves: searches by move_search.h are followed with the parameters as they are; of every list of
 * patches all are simulated, and the scores learn by cross-entropy to put their weight where the
 * gains are.
 * Policy: list schedules imitate the best placement that is known of a problem: first what the rules
 * and learned moves find, then also what the policy itself draws (self-labelling: A. Corsini,
 * A. Porrello, S. Calderara, M. Dell'Amico, "Self-labeling the job shop scheduling problem",
 * NeurIPS 2024).
 * Results depend on the seed, not on threads or the clock. */
#ifndef HSDAG_LEARN_PRETRAIN_PRETRAIN_H
#define HSDAG_LEARN_PRETRAIN_PRETRAIN_H

#include "base/pool.h"
#include "place/learned/learned_params.h"
#include "stream/filter.h"

struct pretrain_plan {
	uint64_t seed;
	uint32_t most_tasks;    /* of a problem */
	uint32_t move_rounds;   /* updates of the moves' scorer */
	uint32_t policy_rounds; /* updates of the policy's scorer */
	double lr;
	double checkpoint_s;    /* so many seconds apart, and behind each part */
	const char *checkpoint; /* file that has the state; NULL: none */
	bool resume;            /* go on from it */
	const struct filter *f; /* whose program and options it tells */
};

/* What a round gave, for whoever watches. */
struct pretrain_told {
	const char *what, *score_is;
	uint32_t round, n_rounds;
	double loss; /* mean cross-entropy */
	double score; /* moves: share of first choices that gain; policy: log of its makespan by HEFT's */
};

/* Learns into *x, which comes from a seed or from before; with plan->resume what the checkpoint has takes its place, and
 * the result is that of a run that was never ended.  ST_RUNTIME, ST_INPUT: the checkpoint cannot be written or read. */
int pretrain_run(struct learned_params **x, const struct pretrain_plan *plan, struct pool *pool,
		 void (*tell)(void *arg, const struct pretrain_told *t), void *arg,
		 struct err *e) MUST_CHECK;

#endif
