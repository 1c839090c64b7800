/* drift_draws.c - draws of what is not known of devices and arms. */
#include "race/drift_draws.h"

#include <math.h>

#include "base/rng.h"

enum { LEADS = 1, DEVICES, ARMS }; /* seeds; drift_lead has the first */

/* One row, and the one after it the other way round. */
static void draw_pair(uint32_t row, uint32_t k, const bool *ran, uint32_t n, double *z)
{
	const struct rng_addr at = {DEVICES, row, 0, RNG_SEARCH};
	double mean = 0;
	for (uint32_t d = 0; d < k; d++)
		mean += ran[d] ? rng_normal(&at, d) / n : 0;
	for (uint32_t d = 0; d < k; d++) {
		z[d] = ran[d] ? rng_normal(&at, d) - mean : 0;
		z[k + d] = -z[d];
	}
}

void drift_draw_devices(uint32_t n_draws, uint32_t k, const bool *ran, double *apart)
{
	uint32_t n = 0;
	for (uint32_t d = 0; d < k; d++)
		n += ran[d];
	for (uint32_t i = 0; i < n_draws * k; i++)
		apart[i] = 0;
	for (uint32_t i = 0; i + 1 < n_draws && n > 1; i += 2)
		draw_pair(i, k, ran, n, &apart[(size_t)i * k]);
	for (uint32_t d = 0; d < k; d++) {
		double squares = 0;
		for (uint32_t i = 0; i < n_draws; i++)
			squares += apart[i * k + d] * apart[i * k + d] / n_draws;
		for (uint32_t i = 0; i < n_draws && squares > 0; i++)
			apart[i * k + d] /= sqrt(squares);
	}
}

void drift_draw_arm(uint32_t arm, uint32_t n_draws, uint32_t k, const double *share, double *wrong)
{
	for (uint32_t i = 0; i < n_draws; i++) {
		const struct rng_addr at = {ARMS, i, arm, RNG_SEARCH};
		double mean = 0, *z = &wrong[(size_t)i * k];
		for (uint32_t d = 0; d < k; d++)
			mean += share[d] > 0 ? share[d] * rng_normal(&at, d) : 0;
		for (uint32_t d = 0; d < k; d++)
			z[d] = share[d] > 0 ? share[d] * (rng_normal(&at, d) - mean) : 0;
	}
}
