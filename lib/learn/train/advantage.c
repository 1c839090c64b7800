/* advantage.c - rewards, advantages and the weights of the samples. */
#include "learn/train/update_rule.h"

#include <math.h>

/* 1 / latency (Paper, section 3.4); or the log, the root or no more than the ratio to the best single device,
 * which no drift of the machine and no unit of time changes. */
static double reward_of(const struct recipe *recipe, const struct outcome *u)
{
	const double most = 1e18,
		     tick_s = 1e-9; /* rewards, their squares and gradients stay finite */
	double ratio = u->ref_value > 0 ? u->value / u->ref_value : u->value;
	ratio = fmax(1 / most, fmin(most, ratio));
	if (recipe->log_reward)
		return -log(ratio);
	if (recipe->sqrt_reward)
		return -sqrt(ratio);
	if (recipe->time_reward)
		return -ratio;
	return u->ok ? 1 / fmax(tick_s, u->value) : 0;
}

/* Is the worst reward not 0? */
static bool goes_below(const struct recipe *recipe)
{
	return recipe->log_reward || recipe->sqrt_reward || recipe->time_reward;
}

/* Is it known by how much this failed? */
static bool is_graded(const struct recipe *recipe, const struct rollout *r, const struct outcome *u)
{
	return recipe->graded > 0 && u->missing > 0 && r->memory > 0;
}

/* How far below the worst a placement is that failed, in penalties: 1, and more where it is known how much is missing,
 * up to 2. */
static double failure_of(const struct recipe *recipe, const struct rollout *r,
			 const struct outcome *u)
{
	if (!is_graded(recipe, r, u))
		return 1;
	double share = u->missing / r->memory;
	return 1 + share / (share + recipe->graded);
}

/* Rewards of these samples into reward[]; the mean of those that ran or whose failure is graded, where none ran of all;
 * the variance of those that ran. */
static uint32_t rewards(const struct recipe *recipe, const struct rollout *r,
			bool (*counts)(const struct sample *), double *reward, double *mean,
			double *var)
{
	double sum = 0, sum2 = 0, worst = 0, below = 0, blunt = 0;
	uint32_t ok = 0, failed = 0, n_blunt = 0;
	for (uint32_t i = 0; i < r->n_samples; i++) {
		const struct sample *s = &r->sample[i];
		reward[i] = 0;
		if (!counts(s) || (!s->run.ok && goes_below(recipe)))
			continue;
		reward[i] = reward_of(recipe, &s->run);
		if (!s->run.ok)
			continue;
		worst = ok++ ? fmin(worst, reward[i]) : reward[i];
		sum += reward[i];
		sum2 += reward[i] * reward[i];
	}
	for (uint32_t i = 0; i < r->n_samples && goes_below(recipe); i++) {
		const struct sample *s = &r->sample[i];
		if (!counts(s) || s->run.ok)
			continue;
		reward[i] = worst - recipe->penalty * failure_of(recipe, r, &s->run);
		bool graded = is_graded(recipe, r, &s->run);
		below += graded ? reward[i] : 0;
		blunt += graded ? 0 : reward[i];
		failed += graded;
		n_blunt += !graded;
	}
	*var = ok ? fmax(0, sum2 / ok - sum / ok * (sum / ok)) : 0;
	if (ok)
		blunt = n_blunt = 0;
	uint32_t n = ok + failed + n_blunt;
	*mean = n ? (sum + below + blunt) / n : 0;
	return ok;
}

void advantage_rewards(const struct recipe *recipe, const struct rollout *r,
		       bool (*counts)(const struct sample *), double *reward)
{
	double mean, var;
	rewards(recipe, r, counts, reward, &mean, &var);
}

/* Late in a training placements that fail would only make the gradient noisy, unless they say which way is out. */
static bool is_ignored(const struct recipe *recipe, const struct rollout *r, const struct sample *s)
{
	return !s->run.ok && recipe->failed_episodes && !is_graded(recipe, r, &s->run) &&
	       r->episode > (uint64_t)recipe->failed_episodes;
}

static bool all_are_ignored(const struct recipe *recipe, const struct rollout *r)
{
	for (uint32_t i = 0; i < r->n_samples; i++)
		if (sample_is_drawn(&r->sample[i]) && !is_ignored(recipe, r, &r->sample[i]))
			return false;
	return true;
}

/* Rewards become advantages: minus the moving mean, over the moving deviation.  Where all placements of an
 * episode fail, the mean moves, too: if it stayed, all that is drawn would be punished alike, whatever it is, and the
 * first one that runs would be worth little. */
void advantage_over_mean(struct returns *x)
{
	enum { LARGEST = 4 };         /* deviations that one sample may count */
	const double smallest = 1e-3; /* 0.1 % of latency is noise */
	struct baseline *b = x->b;
	double w = b->begun ? x->recipe->baseline : 1;
	if (x->ok)
		b->var += w * (x->var - b->var);
	if (x->ok || !all_are_ignored(x->recipe, x->r)) {
		b->mean += w * (x->mean - b->mean);
		b->begun = true;
	}
	double scale = x->recipe->normalise ? 1 / (sqrt(b->var) + smallest) : 1;
	for (uint32_t i = 0; i < x->r->n_samples; i++)
		if (x->of[i]) {
			double a = (*x->of[i] - b->mean) * scale;
			*x->of[i] = x->recipe->normalise ? fmax(-LARGEST, fmin(LARGEST, a)) : a;
		}
}

double advantage_gain(const struct recipe *recipe, double gain, double d)
{
	if (d > recipe->least)
		return fmin(1, d / gain);
	return -recipe->blame * (recipe->idle + fmin(1, fmax(0, -d / recipe->loss)));
}

bool advantage_has_incumbent(const struct recipe *recipe, const struct rollout *r)
{
	return r->incumbent.device && recipe->log_reward;
}

/* Rewards become what they gained over the incumbent's. */
static void subtract_incumbent(const struct recipe *recipe, const struct rollout *r, double *reward)
{
	double best = -log(r->incumbent.ratio);
	for (uint32_t i = 0; i < r->n_samples; i++)
		if (sample_is_drawn(&r->sample[i]))
			reward[i] = advantage_gain(
				recipe, r->sample[i].place.moves ? recipe->move_gain : recipe->gain,
				reward[i] - best);
}

/* The published code's return: R = r_1 + gamma (r_2 + gamma (...)) of all steps. */
static double whole_return(const struct recipe *recipe, const struct rollout *r,
			   const double *reward)
{
	double R = 0;
	for (uint32_t i = r->n_samples; i-- > 0;)
		if (sample_is_drawn(&r->sample[i]))
			R = reward[i] + recipe->gamma * R;
	return R;
}

/* Returns of the samples that the policy drew become advantages, in coef. */
static void rule_advantages(const struct recipe *recipe, struct baseline *b,
			    const struct rollout *r, double *coef, uint32_t ok, double mean,
			    double var)
{
	double **of = MEM_NEWN(double *, (size_t)r->n_samples + 1);
	double *reward = mem_copy(coef, (size_t)r->n_samples, sizeof *coef);
	for (uint32_t i = 0; i < r->n_samples; i++)
		of[i] = sample_is_drawn(&r->sample[i]) ? &coef[i] : NULL;
	if (advantage_has_incumbent(recipe, r))
		subtract_incumbent(recipe, r, coef);
	struct returns x = {.recipe = recipe,
			    .r = r,
			    .b = b,
			    .reward = reward,
			    .of = of,
			    .ok = ok,
			    .mean = mean,
			    .var = var};
	recipe->update->advantages(&x);
	mem_free(reward);
	mem_free(of);
}

void advantage_coefficients(const struct recipe *recipe, struct baseline *b,
			    const struct rollout *r, double *coef, double *mean_reward)
{
	double mean, var, sum = 0;
	uint32_t n = 0, ok = rewards(recipe, r, sample_is_drawn, coef, &mean, &var);
	for (uint32_t i = 0; i < r->n_samples; i++)
		if (sample_is_drawn(&r->sample[i])) {
			sum += coef[i];
			n++;
		}
	*mean_reward = n ? sum / n : 0;
	rule_advantages(recipe, b, r, coef, ok, mean, var);
	double R = recipe->whole_return ? whole_return(recipe, r, coef) : 0;
	for (uint32_t i = 0; i < r->n_samples; i++) {
		const struct sample *s = &r->sample[i];
		if (!sample_is_drawn(s) || is_ignored(recipe, r, s))
			coef[i] = 0;
		else if (recipe->whole_return)
			coef[i] = -R;
		else
			coef[i] *= -pow(recipe->gamma, s->place.id.step + 1.0);
		if (recipe->mean_loss && n)
			coef[i] /= n; /* no number of steps changes its size */
		if (recipe->update->by_mean && sample_has_action(s) && s->place.n_groups)
			coef[i] /= s->place.n_groups;
	}
}
