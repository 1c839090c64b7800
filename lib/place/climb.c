/* climb.c - one-move hill climbing from the best single device. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "place/point.h"

static const double PRICE = 10;    /* of memory beyond a limit */

/* Units in random order (Fisher and Yates). */
static void shuffle(uint32_t *unit, uint32_t n, struct dice *d)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t j = dice_below(d, i + 1);

		unit[i] = unit[j];
		unit[j] = i;
	}
}

/* Try a unit on its other devices until one is better. */
static bool improve(struct point *p, uint32_t unit, const struct limits *limits)
{
	const struct place_units *u = &p->s->u;
	uint32_t n = u->dev_ptr[unit + 1] - u->dev_ptr[unit], at = 0;
	uint16_t was = space_device(p->s, p->device, unit);
	double energy = p->energy, value = p->value;

	while (at < n && u->dev[u->dev_ptr[unit] + at] != was)
		at++;
	for (uint32_t i = 1; i <= n && limits_spent(limits, p->used) < 1; i++) {
		uint16_t to = u->dev[u->dev_ptr[unit] + (at + i) % n];

		point_move(p, unit, to);
		if (p->n_moved == 0)
			continue;
		point_look(p, INFINITY);
		if (p->value < value || (p->value == value && p->energy < energy)) {
			point_keep(p);
			return true;
		}
		point_undo(p, energy, value);
	}
	return false;
}

void point_climb(struct point *p, const struct limits *limits)
{
	uint32_t n = p->s->u.n, *unit = MEM_NEWN(uint32_t, n), failed = 0;

	shuffle(unit, n, &p->dice);
	/* `failed` units in a row have no better device; all of them: a local optimum. */
	for (uint32_t i = 0; failed < n && limits_spent(limits, p->used) < 1; i = (i + 1) % n)
		failed = improve(p, unit[i], limits) ? 0 : failed + 1;
	mem_free(unit);
}

int method_climb(struct method_run *r, struct err *e)
{
	struct evaluator *x = evaluator_new(r->m);
	struct limits limits = limits_of(r, space_default_evals(r->m, false));
	struct space s;
	struct point p;

	space_init(&s, r->m, x, r->a);
	evaluator_free(x);
	point_init(&p, &s, dice_new(r->seed, DICE_CLIMB, 0, 0));
	p.price = PRICE;
	space_start(&s, r->seed, s.single >= 0 ? START_SINGLE : START_FILL, r->device);
	point_set(&p, r->device);
	point_climb(&p, &limits);
	memcpy(r->device, p.best_value < INFINITY ? p.best : p.device,
	       r->m->n_sets * sizeof(*r->device));
	snprintf(r->note, sizeof(r->note), "%llu evaluations, value %.6g from %.6g",
		 (unsigned long long)p.used, p.best_value, s.single_value);
	point_release(&p);
	return r->emit(r, e);
}
