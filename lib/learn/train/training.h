/* training.h - a training from the side of reinforce: gathers an episode's records, learns from
 * them, keeps the state, and asks for the next episode.  Printing and results are the caller's.
 *
 * Without a FIFO nothing is asked for or learned: placements and their runs become candidates. */
#ifndef HSDAG_LEARN_TRAIN_TRAINING_H
#define HSDAG_LEARN_TRAIN_TRAINING_H

#include <signal.h>

#include "learn/train/budget.h"
#include "learn/train/checkpoint.h"
#include "learn/train/feedback.h"
#include "learn/train/learn_problem.h"
#include "learn/train/train.h"

struct training {
	/* the caller's, set behind training_init */
	struct recipe recipe;
	struct budget budget;
	const char *fifo, *checkpoint;            /* borrowed; NULL: none */
	bool resume;                              /* go on from the checkpoint, if there is one */
	const volatile sig_atomic_t *interrupted; /* not 0: ask for no more */
	struct filter *f;
	/* to be read */
	struct learn_problem problem;
	struct learner l;
	struct feedback loop;
	bool ready; /* the problem is known and fits */
	/* Why the first infeasible placement is, of those that were drawn if there is one; "": none was. */
	char failure[300];
	bool failed_reference; /* it is a reference's */
	/* own */
	struct trainer trainer;
	struct rollout rollout;
	struct incumbent incumbent; /* of the episode to ask for */
	uint16_t *incumbent_device;
	uint32_t first_episode; /* done when this program started */
	struct arena *arena;
	struct checkpoint_key resumed_key;
	bool resumed, checked, in_episode, references_again;
	bool send_net, send_moves; /* parameters that changed go out with the next episode */
};

void training_init(struct training *t, struct pool *pool);

/* Also stops what waits at the FIFO, so before f is closed. */
void training_release(struct training *t);

/* Read the checkpoint and open the FIFO. */
int training_start(struct training *t, struct err *e) MUST_CHECK;

/* Take a record.  TRAINING_PROBLEM: of what is to be placed (graph, devs, feat, group);
 * TRAINING_LEARNED: the end of an episode, *u says what was learned, the checkpoint is written and
 * the next episode asked for; TRAINING_TAKEN: another one of the training; TRAINING_OTHER: none.
 * -1: ST_INPUT when it does not belong here. */
enum { TRAINING_TAKEN, TRAINING_PROBLEM, TRAINING_LEARNED, TRAINING_OTHER };
int training_take(struct training *t, const struct rec *r, struct update_rec *u,
		  struct err *e) MUST_CHECK;

/* The end of the input: ST_INPUT when the training has not come to its end. */
int training_finish(struct training *t, struct err *e) MUST_CHECK;

#endif
