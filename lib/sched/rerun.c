/* rerun.c - a run of a placement that differs from the base in a few tasks begins at a checkpoint;
 * checkpoints.h says how and why the result is exact. */
#include <math.h>
#include <string.h>

#include "sched/event_loop.h"
#include "sched/rerun.h"
#include "sched/run_setup.h"

/* A task that waits for nothing is ready on another device. */
static void move_root(struct engine *e, uint32_t p, uint32_t from, uint32_t to)
{
	uint64_t *word = &e->ready_bits[from * READY_WORDS + p / 64];

	*word &= ~(UINT64_C(1) << p % 64);
	if (!*word)
		e->top[from] &= ~(UINT64_C(1) << p / 64);
	if (!e->top[from])
		e->waiting[0] &= ~(UINT64_C(1) << from * (e->k + 1));
	e->ready_bits[to * READY_WORDS + p / 64] |= UINT64_C(1) << p % 64;
	e->top[to] |= UINT64_C(1) << p / 64;
	e->waiting[0] |= UINT64_C(1) << to * (e->k + 1);
}

/* The last checkpoint before the device of p matters: before the end of the first task that it
 * reads from. */
static uint32_t checkpoint_before(const struct engine *e, uint32_t p)
{
	uint32_t from = e->n_in[p] ? e->checkpoints.n - 1 : 0;

	for (uint32_t i = 0; i < e->n_in[p]; i++) {
		uint32_t maker = e->tensor[short_list_item(e, &e->task[p].in, i)].maker;

		from = e->checkpoints.before_end[maker] < from ? e->checkpoints.before_end[maker]
							       : from;
	}
	return from;
}

/* Give the tasks their devices and costs, note in `changed` what they have in the base, and find
 * the checkpoint to begin at. */
static enum timeline_status apply_changes(struct engine *e, const uint16_t *device,
					  const uint32_t *task, uint32_t n)
{
	struct checkpoints *x = &e->checkpoints;
	enum timeline_status status = TIMELINE_OK;

	x->from = x->n - 1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = task[i], p = e->ready.pos[v], dev = device[v], from;
		double s = e->c->task_s[(size_t)v * e->k + dev];

		x->changed[x->n_changed++] = (struct changed_task){p, e->dev[p], e->cost_s[p]};
		if (s < 0 && status == TIMELINE_OK) {
			status = TIMELINE_CANNOT_RUN;
			e->t->bad_task = v;
			e->t->bad_dev = dev;
		}
		if (x->max && (dev != e->dev[p] || s != e->cost_s[p])) {
			from = dev != e->dev[p] ? checkpoint_before(e, p) : x->before_start[p];
			x->from = from < x->from ? from : x->from;
		}
		e->dev[p] = (uint16_t)dev;
		e->cost_s[p] = s;
	}
	for (uint32_t i = 0; status == TIMELINE_OK && i < n; i++)
		if (!engine_can_reach(e, e->ready.pos[task[i]]))
			status = TIMELINE_NO_LINK;
	return status;
}

/* Move changed tasks in a state, of which `missing` is what e->missing is in the engine's.  Nothing
 * that they read has been made yet, so that all of it is missing on the new device. */
static void relocate_changed(const struct engine *e, uint16_t *missing)
{
	for (uint32_t i = 0; i < e->checkpoints.n_changed; i++) {
		uint32_t p = e->checkpoints.changed[i].pos;

		if (e->checkpoints.changed[i].dev == e->dev[p])
			continue;
		missing[p * e->k + e->checkpoints.changed[i].dev] = UINT16_MAX;
		missing[p * e->k + e->dev[p]] = (uint16_t)e->n_in[p];
	}
}

/* The engine's state becomes that of the checkpoint to begin at, with changed tasks where they are
 * now. */
static void restore_checkpoint(struct engine *e)
{
	struct checkpoints *x = &e->checkpoints;

	memcpy(e->state, x->state + x->from * e->state_bytes, e->state_bytes);
	relocate_changed(e, e->missing);
	for (uint32_t i = 0; i < x->n_changed; i++) {
		uint32_t p = x->changed[i].pos;

		if (e->n_in[p] == 0 && x->changed[i].dev != e->dev[p])
			move_root(e, p, x->changed[i].dev, e->dev[p]);
	}
}

enum timeline_status engine_rerun(struct engine *e, const uint16_t *device, const uint32_t *task,
				  uint32_t n, double limit_s)
{
	struct checkpoints *x = &e->checkpoints;

	while (x->n_changed > 0) {
		const struct changed_task *p = &x->changed[--x->n_changed];

		e->dev[p->pos] = p->dev;
		e->cost_s[p->pos] = p->cost_s;
	}
	enum timeline_status status = apply_changes(e, device, task, n);
	if (status != TIMELINE_OK)
		return status;
	engine_busy(e);
	if (x->max) {
		restore_checkpoint(e);
		syncpoints_resume(e, x->from);
	} else {
		engine_reset(e, device);
	}
	/* The bounds add up in other orders than the run does. */
	x->limit_s = limit_s + 1e-9 * fabs(limit_s);
	x->above = false;
	engine_continue(e, ENGINE_LIMIT);
	engine_results(e);
	x->above |= e->t->makespan_s > x->limit_s;
	return x->above ? TIMELINE_ABOVE : TIMELINE_OK;
}

void engine_rebase(struct engine *e)
{
	struct checkpoints *x = &e->checkpoints;

	if (!x->max) {
		x->n_changed = 0;
		return;
	}
	restore_checkpoint(e);
	for (uint32_t i = 0; i < x->from; i++)
		relocate_changed(e, (uint16_t *)(void *)(x->state + i * e->state_bytes +
							 ((char *)e->missing - (char *)e->state)));
	x->n_changed = 0;
	/* This checkpoint is taken again, as the state is now; those before it stay. */
	x->n = x->from;
	syncpoints_begin(e, x->sync_before_state[x->from]);
	engine_continue(e, ENGINE_CHECKPOINT);
	syncpoints_end(e);
}
