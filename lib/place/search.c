/* search.c - random placements and one-flip hill climbing. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "place/search.h"

/* Low bits of the random stream, one per purpose. */
enum { DRAW_BIAS = 1, DRAW_DEVICE, DRAW_ORDER };

/* A device for set v by cumulated weights; only among those that can run it. */
static uint16_t draw_device(const struct place_model *m, uint32_t v, const double *weight, double u)
{
	double total = 0, upto = 0;
	uint16_t last = 0;
	bool any = false;

	for (uint32_t d = 0; d < m->k; d++)
		any |= place_allowed(m, v, d);
	for (uint32_t d = 0; d < m->k; d++)
		if (!any || place_allowed(m, v, d))
			total += weight[d];
	for (uint32_t d = 0; d < m->k; d++) {
		if (any && !place_allowed(m, v, d))
			continue;
		last = (uint16_t)d;
		upto += weight[d];
		if (u * total < upto)
			break;
	}
	return last;
}

void search_random(const struct place_model *m, uint64_t seed, uint32_t index, bool biased,
		   uint16_t *device)
{
	struct rng_addr bias = {seed, 0, index, RNG_SEARCH + DRAW_BIAS};
	struct rng_addr draw = {seed, 0, index, RNG_SEARCH + DRAW_DEVICE};
	double *weight = MEM_NEWN(double, m->k);

	for (uint32_t d = 0; d < m->k; d++)
		weight[d] = biased ? -log(1 - rng_uniform(&bias, d)) : 1;
	for (uint32_t v = 0; v < m->n_sets; v++)
		device[v] = draw_device(m, v, weight, rng_uniform(&draw, v));
	mem_free(weight);
}

/* ---- hill climbing ---- */

/* The sets that run something, in random order (Fisher and Yates). */
static void shuffle(uint32_t *set, const struct place_model *m, uint64_t seed)
{
	struct rng_addr a = {seed, 0, 0, RNG_SEARCH + DRAW_ORDER};
	uint32_t n = m->tasks.dag.n;

	memcpy(set, m->tasks.task_set, n * sizeof(*set));
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = rng_below(&a, i, i), t = set[i - 1];

		set[i - 1] = set[j];
		set[j] = t;
	}
}

static double latency(struct evaluator *x, const uint16_t *device)
{
	const struct place_result *r = place_evaluate(x, device);

	return r->status == PLACE_OK ? r->lat_s : INFINITY;
}

/* Try set v on its other devices until one is faster; counts evaluations. */
static bool improve(struct evaluator *x, const struct place_model *m, uint32_t v, uint16_t *device,
		    uint32_t evals, uint32_t *used, double *lat_s)
{
	uint16_t was = device[v];

	for (uint32_t i = 1; i < m->k && *used < evals; i++) {
		uint32_t to = (was + i) % m->k;
		double s;

		if (!place_allowed(m, v, to))
			continue;
		device[v] = (uint16_t)to;
		s = latency(x, device);
		++*used;
		if (s < *lat_s) {
			*lat_s = s;
			return true;
		}
	}
	device[v] = was;
	return false;
}

uint32_t search_climb(struct evaluator *x, const struct place_model *m, uint64_t seed,
		      uint32_t evals, uint16_t *device, double *lat_s)
{
	uint32_t n = m->tasks.dag.n, used = 1, failed = 0;
	uint32_t *set = MEM_NEWN(uint32_t, n);

	*lat_s = latency(x, device);
	shuffle(set, m, seed);
	/* `failed` sets in a row have no better device; all of them: a local optimum. */
	for (uint32_t i = 0; used < evals && failed < n; i = (i + 1) % n)
		failed = improve(x, m, set[i], device, evals, &used, lat_s) ? 0 : failed + 1;
	mem_free(set);
	return used;
}
