/* syncpoint.c - a rerun ends at a sync point of the base from which on all is the same;
 * checkpoints.h says why it is. */
#include <string.h>

#include "base/rng.h"
#include "sched/engine.h"

/* 64 random bits a task: two sets of tasks have the same sum with a chance of 2^-64. */
static void draw_marks(struct engine *e)
{
	const struct rng_addr a = {.stream = RNG_SEARCH};
	uint32_t bits[4];

	for (uint32_t p = 0; p < e->d->n; p++) {
		rng_block(&a, p, bits);
		e->checkpoints.mark[p] = (uint64_t)bits[0] << 32 | bits[1];
	}
}

void syncpoints_init(struct engine *e)
{
	struct checkpoints *x = &e->checkpoints;
	size_t n = e->d->n, k = e->k;

	x->mark = MEM_NEWN(uint64_t, n);
	x->sync = MEM_NEWN(struct sync_point, n);
	x->sync_before_state = MEM_NEWN(uint32_t, x->max);
	x->sync_of = MEM_NEWN(uint32_t, n);
	x->sync_before_end = MEM_NEWN(uint32_t, n);
	x->sync_live = MEM_NEWN(uint64_t, n * k);
	x->peak_of = MEM_NEWN(uint64_t, (n + 1) * k);
	x->peak_to = MEM_NEWN(uint64_t, (n + 1) * k);
	x->peak_from = MEM_NEWN(uint64_t, (n + 1) * k);
	draw_marks(e);
}

void syncpoints_release(struct engine *e)
{
	struct checkpoints *x = &e->checkpoints;
	void *owned[] = {
		x->mark,      x->sync,    x->sync_before_state, x->sync_of,  x->sync_before_end,
		x->sync_live, x->peak_of, x->peak_to,           x->peak_from};

	for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
		mem_free(owned[i]);
}

void syncpoints_begin(struct engine *e, uint32_t n)
{
	e->checkpoints.n_sync = n;
}

/* Note the peaks since the last sync point, and begin others. */
static void end_peaks(struct engine *e)
{
	size_t bytes = e->k * sizeof(*e->peak);

	memcpy(e->checkpoints.peak_of + (size_t)e->checkpoints.n_sync * e->k, e->peak, bytes);
	memset(e->peak, 0, bytes);
}

void syncpoints_add(struct engine *e, uint32_t pos, double s)
{
	struct checkpoints *x = &e->checkpoints;
	uint32_t i = x->n_sync;

	end_peaks(e);
	memcpy(x->sync_live + (size_t)i * e->k, e->live, e->k * sizeof(*e->live));
	x->sync[i] = (struct sync_point){s, e->now->ended_marks, e->now->copied_bytes,
					 e->now->n_copies, pos};
	x->sync_of[pos] = i;
	x->n_sync++;
}

void syncpoints_end(struct engine *e)
{
	struct checkpoints *x = &e->checkpoints;
	size_t k = e->k, n = x->n_sync;

	end_peaks(e);
	x->total = *e->now;
	for (size_t i = 0; i < (n + 1) * k; i++) {
		uint64_t before = i < k ? 0 : x->peak_to[i - k];

		x->peak_to[i] = x->peak_of[i] > before ? x->peak_of[i] : before;
	}
	for (size_t i = (n + 1) * k; i-- > 0;) {
		uint64_t after = i < n * k ? x->peak_from[i + k] : 0;

		x->peak_from[i] = x->peak_of[i] > after ? x->peak_of[i] : after;
	}
	memcpy(e->peak, x->peak_from, k * sizeof(*e->peak));
}

void syncpoints_resume(struct engine *e, uint32_t state)
{
	const struct checkpoints *x = &e->checkpoints;
	uint32_t n = x->sync_before_state[state];

	for (uint32_t i = 0; n > 0 && i < e->k; i++) {
		uint64_t before = x->peak_to[(size_t)(n - 1) * e->k + i];

		e->peak[i] = before > e->peak[i] ? before : e->peak[i];
	}
}

/* Have all changed tasks ended in the base before its sync point i, but for the task at pos, which
 * runs on the same device? */
static bool others_ended(const struct engine *e, uint32_t i, uint32_t pos)
{
	const struct checkpoints *x = &e->checkpoints;

	for (uint32_t j = 0; j < x->n_changed; j++) {
		const struct changed_task *p = &x->changed[j];

		if (p->pos == pos ? p->dev != e->dev[pos] : x->sync_before_end[p->pos] > i)
			return false;
	}
	return true;
}

bool syncpoints_rejoin(struct engine *e, uint32_t pos, double s)
{
	const struct checkpoints *x = &e->checkpoints;
	uint32_t i = x->sync_of[pos];
	struct run_progress *now = e->now;

	if (i >= x->n_sync || x->sync[i].pos != pos || x->sync[i].ended_marks != now->ended_marks ||
	    !others_ended(e, i, pos) ||
	    memcmp(x->sync_live + (size_t)i * e->k, e->live, e->k * sizeof(*e->live)) != 0)
		return false;
	now->n_copies += x->total.n_copies - x->sync[i].n_copies;
	now->copied_bytes += x->total.copied_bytes - x->sync[i].copied_bytes;
	for (uint32_t d = 0; d < e->k; d++) {
		uint64_t after = x->peak_from[(size_t)(i + 1) * e->k + d];

		e->peak[d] = after > e->peak[d] ? after : e->peak[d];
	}
	for (now->base_s += s; ++i < x->n_sync;)
		now->base_s += x->sync[i].s;
	now->makespan_s = x->total.makespan_s;
	return true;
}
