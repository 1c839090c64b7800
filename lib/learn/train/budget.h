/* budget.h - how long a training goes on: episodes, steps, seconds, patience. */
#ifndef HSDAG_LEARN_TRAIN_BUDGET_H
#define HSDAG_LEARN_TRAIN_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct budget {
	/* limits */
	uint64_t episodes, steps;           /* of the training; of an episode */
	uint64_t move_episodes, move_steps; /* the same where moves are run; 0: no others */
	uint32_t samples;                   /* of a step; 0: placepolicy's */
	uint64_t patience;                  /* episodes without a better placement; 0: any */
	double seconds;                     /* 0: any */
	/* what has been used */
	double start_s, episode_start_s; /* of the clock */
	double steps_s;                  /* in steps_done steps */
	uint64_t steps_done;
	/* A machine that is played has a clock of its own, which then counts. */
	bool played;
	double played_s;
};

void budget_start(struct budget *b); /* the clock of the seconds */
void budget_episode_begin(struct budget *b);
void budget_episode_end(struct budget *b, uint32_t n_steps);

/* A machine that is played was at began_s before runs, and is at now_s after them: the seconds are
 * its own, from the first runs on. */
void budget_played(struct budget *b, double began_s, double now_s);

/* Moves are run: the limits for these hold. */
void budget_moves(struct budget *b);

/* Share of the training that is behind `done` episodes, by episodes or, where it is more, by seconds. */
double budget_spent(const struct budget *b, uint64_t done);

/* Steps that the next episode may have, after `done` episodes of which best_episode found
 * the best placement; 0: training is over.  Fewer than `steps` where time is short: one
 * as long as nothing is known of how long one takes. */
uint32_t budget_steps(const struct budget *b, uint64_t done, uint64_t best_episode);

/* Seconds that are likely to be left after `done` episodes; patience not counted. */
double budget_left(const struct budget *b, uint64_t done);

#endif
