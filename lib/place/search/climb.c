/* climb.c - one-move hill climbing from the best single device and from HEFT's placement, the
 * better one first. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "place/search/order_walk.h"
#include "place/search/search_state.h"

static const double PRICE = 10; /* of memory beyond a limit */

/* Units in random order (Fisher and Yates). */
static void shuffle(uint32_t *unit, uint32_t n, struct random_stream *d)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t j = random_stream_below(d, i + 1);

		unit[i] = unit[j];
		unit[j] = i;
	}
}

/* Try a unit on its other devices until one is better. */
static bool improve(struct search_state *p, uint32_t unit, const struct limits *limits)
{
	const struct place_units *u = &p->s->u;
	uint32_t n = u->dev_ptr[unit + 1] - u->dev_ptr[unit], at = 0;
	uint16_t was = search_context_device(p->s, p->device, unit);
	double energy = p->energy, value = p->value;

	while (at < n && u->dev[u->dev_ptr[unit] + at] != was)
		at++;
	for (uint32_t i = 1; i <= n && limits_spent(limits, p->used) < 1; i++) {
		uint16_t to = u->dev[u->dev_ptr[unit] + (at + i) % n];

		search_state_move(p, unit, to);
		if (p->n_moved == 0)
			continue;
		search_state_evaluate(p, INFINITY);
		if (p->value < value || (p->value == value && p->energy < energy)) {
			search_state_keep(p);
			return true;
		}
		search_state_undo(p, energy, value);
	}
	return false;
}

void search_state_climb(struct search_state *p, const struct limits *limits)
{
	uint32_t n = p->s->u.n, *unit = MEM_NEWN(uint32_t, n), failed = 0;

	shuffle(unit, n, &p->rng);
	/* `failed` units in a row have no better device; all of them: a local optimum. */
	for (uint32_t i = 0; failed < n && limits_spent(limits, p->used) < 1; i = (i + 1) % n)
		failed = improve(p, unit[i], limits) ? 0 : failed + 1;
	mem_free(unit);
}

/* A placement to climb from, made legal if it can be. */
struct climb_start {
	const char *name;
	uint16_t *device; /* (n_sets) */
	double value;     /* INFINITY: not legal */
};

static struct climb_start climb_start_at(const struct search_context *s, struct evaluator *ev,
					 uint64_t seed, const uint16_t *given, enum start kind,
					 const char *name, struct arena *a)
{
	struct climb_start b = {name, ARENA_NEWN(a, uint16_t, s->m->n_sets), INFINITY};
	uint32_t moved;

	if (given)
		memcpy(b.device, given, s->m->n_sets * sizeof(*given));
	else
		search_context_start(s, seed, kind, b.device);
	const struct place_result *r = place_repaired(ev, &s->traffic, b.device, &moved);

	b.value = r->status == PLACE_OK ? r->value : INFINITY;
	return b;
}

static int run_climb(struct method_run *r, struct err *e)
{
	struct limits limits = limits_of(r, search_context_default_evals(r->m, false));
	struct search_context s;
	struct search_state p;

	search_context_init(&s, r);
	struct evaluator *ev = evaluators_take(s.ev);
	search_state_init(&p, &s, random_stream_new(r->seed, RANDOM_CLIMB, 0, 0));
	p.price = PRICE;
	struct climb_start first =
		s.single >= 0
			? climb_start_at(&s, ev, r->seed, NULL, START_SINGLE,
					 "the best single device", r->a)
			: climb_start_at(&s, ev, r->seed, NULL, START_FILL, "full devices", r->a);
	struct climb_start next = r->start ? climb_start_at(&s, ev, r->seed, r->start, START_RANDOM,
							    "the start", r->a)
					   : climb_start_at(&s, ev, r->seed, NULL, START_HEFT,
							    "HEFT's placement", r->a);

	if (next.value < first.value) {
		struct climb_start better = next;

		next = first;
		first = better;
	}
	evaluators_put(s.ev, ev);
	search_state_set(&p, first.device);
	search_state_climb(&p, &limits);
	if (limits_spent(&limits, p.used) < 1) {
		search_state_set(&p, next.device);
		search_state_climb(&p, &limits);
	}
	memcpy(r->device, p.best_value < INFINITY ? p.best : p.device,
	       r->m->n_sets * sizeof(*r->device));
	snprintf(r->note, sizeof(r->note), "%llu evaluations, value %.6g from %.6g of %s",
		 (unsigned long long)p.used, p.best_value, first.value, first.name);
	uint64_t left = p.used < limits.evals ? limits.evals - p.used : 1;
	struct limits rest = {limits.evals == UINT64_MAX ? left : left / 2 + 1, clock_s(),
			      limits.deadline_s};

	search_state_release(&p);
	if (order_walk_applies(r->m))
		order_walk(r, &s, &rest, 0);
	search_context_release(&s);
	return r->emit(r, e);
}

const struct place_method method_climb = {
	.name = "climb",
	.needs_costs = true,
	.about = "one-flip hill climbing from the best single device and from HEFT",
	.source = "-",
	.run = run_climb,
};
