/* recipe.c - the recipes, and their fields by name. */
#include "learn/train/recipe.h"
#include "learn/net/named_field.h"
#include "learn/train/update_rule.h"

#include <string.h>

const char *const recipe_names[] = {"default", "paper", "rnn", "hierarchical", "placeto", NULL};

/* What no recipe changes: constants of what it does not use, too, as options may switch that on. */
#define COMMON \
	.embed_lr = 1, .window = 10, .adapt_episodes = 100, .move_gain = 0.002, .gain = 0.05, \
	.loss = 0.2, .idle = 0.2, .blame = 0.3, .least = 1e-4, .update = update_rules, \
	.epochs = 1, .ratio_clip = 0.2, .value_lr = 1e-2
/* Of all but Placeto. */
#define EVEN COMMON, .entropy_decay = 1, .discount = 1
/* Of all but the paper's. */
#define GRADED .graded = 0.1
/* Of the learners with a recurrent placer: a mean of samples, -sqrt(run time), a moving mean. */
#define RECURRENT \
	.lr_decay = 1, .gamma = 1, .sqrt_reward = 1, .baseline = 0.1, .mean_loss = 1, .clip = 1

const struct recipe recipes[] = {
	[RECIPE_DEFAULT] = {EVEN, GRADED, .lr = 1e-4, .lr_decay = 1, .gamma = 1, .log_reward = 1,
			    .baseline = 0.3, .normalise = 1, .mean_loss = 1, .clip = 1,
			    .penalty = 1, .leaves = 1, .costs_lr = 1e-3, .heat = 0.003},
	[RECIPE_PAPER] = {EVEN, .lr = 1e-4, .lr_decay = 1, .gamma = 0.95},
	[RECIPE_RNN] = {EVEN, GRADED, RECURRENT, .lr = 1e-4, .penalty = 1, .failed_episodes = 100},
	/* Its failures are -10 where runs are about -1. */
	[RECIPE_HIERARCHICAL] = {EVEN, GRADED, RECURRENT, .lr = 1e-3, .penalty = 9},
	/* Adam's rate falls from 1e-3 to 1e-4.  What the paper leaves open is so that walks do not end all on one device: much
	 * entropy at first, advantages of one size, and what comes later counts less. */
	[RECIPE_PLACETO] = {COMMON, GRADED, .lr = 1e-3, .lr_decay = 0.998, .lr_least = 1e-4,
			    .gamma = 1, .time_reward = 1, .normalise = 1, .mean_loss = 1,
			    .entropy = 0.3, .entropy_decay = 0.98, .discount = 0.9, .clip = 1.25,
			    .penalty = 1, .visits = 1},
};

#define REAL(f, lo, hi, help) FIELD_REAL(struct recipe, f, lo, hi, help)
#define FLAG(f, help) FIELD_INT(struct recipe, f, 0, 1, help)
const struct named_field recipe_fields[] = {
	REAL(lr, 0, 10, "learning rate of Adam; 0 learns nothing"),
	REAL(lr_decay, 0, 1, "factor on the learning rate per episode"),
	REAL(lr_least, 0, 10, "learning rate below which it does not fall"),
	REAL(embed_lr, 0, 1000,
	     "factor on the learning rate of the network that embeds and parses;\n"
	     "0: the policy alone learns"),
	REAL(gamma, 0, 1, "step i weighs gamma^i"),
	FLAG(whole_return, "1: one discounted return for all steps of an episode"),
	FLAG(log_reward, "1: reward -log(latency / best single device), 0: 1 / latency"),
	FLAG(sqrt_reward, "1: reward -sqrt(latency / best single device); log_reward must be 0"),
	FLAG(time_reward, "1: reward -(latency / best single device); the two above must be 0"),
	REAL(baseline, 0, 1,
	     "weight of the newest episode in the baseline; 0: no baseline;\n"
	     "without effect around an incumbent"),
	FLAG(normalise, "1: divide advantages by their deviation; needs a baseline;\n"
			"without effect around an incumbent"),
	FLAG(mean_loss, "1: the loss is a mean over the samples, 0: a sum"),
	REAL(entropy, 0, 1000, "weight of the policy's entropy per group; 0: no bonus"),
	REAL(entropy_decay, 0, 1, "factor on that weight per episode"),
	REAL(clip, 0, 1e9, "longest gradient; 0: any"),
	REAL(leaves, 0, 1e9,
	     "groups of the incumbent, the best placement so far, that a sample\n"
	     "changes, in the mean; 0: no incumbent, all are drawn"),
	REAL(gain, 1e-9, 1e9, "incumbent: log latency gained that counts 1"),
	REAL(loss, 1e-9, 1e9, "incumbent: log latency lost that counts -blame"),
	REAL(idle, 0, 1e6, "incumbent: a change without gain counts -blame times this besides"),
	REAL(blame, 0, 1e6, "incumbent: weight of changes without gain"),
	REAL(least, 0, 1e6, "incumbent: log latency below which nothing is gained"),
	FIELD_INT(struct recipe, visits, 0, 1000000000,
		  "placements on the way to a sample: a run behind every so many groups, and\n"
		  "for these what it gained as their reward; 0: the sample alone is run"),
	REAL(discount, 0, 1, "visits: factor on the reward of each later run"),
	FIELD_INT(struct recipe, window, 0, 10000,
		  "visits: episodes whose mean is the baseline of each; 0: no baseline"),
	REAL(costs_lr, 0, 10,
	     "moves: learning rate of the scorer that sees costs, if it began with\n"
	     "nothing learned; 0: it stays as it is"),
	REAL(adapt, 0, 1,
	     "moves: share of them that, where the scorer was trained beforehand, a second\n"
	     "one chooses, which learns from the runs of this training alone"),
	FIELD_INT(struct recipe, adapt_episodes, 1, 1000000000,
		  "moves: episodes in which that share grows from 0"),
	REAL(move_gain, 1e-9, 1e9, "moves: log latency gained that counts 1"),
	REAL(heat, 0, 10,
	     "moves: share by which a run may be worse and be the next incumbent,\n"
	     "in the mean; falls to 0 over the training"),
	REAL(penalty, 0, 1e6,
	     "log and sqrt reward: how far below the worst an infeasible placement is"),
	REAL(graded, 0, 1e6,
	     "share of all memory that, where a placement lacks so much, adds half of\n"
	     "penalty to it: much adds nearly all of it; 0: nothing is added"),
	FIELD_INT(struct recipe, failed_episodes, 0, 1000000000,
		  "episodes after which an infeasible placement teaches nothing; 0: never"),
	{"epochs", offsetof(struct recipe, epochs), false, 1, 1000,
	 "how often the placements of an episode are learned from; 4 with --update ppo\n"
	 "and grpo, 1 with all others",
	 NULL, true},
	{"ratio_clip", offsetof(struct recipe, ratio_clip), true, 1e-9, 1e9,
	 "ppo, grpo: how far from 1 the ratio of a choice's probability to the one before\n"
	 "the update may go before it is pushed no further",
	 NULL, true},
	{"value_lr", offsetof(struct recipe, value_lr), true, 0, 10,
	 "actor-critic: learning rate of the value", NULL, true},
	{0},
};

void recipe_put(const struct recipe *r, struct rec_writer *w)
{
	put_map_begin(w, "recipe");
	put_text(w, "update", r->update->name);
	for (const struct named_field *f = recipe_fields; f->name; f++)
		put_real(w, f->name, field_get(r, f));
	put_map_end(w);
}

/* The rule; that of older versions where the map names none. */
static int check_update(const struct recipe *r, const struct val *map, struct err *e)
{
	const struct val *v = val_get(map, "update");
	const char *name = update_rules->name, *ours = r->update->name;
	size_t n = strlen(name);
	char q[80];
	if (v && !val_bytes(v, &name, &n))
		return err_set(e, ST_INPUT, "recipe: 'update' is no text");
	if (n == strlen(ours) && memcmp(name, ours, n) == 0)
		return 0;
	return err_set(
		e, ST_USAGE,
		"the run to resume had --update %s, not %s; give the same recipe and options",
		err_escape(q, sizeof q, name, n), ours);
}

int recipe_check(const struct recipe *r, const struct val *map, struct err *e)
{
	if (check_update(r, map, e) < 0)
		return -1;
	for (const struct named_field *f = recipe_fields; f->name; f++) {
		double v;
		if (f->later && !val_get(map, f->name) &&
		    field_get(r, f) == field_get(&recipes[RECIPE_DEFAULT], f))
			continue;
		if (!val_get(map, f->name))
			return err_set(
				e, ST_INPUT,
				"another version made it, whose recipe has no %s; begin anew",
				f->name);
		if (get_real(map, f->name, &v, e) < 0)
			return err_prefix(e, "recipe");
		if (v != field_get(r, f))
			return err_set(e, ST_USAGE,
				       "the run to resume had %s %g, not %g; give the same "
				       "recipe and options",
				       f->name, v, field_get(r, f));
	}
	return 0;
}
