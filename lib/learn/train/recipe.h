/* recipe.h - how rewards become an update of the parameters: the choices in
 * which the paper's recipe and the default one differ, apart from the network
 * (gpn.h and others).  One flat struct, one table through which options and checkpoints
 * name its fields. */
#ifndef HSDAG_LEARN_TRAIN_RECIPE_H
#define HSDAG_LEARN_TRAIN_RECIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "learn/net/net.h"
#include "stream/rec.h"

extern const char *const recipe_names[]; /* by enum recipe_kind; ends with NULL */

struct update_rule;

struct recipe {
	const struct update_rule *update; /* how returns become a gradient (update_rule.h) */
	int64_t epochs;                   /* how often a batch is used */
	double ratio_clip;    /* how far a probability may move before a clipped ratio stops it */
	double value_lr;      /* Adam's, of a learned value (critic.h) */
	double lr;            /* Adam's learning rate; 0 leaves the parameters as they are */
	double lr_decay;      /* factor on lr per episode */
	double lr_least;      /* below which it does not fall */
	double embed_lr;      /* factor on lr of the network that embeds and parses; 0: it stays
	                           what it was, and the policy alone learns */
	double gamma;         /* weight gamma^i of step i = 1..x (Paper, section 3.4) */
	int64_t whole_return; /* 1: one discounted return for all steps, as published */
	int64_t log_reward;   /* 1: -log(value / ref_value), 0: 1 / value */
	int64_t sqrt_reward;  /* 1: -sqrt(value / ref_value) (Mirhoseini et al. 2017, section 3.1);
	                           log_reward is 0 */
	int64_t time_reward;  /* 1: -(value / ref_value); the other two are 0 */
	double baseline;      /* weight of the newest episode in the moving mean of rewards that
	                           is subtracted; 0: no baseline */
	int64_t normalise;    /* 1: advantages are divided by their moving deviation */
	int64_t mean_loss;    /* 1: the loss is a mean over the samples, 0: their sum, as printed */
	double entropy;       /* weight of the policy's entropy per group in the objective */
	double entropy_decay; /* factor on it per episode */
	double clip;          /* longest gradient; 0: any */
	double leaves;        /* groups that leave the best placement in a sample, in the mean
	                           (incumbent.h); 0: samples are drawn anew */
	double gain, loss, idle, blame, least; /* advantage of a change of the incumbent, with
	                           log_reward (advantage.h); then baseline and normalise rest */
	double penalty; /* log_reward, sqrt_reward: an infeasible placement is this much worse
	                           than the worst of its episode; else its reward is 0 */
	double graded; /* share of all memory that, where it is missing, adds a half of that; a tiny
	                           bit adds nothing, much nearly all of it again; 0: nothing is added */
	int64_t failed_episodes; /* in later ones an infeasible placement teaches nothing; 0: in
	                           all it does */

	/* Of visits (visits.h). */
	int64_t visits;  /* a run behind so many visits of a walk through the groups; 0: behind the
	                           last alone, and a sample has one reward */
	double discount; /* of the rewards of later visits */
	int64_t window;  /* episodes whose mean is the baseline of a visit; 0: no baseline */

	/* Of moves. */
	double costs_lr; /* learning rate of Adam of their scorer, if it began with nothing; 0: it stays */
	double adapt; /* share of moves that a second scorer chooses where the first was trained
	                       beforehand; it begins with nothing and learns by costs_lr */
	int64_t adapt_episodes; /* in which its share grows to that */
	double move_gain;       /* `gain` of a move */
	double heat;            /* by which share one may be worse and stay, at first (walk.h) */
};

extern const struct recipe recipes[]; /* by enum recipe_kind */

extern const struct named_field recipe_fields[]; /* ends with a NULL name */

/* As the map `recipe` of a checkpoint, and the comparison with one: ST_USAGE names the
 * first field that differs. */
void recipe_put(const struct recipe *r, struct rec_writer *w);
int recipe_check(const struct recipe *r, const struct val *map, struct err *e) MUST_CHECK;

#endif
