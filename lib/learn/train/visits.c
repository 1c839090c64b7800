/* visits.c - rewards, returns and baselines of the visits of a walk. */
#include "learn/train/update_rule.h"

#include <math.h>
#include <string.h>

void visit_baseline_release(struct visit_baseline *b)
{
	mem_free(b->mean);
	mem_free(b->count);
	*b = (struct visit_baseline){0};
}

void visit_baseline_grow(struct visit_baseline *b, uint32_t window, uint32_t n)
{
	b->window = window;
	if (n <= b->n)
		return;
	b->mean = mem_resize(b->mean, (size_t)n * (window ? window : 1), sizeof *b->mean);
	b->count = mem_resize(b->count, n, sizeof *b->count);
	memset(b->mean + (size_t)b->n * window, 0, (size_t)(n - b->n) * window * sizeof *b->mean);
	memset(b->count + b->n, 0, (n - b->n) * sizeof *b->count);
	b->n = n;
}

/* The mean return of place v in this episode goes in; the mean of the window comes out. */
static double baseline_move(struct visit_baseline *b, uint32_t v, double mean)
{
	double *row = b->mean + (size_t)v * b->window, sum = 0;
	row[b->count[v]++ % b->window] = mean;
	uint32_t n = b->count[v] < b->window ? b->count[v] : b->window;
	for (uint32_t i = 0; i < n; i++)
		sum += row[i];
	return sum / n;
}

/* ---- what belongs to a sample ---- */

static bool is_of(const struct rollout *r, const struct sample *s, const char *source,
		  uint32_t step)
{
	return s->place.id.episode == r->episode && s->place.id.step == step &&
	       strcmp(s->place.source, source) == 0;
}

/* reward (g + 1): that of the start of sample s and of the placement behind v groups, where it was run or
 * is what was run before; else NAN. */
static int rewards_on_the_way(const struct rollout *r, const struct sample *s, uint32_t visits,
			      const double *of, double *reward, struct err *e)
{
	uint32_t g = s->place.n_groups, step = s->place.id.step;
	uint64_t first = (uint64_t)s->place.id.sample * g;
	for (uint32_t v = 0; v <= g; v++)
		reward[v] = NAN;
	for (uint32_t i = 0; i < r->n_samples; i++) {
		const struct sample *x = &r->sample[i];
		uint64_t number = x->place.id.sample;
		if (is_of(r, x, SOURCE_START, step) && number == 0)
			reward[0] = of[i];
		else if (is_of(r, x, SOURCE_VISIT, step) && number > first && number < first + g)
			reward[number - first] = of[i];
	}
	if (isnan(reward[0]))
		return err_set(e, ST_INPUT,
			       "the start of sample %u of step %u did not come; placepolicy of "
			       "this version emits it",
			       s->place.id.sample, step);
	double now = reward[0];
	for (uint32_t v = visits; v < g; v += visits)
		now = reward[v] = isnan(reward[v]) ? now : reward[v];
	reward[g] = of[s - r->sample];
	return 0;
}

/* Returns (g) of the groups: those between two runs share what is behind them. */
static void returns(const double *reward, uint32_t g, double discount, double *out)
{
	double sum = 0, behind = reward[g];
	for (uint32_t v = g; v-- > 0;) {
		if (!isnan(reward[v])) {
			sum = behind - reward[v] + discount * sum;
			behind = reward[v];
		}
		out[v] = sum;
	}
	/* A group before its run knows nothing of the sum yet: take that of the run's first group. */
	for (uint32_t v = 1; v < g; v++)
		if (isnan(reward[v]))
			out[v] = out[v - 1];
}

/* ---- advantages ---- */

/* Returns become advantages, place by place over the samples. */
static void subtract_means(const struct recipe *recipe, struct visit_baseline *b,
			   const struct rollout *r, double *const *group)
{
	uint32_t most = 0;
	for (uint32_t i = 0; i < r->n_samples; i++)
		if (group[i] && r->sample[i].place.n_groups > most)
			most = r->sample[i].place.n_groups;
	visit_baseline_grow(b, (uint32_t)recipe->window, most);
	for (uint32_t v = 0; v < most; v++) {
		double sum = 0;
		uint32_t n = 0;
		for (uint32_t i = 0; i < r->n_samples; i++)
			if (group[i] && v < r->sample[i].place.n_groups) {
				sum += group[i][v];
				n++;
			}
		double mean = baseline_move(b, v, sum / n);
		for (uint32_t i = 0; i < r->n_samples; i++)
			if (group[i] && v < r->sample[i].place.n_groups)
				group[i][v] -= mean;
	}
}

/* By the root of the moving mean of their squares. */
static void normalise(struct visit_baseline *b, const struct rollout *r, double *const *group)
{
	enum { LARGEST = 4 };
	const double newest = 0.1, smallest = 1e-3;
	double sum = 0, n = 0;
	for (uint32_t i = 0; i < r->n_samples; i++)
		for (uint32_t v = 0; group[i] && v < r->sample[i].place.n_groups; v++, n++)
			sum += group[i][v] * group[i][v];
	if (n > 0) {
		b->square += (b->begun ? newest : 1) * (sum / n - b->square);
		b->begun = true;
	}
	double scale = 1 / (sqrt(b->square) + smallest);
	for (uint32_t i = 0; i < r->n_samples; i++)
		for (uint32_t v = 0; group[i] && v < r->sample[i].place.n_groups; v++)
			group[i][v] = fmax(-LARGEST, fmin(LARGEST, group[i][v] * scale));
}

void visits_over_means(struct returns *x)
{
	if (x->recipe->window)
		subtract_means(x->recipe, &x->b->visits, x->r, x->of);
	if (x->recipe->normalise)
		normalise(&x->b->visits, x->r, x->of);
}

int visit_coefficients(const struct recipe *recipe, struct baseline *b, const struct rollout *r,
		       struct arena *a, double *coef, double **coef_group, double *mean_reward,
		       struct err *e)
{
	uint32_t n = 0;
	double sum = 0, *of = ARENA_NEWN(a, double, r->n_samples);
	advantage_rewards(recipe, r, sample_is_measured, of);
	for (uint32_t i = 0; i < r->n_samples; i++) {
		const struct sample *s = &r->sample[i];
		uint32_t g = s->place.n_groups;
		coef[i] = 0;
		coef_group[i] = NULL;
		if (!sample_has_action(s))
			continue;
		double *reward = ARENA_NEWN(a, double, (size_t)g + 1);
		coef_group[i] = ARENA_NEWN(a, double, g);
		if (rewards_on_the_way(r, s, (uint32_t)recipe->visits, of, reward, e) < 0)
			return -1;
		returns(reward, g, recipe->discount, coef_group[i]);
		sum += of[i];
		n++;
	}
	*mean_reward = n ? sum / n : 0;
	struct returns x = {
		.recipe = recipe, .r = r, .b = b, .reward = of, .visits = true, .of = coef_group};
	recipe->update->advantages(&x);
	for (uint32_t i = 0; i < r->n_samples; i++) {
		uint32_t g = coef_group[i] ? r->sample[i].place.n_groups : 0;
		double weight = -pow(recipe->gamma, r->sample[i].place.id.step + 1.0);
		if (recipe->mean_loss && g)
			weight /= (double)n * g;
		if (g)
			coef[i] = coef_group[i][0] * weight;
		for (uint32_t v = 0; v < g; v++)
			coef_group[i][v] *= weight;
	}
	return 0;
}
