/* repair.c - from a placement to a legal one nearby. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place/method/method.h"
#include "place/method/repair.h"
#include "place/method/repair_impl.h"

/* Rounds of repair_memory, each of which ends with an evaluation, at most. */
enum { ROUNDS = 60, LOOKS = 256 }; /* LOOKS: units between two at the clock */

static void move_unit(struct repair *r, uint32_t i, uint16_t dev)
{
	r->on[i] = dev;
	place_unit_set(r->w->u, i, dev, r->device);
}

static uint16_t device_of(const struct place_units *u, const uint16_t *device, uint32_t i)
{
	return device[u->set[u->ptr[i]]];
}

static void move_item(struct repair *r, uint32_t i, uint16_t dev)
{
	for (uint32_t j = r->item_ptr[i]; j < r->item_ptr[i + 1]; j++)
		move_unit(r, r->item_unit[j], dev);
}

/* ---- masks and links ---- */

/* Move each unit that cannot run where it is, or has no link to a neighbour, to the device on which
 * it adds the fewest seconds.  That may cut off a neighbour, hence several rounds. */
static void repair_links(struct repair *r)
{
	const struct place_units *u = r->w->u;
	bool again = true;

	for (int round = 0; again && round < 8; round++) {
		again = false;
		for (uint32_t i = 0; i < u->n; i++) {
			double best = INFINITY, least = INFINITY;
			uint16_t to = r->on[i], any = r->on[i];

			if (i % LOOKS == LOOKS - 1 && repair_is_late(r))
				return;
			if (unit_traffic_cost_s(r->w, i, r->on[i], r->on) < INFINITY)
				continue;
			for (uint32_t d = 0; d < r->m->k; d++) {
				double s = unit_traffic_cost_s(r->w, i, d, r->on);
				double own = u->cost_s[(size_t)i * r->m->k + d];

				if (s < best) {
					best = s;
					to = (uint16_t)d;
				}
				if (own >= 0 && own < least) {
					least = own;
					any = (uint16_t)d;
				}
			}
			again = true;
			move_unit(r, i, best < INFINITY ? to : any);
		}
	}
}

/* ---- memory ---- */

/* Is a part of item i on dev? */
static bool is_on(const struct repair *r, uint32_t i, uint32_t dev)
{
	for (uint32_t j = r->item_ptr[i]; j < r->item_ptr[i + 1]; j++)
		if (r->on[r->item_unit[j]] == dev)
			return true;
	return false;
}

/* Move items away from `full`, cheapest first, until it should be within its limit; returns how
 * many were moved. */
static uint32_t empty_device(struct repair *r, const uint64_t *mem, uint32_t full)
{
	uint32_t n = 0, went = 0;
	struct item_move *candidate = MEM_NEWN(struct item_move, (size_t)r->n_items * r->m->k);
	double *used = MEM_NEWN(double, r->m->k);

	for (uint32_t d = 0; d < r->m->k; d++)
		used[d] = (double)mem[d];
	for (uint32_t i = 0; i < r->n_items; i++) {
		double size = (double)repair_mem_of(r, i, full) + r->makes[i];

		if (i % LOOKS == LOOKS - 1 && repair_is_late(r))
			break;
		if (!is_on(r, i, full) || size <= 0)
			continue;
		double here = repair_item_cost_s(r, i, (uint16_t)full);

		for (uint32_t d = 0; d < r->m->k; d++) {
			double s = d == full ? INFINITY : repair_item_cost_s(r, i, (uint16_t)d);

			if (s < INFINITY &&
			    repair_memory_fits(r, used, d, (double)repair_mem_of(r, i, d)))
				candidate[n++] =
					(struct item_move){(s - here) / size, i, (uint16_t)d};
		}
	}
	if (n > 1)
		qsort(candidate, n, sizeof(*candidate), repair_cheaper_first);
	for (uint32_t j = 0; j < n && repair_is_over(r, used, full); j++) {
		uint32_t i = candidate[j].item, dev = candidate[j].dev;
		double more = (double)repair_mem_of(r, i, dev) + r->makes[i];

		if (!is_on(r, i, full) || !repair_memory_fits(r, used, dev, more))
			continue;
		move_item(r, i, (uint16_t)dev);
		used[full] -= (double)repair_mem_of(r, i, full) + r->makes[i];
		used[dev] += more;
		went++;
	}
	mem_free(used);
	mem_free(candidate);
	return went;
}

static bool repair_memory(struct repair *r)
{
	const struct place_result *x = place_evaluate(r->ev, r->device);

	for (int round = 0; round < ROUNDS && x->status == PLACE_MEMORY && !repair_is_late(r);
	     round++) {
		if (!empty_device(r, x->mem_bytes, x->bad_dev))
			return false;
		x = place_evaluate(r->ev, r->device);
	}
	return x->status == PLACE_OK;
}

static bool use_best_single(struct repair *r)
{
	double value;
	int dev = place_best_single(r->ev, &value);

	for (uint32_t i = 0; dev >= 0 && i < r->w->u->n; i++)
		move_unit(r, i, (uint16_t)dev);
	return dev >= 0;
}

static void place_as(struct repair *r, const uint16_t *on)
{
	for (uint32_t i = 0; i < r->w->u->n; i++)
		move_unit(r, i, on[i]);
}

/* Steps 2 to 4 of repair.h, with items that share more and more: joined units may be too large for
 * any device.  The rest of *r is there. */
static bool repair_by_items(struct repair *r)
{
	uint32_t n = r->w->u->n;
	uint64_t largest, least = repair_large_value(r->m, &largest);
	uint16_t *first = mem_copy(r->on, n, sizeof(*first)), *left = NULL;
	bool legal = false;

	for (; !repair_is_late(r); least *= 10) {
		least = least > largest ? UINT64_MAX : least;
		repair_make_items(r, least);
		place_as(r, first);
		legal = repair_memory(r);
		if (!left)
			left = mem_copy(r->on, n, sizeof(*left));
		legal = legal || repair_pack_items(r);
		if (legal || least == UINT64_MAX)
			break;
	}
	legal = legal || use_best_single(r);
	if (!legal)
		place_as(r, left ? left : first);
	mem_free(left);
	mem_free(first);
	return legal;
}

static void repair_placement(struct evaluator *ev, const struct unit_traffic *w, uint16_t *device,
			     uint32_t *moved)
{
	const struct place_units *u = w->u;
	uint32_t n = u->n;
	struct arena *a = arena_new();
	struct held held;
	struct repair r = {.ev = ev, .w = w, .m = w->m, .held = &held, .device = device};
	uint16_t *was = ARENA_NEWN(a, uint16_t, n);

	held_init(&held, u, a);
	r.on = ARENA_NEWN(a, uint16_t, n);
	r.item_ptr = ARENA_NEWN(a, uint32_t, (size_t)n + 2);
	r.item_unit = ARENA_NEWN(a, uint32_t, n);
	r.mem_on = ARENA_NEWN(a, uint64_t, (size_t)n * w->m->k);
	r.makes = ARENA_NEWN(a, double, n);
	for (uint32_t i = 0; i < n; i++)
		was[i] = r.on[i] = device_of(u, device, i);
	repair_links(&r);
	if (n)
		repair_by_items(&r);
	*moved = 0;
	for (uint32_t i = 0; i < n; i++)
		*moved += r.on[i] != was[i];
	arena_free(a);
}

const struct place_result *place_repaired(struct evaluator *ev, const struct unit_traffic *w,
					  uint16_t *device, uint32_t *moved)
{
	const struct place_result *r = place_evaluate(ev, device);

	*moved = 0;
	if (r->status == PLACE_OK)
		return r;
	repair_placement(ev, w, device, moved);
	return place_evaluate(ev, device);
}

bool method_mend(struct method_run *r, const struct place_units *u)
{
	struct evaluator *ev = evaluator_new(r->m);
	struct unit_traffic w;
	uint32_t moved = 0;
	bool legal = place_evaluate(ev, r->device)->status == PLACE_OK;

	if (!legal) {
		unit_traffic_init(&w, u, r->a);
		w.deadline_s = method_deadline_s(r);
		legal = place_repaired(ev, &w, r->device, &moved)->status == PLACE_OK;
	}
	if (moved) {
		size_t n = strlen(r->note);

		snprintf(r->note + n, sizeof(r->note) - n, "%s%u units moved to be legal",
			 n ? "; " : "", moved);
	}
	evaluator_free(ev);
	return legal;
}

int method_single_instead(struct method_run *r, const char *why, struct err *e)
{
	struct evaluator *ev = evaluator_new(r->m);
	double value;
	int dev = place_best_single(ev, &value);

	evaluator_free(ev);
	if (dev < 0)
		return err_set(e, ST_RUNTIME, "%s, and no single device is legal", why);
	for (uint32_t i = 0; i < r->m->n_sets; i++)
		r->device[i] = (uint16_t)dev;
	snprintf(r->note, sizeof(r->note), "%s: the best single device", why);
	return r->emit(r, e);
}
