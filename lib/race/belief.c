/* belief.c - a regression on predictions, and posterior means. */
#include "race/belief.h"

#include <math.h>

static const double LEAST_SPREAD = 0.01; /* of effects around what is expected */
/* Before anything is measured: half of what a prediction promises is true, give or take as much. */
static const double SLOPE = 0.5, SLOPE_SD = 0.5;
static const double SPREAD = 0.15; /* then */

struct expected {
	double mean, mean_x, slope, var;
	bool any_x;
};

/* Weights: effects that are known better count more, up to the spread. */
static double weight_of(const struct race_arm *a, double var)
{
	return 1 / (var + a->se * a->se);
}

static double deviation(const struct race_arm *a, const struct expected *x)
{
	double by = a->predicted_s > 0 ? x->slope * (log(a->predicted_s) - x->mean_x) : 0;
	return x->mean + by;
}

static void fit_line(const struct race_arm *arm, uint32_t n, struct expected *x)
{
	double w = 0, wx = 0, wy = 0, in = 0, sxx = 0, sxy = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct race_arm *a = &arm[i];
		double g = weight_of(a, x->var);
		if (a->n_bursts == 0)
			continue;
		w += g;
		wy += g * a->effect;
		in += a->predicted_s > 0 ? g : 0;
		wx += a->predicted_s > 0 ? g * log(a->predicted_s) : 0;
	}
	x->mean = wy / w;
	x->mean_x = in > 0 ? wx / in : 0;
	x->any_x = in > 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct race_arm *a = &arm[i];
		if (a->n_bursts == 0 || !(a->predicted_s > 0))
			continue;
		double g = weight_of(a, x->var), d = log(a->predicted_s) - x->mean_x;
		sxx += g * d * d;
		sxy += g * d * (a->effect - x->mean);
	}
	double k = 1 / (SLOPE_SD * SLOPE_SD);
	x->slope = fmin(1, fmax(0, (sxy + k * SLOPE) / (sxx + k)));
}

/* The spread of effects around the line, by moments; some of it is what was supposed. */
static void fit_spread(const struct race_arm *arm, uint32_t n, struct expected *x)
{
	enum { SUPPOSED = 2 };
	double sum = SUPPOSED * SPREAD * SPREAD, many = SUPPOSED;
	for (uint32_t i = 0; i < n; i++) {
		const struct race_arm *a = &arm[i];
		if (a->n_bursts == 0)
			continue;
		double d = a->effect - deviation(a, x);
		sum += fmax(d * d - a->se * a->se, 0);
		many++;
	}
	x->var = fmax(sum / many, LEAST_SPREAD * LEAST_SPREAD);
}

void belief_shrink(struct race_arm *arm, uint32_t n)
{
	struct expected x = {.var = SPREAD * SPREAD};
	bool any = false;
	for (uint32_t i = 0; i < n; i++)
		any = any || arm[i].n_bursts > 0;
	for (int turn = 0; turn < 5 && any; turn++) {
		fit_line(arm, n, &x);
		fit_spread(arm, n, &x);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct race_arm *a = &arm[i];
		double at = any ? deviation(a, &x) : 0;
		double by = a->n_bursts == 0 ? 0 : x.var / (x.var + a->se * a->se);
		a->shrunk = at + (a->n_bursts == 0 ? 0 : by * (a->effect - at));
		a->shrunk_se = sqrt(x.var * (1 - by));
	}
}
