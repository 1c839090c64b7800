/* refine.c - hill climbing from a placement, on the schedules that devrun keeps to (sched/order.h).
 * A move brings a task, or a connected patch of tasks of one device, to the device of a neighbour,
 * each with those that share its device; it stays when the makespan is no longer, work and copies
 * on the way are no more, and no device needs more memory than it has. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "place/heuristic/heft.h"
#include "place/method/method.h"
#include "place/method/repair.h"
#include "place/search/refine.h"
#include "sched/order.h"

enum { DRAW_REFINE = 8, MAX_PATCH = 12, ROUNDS = 2, EVALS = 2000 };
/* Of the work that all devices do: what a move that leaves the makespan as it is must not add. */
static const double WORK_SHARE = 0.02;

struct refiner {
	const struct place_model *m;
	struct orderer *order;
	struct sched_costs costs;
	double *task_s;           /* (tasks,k) less what the placement saves */
	double *rank, *start_s;   /* (tasks) */
	uint16_t *on;             /* (tasks) */
	uint16_t *device;         /* (n_sets) the same */
	struct place_units units; /* what moves */
	uint32_t *task_unit;      /* (tasks) */
	struct evaluator *ev;     /* of memory; NULL: no device has a limit */
	struct arena *a;
	struct rng_addr rng;
	uint32_t drawn;
	double deadline_s; /* of clock_s; 0: there is none */
};

static uint32_t draw_below(struct refiner *x, uint32_t n)
{
	return rng_below(&x->rng, x->drawn++, n);
}

static bool limited(const struct place_model *m)
{
	for (uint32_t d = 0; d < m->k; d++)
		if (m->mem_limit[d])
			return true;
	return false;
}

/* Tasks where their sets are. */
static void read_task_devices(struct refiner *x)
{
	for (uint32_t v = 0; v < x->m->tasks.dag.n; v++)
		x->on[v] = x->device[x->m->tasks.task_set[v]];
}

static void refiner_init(struct refiner *x, const struct place_model *m, uint64_t seed,
			 uint16_t *device)
{
	const struct sched_dag *d = &m->tasks.dag;
	size_t cells = (size_t)d->n * m->k;
	double *mean_s = MEM_NEWN(double, d->n), *use_s = MEM_NEWN(double, d->n_uses);

	*x = (struct refiner){.m = m,
			      .costs = m->costs,
			      .rng = {seed, 0, 0, RNG_SEARCH + DRAW_REFINE},
			      .task_s = MEM_NEWN(double, cells),
			      .rank = MEM_NEWN(double, d->n),
			      .start_s = MEM_NEWN(double, d->n),
			      .on = MEM_NEWN(uint16_t, d->n),
			      .device = device,
			      .ev = limited(m) ? evaluator_new(m) : NULL,
			      .a = arena_new()};
	place_units_init(&x->units, m, x->a);
	x->task_unit = ARENA_NEWN(x->a, uint32_t, d->n);
	for (uint32_t v = 0; v < d->n; v++)
		x->task_unit[v] = x->units.of_set[m->tasks.task_set[v]];
	if (cells)
		memcpy(x->task_s, m->costs.task_s, cells * sizeof(*x->task_s));
	x->costs.task_s = x->task_s;
	sched_mean_costs(d, m->costs.task_s, &m->costs.links, mean_s, use_s);
	sched_upward_rank(d, mean_s, use_s, x->rank);
	x->order = orderer_new(d, &x->costs);
	mem_free(mean_s);
	mem_free(use_s);
}

static void refiner_release(struct refiner *x)
{
	evaluator_free(x->ev);
	arena_free(x->a);
	orderer_free(x->order);
	mem_free(x->task_s);
	mem_free(x->rank);
	mem_free(x->start_s);
	mem_free(x->on);
}

/* Can every task run where it is, and reach what it reads? */
static bool can_run(const struct refiner *x)
{
	const struct sched_dag *d = &x->m->tasks.dag;

	for (uint32_t v = 0; v < d->n; v++)
		if (x->m->costs.task_s[(size_t)v * x->m->k + x->on[v]] < 0)
			return false;
	for (uint32_t u = 0; u < d->n_uses; u++) {
		uint16_t from = x->on[d->tensor_task[d->use_tensor[u]]], to = x->on[d->use_task[u]];

		if (from != to && x->costs.links.latency_s[(size_t)from * x->m->k + to] < 0)
			return false;
	}
	return true;
}

/* The makespan of x->on, and a little of the mean work. */
static double schedule_energy(struct refiner *x, double *makespan_s)
{
	uint32_t n = x->m->tasks.dag.n, k = x->m->k;
	double work = 0;

	for (uint32_t v = 0; v < n; v++) {
		double *s = &x->task_s[(size_t)v * k + x->on[v]];

		*s = place_task_s(x->m, v, x->on[v], x->on);
		work += *s;
	}
	*makespan_s = orderer_run(x->order, x->on, x->rank, ROUNDS, x->start_s);
	return *makespan_s + WORK_SHARE * work / k;
}

/* A neighbour of task v, or v itself when it has none on the drawn side. */
static uint32_t draw_neighbour(struct refiner *x, uint32_t v)
{
	const struct sched_dag *d = &x->m->tasks.dag;
	uint32_t first = d->in_ptr[v], n = d->in_ptr[v + 1] - first;

	if (n && draw_below(x, 2) == 0)
		return d->tensor_task[d->use_tensor[d->in_use[first + draw_below(x, n)]]];
	first = d->use_ptr[d->out_ptr[v]];
	n = d->use_ptr[d->out_ptr[v + 1]] - first;
	return n ? d->use_task[first + draw_below(x, n)] : v;
}

/* May the unit go there? */
static bool may_go(const struct refiner *x, uint32_t unit, uint16_t to)
{
	for (uint32_t i = x->units.ptr[unit]; i < x->units.ptr[unit + 1]; i++)
		if (!place_allowed(x->m, x->units.set[i], to))
			return false;
	return true;
}

/* Moves the units of a walk of tasks of one device, from `task`; how many were moved. */
static uint32_t move_patch(struct refiner *x, uint32_t task, uint16_t to, uint32_t *moved)
{
	uint16_t home = x->on[task];
	uint32_t want = draw_below(x, 2) ? 1 + draw_below(x, MAX_PATCH) : 1, n = 0;

	for (uint32_t i = 0; i < 2 * want && n < want; i++) {
		uint32_t unit = x->task_unit[task];

		if (x->on[task] == home && may_go(x, unit, to)) {
			place_unit_set(&x->units, unit, to, x->device);
			read_task_devices(x);
			moved[n++] = unit;
		}
		uint32_t next = draw_neighbour(x, task);
		if (x->on[next] == home || x->on[next] == to)
			task = next;
	}
	return n;
}

static bool fits_memory(const struct refiner *x)
{
	return !x->ev || place_evaluate(x->ev, x->device)->status == PLACE_OK;
}

/* Can it be done better?  Units come together, and memory is mended, where that can be.  Other
 * rules than the schedule's have no order to look for. */
static bool make_start_legal(struct refiner *x)
{
	uint32_t moved;

	if (x->m->rules != PLACE_SCHEDULE || x->m->tasks.dag.n == 0)
		return false;
	for (uint32_t i = 0; i < x->units.n; i++)
		place_unit_set(&x->units, i, x->device[x->units.set[x->units.ptr[i]]], x->device);
	if (!fits_memory(x)) {
		struct unit_traffic w;

		unit_traffic_init(&w, &x->units, x->a);
		w.deadline_s = x->deadline_s;
		if (place_repaired(x->ev, &w, x->device, &moved)->status != PLACE_OK)
			return false;
	}
	read_task_devices(x);
	return can_run(x);
}

void refine_placement(const struct place_model *m, uint64_t seed, uint64_t evals, double deadline_s,
		      uint16_t *device, double *makespan_s)
{
	double best = INFINITY, s;
	uint32_t n = m->tasks.dag.n, moved[MAX_PATCH];
	struct refiner x;

	refiner_init(&x, m, seed, device);
	x.deadline_s = deadline_s;
	if (make_start_legal(&x))
		best = schedule_energy(&x, makespan_s);
	for (uint64_t i = 1; best < INFINITY && m->k > 1 && i < evals; i++) {
		if (method_is_late(deadline_s))
			break;
		uint32_t task = draw_below(&x, n), near = draw_neighbour(&x, task), k = 0;
		uint16_t home = x.on[task], to = x.on[near];

		if (to == home)
			to = (uint16_t)((home + 1 + draw_below(&x, m->k - 1)) % m->k);
		k = move_patch(&x, task, to, moved);
		double e = k && can_run(&x) ? schedule_energy(&x, &s) : INFINITY;
		if (e <= best && fits_memory(&x)) {
			best = e;
			*makespan_s = s;
			continue;
		}
		while (k > 0)
			place_unit_set(&x.units, moved[--k], home, device);
		read_task_devices(&x);
	}
	refiner_release(&x);
}

/* The value of device, made legal; INFINITY: it cannot be. */
static double legal_value(struct method_run *r, struct evaluator *ev, const struct place_units *u)
{
	return method_mend(r, u) ? place_evaluate(ev, r->device)->value : INFINITY;
}

/* Better by the refiner's schedules may be worse by the order that was asked for: HEFT's then. */
static int run_refine(struct method_run *r, struct err *e)
{
	size_t size = r->m->n_sets * sizeof(*r->device);
	uint16_t *heft = ARENA_NEWN(r->a, uint16_t, r->m->n_sets);
	struct place_units u;
	double start_s, makespan_s;

	place_units_init(&u, r->m, r->a);
	if (heft_placement(r->m, method_deadline_s(r), r->device, &start_s, e) < 0) {
		if (!method_mend(r, &u))
			return -1;
		err_clear(e);
	}
	memcpy(heft, r->device, size);
	makespan_s = start_s;
	double deadline_s = method_deadline_s(r);

	refine_placement(r->m, r->seed, r->evals ? r->evals : EVALS, deadline_s, r->device,
			 &makespan_s);
	struct evaluator *ev = evaluator_new(r->m);
	double refined = legal_value(r, ev, &u);
	uint16_t *best = ARENA_NEWN(r->a, uint16_t, r->m->n_sets);

	memcpy(best, r->device, size);
	memcpy(r->device, heft, size);
	bool better = legal_value(r, ev, &u) >= refined;

	if (better)
		memcpy(r->device, best, size);
	snprintf(r->note, sizeof(r->note), "%.6g s from HEFT's %.6g s%s", makespan_s, start_s,
		 better ? "" : "; HEFT's placement is better in this order");
	evaluator_free(ev);
	return r->emit(r, e);
}

const struct place_method method_refine = {
	.name = "refine",
	.needs_costs = true,
	.about = "HEFT, then hill climbing on the schedules that devrun keeps to",
	.source = "Li, Willis, EJOR 56(3), 1992, for the schedules",
	.run = run_refine,
	.scope = SCOPE_SCHEDULES,
	.is_heuristic = true,
};
