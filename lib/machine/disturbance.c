/* disturbance.c - drift is an Ornstein-Uhlenbeck walk of a device's logarithm, on a grid of times
 * and linear in between; bursts begin as a Poisson process, drawn for each second by itself. */
#include "machine/disturbance.h"

#include <math.h>

#include "base/mem.h"
#include "machine/draw.h"
#include "sched/turns.h"

enum { STEPS_PER_DRIFT = 30, MOST_BURSTS = 64 }; /* in one second */
/* Of a walk, of which a window is kept: exp(-WINDOW / 2 / STEPS_PER_DRIFT) is less than a last bit. */
enum { WINDOW = 1 << 12 };
static const double MOST_STEPS = 4294967295.0 - WINDOW, MOST_SECONDS = 2e5;

struct disturbance {
	struct machine_spec s;
	uint64_t seed;
	uint32_t k;
	double step_s;
	double *walk; /* (WINDOW+1,k) deviations from 0 on the grid, from step `first` on; NULL: none yet */
	uint64_t first;
	bool *has; /* (k,k) the second is a part of the first, and has no parts */
};

uint64_t machine_happenings_seed(const struct machine_spec *s)
{
	return (uint64_t)(s->happenings > 0 ? s->happenings : s->seed);
}

struct disturbance *disturbance_new(const struct machine_spec *s, uint32_t k, const uint8_t *turns)
{
	struct disturbance *x = MEM_NEW(struct disturbance);
	*x = (struct disturbance){.s = *s,
				  .seed = machine_happenings_seed(s),
				  .k = k,
				  .step_s = s->drift_s / STEPS_PER_DRIFT,
				  .has = MEM_NEWN(bool, (size_t)k *k + 1)};
	sched_parts(turns, k, x->has);
	return x;
}

void disturbance_free(struct disturbance *x)
{
	if (!x)
		return;
	mem_free(x->walk);
	mem_free(x->has);
	mem_free(x);
}

/* ---- drift ---- */

/* The walk from half a window before step n on.  It begins with a normal number of its own, and has forgotten that
 * before the half is over, so that a step's value does not depend on where the window begins. */
static void walk_to(struct disturbance *x, uint64_t n)
{
	uint64_t half = n / (WINDOW / 2), first = half ? (half - 1) * (WINDOW / 2) : 0;
	double keep = exp(-1.0 / STEPS_PER_DRIFT), fresh = sqrt(1 - keep * keep);
	if (x->walk && n >= x->first + (x->first ? WINDOW / 2 : 0) && n < x->first + WINDOW)
		return;
	if (!x->walk)
		x->walk = MEM_NEWN(double, (WINDOW + 1) * (size_t)x->k);
	x->first = first;
	for (size_t i = 0; i <= WINDOW; i++)
		for (uint32_t d = 0; d < x->k; d++) {
			struct rng_addr a =
				machine_addr(x->seed, DRAW_DRIFT, d, (uint32_t)(first + i));
			double z = rng_normal(&a, 0), *at = &x->walk[i * x->k + d];
			*at = i ? keep * at[-(ptrdiff_t)x->k] + fresh * z : z;
		}
}

static double drift_factor(struct disturbance *x, uint32_t d, double time_s)
{
	double at = fmod(time_s / x->step_s, MOST_STEPS), share = at - floor(at);
	if (x->s.drift == 0 || !isfinite(at))
		return 1;
	walk_to(x, (uint64_t)at);
	const double *z = &x->walk[((uint64_t)at - x->first) * x->k + d];
	return exp(x->s.drift * ((1 - share) * z[0] + share * z[x->k]));
}

/* ---- bursts ---- */

/* Of device d, those that begin in this second: seconds of [begin, end) that they take. */
static double burst_overlap(const struct disturbance *x, uint32_t d, uint32_t second, double begin,
			    double end)
{
	struct rng_addr a = machine_addr(x->seed, DRAW_BURST, d, second);
	double sum = 0, at = second;
	for (uint32_t i = 0; i < MOST_BURSTS; i++) {
		at += -log(1 - rng_uniform(&a, 2 * i)) / x->s.bursts_per_s;
		if (at >= second + 1.0)
			break;
		double until = at - x->s.burst_s * log(1 - rng_uniform(&a, 2 * i + 1));
		sum += fmax(0, fmin(until, end) - fmax(at, begin));
	}
	return sum;
}

static double burst_factor(const struct disturbance *x, uint32_t d, double begin, double for_s)
{
	enum { LONGEST = 12 }; /* means of a burst's length: one in 160,000 is longer */
	double first = floor(fmax(0, begin - LONGEST * x->s.burst_s)), sum = 0;
	if (x->s.bursts_per_s == 0 || x->s.burst_slow == 1 || !(for_s > 0))
		return 1;
	/* Of so many seconds the mean says as much, and they would never be over. */
	if (!(begin + for_s - first < MOST_SECONDS && begin + for_s < MOST_STEPS))
		return 1 + (x->s.burst_slow - 1) * fmin(1, x->s.bursts_per_s * x->s.burst_s);
	for (double s = first; s < begin + for_s; s++)
		sum += burst_overlap(x, d, (uint32_t)s, begin, begin + for_s);
	return 1 + (x->s.burst_slow - 1) * fmin(1, sum / for_s);
}

/* The slowest of those that d consists of; 0: it consists of none. */
static double slowest_part(const struct disturbance *x, uint32_t d, const double *factor)
{
	double most = 0;
	for (uint32_t i = 0; i < x->k; i++)
		most = x->has[(size_t)d * x->k + i] ? fmax(most, factor[i]) : most;
	return most;
}

void disturbance_factors(struct disturbance *x, double begin_s, double for_s, double *factor)
{
	for (uint32_t d = 0; d < x->k; d++)
		factor[d] = drift_factor(x, d, begin_s + for_s / 2) *
			    burst_factor(x, d, begin_s, for_s);
	for (uint32_t d = 0; d < x->k; d++) {
		double part = slowest_part(x, d, factor);
		factor[d] = part > 0 ? part : factor[d];
	}
}
