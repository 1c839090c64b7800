/* update_rule.c - the table of update rules, and what its rows do.
 *
 * To add one: a function for its advantages or its loss, and a row of RULES. */
#include "learn/train/update_rule.h"

#include <math.h>

uint32_t returns_places(const struct returns *x, uint32_t i)
{
	return x->visits ? x->r->sample[i].place.n_groups : 1;
}

/* ---- what is subtracted ---- */

void baseline_release(struct baseline *b)
{
	visit_baseline_release(&b->visits);
	critic_release(&b->critic);
}

/* ---- advantages ---- */

/* As the recipe says: over the incumbent, which was done; over a moving mean; of visits over the mean
 * of their place. */
static void over_baseline(struct returns *x)
{
	if (x->visits)
		visits_over_means(x);
	else if (!advantage_has_incumbent(x->recipe, x->r) && x->recipe->baseline > 0)
		advantage_over_mean(x);
}

/* (R - mean) / deviation over the episode's placements: they answer the same question (Shao et al. 2024,
 * section 4.1.2; of visits section 4.1.3). */
static void over_group(struct returns *x)
{
	const double smallest = 1e-3; /* 0.1 % of latency is noise */
	uint32_t most = 0;
	for (uint32_t i = 0; i < x->r->n_samples; i++)
		if (x->of[i] && returns_places(x, i) > most)
			most = returns_places(x, i);
	for (uint32_t v = 0; v < most; v++) {
		double n = 0, mean = 0, square = 0;
		for (uint32_t i = 0; i < x->r->n_samples; i++)
			if (x->of[i] && v < returns_places(x, i)) {
				double d = x->of[i][v] - mean;
				mean += d / ++n;
				square += d * (x->of[i][v] - mean);
			}
		double scale = 1 / (sqrt(square / n) + smallest);
		for (uint32_t i = 0; i < x->r->n_samples; i++)
			if (x->of[i] && v < returns_places(x, i))
				x->of[i][v] = (x->of[i][v] - mean) * scale;
	}
}

/* 1 for the best placement that ran, around an incumbent only if it gains on it: its choices are the
 * label, and the others teach nothing (Corsini et al. 2024, section 4.2). */
static void only_best(struct returns *x)
{
	uint32_t best = UINT32_MAX;
	for (uint32_t i = 0; i < x->r->n_samples; i++)
		if (x->of[i] && x->r->sample[i].run.ok &&
		    (best == UINT32_MAX || x->reward[i] > x->reward[best]))
			best = i;
	if (best != UINT32_MAX && advantage_has_incumbent(x->recipe, x->r) &&
	    x->reward[best] + log(x->r->incumbent.ratio) <= x->recipe->least)
		best = UINT32_MAX;
	for (uint32_t i = 0; i < x->r->n_samples; i++)
		for (uint32_t v = 0; x->of[i] && v < returns_places(x, i); v++)
			x->of[i][v] = i == best;
}

/* The state in which place v of sample i was chosen: rows (n,width); n is 0 where none is recorded. */
static const float *state_of(const struct returns *x, uint32_t i, uint32_t v, uint32_t *n,
			     uint32_t *width)
{
	const struct rollout *r = x->r;
	const struct place_rec *p = &r->sample[i].place;
	*n = p->n_moves;
	*width = p->n_move_features;
	if (p->moves)
		return p->moves;
	const struct partition *part = &r->step[p->id.step].p;
	*n = x->visits ? 1 : part->n_groups;
	*width = r->d;
	return part->z + (x->visits ? (size_t)v * r->d : 0);
}

/* R - V(s), V from before the episode; then V learns from R (Mnih et al. 2016, section 4.3, where the
 * return has no later value in it: an episode is one decision). */
static void over_value(struct returns *x)
{
	struct critic *c = &x->b->critic;
	uint32_t n, width;
	double all = 0;
	for (uint32_t i = 0; i < x->r->n_samples; i++)
		all += x->of[i] ? returns_places(x, i) : 0;
	for (uint32_t i = 0; i < x->r->n_samples; i++)
		for (uint32_t v = 0; x->of[i] && v < returns_places(x, i); v++) {
			const float *s = state_of(x, i, v, &n, &width);
			critic_begin(c, width);
			if (n == 0 || width != c->score.n_features)
				continue; /* nothing to choose, or of other moves, which are refused */
			double R = x->of[i][v];
			x->of[i][v] = R - critic_value(c, s, n);
			critic_add(c, s, n, R, 1 / all);
		}
	if (c->p)
		critic_step(c, x->recipe->value_lr);
}

/* ---- losses ---- */

/* -min(r A, clip(r, 1 - eps, 1 + eps) A), r = p / p before the update (Schulman et al. 2017, eq. 7). */
static double clipped_ratio(const struct recipe *recipe, double c, double log_ratio, double *slope)
{
	const double most = 60; /* exp stays finite */
	double r = exp(fmax(-most, fmin(most, log_ratio)));
	double eps = recipe->ratio_clip, in = fmax(1 - eps, fmin(1 + eps, r));
	*slope = r * c >= in * c ? r * c : 0;
	return fmax(r * c, in * c);
}

/* ---- the table ---- */

/* clang-format off */
#define RULES(X) \
	/* The sum of -A log p. */ \
	X("reinforce", .source = "Williams 1992; HSDAG, section 3.4", .advantages = over_baseline) \
	X("ppo", .source = "Schulman et al. 2017, eq. 7", .advantages = over_baseline, \
	  .loss = clipped_ratio, .again = true, .epochs = 4, .entropy = 0.01) \
	/* Without the divergence from a reference policy: there is none. */ \
	X("grpo", .source = "Shao et al. 2024, eq. 3", .advantages = over_group, .loss = clipped_ratio, \
	  .again = true, .compares = true, .by_mean = true, .epochs = 4) \
	/* The log-likelihood of a label is right however often it is used. */ \
	X("self-label", .source = "Corsini et al. 2024", .advantages = only_best, .again = true, \
	  .compares = true, .by_mean = true) \
	X("actor-critic", .source = "Mnih et al. 2016, section 4", .advantages = over_value, \
	  .entropy = 0.01)
/* clang-format on */

#define ROW(text, ...) {.name = text, __VA_ARGS__},
#define NAME(text, ...) text,
const struct update_rule update_rules[] = {RULES(ROW)};
const char *const update_names[] = {RULES(NAME) NULL};

void recipe_set_update(struct recipe *recipe, const struct update_rule *rule)
{
	recipe->update = rule;
	if (rule->epochs)
		recipe->epochs = rule->epochs;
	if (recipe->entropy == 0)
		recipe->entropy = rule->entropy;
}

int recipe_check_update(const struct recipe *recipe, struct err *e)
{
	const struct update_rule *rule = recipe->update;
	if (recipe->epochs > 1 && !rule->again)
		return err_set(
			e, ST_USAGE,
			"--epochs %lld: --update %s can use a batch once, as its loss is wrong "
			"for a policy that has moved away from it; ppo, grpo and self-label can "
			"use it again",
			(long long)recipe->epochs, rule->name);
	if (recipe->whole_return && rule != update_rules)
		return err_set(e, ST_USAGE, "--whole-return 1 goes with --update %s, not with %s",
			       update_rules->name, rule->name);
	return 0;
}

/* ---- a recorded step ---- */

/* One choice: into *slope the derivative of its loss, which is returned. */
static double weigh(const struct weighed_step *w, double c, double now, double *before,
		    double *slope)
{
	if (w->first)
		*before = now;
	return w->recipe->update->loss(w->recipe, c, now - *before, slope);
}

double update_weigh(void *arg, struct replay_step *s)
{
	struct weighed_step *w = arg;
	uint32_t g = s->part->n_groups;
	double loss = 0;
	for (uint32_t i = 0; i < s->n_samples; i++) {
		for (uint32_t v = 0; v < g; v++) {
			size_t at = (size_t)i * g + v;
			loss += weigh(w, w->c_group ? w->c_group[at] : w->c[i], s->logp_group[at],
				      &w->before[at], &w->slope_group[at]);
		}
		double draw = weigh(w, w->c[i], s->group_logp, &w->before_groups, &w->slope[i]);
		if (s->part->label)
			loss += draw;
	}
	s->coef_logp = w->slope;
	s->coef_group = w->slope_group;
	return loss;
}
