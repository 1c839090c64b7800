/* huber.c - reweighted means. */
#include "stats/huber.h"

#include <math.h>
#include <stdbool.h>

#include "base/mem.h"
#include "stats/quantile.h"

static const double BEND = 1.5; /* deviations beyond which a value counts less */
static const double MEDIAN_TO_SIGMA = 1.4826;
static const double LEAST_SCALE = 1e-12;
static const double LAGS = 1.5;
enum { TURNS = 20 };

/* By how much the variance of a mean of n values in the order of time is more than that of as many
 * that know nothing of each other; d: their deviations, drawn in. */
static double dependence(const double *d, uint32_t n)
{
	uint32_t reach = (uint32_t)(LAGS * cbrt(n));
	double own = 0, sum = 0;
	for (uint32_t i = 0; i < n; i++)
		own += d[i] * d[i];
	for (uint32_t lag = 1; lag <= reach && lag < n; lag++) {
		double weight = 1 - lag / (reach + 1.0);
		for (uint32_t i = lag; i < n; i++)
			sum += weight * d[i] * d[i - lag];
	}
	return own > 0 ? fmax(1, 1 + 2 * sum / own) : 1;
}

/* in_time: x is in the order of time. */
static struct interval mean_of(const double *d, uint32_t n, bool in_time)
{
	double *room = mem_copy(d, n, sizeof *room), mid, scale, sum = 0;
	order_values(room, n);
	mid = quantile(room, n, 0.5);
	for (uint32_t i = 0; i < n; i++)
		room[i] = fabs(d[i] - mid);
	order_values(room, n);
	scale = fmax(MEDIAN_TO_SIGMA * quantile(room, n, 0.5), LEAST_SCALE);
	for (int turn = 0; turn < TURNS; turn++) {
		double w = 0, by = 0;
		for (uint32_t i = 0; i < n; i++) {
			double far = fabs(d[i] - mid) / (BEND * scale);
			double g = far > 1 ? 1 / far : 1;
			w += g;
			by += g * (d[i] - mid);
		}
		mid += by / w;
	}
	/* Huber 1981, section 6.6: the variance of drawn-in differences over the share of those
	 * that are not drawn in. */
	double inside = 0;
	for (uint32_t i = 0; i < n; i++) {
		room[i] = fmax(-BEND * scale, fmin(BEND * scale, d[i] - mid));
		inside += fabs(d[i] - mid) < BEND * scale || scale <= LEAST_SCALE;
		sum += room[i] * room[i];
	}
	sum *= in_time ? dependence(room, n) : 1;
	mem_free(room);
	if (n < 2)
		return (struct interval){mid, -INFINITY, INFINITY};
	double half = t_quantile(n - 1) * sqrt(sum / (n - 1) / n) * n / fmax(inside, 1);
	return (struct interval){mid, mid - half, mid + half};
}

struct interval huber_mean(const double *x, uint32_t n)
{
	return mean_of(x, n, false);
}

struct interval huber_mean_in_time(const double *x, uint32_t n)
{
	return mean_of(x, n, true);
}
