/* random.c - random placements, distinct ones as a method. */
#include <math.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/pairmap.h"
#include "base/rng.h"
#include "place/heuristic/random.h"
#include "place/method/method.h"

/* Low bits of the random stream, one per purpose. */
enum { DRAW_BIAS = 1, DRAW_DEVICE };
enum { MAX_REPEATS = 1000 };

/* A device by cumulated weights, of those that are allowed (k); of all when none is. */
static uint16_t draw_device(const bool *allowed, uint32_t k, const double *weight, double u)
{
	double total = 0, upto = 0;
	uint16_t last = 0;
	bool any = false;

	for (uint32_t d = 0; d < k; d++)
		any |= allowed[d];
	for (uint32_t d = 0; d < k; d++)
		if (!any || allowed[d])
			total += weight[d];
	for (uint32_t d = 0; d < k; d++) {
		if (any && !allowed[d])
			continue;
		last = (uint16_t)d;
		upto += weight[d];
		if (u * total < upto)
			break;
	}
	return last;
}

void random_placement(const struct place_model *m, uint64_t seed, uint32_t index, bool biased,
		      uint16_t *device)
{
	struct rng_addr bias = {seed, 0, index, RNG_SEARCH + DRAW_BIAS};
	struct rng_addr draw = {seed, 0, index, RNG_SEARCH + DRAW_DEVICE};
	double *weight = MEM_NEWN(double, m->k);
	bool *allowed = MEM_NEWN(bool, (size_t)m->n_sets * m->k);

	place_allowed_together(m, allowed);
	for (uint32_t d = 0; d < m->k; d++)
		weight[d] = biased ? -log(1 - rng_uniform(&bias, d)) : 1;
	for (uint32_t v = 0; v < m->n_sets; v++)
		device[v] = m->together && m->together[v] != v
				    ? device[m->together[v]]
				    : draw_device(allowed + (size_t)v * m->k, m->k, weight,
						  rng_uniform(&draw, v));
	mem_free(weight);
	mem_free(allowed);
}

/* Was this placement handed over before?  Placements are remembered by their hashes. */
static bool seen_before(const struct method_run *r, struct pairmap *seen)
{
	uint64_t h = hash_u16(r->device, r->m->n_sets);

	if (pairmap_get(seen, h, 0))
		return true;
	pairmap_put(seen, h, 0, 1);
	return false;
}

static int run_random(struct method_run *r, struct err *e)
{
	uint32_t found = 0, repeats = 0;
	struct pairmap seen = {0};
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && found < r->samples && repeats < MAX_REPEATS; i++) {
		bool biased = r->draw == DRAW_BIASED || (r->draw == DRAW_MIXED && i % 2 == 0);

		random_placement(r->m, r->seed, i, biased, r->device);
		if (seen_before(r, &seen)) {
			repeats++;
			continue;
		}
		repeats = 0;
		found++;
		rc = r->emit(r, e);
	}
	pairmap_release(&seen);
	snprintf(r->note, sizeof(r->note), "%u distinct placements", found);
	return rc;
}

const struct place_method method_random = {
	.name = "random",
	.about = "distinct random placements (-n)",
	.source = "-",
	.run = run_random,
};
