/* test_train.c - advantages of both recipes, actions, budgets, the bounded set of
 * candidates, the policy's prior around an incumbent. */
#include <math.h>
#include <string.h>

#include "learn/train/advantage.h"
#include "learn/train/budget.h"
#include "learn/train/candidates.h"
#include "learn/net/sampling.h"
#include "learn/train/incumbent.h"
#include "learn/train/visits.h"
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
	struct visit_baseline b = {0};
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
	visit_baseline_release(&b);
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

static struct candidate make_candidate(uint16_t *device, const char *source)
{
	struct candidate c = {.device = device, .n_groups = 1};
	snprintf(c.source, sizeof c.source, "%s", source);
	return c;
}

static double add(struct candidates *s, struct candidate *c, double value, double ref)
{
	c->value = c->lat_s = value;
	c->ref_value = c->ref_s = ref;
	return candidates_add(s, c);
}

static void test_candidates(void)
{
	struct candidates s;
	uint16_t d[2] = {9, 9};
	uint32_t order[CANDIDATES_MAX];
	struct candidate c = make_candidate(d, "single");
	candidates_init(&s, 2);
	add(&s, &c, 10, 10);
	c = make_candidate(d, "policy");
	for (uint16_t i = 0; i < 200; i++) {
		d[0] = (uint16_t)(i % 100);
		d[1] = 1;
		add(&s, &c, 1 + d[0] % 50, 10);
	}
	tap(s.n == CANDIDATES_MAX && s.n_seen == 201, "bounded");
	uint32_t n = candidates_rank(&s, 3, order);
	tap(n == 4, "the best, and the best single device behind them");
	tap(s.c[order[0]].ratio == 0.1 && s.c[order[1]].ratio == 0.1 && s.c[order[2]].ratio == 0.2,
	    "ranked by ratio");
	tap(s.c[order[0]].device[0] == 0 && s.c[order[1]].device[0] == 50, "ties: the first seen");
	tap(strcmp(s.c[order[3]].source, "single") == 0, "anchors stay");
	d[0] = 0;
	tap(s.c[order[0]].runs == 2 && near(add(&s, &c, 4, 10), 0.2),
	    "runs of one placement are averaged");
	candidates_release(&s);
	candidates_init(&s, 2);
	for (uint16_t i = 0; i < CANDIDATES_MAX + 9; i++) {
		d[0] = i;
		c = make_candidate(d, "single");
		add(&s, &c, 1, 1);
	}
	tap(s.n == CANDIDATES_MAX, "bounded by anchors, too");
	candidates_release(&s);
}

static void test_incumbent(void)
{
	const uint32_t group[6] = {0, 0, 0, 1, 1, 2};
	const uint16_t device[6] = {1, 1, 0, 0, 2, 2};
	const uint8_t mask[9] = {1, 1, 1, 0, 1, 1, 1, 1, 1};
	uint16_t home[3], out[6];
	float bias[9], logp[9];
	incumbent_home(device, 6, group, 3, 3, NULL, home);
	tap(home[0] == 1 && home[1] == 0 && home[2] == 2, "home: the device of most sets");
	incumbent_home(device, 6, group, 3, 3, mask, home);
	tap(home[1] == 2, "home: one that the mask allows");
	for (int g = 0; g < 3; g++)
		for (int k = 0; k < 3; k++)
			logp[g * 3 + k] = logf(k == g ? 0.8f : 0.1f);
	double stay = incumbent_stay(logp, 3, 3, home, 0.5);
	incumbent_bias(home, 3, 3, stay, bias);
	double leaves = 0;
	for (int g = 0; g < 3; g++) {
		double sum = 0;
		for (int k = 0; k < 3; k++)
			sum += exp((double)logp[g * 3 + k] + (double)bias[g * 3 + k]);
		leaves += 1 - exp((double)logp[g * 3 + home[g]] + stay) / sum;
	}
	tap(fabs(leaves - 0.5) < 1e-5, "as many groups leave as were asked for");
	incumbent_apply(device, 6, group, home, (uint16_t[]){1, 1, 2}, out);
	tap(memcmp(out, (uint16_t[]){1, 1, 0, 1, 1, 2}, sizeof out) == 0,
	    "a group at home stays as it is, one that leaves goes as a whole");
}

static void test_draw(void)
{
	const float half = -0.6931472f, never = -INFINITY;
	const float logp[] = {half, never, half, never, never, 0};
	const uint16_t home[2] = {0, 2};
	uint16_t a[2];
	int first = 0;
	bool legal = true, moved = true;
	for (uint32_t i = 0; i < 1000; i++) {
		const struct rng_addr rng = {.seed = 7, .step = i, .stream = RNG_ACTION};
		sample_actions(logp, 2, 3, &rng, NULL, a);
		legal = legal && a[0] != 1 && a[1] == 2;
		first += a[0] == 0;
		sample_actions(logp, 2, 3, &rng, home, a);
		moved = moved && a[0] == 2;
	}
	tap(legal, "what has no probability is never drawn");
	tap(first > 440 && first < 560, "the rest as often as it is probable");
	tap(moved, "around an incumbent: not what it is already");
	most_probable_actions(logp, 2, 3, a);
	tap(a[0] == 0 && a[1] == 2, "most probable, the lowest of equals");
}

static void test_budget(void)
{
	struct budget b = {.episodes = 10, .steps = 4, .patience = 3};
	budget_start(&b);
	tap(budget_steps(&b, 0, 0) == 4 && budget_steps(&b, 9, 8) == 4, "a whole episode");
	tap(budget_steps(&b, 10, 9) == 0, "enough episodes");
	tap(budget_steps(&b, 5, 2) == 0 && budget_steps(&b, 4, 2) == 4, "patience");
	b.steps_s = 100;
	b.steps_done = 10;
	tap(near(budget_left(&b, 8), 80), "what is left, by the steps so far");
	b.seconds = 25;
	tap(budget_steps(&b, 4, 4) == 2, "fewer steps where time is short");
	b.seconds = 1e-9;
	tap(budget_steps(&b, 4, 4) == 0, "no time");
	b.seconds = 25;
	budget_played(&b, 1000, 1005);
	tap(budget_steps(&b, 4, 4) == 2 && near(budget_spent(&b, 0), 0.2),
	    "a machine that is played counts its own seconds");
	budget_episode_begin(&b);
	budget_played(&b, 1005, 1025);
	budget_episode_end(&b, 2);
	tap(budget_steps(&b, 4, 4) == 0 && near(b.steps_s, 120), "and has no time in its turn");
}

int main(void)
{
	test_paper();
	test_baseline();
	test_root();
	test_visits();
	test_incumbent_advantage();
	test_draw();
	test_budget();
	test_candidates();
	test_incumbent();
	return tap_end();
}
