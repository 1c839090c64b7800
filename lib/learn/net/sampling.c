/* sampling.c - actions from log-probabilities. */
#include "learn/net/sampling.h"

#include <math.h>
#include <string.h>

/* Inverse of the distribution function of one group's devices at u. */
static uint16_t device_at(const float *logp, uint32_t k, double u)
{
	double sum = 0;
	uint16_t last = 0;
	for (uint32_t i = 0; i < k; i++) {
		double p = exp((double)logp[i]);
		if (p == 0)
			continue;
		last = (uint16_t)i;
		sum += p;
		if (u < sum)
			break;
	}
	return last;
}

uint16_t sample_action(const float *logp, uint32_t k, const struct rng_addr *rng, uint32_t index)
{
	return device_at(logp, k, rng_uniform(rng, index));
}

void sample_actions(const float *logp, uint32_t n_groups, uint32_t k, const struct rng_addr *rng,
		    const uint16_t *home, uint16_t *action)
{
	enum { TRIES = 32 };
	for (uint32_t try = 0; try < TRIES; try++) {
		for (uint32_t i = 0; i < n_groups; i++)
			action[i] = sample_action(logp + (size_t)i * k, k, rng, try * n_groups + i);
		if (!home || memcmp(action, home, n_groups * sizeof *home) != 0)
			return;
	}
}

void sampling_sums(double *sum, const float *logp, uint32_t n_groups, uint32_t k)
{
	for (uint32_t g = 0; g < n_groups; g++, logp += k, sum += k) {
		double all = 0;
		for (uint32_t i = 0; i < k; i++)
			sum[i] = all += exp((double)logp[i]);
	}
}

/* The first device whose sum is more than u; none: the first of the largest sum. */
static uint16_t device_by(const double *sum, uint32_t k, double u)
{
	uint32_t first = 0, end = k - 1;
	bool none = u >= sum[end];
	while (first < end) {
		uint32_t i = (first + end) / 2;
		if (none ? sum[i] >= sum[k - 1] : sum[i] > u)
			end = i;
		else
			first = i + 1;
	}
	return (uint16_t)first;
}

void sample_by_sums(const double *sum, uint32_t n_groups, uint32_t k, const struct rng_addr *rng,
		    uint16_t *action)
{
	for (uint32_t g = 0; g < n_groups; g++)
		action[g] = device_by(sum + (size_t)g * k, k, rng_uniform(rng, g));
}

void most_probable_actions(const float *logp, uint32_t n_groups, uint32_t k, uint16_t *action)
{
	for (uint32_t g = 0; g < n_groups; g++, logp += k) {
		action[g] = 0;
		for (uint32_t i = 1; i < k; i++)
			if (logp[i] > logp[action[g]])
				action[g] = (uint16_t)i;
	}
}
