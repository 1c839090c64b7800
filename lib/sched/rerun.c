/* rerun.c - a run of a placement that differs from another in a few tasks: from the last state that
 * was kept before the first of them, or what it reads, could matter, until it is above a limit. */
#include <math.h>
#include <string.h>

#include "sched/engine.h"

enum { STATES = 24 };

void kept_release(struct engine *e)
{
	mem_free(e->kept.state);
	mem_free(e->kept.begun);
	mem_free(e->kept.ended);
	mem_free(e->kept.tail_s);
	mem_free(e->kept.patch);
	necks_release(e);
}

/* Devices on which a task can run by ascending with_s (k), what it and all after it take there at
 * least; how many. */
static uint32_t ascending(const double *with_s, uint32_t k, uint32_t *device)
{
	uint32_t n = 0;

	for (uint32_t d = 0; d < k; d++) {
		uint32_t i = n;

		if (with_s[d] == INFINITY)
			continue;
		for (n++; i > 0 && with_s[device[i - 1]] > with_s[d]; i--)
			device[i] = device[i - 1];
		device[i] = d;
	}
	return n;
}

/* The least of with_s and a copy of this size from dev; devices ascending. */
static double least_after(const struct sched_links *l, const double *with_s, const uint32_t *device,
			  uint32_t n, uint32_t dev, uint64_t bytes)
{
	double least = with_s[dev];

	for (uint32_t i = 0; i < n && with_s[device[i]] < least; i++) {
		uint32_t to = device[i];

		if (to != dev && l->latency_s[(size_t)dev * l->k + to] >= 0)
			least = fmin(least, with_s[to] + sched_copy_s(l, dev, to, bytes));
	}
	return least;
}

/* The least that comes after a task on each device: for each reader of what it makes the best
 * device, with the copy to it and what comes after the reader there.  (The optimistic cost table
 * of PEFT: Arabnejad and Barbosa 2014, equation 3, with copies as they are on each link.) */
static void find_tails(struct engine *e)
{
	const struct sched_dag *d = e->d;
	const double *least_s = e->c->least_s ? e->c->least_s : e->c->task_s;
	uint32_t k = e->k, *device = MEM_NEWN(uint32_t, k);
	double *with_s = MEM_NEWN(double, k);

	/* Readers tell makers; all of v's own readers have. */
	for (uint32_t v = d->n; v-- > 0;) {
		const double *own = &e->kept.tail_s[(size_t)e->ready.pos[v] * k];

		for (uint32_t dev = 0; dev < k; dev++) {
			double s = least_s[(size_t)v * k + dev];

			with_s[dev] = s < 0 ? INFINITY : s + own[dev];
		}
		uint32_t n = d->in_ptr[v] < d->in_ptr[v + 1] ? ascending(with_s, k, device) : 0;

		for (uint32_t i = d->in_ptr[v]; i < d->in_ptr[v + 1]; i++) {
			uint32_t t = d->use_tensor[d->in_use[i]];
			double *tail = &e->kept.tail_s[(size_t)e->ready.pos[d->tensor_task[t]] * k];

			for (uint32_t dev = 0; dev < k; dev++)
				tail[dev] =
					fmax(tail[dev], least_after(&e->c->links, with_s, device, n,
								    dev, d->tensor_bytes[t]));
		}
	}
	mem_free(device);
	mem_free(with_s);
}

void kept_begin(struct engine *e)
{
	struct kept *x = &e->kept;
	uint32_t n = e->d->n;

	if (!x->tail_s) {
		x->tail_s = MEM_NEWN(double, (size_t)n * e->k);
		x->patch = MEM_NEWN(struct patch, n);
		find_tails(e);
	}
	if (!x->most && e->common) {
		x->most = STATES;
		x->every = n / STATES + 1;
		x->state = mem_alloc(STATES, e->state_bytes);
		x->begun = MEM_NEWN(uint32_t, n);
		x->ended = MEM_NEWN(uint32_t, n);
		necks_init(e);
	}
	x->n = x->most ? 0 : 1;
	x->n_patches = x->from = 0;
	necks_begin(e, 0);
}

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

/* The last state from which the device of p does not matter yet: before the end of the first task
 * that it reads from. */
static uint32_t state_before(const struct engine *e, uint32_t p)
{
	uint32_t from = e->n_in[p] ? e->kept.n - 1 : 0;

	for (uint32_t i = 0; i < e->n_in[p]; i++) {
		uint32_t maker = e->tensor[list_item(e, &e->task[p].in, i)].maker;

		from = e->kept.ended[maker] < from ? e->kept.ended[maker] : from;
	}
	return from;
}

/* Give the tasks their devices and costs; what they were is kept. */
static enum timeline_status patch(struct engine *e, const uint16_t *device, const uint32_t *task,
				  uint32_t n)
{
	struct kept *x = &e->kept;
	enum timeline_status status = TIMELINE_OK;

	x->from = x->n - 1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = task[i], p = e->ready.pos[v], dev = device[v], from;
		double s = e->c->task_s[(size_t)v * e->k + dev];

		x->patch[x->n_patches++] = (struct patch){p, e->dev[p], e->cost_s[p]};
		if (s < 0 && status == TIMELINE_OK) {
			status = TIMELINE_CANNOT_RUN;
			e->t->bad_task = v;
			e->t->bad_dev = dev;
		}
		if (x->most && (dev != e->dev[p] || s != e->cost_s[p])) {
			from = dev != e->dev[p] ? state_before(e, p) : x->begun[p];
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

/* Tell a state (e->missing's place in it) where tasks are now; none of them has what it reads. */
static void tell_devices(const struct engine *e, uint16_t *missing)
{
	for (uint32_t i = 0; i < e->kept.n_patches; i++) {
		uint32_t p = e->kept.patch[i].pos;

		if (e->kept.patch[i].dev == e->dev[p])
			continue;
		missing[p * e->k + e->kept.patch[i].dev] = UINT16_MAX;
		missing[p * e->k + e->dev[p]] = (uint16_t)e->n_in[p];
	}
}

/* The state to begin from. */
static void bring_back(struct engine *e)
{
	struct kept *x = &e->kept;

	memcpy(e->state, x->state + x->from * e->state_bytes, e->state_bytes);
	tell_devices(e, e->missing);
	for (uint32_t i = 0; i < x->n_patches; i++) {
		uint32_t p = x->patch[i].pos;

		if (e->n_in[p] == 0 && x->patch[i].dev != e->dev[p])
			move_root(e, p, x->patch[i].dev, e->dev[p]);
	}
}

enum timeline_status engine_again(struct engine *e, const uint16_t *device, const uint32_t *task,
				  uint32_t n, double limit_s)
{
	struct kept *x = &e->kept;

	while (x->n_patches > 0) {
		const struct patch *p = &x->patch[--x->n_patches];

		e->dev[p->pos] = p->dev;
		e->cost_s[p->pos] = p->cost_s;
	}
	enum timeline_status status = patch(e, device, task, n);
	if (status != TIMELINE_OK)
		return status;
	engine_busy(e);
	if (x->most) {
		bring_back(e);
		necks_resume(e, x->from);
	} else {
		engine_begin(e, device);
	}
	/* The bounds add up in other orders than the run does. */
	x->limit_s = limit_s + 1e-9 * fabs(limit_s);
	x->above = false;
	engine_go_on(e, ENGINE_LIMIT);
	engine_results(e);
	x->above |= e->t->makespan_s > x->limit_s;
	return x->above ? TIMELINE_ABOVE : TIMELINE_OK;
}

void engine_keep(struct engine *e)
{
	struct kept *x = &e->kept;

	if (!x->most) {
		x->n_patches = 0;
		return;
	}
	bring_back(e);
	for (uint32_t i = 0; i < x->from; i++)
		tell_devices(e, (uint16_t *)(void *)(x->state + i * e->state_bytes +
						     ((char *)e->missing - (char *)e->state)));
	x->n_patches = 0;
	/* The state that it begins from is kept again, as it is now. */
	x->n = x->from;
	necks_begin(e, x->necks_before[x->from]);
	engine_go_on(e, ENGINE_KEEP);
	necks_end(e);
}
