/* recall.c - what ran before a race, as its first blocks: all runs count. */
#include <math.h>

#include "base/mem.h"
#include "race/contest_impl.h"

/* The pool's burst of a block, where all of it ran; log_s[n] of contestants, NAN: it was not in the block. */
static bool take_pool(struct racers *r, struct race *race, uint32_t block, const double *log_s)
{
	double *apart = MEM_NEWN(double, (size_t)r->x->k + 1), mean = 0;
	uint32_t n = racers_pool(r);
	for (uint32_t i = 0; i < r->x->k; i++)
		mean += in_pool(r, i) ? log_s[i] / n : 0;
	for (uint32_t i = 0; i < r->x->k; i++)
		apart[i] = in_pool(r, i) ? log_s[i] - mean : 0;
	bool all = n > 0 && !isnan(mean);
	if (all) {
		race_seen(race, 0, block, mean);
		if (r->drift)
			drift_add(r->drift, block, apart);
	}
	mem_free(apart);
	return all;
}

/* Does a block say anything of the arms that there are now?  Of one by itself it does not, but for how fast a pool's devices are. */
static bool tells(const struct racers *r, const double *log_s)
{
	uint32_t n = 0;
	bool pool = r->pooled;
	for (uint32_t i = 0; i < r->x->k && pool; i++)
		pool = !in_pool(r, i) || !isnan(log_s[i]);
	for (uint32_t arm = r->pooled; arm < r->n; arm++)
		n += !isnan(log_s[r->who[arm]]);
	return n + (pool ? racers_pool(r) : 0) >= 2;
}

static void take_block(struct racers *r, struct race *race, uint32_t block, const double *log_s)
{
	bool pool = r->pooled && take_pool(r, race, block, log_s);
	for (uint32_t i = 0; i < r->x->k && pool; i++)
		if (in_pool(r, i))
			as_ran_add(&r->ran, i, block, log_s[i]);
	for (uint32_t arm = r->pooled; arm < r->n; arm++) {
		uint32_t i = r->who[arm];
		if (isnan(log_s[i]))
			continue;
		race_seen(race, arm, block, log_s[i]);
		as_ran_add(&r->ran, i, block, log_s[i]);
	}
}

/* The next block of the past, whose contestants have told up to `next` (n): into log_s (n).  False: there is none. */
static bool next_block(const struct contest *x, uint32_t *next, double *log_s)
{
	uint32_t block = UINT32_MAX;
	bool any = false;
	for (uint32_t i = 0; i < x->n; i++) {
		const struct contest_bursts *b = &x->c[i].past.bursts;
		if (next[i] == b->n)
			continue;
		any = true;
		block = b->block[next[i]] < block ? b->block[next[i]] : block;
	}
	for (uint32_t i = 0; i < x->n && any; i++) {
		const struct contest_bursts *b = &x->c[i].past.bursts;
		bool in = next[i] < b->n && b->block[next[i]] == block;
		log_s[i] = in ? log(b->lat_s[next[i]++]) : NAN;
	}
	return any;
}

/* Bursts of an earlier race; how many blocks they make. */
static uint32_t recall_race(struct racers *r, struct race *race, double *log_s)
{
	const struct contest *x = r->x;
	uint32_t *next = MEM_NEWN(uint32_t, (size_t)x->n + 1), n = 0;
	while (next_block(x, next, log_s))
		if (tells(r, log_s))
			take_block(r, race, n++, log_s);
	for (uint32_t i = 0; i < x->n && n > 0; i++)
		for (uint32_t j = 0; j < x->c[i].past.n_samples; j++)
			racers_keep(r, i, x->c[i].past.sample_s[j]);
	mem_free(next);
	return n;
}

void contest_recall(struct racers *r, struct race *race, const struct reference_rounds *rounds)
{
	const struct contest *x = r->x;
	double *log_s = MEM_NEWN(double, (size_t)x->n + 1);
	uint32_t before = recall_race(r, race, log_s);
	for (uint32_t i = rounds->k; i < x->n; i++)
		log_s[i] = NAN;
	for (uint32_t b = 0; b < rounds->n; b++) {
		for (uint32_t i = 0; i < rounds->k; i++) {
			log_s[i] = rounds->log_s[(size_t)b * rounds->k + i];
			if (!isnan(log_s[i]))
				racers_keep(r, i, exp(log_s[i]));
		}
		take_block(r, race, before + b, log_s);
	}
	mem_free(log_s);
}
