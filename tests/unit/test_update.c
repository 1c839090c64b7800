/* test_update.c - the update rules: what each makes of returns, its loss and the slope of that, the learned value. */
#include <math.h>
#include <string.h>

#include "learn/train/update_rule.h"
#include "tap.h"

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fmax(1, fabs(b));
}

/* The recipe `rnn` (reward -sqrt(latency / reference), no incumbent) with a rule. */
static struct recipe by(const char *name)
{
	struct recipe recipe = recipes[RECIPE_RNN];
	for (int i = 0; update_names[i]; i++)
		if (strcmp(update_names[i], name) == 0)
			recipe_set_update(&recipe, &update_rules[i]);
	return recipe;
}

/* One step of n samples of these latencies (< 0: infeasible) with g groups; the reference takes 1. */
enum { SAMPLES = 4, G = 5, D = 3 };
static void make(struct rollout *r, struct sample *s, struct part_rec *step, uint32_t n,
		 const double *lat_s)
{
	static const uint16_t action[G];
	static const float z[G * D] = {0.5f,  -1, 2,    0.25f, 1, -0.5f, 1.5f, 0.75f,
				       -2.5f, 1,  0.1f, 0.3f,  2, -1,    0.6f};
	*step = (struct part_rec){.p = {.n_groups = G, .z = z}};
	*r = (struct rollout){.episode = 1,
			      .d = D,
			      .n_steps = 1,
			      .step = step,
			      .n_samples = n,
			      .n_ran = n,
			      .sample = s};
	for (uint32_t i = 0; i < n; i++) {
		s[i] = (struct sample){.ran = true};
		s[i].place.id.sample = i;
		s[i].place.source = "policy";
		s[i].place.action = action;
		s[i].place.n_groups = G;
		s[i].run.ok = lat_s[i] > 0;
		s[i].run.value = lat_s[i];
		s[i].run.ref_value = 1;
	}
}

/* Schulman et al. 2017, figure 1: where the ratio is clipped, and where it must not be. */
static void test_clipped_ratio(void)
{
	const struct recipe recipe = by("ppo");
	const struct {
		double c, ratio, loss, slope;
	} row[] = {{-2, 1, -2, -2},   {-2, 1.1, -2.2, -2.2}, {-2, 1.5, -2.4, 0},
		   {-2, 0.5, -1, -1}, {2, 1, 2, 2},          {2, 0.9, 1.8, 1.8},
		   {2, 0.5, 1.6, 0},  {2, 1.5, 3, 3},        {0, 1.5, 0, 0}};
	double slope;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		double log_ratio = log(row[i].ratio), h = 1e-6, ignored;
		double loss = recipe.update->loss(&recipe, row[i].c, log_ratio, &slope);
		double up = recipe.update->loss(&recipe, row[i].c, log_ratio + h, &ignored);
		double down = recipe.update->loss(&recipe, row[i].c, log_ratio - h, &ignored);
		tap(near(loss, row[i].loss) && near(slope, row[i].slope) &&
			    fabs((up - down) / (2 * h) - slope) < 1e-6,
		    "clipped ratio: coefficient %g, ratio %g: %g, slope %g", row[i].c, row[i].ratio,
		    loss, slope);
	}
	double far = recipe.update->loss(&recipe, 1, 1e9, &slope);
	tap(isfinite(far) && isfinite(slope), "a ratio without end stays finite");
}

/* Shao et al. 2024, section 4.1.2: rewards of the episode, standardised; a mean over choices. */
static void test_group(void)
{
	struct recipe recipe = by("grpo");
	struct baseline b = {0};
	struct part_rec step;
	struct rollout r;
	struct sample s[SAMPLES];
	double coef[SAMPLES], mean, scale = 1 / (sqrt(2.0 / 3) + 1e-3);
	make(&r, s, &step, 3, (double[]){1, 4, 9}); /* rewards -1, -2, -3 */
	advantage_coefficients(&recipe, &b, &r, coef, &mean);
	tap(near(coef[0], -scale / 3 / G) && near(coef[1], 0) && near(coef[2], scale / 3 / G) &&
		    near(mean, -2) && !b.begun,
	    "grpo: the episode's mean and deviation, no other");
	make(&r, s, &step, 3, (double[]){4, 4, 4});
	advantage_coefficients(&recipe, &b, &r, coef, &mean);
	tap(coef[0] == 0 && coef[1] == 0 && coef[2] == 0, "grpo: equals teach nothing");
	make(&r, s, &step, 3, (double[]){1, 1, -1}); /* failure: 1 below the worst */
	advantage_coefficients(&recipe, &b, &r, coef, &mean);
	tap(coef[0] < 0 && coef[2] > 0 && near(coef[0] + coef[1] + coef[2], 0),
	    "grpo: a failure loses against what ran");
}

static void test_best(void)
{
	struct recipe recipe = by("self-label");
	struct baseline b = {0};
	struct part_rec step;
	struct rollout r;
	struct sample s[SAMPLES];
	double coef[SAMPLES], mean;
	uint16_t device[1] = {0};
	make(&r, s, &step, 4, (double[]){3, -1, 2, 2});
	advantage_coefficients(&recipe, &b, &r, coef, &mean);
	tap(coef[0] == 0 && coef[1] == 0 && near(coef[2], -1.0 / 4 / G) && coef[3] == 0,
	    "self-label: the first of the best is the label");
	make(&r, s, &step, 2, (double[]){-1, -1});
	advantage_coefficients(&recipe, &b, &r, coef, &mean);
	tap(coef[0] == 0 && coef[1] == 0, "self-label: no label where nothing ran");
	recipe.sqrt_reward = 0;
	recipe.log_reward = 1;
	make(&r, s, &step, 2, (double[]){0.8, 0.9});
	r.incumbent = (struct incumbent){.device = device, .leaves = 1, .ratio = 0.8};
	advantage_coefficients(&recipe, &b, &r, coef, &mean);
	tap(coef[0] == 0 && coef[1] == 0,
	    "self-label: what gains nothing on the incumbent is none");
	r.incumbent.ratio = 0.85;
	advantage_coefficients(&recipe, &b, &r, coef, &mean);
	tap(coef[0] < 0 && coef[1] == 0, "self-label: what gains is");
}

/* The value of a state learns what to expect there; its gradient is that of the loss. */
static void test_value(void)
{
	struct recipe recipe = by("actor-critic");
	struct baseline b = {.critic = {.seed = 3}};
	struct critic *c = &b.critic;
	struct part_rec step;
	struct rollout r;
	struct sample s[SAMPLES];
	double coef[SAMPLES], mean, before, worst = 0;
	recipe.value_lr = 0.01;
	make(&r, s, &step, 2, (double[]){4, 16}); /* rewards -2, -4 */
	critic_begin(c, D);
	before = critic_value(c, step.p.z, G);
	advantage_coefficients(&recipe, &b, &r, coef, &mean);
	tap(near(coef[0], -(-2 - before) / 2) && near(coef[1], -(-4 - before) / 2),
	    "actor-critic: return minus the value of before");
	for (int i = 0; i < 2000; i++)
		advantage_coefficients(&recipe, &b, &r, coef, &mean);
	tap(fabs(critic_value(c, step.p.z, G) + 3) < 0.01 && fabs(coef[0] + 0.5) < 0.01,
	    "actor-critic: the value comes to the mean of the returns (%g)",
	    critic_value(c, step.p.z, G));
	critic_add(c, step.p.z, G, 1, 0.7);
	for (size_t i = 0; i < c->p->n; i++) {
		float old = c->p->data[i], h = 0x1p-8f;
		double f[2];
		for (int side = 0; side < 2; side++) {
			c->p->data[i] = side ? old - h : old + h;
			f[side] = 0.35 * pow(critic_value(c, step.p.z, G) - 1, 2);
		}
		c->p->data[i] = old;
		worst = fmax(worst, fabs((f[0] - f[1]) / (2 * (double)h) - (double)c->grad[i]));
	}
	tap(worst < 0.02, "the gradient of the value is that of its loss (%g)", worst);
	s[0].place.moves = (const float[]){1, 2};
	s[0].place.n_moves = 1;
	s[0].place.n_move_features = 2;
	advantage_coefficients(&recipe, &b, &r, coef, &mean);
	tap(near(coef[0], 1), "a state of another width has no value");
	baseline_release(&b);
}

static void test_limits(void)
{
	struct recipe recipe = by("reinforce");
	struct err e = ERR_INIT;
	tap(recipe.epochs == 1 && recipe_check_update(&recipe, &e) == 0, "reinforce: one epoch");
	recipe.epochs = 2;
	tap(recipe_check_update(&recipe, &e) < 0 && e.code == ST_USAGE && strstr(e.msg, "once"),
	    "reinforce: no second");
	err_clear(&e);
	recipe = by("self-label");
	recipe.epochs = 9;
	tap(recipe_check_update(&recipe, &e) == 0, "self-label: any number");
	recipe.whole_return = 1;
	tap(recipe_check_update(&recipe, &e) < 0 && strstr(e.msg, "whole-return"),
	    "one return of all steps goes with reinforce");
	recipe = recipes[RECIPE_PLACETO];
	double entropy = recipe.entropy;
	recipe_set_update(&recipe, by("ppo").update);
	tap(recipe.epochs == 4 && recipe.entropy == entropy, "a recipe's own entropy stays");
}

int main(void)
{
	test_clipped_ratio();
	test_group();
	test_best();
	test_value();
	test_limits();
	return tap_end();
}
