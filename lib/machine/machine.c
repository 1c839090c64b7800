/* machine.c - runs on a machine that is played. */
#include "machine/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/disturbance.h"
#include "machine/draw.h"
#include "machine/truth.h"
#include "sched/timeline.h"

struct machine {
	struct machine_spec spec;
	const struct place_model *profiled;
	struct place_model m; /* true costs */
	struct arena *arena;
	struct evaluator *ev;    /* of m: is it legal, what does it hold */
	struct timeliner *clock; /* follows the ranks of profiled times */
	struct sched_costs costs;
	double *task_s;        /* (tasks,k) of this run */
	uint16_t *task_device; /* (tasks) */
	uint32_t *order;       /* (tasks) by start, for wake-ups */
	double *factor, *ones; /* (k) */
	struct disturbance *disturbance;
	double now_s;
	uint64_t n_placed, last; /* the number of what ran last; 0: nothing yet */
};

struct machine *machine_new(const struct machine_spec *s, const struct place_model *m)
{
	struct machine *x = MEM_NEW(struct machine);
	size_t n = m->tasks.dag.n, cells = n * m->k;
	x->spec = *s;
	x->profiled = m;
	x->arena = arena_new();
	truth_model(s, m, x->arena, &x->m);
	x->ev = evaluator_new(&x->m);
	x->task_s = MEM_NEWN(double, cells + 1);
	if (cells)
		memcpy(x->task_s, m->costs.task_s, cells * sizeof *x->task_s);
	x->costs = x->m.costs;
	x->costs.task_s = x->task_s;
	x->clock = timeliner_new(&m->tasks.dag, &x->costs, true);
	x->task_device = MEM_NEWN(uint16_t, n + 1);
	x->order = MEM_NEWN(uint32_t, n + 1);
	x->factor = MEM_NEWN(double, m->k + 1);
	x->ones = MEM_NEWN(double, m->k + 1);
	for (uint32_t d = 0; d < m->k; d++)
		x->ones[d] = 1;
	x->disturbance = disturbance_new(s, m->k, m->costs.turns);
	return x;
}

void machine_free(struct machine *x)
{
	if (!x)
		return;
	timeliner_free(x->clock);
	evaluator_free(x->ev);
	disturbance_free(x->disturbance);
	mem_free(x->task_s);
	mem_free(x->task_device);
	mem_free(x->order);
	mem_free(x->factor);
	mem_free(x->ones);
	arena_free(x->arena);
	mem_free(x);
}

double machine_clock_s(const struct machine *x)
{
	return x->now_s;
}

void machine_set_clock(struct machine *x, double s)
{
	x->now_s = s;
}

/* ---- one run, noise aside ---- */

static bool reads_a_copy(const struct machine *x, uint32_t t)
{
	const struct sched_dag *d = &x->m.tasks.dag;
	for (uint32_t i = d->in_ptr[t]; i < d->in_ptr[t + 1]; i++) {
		uint32_t from = d->tensor_task[d->use_tensor[d->in_use[i]]];
		if (x->task_device[from] != x->task_device[t])
			return true;
	}
	return false;
}

/* What each task takes where it is, with devices slowed down by factor (k). */
static void set_times(struct machine *x, const uint16_t *device, const double *factor)
{
	const struct place_model *m = &x->m;
	for (uint32_t t = 0; t < m->tasks.dag.n; t++)
		x->task_device[t] = device[m->tasks.task_set[t]];
	for (uint32_t t = 0; t < m->tasks.dag.n; t++) {
		uint16_t d = x->task_device[t];
		double s = place_task_s(m, t, d, x->task_device);
		if (x->spec.handover_s > 0 && reads_a_copy(x, t))
			s += x->spec.handover_s;
		x->task_s[(size_t)t * m->k + d] = s * factor[d];
	}
}

static int by_start(const void *pa, const void *pb, void *arg)
{
	const uint32_t *a = pa, *b = pb;
	const struct timeline *t = arg;
	double x = t->start_s[*a], y = t->start_s[*b];
	if (x != y)
		return x < y ? -1 : 1;
	return (*a > *b) - (*a < *b);
}

/* Tasks whose device was idle before them take longer; false: there are none. */
static bool add_wakes(struct machine *x, const struct timeline *t, const double *factor)
{
	uint32_t n = x->m.tasks.dag.n, k = x->m.k;
	double *end_s = MEM_NEWN(double, k);
	bool any = false;
	for (uint32_t i = 0; i < n; i++)
		x->order[i] = i;
	if (n)
		qsort_r(x->order, n, sizeof *x->order, by_start, (void *)t);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = x->order[i], d = x->task_device[v];
		if (t->start_s[v] - end_s[d] > x->spec.wake_after_s) {
			x->task_s[(size_t)v * k + d] += x->spec.wake_s * factor[d];
			any = true;
		}
		end_s[d] = fmax(end_s[d], t->end_s[v]);
	}
	mem_free(end_s);
	return any;
}

/* The schedule of x->task_device, in the order kept, or (NULL, or without ranks) by profiled times. */
static enum timeline_status follow(struct machine *x, const struct kept_order *kept,
				   const struct timeline **t)
{
	return kept && kept->rank
		       ? timeline_run_in(x->clock, x->task_device, kept->rank, kept->delayed_by, t)
		       : timeline_run(x->clock, x->task_device, t);
}

/* Seconds of a legal placement; pool_s: what the memory that devices share takes at least. */
static double schedule_s(struct machine *x, const uint16_t *device, const struct kept_order *kept,
			 const double *factor, double pool_s, const struct timeline **t)
{
	set_times(x, device, factor);
	enum timeline_status status = follow(x, kept, t);
	if (status == TIMELINE_OK && x->spec.wake_s > 0 && add_wakes(x, *t, factor))
		status = follow(x, kept, t);
	return status == TIMELINE_OK
		       ? fmax(pool_s, place_latency_s(&x->m, (*t)->makespan_s, (*t)->busy_s))
		       : 0;
}

/* ---- placements ---- */

void machine_place(struct machine *x, const uint16_t *device, const uint32_t *order,
		   uint32_t n_order, struct arena *a, struct machine_placement *out)
{
	const struct timeline *t;
	uint32_t k = x->m.k;
	*out = (struct machine_placement){.x = x, .device = device, .number = ++x->n_placed};
	if (order) {
		out->kept = kept_order_new(&x->m, a);
		place_order_of(&x->m, order, n_order, device, &out->kept);
	}
	const struct place_result *r = order ? place_evaluate_in(x->ev, device, &out->kept)
					     : place_evaluate(x->ev, device);
	out->status = r->status;
	out->mem_bytes = ARENA_NEWN(a, uint64_t, k);
	out->busy_s = ARENA_NEWN(a, double, k);
	if (r->status != PLACE_OK) {
		place_reason(x->ev, r, out->why, sizeof out->why);
		return;
	}
	memcpy(out->mem_bytes, r->mem_bytes, k * sizeof *out->mem_bytes);
	out->copies = r->copies;
	out->copy_bytes = r->copy_bytes;
	out->pool_s = r->pool_s;
	out->true_s = schedule_s(x, device, &out->kept, x->ones, out->pool_s, &t);
	memcpy(out->busy_s, t->busy_s, k * sizeof *out->busy_s);
}

static double now_s(void *arg)
{
	return machine_clock_s(((struct machine_placement *)arg)->x);
}

static enum run_status run(void *arg, struct run_sample *out, struct err *e)
{
	struct machine_placement *p = arg;
	struct machine *x = p->x;
	const struct timeline *t;
	(void)e;
	if (!p->prepared)
		x->now_s += x->spec.prepare_s;
	p->prepared = true;
	disturbance_factors(x->disturbance, x->now_s, p->true_s, x->factor);
	double s = schedule_s(x, p->device, &p->kept, x->factor, p->pool_s, &t);
	/* A clock of centuries stands still: noise may be a factor of 1e40. */
	uint64_t ns = x->now_s < 1e10 ? (uint64_t)(x->now_s * 1e9) : UINT64_MAX;
	struct rng_addr at = machine_addr(machine_happenings_seed(&x->spec), DRAW_NOISE,
					  (uint32_t)(ns >> 32), (uint32_t)ns);
	if (x->last != p->number)
		s *= 1 + x->spec.cold;
	if (x->spec.noise > 0)
		s *= exp(x->spec.noise * rng_normal(&at, 0));
	s = fmax(s, 1e-9);
	x->last = p->number;
	x->now_s += s;
	out->lat_s = s;
	if (out->busy_s)
		memcpy(out->busy_s, t->busy_s, x->m.k * sizeof *out->busy_s);
	return RUN_OK;
}

struct runnable machine_runnable(struct machine_placement *p)
{
	return (struct runnable){.arg = p, .run = run, .now_s = now_s};
}

int machine_best_single(struct machine *x, double *true_s)
{
	uint16_t *all = MEM_NEWN(uint16_t, x->m.n_sets + 1);
	const struct timeline *t;
	int best = -1;
	for (uint32_t d = 0; d < x->m.k; d++) {
		for (uint32_t i = 0; i < x->m.n_sets; i++)
			all[i] = (uint16_t)d;
		const struct place_result *r = place_evaluate(x->ev, all);
		if (r->status != PLACE_OK)
			continue;
		double s = schedule_s(x, all, NULL, x->ones, r->pool_s, &t);
		if (best < 0 || s < *true_s) {
			best = (int)d;
			*true_s = s;
		}
	}
	mem_free(all);
	return best;
}
