/* incumbent.c - the prior of the policy around the best placement so far. */
#include "learn/train/incumbent.h"
#include "base/mem.h"

#include <math.h>
#include <string.h>

void incumbent_home(const uint16_t *device, uint32_t n, const uint32_t *group, uint32_t n_groups,
		    uint32_t k, const uint8_t *group_mask, uint16_t *home)
{
	uint32_t *count = MEM_NEWN(uint32_t, (size_t)n_groups * k);
	for (uint32_t i = 0; i < n; i++)
		count[(size_t)group[i] * k + device[i]]++;
	for (uint32_t g = 0; g < n_groups; g++) {
		const uint32_t *c = count + (size_t)g * k;
		const uint8_t *mask = group_mask ? group_mask + (size_t)g * k : NULL;
		int best = -1;
		for (uint32_t d = 0; d < k; d++)
			if ((!mask || mask[d]) && (best < 0 || c[d] > c[best]))
				best = (int)d;
		home[g] = (uint16_t)best;
	}
	mem_free(count);
}

/* With p_g the probability of group g's home before stay is added to its logit:
 *
 *   E[groups that leave] = sum_g (1 - p_g) e^-stay / (p_g + (1 - p_g) e^-stay) */
static double expected_leaves(const float *logp, uint32_t n_groups, uint32_t k,
			      const uint16_t *home, double stay)
{
	double sum = 0, e = exp(-stay);
	for (uint32_t g = 0; g < n_groups; g++) {
		double p = exp((double)logp[(size_t)g * k + home[g]]), away = (1 - p) * e;
		if (away > 0)
			sum += away / (p + away);
	}
	return sum;
}

double incumbent_stay(const float *logp, uint32_t n_groups, uint32_t k, const uint16_t *home,
		      double leaves)
{
	/* expected_leaves falls with stay: bisection; e^20 is one in a billion. */
	double lo = -20, hi = 20;
	for (int i = 0; i < 50; i++) {
		double mid = (lo + hi) / 2;
		if (expected_leaves(logp, n_groups, k, home, mid) > leaves)
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}

void incumbent_bias(const uint16_t *home, uint32_t n_groups, uint32_t k, double stay, float *bias)
{
	memset(bias, 0, (size_t)n_groups * k * sizeof *bias);
	for (uint32_t g = 0; g < n_groups; g++)
		bias[(size_t)g * k + home[g]] = (float)stay;
}

void incumbent_apply(const uint16_t *device, uint32_t n, const uint32_t *group,
		     const uint16_t *home, const uint16_t *action, uint16_t *out)
{
	for (uint32_t i = 0; i < n; i++)
		out[i] = action[group[i]] == home[group[i]] ? device[i] : action[group[i]];
}
