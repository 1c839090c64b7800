/* order_walk.c - simulated annealing of placements and orders: a state is a device for each unit and
 * one order of all tasks, of which each device runs its own.  A move brings a unit to another device,
 * a task to another place between what it reads and what reads it, or both.  (Wang, Siegel,
 * Roychowdhury, Maciejewski, JPDC 47(1), 1997, on the two parts of a state.) */
#include "place/search/order_walk.h"

#include <math.h>
#include <string.h>

/* Temperatures, of the start's value; of few tasks each is more of it. */
static const double HOT = 0.01, HOT_TASKS = 0.5, COLD = 2e-5;
/* Of moves: those of devices alone, and those that change both. */
static const double MOVE_SHARE = 0.4, BOTH_SHARE = 0.2;

struct walk_state {
	const struct search_context *s;
	const struct place_model *m;
	struct evaluator *ev;
	struct random_stream rng;
	uint16_t *device; /* (n_sets) */
	uint32_t *sets;   /* (tasks) in their order */
	uint32_t *at;     /* (n_sets) where a set is in it */
	struct kept_order kept;
	double value;
};

static double value_of(struct walk_state *x)
{
	place_order_of(x->m, x->sets, x->m->tasks.dag.n, x->device, &x->kept);
	const struct place_result *p = place_evaluate_in(x->ev, x->device, &x->kept);

	return p->status == PLACE_OK ? p->value : INFINITY;
}

/* The task that is now at `from` goes to `to`. */
static void shift(struct walk_state *x, uint32_t from, uint32_t to)
{
	uint32_t set = x->sets[from];

	for (; from < to; from++)
		x->at[x->sets[from] = x->sets[from + 1]] = from;
	for (; from > to; from--)
		x->at[x->sets[from] = x->sets[from - 1]] = from;
	x->sets[to] = set;
	x->at[set] = to;
}

/* A place for task t between what it reads and what reads it. */
static uint32_t draw_place(struct walk_state *x, uint32_t t)
{
	const struct graph_tasks *g = &x->m->tasks;
	const struct sched_dag *d = &g->dag;
	uint32_t first = 0, last = d->n - 1;

	for (uint32_t i = d->in_ptr[t]; i < d->in_ptr[t + 1]; i++) {
		uint32_t from = d->tensor_task[d->use_tensor[d->in_use[i]]];
		uint32_t at = x->at[g->task_set[from]] + 1;

		first = at > first ? at : first;
	}
	for (uint32_t v = d->out_ptr[t]; v < d->out_ptr[t + 1]; v++)
		for (uint32_t u = d->use_ptr[v]; u < d->use_ptr[v + 1]; u++) {
			uint32_t at = x->at[g->task_set[d->use_task[u]]];

			last = at - 1 < last ? at - 1 : last;
		}
	return first + random_stream_below(&x->rng, last - first + 1);
}

/* A device for a unit: mostly a neighbour's. */
static uint16_t draw_device(struct walk_state *x, uint32_t unit)
{
	const struct search_context *s = x->s;
	uint32_t near = s->ptr[unit + 1] - s->ptr[unit];
	uint32_t n = s->u.dev_ptr[unit + 1] - s->u.dev_ptr[unit];

	if (near && random_stream_below(&x->rng, 2)) {
		uint32_t other = s->adj[s->ptr[unit] + random_stream_below(&x->rng, near)];
		uint16_t dev = search_context_device(s, x->device, other);

		if (search_context_allowed(s, unit, dev))
			return dev;
	}
	return s->u.dev[s->u.dev_ptr[unit] + random_stream_below(&x->rng, n)];
}

/* One move, and back if it is above the limit. */
static void step(struct walk_state *x, double limit)
{
	const struct place_units *u = &x->s->u;
	const struct graph_tasks *g = &x->m->tasks;
	uint32_t t = random_stream_below(&x->rng, g->dag.n), set = g->task_set[t];
	uint32_t unit = u->of_set[set], from = x->at[set];
	uint16_t was = x->device[set];
	double kind = random_stream_uniform(&x->rng);
	uint16_t to = kind < MOVE_SHARE + BOTH_SHARE ? draw_device(x, unit) : was;

	if (kind >= MOVE_SHARE)
		shift(x, from, draw_place(x, t));
	if (to != was)
		place_unit_set(u, unit, to, x->device);
	if (to == was && x->at[set] == from)
		return;
	double value = value_of(x);

	if (value <= limit) {
		x->value = value;
		return;
	}
	shift(x, x->at[set], from);
	if (to != was)
		place_unit_set(u, unit, was, x->device);
}

/* device (n_sets) in order (n sets; NULL: the one that is found for it). */
static void set_state(struct walk_state *x, const uint16_t *device, const uint32_t *order,
		      uint32_t n)
{
	const struct place_model *m = x->m;

	memcpy(x->device, device, m->n_sets * sizeof(*device));
	x->value = INFINITY;
	if (order) {
		place_order_of(m, order, n, device, &x->kept);
		if (place_evaluate_in(x->ev, device, &x->kept)->status != PLACE_OK)
			return;
	} else if (place_evaluate(x->ev, device)->status != PLACE_OK) {
		return;
	}
	place_ran_in(x->ev, x->sets);
	for (uint32_t i = 0; i < m->tasks.dag.n; i++)
		x->at[x->sets[i]] = i;
	x->value = value_of(x);
}

static void state_init(struct walk_state *x, const struct method_run *r,
		       const struct search_context *s)
{
	uint32_t n = r->m->tasks.dag.n;

	*x = (struct walk_state){.s = s,
				 .m = r->m,
				 .ev = evaluators_take(s->ev),
				 .rng = random_stream_new(r->seed, RANDOM_ORDERS, 0, 0),
				 .device = ARENA_NEWN(r->a, uint16_t, r->m->n_sets),
				 .sets = ARENA_NEWN(r->a, uint32_t, n),
				 .at = ARENA_NEWN(r->a, uint32_t, r->m->n_sets),
				 .kept = kept_order_new(r->m, r->a)};
	set_state(x, r->device, NULL, 0);
	if (!r->start || !r->start_order)
		return;
	double value = x->value;
	set_state(x, r->start, r->start_order, r->n_start_order);
	if (x->value > value)
		set_state(x, r->device, NULL, 0);
}

uint64_t order_walk(struct method_run *r, const struct search_context *s,
		    const struct limits *limits, double heat)
{
	uint32_t n = r->m->tasks.dag.n, *best_order = ARENA_NEWN(r->a, uint32_t, n);
	struct walk_state x;
	uint64_t used = 0;
	double spent, hot = fmax((HOT + HOT_TASKS / (n + 1)) * heat, COLD);

	if (n == 0)
		return 0;
	state_init(&x, r, s);
	double best = INFINITY, scale = x.value;

	while (x.value < INFINITY) {
		if (x.value < best) {
			best = x.value;
			memcpy(best_order, x.sets, n * sizeof(*best_order));
			memcpy(r->device, x.device, r->m->n_sets * sizeof(*x.device));
		}
		if ((spent = limits_spent(limits, used)) >= 1)
			break;
		double t = heat > 0 ? scale * hot * pow(COLD / hot, spent) : 0;

		step(&x, x.value - t * log(1 - random_stream_uniform(&x.rng)));
		used++;
	}
	if (best < INFINITY) {
		r->order = best_order;
		r->n_order = n;
	}
	evaluators_put(s->ev, x.ev);
	return used;
}
