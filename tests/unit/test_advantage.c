/* test_advantage.c - what placements are worth: rewards, baselines, the weight of each sample and visit. */
#include <math.h>
#include <string.h>

#include "learn/train/update_rule.h"
#include "tap.h"

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fmax(1, fabs(b));
}

/* A rollout of n steps with one sample each, of these latencies (< 0: infeasible). */
static void make(struct rollout *r, struct sample *s, uint32_t n, const double *lat_s)
{
	static const uint16_t action[1];
	*r = (struct rollout){.episode = 1, .n_steps = n, .n_samples = n, .n_ran = n, .sample = s};
	for (uint32_t i = 0; i < n; i++) {
		s[i] = (struct sample){.ran = true};
		s[i].place.id.step = i;
		s[i].place.source = "policy";
		s[i].place.action = action;
		s[i].run.ok = lat_s[i] > 0;
		s[i].run.value = lat_s[i];
		s[i].run.ref_value = 2;
	}
}

/* -sum_i log p_i gamma^i r_i with r = 1 / latency, i = 1..x (Paper, section 3.4) */
static void test_paper(void)
{
	struct baseline b = {0};
	struct rollout r;
	struct sample s[3];
	double coef[3], mean;
	struct recipe recipe = recipes[RECIPE_PAPER];
	make(&r, s, 3, (double[]){0.5, 0.25, -1});
	advantage_coefficients(&recipe, &b, &r, coef, &mean);
	tap(near(coef[0], -0.95 * 2) && near(coef[1], -0.95 * 0.95 * 4), "gamma^i / latency");
	tap(coef[2] == 0, "an infeasible placement has reward 0");
	tap(near(mean, 2), "mean reward");
	recipe.whole_return = 1;
	advantage_coefficients(&recipe, &b, &r, coef, &mean);
	double R = 2 + 0.95 * (4 + 0.95 * 0);
	tap(near(coef[0], -R) && near(coef[1], -R) && near(coef[2], -R),
	    "one return for all steps");
	s[1].place.action = NULL;
	advantage_coefficients(&recipe, &b, &r, coef, &mean);
	tap(coef[1] == 0, "no weight for what the policy did not draw");
}

static void test_baseline(void)
{
	struct baseline b = {0};
	struct rollout r;
	struct sample s[4];
	double coef[4], mean, sum = 0;
	struct recipe recipe = recipes[RECIPE_DEFAULT];
	recipe.penalty = 1;
	recipe.baseline = 0.25;
	recipe.normalise = 0;
	recipe.gamma = 1;
	make(&r, s, 4, (double[]){1, 2, 4, -1});
	advantage_coefficients(&recipe, &b, &r, coef, &mean);
	tap(near(b.mean, 0), "the baseline begins at the first mean of the feasible");
	tap(near(coef[0], -log(2) / 4) && near(coef[1], 0) && near(coef[2], log(2) / 4),
	    "log ratio to the best single device, minus the baseline, over the samples");
	tap(near(coef[3], (log(2) + 1) / 4), "infeasible: worse than the worst by the penalty");
	make(&r, s, 3, (double[]){4, 4, 4});
	advantage_coefficients(&recipe, &b, &r, coef, &mean);
	tap(near(b.mean, -0.25 * log(2)), "then it moves");
	recipe.normalise = 1;
	make(&r, s, 4, (double[]){1, 2, 4, 8});
	b.begun = false;
	advantage_coefficients(&recipe, &b, &r, coef, &mean);
	for (int i = 0; i < 4; i++)
		sum += coef[i] * coef[i] * 16;
	tap(fabs(sum / 4 - 1) < 0.01, "normalised advantages have deviation 1");
	for (int i = 0; i < 4; i++)
		s[i].run.value *= 1000;
	double before = coef[0];
	for (int i = 0; i < 4; i++)
		s[i].run.ref_value *= 1000;
	b.begun = false;
	advantage_coefficients(&recipe, &b, &r, coef, &mean);
	tap(near(coef[0], before), "the unit of time does not matter");
}

/* The recurrent placers': slow placements lose, failing ones lose more and late in a training nothing. */
static void test_root(void)
{
	struct baseline b = {0};
	struct rollout r;
	struct sample s[3];
	double coef[3], mean;
	make(&r, s, 3, (double[]){2, 8, -1});
	r.episode = 100;
	advantage_coefficients(&recipes[RECIPE_RNN], &b, &r, coef, &mean);
	tap(near(b.mean, -1.5) && near(coef[0], -0.5 / 3) && near(coef[1], 0.5 / 3) &&
		    near(coef[2], 1.5 / 3),
	    "-sqrt of the ratio to the best single device, minus a moving mean");
	r.episode = 101;
	advantage_coefficients(&recipes[RECIPE_RNN], &b, &r, coef, &mean);
	tap(near(coef[1], 0.5 / 3) && coef[2] == 0, "late in a training a failure teaches nothing");
	b.begun = false;
	advantage_coefficients(&recipes[RECIPE_HIERARCHICAL], &b, &r, coef, &mean);
	tap(near(coef[2], 9.5 / 3), "Hierarchical Planner: a failure is 9 below the worst");
	/* Where all fail, what failing is worth becomes usual, and the first that runs is worth much. */
	make(&r, s, 3, (double[]){-1, -1, -1});
	for (int i = 0; i < 100; i++)
		advantage_coefficients(&recipes[RECIPE_HIERARCHICAL], &b, &r, coef, &mean);
	tap(fabs(b.mean + 9) < 0.01 && fabs(coef[0]) < 0.01 && b.var > 0, "all fail: %.3f", b.mean);
	make(&r, s, 3, (double[]){2, -1, -1});
	advantage_coefficients(&recipes[RECIPE_HIERARCHICAL], &b, &r, coef, &mean);
	tap(coef[0] < -2 && coef[1] > 0, "one does not: %.3f", coef[0]);
	double before = b.mean;
	make(&r, s, 3, (double[]){-1, -1, -1});
	r.episode = 101;
	advantage_coefficients(&recipes[RECIPE_RNN], &b, &r, coef, &mean);
	tap(b.mean == before && coef[0] == 0, "unless failures teach nothing any more");
}

/* A placement that lacks little memory is less bad than one that lacks much, and all are worse than what ran. */
static void test_graded(void)
{
	struct baseline b = {0};
	struct rollout r;
	struct sample s[4];
	double coef[4], reward[4], mean;
	struct recipe recipe = recipes[RECIPE_RNN];
	recipe.graded = 0.1;
	recipe.penalty = 2;
	make(&r, s, 4, (double[]){2, -1, -1, -1});
	s[1].run.missing = 1;
	s[2].run.missing = 1e9;
	advantage_rewards(&recipe, &r, sample_is_drawn, reward);
	tap(near(reward[1], -3) && near(reward[2], -3), "no limit is known: the whole penalty");
	r.memory = 1e10;
	advantage_rewards(&recipe, &r, sample_is_drawn, reward);
	tap(fabs(reward[1] + 3) < 1e-6 && near(reward[2], -4) && near(reward[3], -3),
	    "nothing is added for a byte, half of it for that share, nothing where nobody tells");
	recipe.graded = 0;
	advantage_rewards(&recipe, &r, sample_is_drawn, reward);
	tap(near(reward[1], -3) && near(reward[2], -3), "not graded: the whole penalty");
	recipe.graded = 0.1;
	make(&r, s, 2, (double[]){-1, -1});
	r.memory = 1e10;
	s[0].run.missing = 1e9;
	s[1].run.missing = 9e9;
	advantage_coefficients(&recipe, &b, &r, coef, &mean);
	tap(near(b.mean, -3.4) && near(mean, -3.4) && near(coef[0], -0.2) && near(coef[1], 0.2),
	    "all fail: who lacks less gains on who lacks more");
	b.begun = false;
	make(&r, s, 3, (double[]){2, -1, -1});
	r.memory = 1e10;
	s[1].run.missing = 1e9;
	advantage_coefficients(&recipe, &b, &r, coef, &mean);
	tap(near(b.mean, -2.5), "the baseline is the mean of what ran and of graded failures");
}

/* One step: its start, what is behind the visits of sample 0 of four groups, the sample. */
enum { G = 4, WALK = 5 };
static void make_walk(struct rollout *r, struct sample *s, const double *lat_s)
{
	static const uint16_t action[G];
	static const uint32_t number[WALK] = {0, 1, 2, 3, 0};
	make(r, s, WALK, lat_s);
	r->n_steps = 1;
	for (uint32_t i = 0; i < WALK; i++) {
		struct place_rec *p = &s[i].place;
		p->id = (struct rollout_id){.episode = 1, .sample = number[i]};
		p->source = i == 0 ? SOURCE_START : i + 1 < WALK ? SOURCE_VISIT : "policy";
		p->action = i + 1 < WALK ? NULL : action;
		p->n_groups = i + 1 < WALK ? 0 : G;
	}
}

static void drop_sample(struct rollout *r, uint32_t i)
{
	memmove(r->sample + i, r->sample + i + 1, (r->n_samples - i - 1) * sizeof *r->sample);
	r->n_samples--;
}

/* Rewards of a walk: what each visit gained, discounted, minus the place's mean; runs that were left
 * out; several visits to a run; failures. */
static void test_visits(void)
{
	struct baseline b = {0};
	struct rollout r;
	struct sample s[WALK];
	struct err e = ERR_INIT;
	struct arena *a = arena_new();
	double coef[WALK], *group[WALK], mean;
	struct recipe recipe = recipes[RECIPE_PLACETO];
	recipe.window = recipe.mean_loss = recipe.normalise = 0;
	recipe.discount = 0.5;
	const double lat[WALK] = {8, 6, 7, 3, 2}; /* over 2: rewards 1, -0.5, 2, 0.5 */
	make_walk(&r, s, lat);
	int rc = visit_coefficients(&recipe, &b, &r, a, coef, group, &mean, &e);
	tap(rc == 0 && near(group[4][3], -0.5) && near(group[4][2], -2.25) &&
		    near(group[4][1], -0.625) && near(group[4][0], -1.3125) &&
		    near(coef[4], -1.3125) && near(mean, -1) && coef[0] == 0 && !group[2],
	    "visits: decreases of the run time, discounted");
	recipe.mean_loss = 1;
	rc = visit_coefficients(&recipe, &b, &r, a, coef, group, &mean, &e);
	tap(rc == 0 && near(group[4][2], -2.25 / G), "visits: the loss is a mean over them");
	recipe.mean_loss = 0;

	drop_sample(&r, 2); /* the second visit changed nothing, so nobody ran it */
	s[2].run.value = 6;
	rc = visit_coefficients(&recipe, &b, &r, a, coef, group, &mean, &e);
	tap(rc == 0 && near(group[3][1], -(0 + 0.5 * (0 + 0.5 * 2))),
	    "visits: what was not run is as fast as before");
	make_walk(&r, s, lat);
	drop_sample(&r, 3);
	drop_sample(&r, 1);
	recipe.visits = 2;
	rc = visit_coefficients(&recipe, &b, &r, a, coef, group, &mean, &e);
	tap(rc == 0 && near(group[2][3], -2.5) && near(group[2][2], -2.5) &&
		    near(group[2][1], -(0.5 + 0.5 * 2.5)) && near(group[2][0], group[2][1]),
	    "visits: two of them share a run");
	drop_sample(&r, 0);
	rc = visit_coefficients(&recipe, &b, &r, a, coef, group, &mean, &e);
	tap(rc < 0 && e.code == ST_INPUT && strstr(e.msg, "the start of sample 0 of step 0"),
	    "visits: a sample without a start is refused");
	err_clear(&e);

	make_walk(&r, s, (const double[WALK]){8, -1, 7, 3, 2});
	recipe.visits = 1;
	recipe.discount = 0;
	rc = visit_coefficients(&recipe, &b, &r, a, coef, group, &mean, &e);
	tap(rc == 0 && near(group[4][0], 1) && near(group[4][1], -1.5),
	    "visits: what fails is 1 below the slowest");
	recipe.window = 2;
	double first[3];
	for (int i = 0; i < 3; i++) { /* returns of the last visit: 0.5, 1, 0 */
		const double to[] = {2, 1, 3};
		make_walk(&r, s, (const double[WALK]){8, 6, 7, 3, to[i]});
		rc = visit_coefficients(&recipe, &b, &r, a, coef, group, &mean, &e);
		first[i] = rc == 0 ? group[4][3] : 9;
	}
	tap(near(first[0], 0) && near(first[1], -0.25) && near(first[2], 0.5),
	    "visits: minus the mean of the last two episodes (%g %g %g)", first[0], first[1],
	    first[2]);
	recipe.normalise = 1;
	rc = visit_coefficients(&recipe, &b, &r, a, coef, group, &mean, &e);
	tap(rc == 0 && fabs(group[4][3]) <= 4, "visits: normalised");
	baseline_release(&b);
	arena_free(a);
}

static void test_incumbent_advantage(void)
{
	struct baseline b = {0};
	struct rollout r;
	struct sample s[3];
	double coef[3], mean;
	uint16_t device[1] = {0};
	make(&r, s, 3, (double[]){1.5, 1.6, 1.8});
	r.incumbent = (struct incumbent){.device = device, .leaves = 1, .ratio = 0.8};
	advantage_coefficients(&recipes[RECIPE_DEFAULT], &b, &r, coef, &mean);
	tap(coef[0] < 0 && coef[1] > 0 && coef[2] > coef[1],
	    "what improves on the incumbent is encouraged, what harms it more discouraged");
	const struct recipe recipe = {
		.gain = 0.1, .loss = 0.5, .idle = 0.25, .blame = 2, .least = 0.01};
	tap(near(advantage_gain(&recipe, 0.1, 0.05), 0.5) &&
		    near(advantage_gain(&recipe, 0.1, 1), 1),
	    "d / gain, at most 1");
	tap(near(advantage_gain(&recipe, 0.1, 0.005), -0.5) &&
		    near(advantage_gain(&recipe, 0.1, 0), -0.5),
	    "no gain: -blame idle");
	tap(near(advantage_gain(&recipe, 0.1, -0.1), -2 * 0.45) &&
		    near(advantage_gain(&recipe, 0.1, -9), -2.5),
	    "a loss: -blame (idle + -d / loss), which is at most 1");
}

int main(void)
{
	test_paper();
	test_baseline();
	test_root();
	test_graded();
	test_visits();
	test_incumbent_advantage();
	return tap_end();
}
