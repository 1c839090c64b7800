/* necks.c - a run that differs from a kept one in a few tasks ends where it comes back to its way.
 *
 * At a neck one task alone is going on, nothing is being copied, and what has been made is wherever it
 * is read.  With the same tasks ended, none of those left on another device and as much memory in use, all
 * that follows is as it was: the clock has begun anew, so that even the rounding of times is. */
#include <string.h>

#include "base/rng.h"
#include "sched/engine.h"

/* Sums of 64 random bits a task: two sets have the same by a chance of 2^-64. */
static void draw_marks(struct engine *e)
{
	const struct rng_addr a = {.stream = RNG_SEARCH};
	uint32_t bits[4];

	for (uint32_t p = 0; p < e->d->n; p++) {
		rng_block(&a, p, bits);
		e->kept.mark[p] = (uint64_t)bits[0] << 32 | bits[1];
	}
}

void necks_init(struct engine *e)
{
	struct kept *x = &e->kept;
	size_t n = e->d->n, k = e->k;

	x->mark = MEM_NEWN(uint64_t, n);
	x->neck = MEM_NEWN(struct neck, n);
	x->necks_before = MEM_NEWN(uint32_t, x->most);
	x->neck_of = MEM_NEWN(uint32_t, n);
	x->ended_by = MEM_NEWN(uint32_t, n);
	x->neck_live = MEM_NEWN(uint64_t, n * k);
	x->peak = MEM_NEWN(uint64_t, (n + 1) * k);
	x->peak_to = MEM_NEWN(uint64_t, (n + 1) * k);
	x->peak_from = MEM_NEWN(uint64_t, (n + 1) * k);
	draw_marks(e);
}

void necks_release(struct engine *e)
{
	struct kept *x = &e->kept;
	void *owned[] = {x->mark,      x->neck, x->necks_before, x->neck_of,  x->ended_by,
			 x->neck_live, x->peak, x->peak_to,      x->peak_from};

	for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
		mem_free(owned[i]);
}

void necks_begin(struct engine *e, uint32_t n)
{
	e->kept.n_necks = n;
}

/* The peaks since the last neck are noted, and others begin. */
static void end_peaks(struct engine *e)
{
	size_t bytes = e->k * sizeof(*e->peak);

	memcpy(e->kept.peak + (size_t)e->kept.n_necks * e->k, e->peak, bytes);
	memset(e->peak, 0, bytes);
}

void necks_add(struct engine *e, uint32_t pos, double s)
{
	struct kept *x = &e->kept;
	uint32_t i = x->n_necks;

	end_peaks(e);
	memcpy(x->neck_live + (size_t)i * e->k, e->live, e->k * sizeof(*e->live));
	x->neck[i] = (struct neck){s, e->now->ended, e->now->copied_bytes, e->now->n_copies, pos};
	x->neck_of[pos] = i;
	x->n_necks++;
}

void necks_end(struct engine *e)
{
	struct kept *x = &e->kept;
	size_t k = e->k, n = x->n_necks;

	end_peaks(e);
	x->total = *e->now;
	for (size_t i = 0; i < (n + 1) * k; i++) {
		uint64_t before = i < k ? 0 : x->peak_to[i - k];

		x->peak_to[i] = x->peak[i] > before ? x->peak[i] : before;
	}
	for (size_t i = (n + 1) * k; i-- > 0;) {
		uint64_t after = i < n * k ? x->peak_from[i + k] : 0;

		x->peak_from[i] = x->peak[i] > after ? x->peak[i] : after;
	}
	memcpy(e->peak, x->peak_from, k * sizeof(*e->peak));
}

void necks_resume(struct engine *e, uint32_t state)
{
	const struct kept *x = &e->kept;
	uint32_t n = x->necks_before[state];

	for (uint32_t i = 0; n > 0 && i < e->k; i++) {
		uint64_t before = x->peak_to[(size_t)(n - 1) * e->k + i];

		e->peak[i] = before > e->peak[i] ? before : e->peak[i];
	}
}

/* Is all that differs from the kept run over at its i-th neck, at which the task at pos goes on? */
static bool others_ended(const struct engine *e, uint32_t i, uint32_t pos)
{
	const struct kept *x = &e->kept;

	for (uint32_t j = 0; j < x->n_patches; j++) {
		const struct patch *p = &x->patch[j];

		if (p->pos == pos ? p->dev != e->dev[pos] : x->ended_by[p->pos] > i)
			return false;
	}
	return true;
}

bool necks_rejoin(struct engine *e, uint32_t pos, double s)
{
	const struct kept *x = &e->kept;
	uint32_t i = x->neck_of[pos];
	struct moment *now = e->now;

	if (i >= x->n_necks || x->neck[i].pos != pos || x->neck[i].ended != now->ended ||
	    !others_ended(e, i, pos) ||
	    memcmp(x->neck_live + (size_t)i * e->k, e->live, e->k * sizeof(*e->live)) != 0)
		return false;
	now->n_copies += x->total.n_copies - x->neck[i].n_copies;
	now->copied_bytes += x->total.copied_bytes - x->neck[i].copied_bytes;
	for (uint32_t d = 0; d < e->k; d++) {
		uint64_t after = x->peak_from[(size_t)(i + 1) * e->k + d];

		e->peak[d] = after > e->peak[d] ? after : e->peak[d];
	}
	for (now->base_s += s; ++i < x->n_necks;)
		now->base_s += x->neck[i].s;
	now->makespan_s = x->total.makespan_s;
	return true;
}
