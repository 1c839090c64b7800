/* update_rule.h - the rules by which an episode changes the policy: one row of a table each, for every
 * network and for moves.
 *
 * A rule says how returns become advantages A, and what the loss of a choice is: A is part of a
 * coefficient c = -A times a weight (advantage.h, visits.h), and the loss is the sum of c log p over
 * the choices, or of loss(c, log p - log p before the update). */
#ifndef HSDAG_LEARN_TRAIN_UPDATE_RULE_H
#define HSDAG_LEARN_TRAIN_UPDATE_RULE_H

#include "learn/train/advantage.h"
#include "learn/train/visits.h"

/* The returns of an episode. */
struct returns {
	const struct recipe *recipe;
	const struct rollout *r;
	struct baseline *b;
	const double *reward; /* (n_samples) of the placements (advantage.h) */
	bool visits;          /* a return for each group; else one for the sample */
	double **of; /* (n_samples) (returns_places) of each sample; NULL: the policy did not
	                           draw it.  They become advantages */
	uint32_t ok; /* without visits: how many ran, mean and variance of their rewards */
	double mean, var;
};

struct update_rule {
	const char *name;   /* of `reinforce --update`, and in checkpoints */
	const char *source; /* where it is described */
	void (*advantages)(struct returns *x);
	/* Of a choice with coefficient c and log_ratio = log p - log p before the update: the loss,
	 * and in *slope its derivative by log p.  NULL: c log p. */
	double (*loss)(const struct recipe *recipe, double c, double log_ratio, double *slope);
	/* The loss stays right while the policy moves away from the one that drew: a batch may be used
	 * several times. */
	bool again;
	bool compares; /* the placements of an episode with each other: it needs several */
	bool by_mean;  /* of a sample's choices: their mean, not their sum */
	/* What it changes in a recipe; 0: nothing.  Entropy only where the recipe has none. */
	int64_t epochs;
	double entropy;
};

extern const struct update_rule update_rules[];
extern const char *const update_names[]; /* theirs, in their order; ends with NULL */

/* The recipe learns by this rule from now on. */
void recipe_set_update(struct recipe *recipe, const struct update_rule *rule);

/* ST_USAGE: a batch is used more often than the rule can, or a return is not the rule's. */
int recipe_check_update(const struct recipe *recipe, struct err *e) MUST_CHECK;

void baseline_release(struct baseline *b);

/* How many returns sample i has. */
uint32_t returns_places(const struct returns *x, uint32_t i);

/* A recorded step under a rule whose loss is not linear: coefficients, and log p before the update. */
struct weighed_step {
	const struct recipe *recipe;
	bool first;      /* use of the batch: log p is what it was before; else `before` has it */
	const double *c; /* (n_samples), of all groups and of their draw */
	const double
		*c_group;     /* (n_samples,n_groups) in place of c, of single groups; NULL: none */
	double *before;       /* (n_samples,n_groups) */
	double before_groups; /* of the draw of the groups, which is one choice */
	double *slope, *slope_group; /* (n_samples), (n_samples,n_groups): room */
};

/* For replay_step.weigh; arg: a struct weighed_step.  Each group's device is a choice. */
double update_weigh(void *arg, struct replay_step *s);

#endif
