/* disturbance.c - drift is an Ornstein-Uhlenbeck walk of a device's logarithm, on a grid of times
 * and linear in between; bursts begin as a Poisson process, drawn for each second by itself. */
#include "machine/disturbance.h"

#include <math.h>

#include "base/mem.h"
#include "machine/draw.h"
#include "sched/turns.h"

enum { STEPS_PER_DRIFT = 30, MOST_BURSTS = 64 }; /* in one second */

struct disturbance {
	struct machine_spec s;
	uint64_t seed;
	uint32_t k;
	double step_s;
	double *walk; /* (n_steps,k) deviations from 0 on the grid */
	size_t n_steps, cap;
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

static void walk_to(struct disturbance *x, size_t n)
{
	double keep = exp(-1.0 / STEPS_PER_DRIFT), fresh = sqrt(1 - keep * keep);
	x->walk = mem_grow(x->walk, &x->cap, n * x->k, sizeof *x->walk);
	for (; x->n_steps < n; x->n_steps++)
		for (uint32_t d = 0; d < x->k; d++) {
			struct rng_addr a =
				machine_addr(x->seed, DRAW_DRIFT, d, (uint32_t)x->n_steps);
			double z = rng_normal(&a, 0), *at = &x->walk[x->n_steps * x->k + d];
			*at = x->n_steps ? keep * at[-(ptrdiff_t)x->k] + fresh * z : z;
		}
}

static double drift_factor(struct disturbance *x, uint32_t d, double time_s)
{
	double at = time_s / x->step_s, share = at - floor(at);
	size_t i = (size_t)at;
	if (x->s.drift == 0)
		return 1;
	walk_to(x, i + 2);
	double z = (1 - share) * x->walk[i * x->k + d] + share * x->walk[(i + 1) * x->k + d];
	return exp(x->s.drift * z);
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
