/* test_train.c - actions, budgets, the bounded set of candidates, the policy's prior around an incumbent. */
#include <math.h>
#include <string.h>

#include "learn/train/budget.h"
#include "learn/train/candidates.h"
#include "learn/net/sampling.h"
#include "learn/train/incumbent.h"
#include "tap.h"

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fmax(1, fabs(b));
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
	test_draw();
	test_budget();
	test_candidates();
	test_incumbent();
	return tap_end();
}
