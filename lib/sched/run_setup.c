/* run_setup.c - what is before and after the events of a run: a placement by position, the state
 * before anything starts, and the results. */
#include <string.h>

#include "sched/event_loop.h"
#include "sched/run_setup.h"

/* Is there a link from p to the consumers of what it makes, wherever they are? */
static bool reaches(struct engine *e, uint32_t p)
{
	for (uint32_t t = e->task[p].out; t < e->task[p].out_end; t++)
		for (uint32_t i = 0; i < e->tensor[t].n_uses; i++) {
			uint32_t dst = e->dev[short_list_item(e, &e->tensor[t].use, i)];

			if (dst != e->dev[p] &&
			    e->c->links.latency_s[(size_t)e->dev[p] * e->k + dst] < 0) {
				e->t->bad_task = e->ready.task_at[p];
				e->t->bad_dev = dst;
				return false;
			}
		}
	return true;
}

bool engine_can_reach(struct engine *e, uint32_t p)
{
	bool ok = !e->missing_links || reaches(e, p);

	for (uint32_t i = 0; ok && e->missing_links && i < e->n_in[p]; i++) {
		uint32_t t = short_list_item(e, &e->task[p].in, i);

		ok = t == e->d->n_tensors || reaches(e, e->tensor[t].maker);
	}
	return ok;
}

/* Seconds that devices compute, as four sums a device: additions do not wait for each other. */
static void busy_begin(struct engine *e)
{
	memset(e->sum_s, 0, 4 * (size_t)e->k * sizeof(*e->sum_s));
}

static inline void busy_add(struct engine *e, uint32_t p, uint32_t dev, double s)
{
	e->sum_s[(size_t)(p % 4) * e->k + dev] += s;
}

static void busy_end(struct engine *e)
{
	uint32_t k = e->k;

	for (uint32_t i = 0; i < k; i++)
		e->t->busy_s[i] = (e->sum_s[i] + e->sum_s[k + i]) +
				  (e->sum_s[2 * k + i] + e->sum_s[3 * k + i]);
}

void engine_busy(struct engine *e)
{
	busy_begin(e);
	for (uint32_t p = 0; p < e->d->n; p++)
		busy_add(e, p, e->dev[p], e->cost_s[p]);
	busy_end(e);
}

/* Note the placement by position and how long it computes; can it be carried out? */
static enum timeline_status set_placement(struct engine *e, const uint16_t *device)
{
	const double *task_s = e->c->task_s;
	bool cannot = false;
	uint32_t k = e->k;

	busy_begin(e);
	for (uint32_t p = 0; p < e->d->n; p++) {
		uint32_t v = e->ready.task_at[p], dev = device[v];
		double s = task_s[(size_t)v * k + dev];

		e->dev[p] = (uint16_t)dev;
		e->cost_s[p] = s;
		cannot |= s < 0;
		busy_add(e, p, dev, s);
	}
	busy_end(e);
	for (uint32_t p = 0; cannot && p < e->d->n; p++)
		if (e->cost_s[p] < 0) {
			e->t->bad_task = e->ready.task_at[p];
			e->t->bad_dev = e->dev[p];
			return TIMELINE_CANNOT_RUN;
		}
	for (uint32_t p = 0; e->missing_links && p < e->d->n; p++)
		if (!reaches(e, p))
			return TIMELINE_NO_LINK;
	return TIMELINE_OK;
}

/* No server does anything, nothing waits for one, and no tensor is anywhere. */
static void clear_servers(struct engine *e)
{
	size_t servers = (size_t)e->k * e->k;

	for (size_t s = 0; s < servers; s++) {
		e->end[s] = NEVER;
		e->queue[s].head = SCHED_NONE;
	}
	for (uint32_t w = 0; w < e->n_words; w++) {
		e->idle[w] = UINT64_MAX;
		e->waiting[w] = 0;
	}
	flows_clear(&e->flows);
	if (e->ports.n) {
		memset(e->ports.busy, 0, e->ports.n * sizeof(*e->ports.busy));
		memset(e->ports.waiting, 0,
		       (size_t)e->ports.n * e->ports.words * sizeof(*e->ports.waiting));
	}
	memset(e->waiting_words, 0, ((size_t)e->n_words + 63) / 64 * sizeof(*e->waiting_words));
	/* Two devices set every slot before they look at it (distribute). */
	if (e->k != 2)
		memset(e->refs, 0, (size_t)e->d->n_tensors * e->k * sizeof(*e->refs));
}

void engine_reset(struct engine *e, const uint16_t *device)
{
	*e->now = (struct run_progress){0};
	e->n_events = 0;
	if (!e->clean)
		clear_servers(e);
	e->clean = false;
	for (uint32_t i = 0; i < e->k; i++)
		e->live[i] = e->peak[i] = e->top[i] = 0;
	for (uint32_t i = 0; i < e->k; i++)
		e->begun_s[i] = 0;
	if (e->common) {
		memset(e->missing, 0xff, ((size_t)e->d->n + 1) * e->k * sizeof(*e->missing));
		for (uint32_t p = 0; p < e->d->n; p++)
			e->missing[p * e->k + e->dev[p]] = (uint16_t)e->n_in[p];
	} else {
		for (uint32_t p = 0; p < e->d->n; p++)
			e->pending[p] = (uint64_t)e->n_in[p] << 32 | e->dev[p];
		e->pending[e->d->n] = UINT32_MAX;
	}
	for (uint32_t i = 0; e->common && i < e->k; i++)
		memset(e->ready_bits + (size_t)i * READY_WORDS, 0,
		       (e->d->n + 63) / 64 * sizeof(*e->ready_bits));
	if (!e->common)
		ready_begin(&e->ready, device);
	for (uint32_t i = 0; i < e->n_roots; i++) {
		uint32_t p = e->root[i], dev = e->dev[p];

		if (!e->common) {
			ready_add_at(&e->ready, dev, p, 0);
		} else {
			e->ready_bits[dev * READY_WORDS + p / 64] |= UINT64_C(1) << p % 64;
			e->top[dev] |= UINT64_C(1) << p / 64;
		}
		uint32_t s = dev * (e->k + 1);
		e->waiting[s / 64] |= UINT64_C(1) << s % 64;
		e->waiting_words[s / 4096] |= UINT64_C(1) << s / 64 % 64;
	}
}

void engine_results(struct engine *e)
{
	struct timeline *t = e->t;

	t->makespan_s = e->now->base_s + e->now->makespan_s;
	t->n_copies = e->now->n_copies;
	t->copied_bytes = e->now->copied_bytes;
	for (uint32_t i = 0; i < e->k; i++)
		t->peak_bytes[i] = e->peak[i];
}

enum timeline_status engine_run(struct engine *e, const uint16_t *device, bool as_base)
{
	enum timeline_status status = set_placement(e, device);

	e->checkpoints.n = 0;
	if (status != TIMELINE_OK)
		return status;
	engine_reset(e, device);
	as_base = as_base && engine_can_rerun(e);
	if (as_base)
		checkpoints_begin(e);
	as_base = as_base && e->checkpoints.max;
	engine_continue(e, as_base ? ENGINE_CHECKPOINT : ENGINE_PLAIN);
	if (as_base)
		syncpoints_end(e);
	engine_results(e);
	return TIMELINE_OK;
}
