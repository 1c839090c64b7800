/* drift_level.c - weighted means of bursts; weights are those of a random walk that is seen with noise. */
#include "race/drift_level.h"

#include <math.h>
#include <stdbool.h>

#include "base/mem.h"
#include "stats/quantile.h"

static const double MEDIAN_TO_SIGMA = 1.4826, OUTLIER = 2.5;
/* Changes beyond so many deviations, and beyond so much, are jumps. */
static const double FAR = 4, LEAST_JUMP = 0.04;
/* Before there are bursts, as so many of them would say: noise of one, and change to the next (variances). */
static const double FIRST_NOISE = 0.01 * 0.01, FIRST_CHANGE = 0.01 * 0.01;
enum { FIRST_BURSTS = 6 };

static double step_of(const struct drift_bursts *x, uint32_t i, uint32_t lag, uint32_t d)
{
	return x->log_slow[(size_t)(i + lag) * x->k + d] - x->log_slow[(size_t)i * x->k + d];
}

/* The deviation of changes, by their median; devices that are not followed change by nothing. */
static double usual_step(const struct drift_bursts *x, uint32_t lag, double *room)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i + lag < x->n; i++)
		for (uint32_t d = 0; d < x->k; d++)
			if (step_of(x, i, lag, d) != 0)
				room[n++] = fabs(step_of(x, i, lag, d));
	order_values(room, n);
	return n ? MEDIAN_TO_SIGMA * quantile(room, n, 0.5) : 0;
}

/* The mean square of changes, larger ones no more than most, with what is supposed. */
static double mean_square(const struct drift_bursts *x, uint32_t lag, double most, double first)
{
	double sum = FIRST_BURSTS * first, n = FIRST_BURSTS;
	for (uint32_t i = 0; i + lag < x->n; i++)
		for (uint32_t d = 0; d < x->k; d++) {
			double by = fmin(fabs(step_of(x, i, lag, d)), most);
			sum += by * by;
			n += by > 0;
		}
	return sum / n;
}

struct drift_pace drift_pace_of(const struct drift_bursts *x)
{
	double *room = MEM_NEWN(double, (size_t)x->n * x->k + 1);
	double one = usual_step(x, 1, room), two = usual_step(x, 2, room);
	mem_free(room);
	double near = mean_square(x, 1, OUTLIER * one, 2 * FIRST_NOISE + FIRST_CHANGE);
	double far = mean_square(x, 2, OUTLIER * two, 2 * FIRST_NOISE + 2 * FIRST_CHANGE);
	double change = fmax(far - near, 0.05 * near), noise = fmax(near - change, 0.05 * near) / 2;
	double ratio = change / noise;
	return (struct drift_pace){1 + ratio / 2 - sqrt(ratio + ratio * ratio / 4),
				   fmax(FAR * sqrt(near), LEAST_JUMP)};
}

static bool jumps(const struct drift_bursts *x, const struct drift_pace *pace, uint32_t i)
{
	for (uint32_t d = 0; d < x->k; d++)
		if (fabs(step_of(x, i, 1, d)) > pace->jump)
			return true;
	return false;
}

static double add_burst(const struct drift_bursts *x, uint32_t i, double weight, double *slow)
{
	for (uint32_t d = 0; d < x->k; d++)
		slow[d] += weight * x->log_slow[(size_t)i * x->k + d];
	return weight;
}

void drift_level(const struct drift_bursts *x, const struct drift_pace *pace, uint32_t block,
		 double *slow)
{
	double weight = 0;
	uint32_t after = 0; /* the first burst behind this block */
	for (uint32_t d = 0; d < x->k; d++)
		slow[d] = 0;
	while (after < x->n && x->block[after] <= block)
		after++;
	bool own = after > 0 && x->block[after - 1] == block;
	for (uint32_t i = after; i-- > 0 && x->block[i] + DRIFT_REACH >= block;) {
		weight += add_burst(x, i, pow(pace->keep, block - x->block[i]), slow);
		if (i > 0 && jumps(x, pace, i - 1))
			break;
	}
	for (uint32_t i = after; i < x->n && x->block[i] <= block + DRIFT_REACH; i++) {
		if (i > 0 && (own || i > after) && jumps(x, pace, i - 1))
			break;
		weight += add_burst(x, i, pow(pace->keep, x->block[i] - block), slow);
	}
	if (!(weight > 0))
		weight = add_burst(x, after > 0 ? after - 1 : 0, 1, slow);
	for (uint32_t d = 0; d < x->k; d++)
		slow[d] /= weight;
}
