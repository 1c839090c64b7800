/* repair.c - from a placement to a legal one nearby. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place/method/method.h"
#include "place/method/repair.h"

/* Limits: of rounds of repair_memory, each of which ends with an evaluation; in pack, of units set
 * down and of placements evaluated. */
enum { ROUNDS = 60, VISITS = 50000, LEAVES = 300 };

struct repair {
	struct evaluator *ev;
	const struct unit_traffic *w;
	const struct place_model *m;
	uint16_t *device; /* (n_sets) */
	uint16_t *on;     /* (units) */
	double *size;     /* (units) bytes that a move takes along */
};

static void move_unit(struct repair *r, uint32_t i, uint16_t dev)
{
	r->on[i] = dev;
	place_unit_set(r->w->u, i, dev, r->device);
}

static uint16_t device_of(const struct place_units *u, const uint16_t *device, uint32_t i)
{
	return device[u->set[u->ptr[i]]];
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

struct unit_move {
	double price; /* seconds that it adds for each byte that it moves away */
	uint32_t unit;
	uint16_t dev;
};

static int cheaper_first(const void *pa, const void *pb)
{
	const struct unit_move *a = pa, *b = pb;

	if (a->price != b->price)
		return a->price < b->price ? -1 : 1;
	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	return (a->dev > b->dev) - (a->dev < b->dev);
}

/* Bytes that unit i takes along: what it holds and, roughly, what it makes and reads (half of each:
 * a tensor has two ends). */
static double size_of(const struct unit_traffic *w, uint32_t i)
{
	double size = (double)w->u->mem[i];

	for (uint32_t j = w->ptr[i]; j < w->ptr[i + 1]; j++)
		size += 0.5 * (double)w->m->tasks.dag.tensor_bytes[w->exchange[j].tensor];
	return size;
}

static bool memory_fits(const struct repair *r, const double *used, uint32_t dev, double size)
{
	return !r->m->mem_limit[dev] || used[dev] + size <= (double)r->m->mem_limit[dev];
}

/* Move units away from `full`, cheapest first, until it should be within its limit; returns how
 * many were moved. */
static uint32_t empty_device(struct repair *r, const uint64_t *mem, uint32_t full)
{
	const struct place_units *u = r->w->u;
	uint32_t n = 0, went = 0;
	struct unit_move *candidate = MEM_NEWN(struct unit_move, (size_t)u->n * r->m->k);
	double *used = MEM_NEWN(double, r->m->k);

	for (uint32_t d = 0; d < r->m->k; d++)
		used[d] = (double)mem[d];
	for (uint32_t i = 0; i < u->n; i++) {
		if (r->on[i] != full || r->size[i] <= 0)
			continue;
		double here = unit_traffic_cost_s(r->w, i, full, r->on);

		for (uint32_t d = 0; d < r->m->k; d++) {
			double s = d == full ? INFINITY : unit_traffic_cost_s(r->w, i, d, r->on);

			if (s < INFINITY && memory_fits(r, used, d, (double)u->mem[i]))
				candidate[n++] =
					(struct unit_move){(s - here) / r->size[i], i, (uint16_t)d};
		}
	}
	if (n > 1)
		qsort(candidate, n, sizeof(*candidate), cheaper_first);
	for (uint32_t j = 0; j < n && used[full] > (double)r->m->mem_limit[full]; j++) {
		uint32_t i = candidate[j].unit;

		if (r->on[i] != full || !memory_fits(r, used, candidate[j].dev, r->size[i]))
			continue;
		move_unit(r, i, candidate[j].dev);
		used[full] -= r->size[i];
		used[candidate[j].dev] += r->size[i];
		went++;
	}
	mem_free(used);
	mem_free(candidate);
	return went;
}

static bool repair_memory(struct repair *r)
{
	const struct place_result *x = place_evaluate(r->ev, r->device);

	for (int round = 0; round < ROUNDS && x->status == PLACE_MEMORY; round++) {
		if (!empty_device(r, x->mem_bytes, x->bad_dev))
			return false;
		x = place_evaluate(r->ev, r->device);
	}
	return x->status == PLACE_OK;
}

/* ---- packing all units anew ---- */

struct packed_unit {
	uint64_t mem;
	uint32_t unit;
};

static int larger_first(const void *pa, const void *pb)
{
	const struct packed_unit *a = pa, *b = pb;

	if (a->mem != b->mem)
		return a->mem > b->mem ? -1 : 1;
	return (a->unit > b->unit) - (a->unit < b->unit);
}

/* Units in order of descending memory, one a depth of the search; each tries the devices that have
 * room, the cheapest first. */
struct packing {
	struct repair *r;
	struct packed_unit *order;   /* (units) */
	struct unit_move *candidate; /* (k) scratch */
	uint16_t *dev;               /* (units,k) by depth: devices to try */
	uint32_t *n, *next;          /* (units) by depth: how many, which is next */
	double *used;                /* (k) */
};

static void list_devices(struct packing *p, uint32_t depth)
{
	struct repair *r = p->r;
	uint32_t i = p->order[depth].unit, k = r->m->k, n = 0;

	for (uint32_t d = 0; d < k; d++) {
		double s = unit_traffic_cost_s(r->w, i, d, r->on);

		if (s < INFINITY && memory_fits(r, p->used, d, (double)r->w->u->mem[i]))
			p->candidate[n++] = (struct unit_move){s, i, (uint16_t)d};
	}
	if (n > 1)
		qsort(p->candidate, n, sizeof(*p->candidate), cheaper_first);
	for (uint32_t j = 0; j < n; j++)
		p->dev[(size_t)depth * k + j] = p->candidate[j].dev;
	p->n[depth] = n;
	p->next[depth] = 0;
}

/* Depth-first search with backtracking; its first descent is first-fit decreasing. */
static bool pack(struct packing *p)
{
	struct repair *r = p->r;
	uint32_t n = r->w->u->n, depth = 0, visits = 0, leaves = 0, k = r->m->k;

	for (uint32_t i = 0; i < n; i++)
		r->on[i] = UINT16_MAX;
	list_devices(p, 0);
	for (;;) {
		uint32_t i = p->order[depth].unit;

		if (r->on[i] != UINT16_MAX) {
			p->used[r->on[i]] -= (double)r->w->u->mem[i];
			r->on[i] = UINT16_MAX;
		}
		if (visits++ > VISITS + n)
			return false;
		if (p->next[depth] == p->n[depth]) {
			if (depth-- == 0)
				return false;
			continue;
		}
		uint16_t dev = p->dev[(size_t)depth * k + p->next[depth]++];

		r->on[i] = dev;
		p->used[dev] += (double)r->w->u->mem[i];
		if (++depth < n) {
			list_devices(p, depth);
			continue;
		}
		for (uint32_t j = 0; j < n; j++)
			place_unit_set(r->w->u, j, r->on[j], r->device);
		if (place_evaluate(r->ev, r->device)->status == PLACE_OK)
			return true;
		if (++leaves > LEAVES)
			return false;
		depth--;
	}
}

static bool pack_all(struct repair *r)
{
	const struct place_units *u = r->w->u;
	uint32_t n = u->n, k = r->m->k;
	struct packing p = {r,
			    MEM_NEWN(struct packed_unit, n),
			    MEM_NEWN(struct unit_move, k),
			    MEM_NEWN(uint16_t, (size_t)n * k),
			    MEM_NEWN(uint32_t, n),
			    MEM_NEWN(uint32_t, n),
			    MEM_NEWN(double, k)};

	for (uint32_t i = 0; i < n; i++)
		p.order[i] = (struct packed_unit){u->mem[i], i};
	if (n > 1)
		qsort(p.order, n, sizeof(*p.order), larger_first);
	bool packed = n && pack(&p);

	for (uint32_t i = 0; i < n; i++)
		if (r->on[i] == UINT16_MAX)
			r->on[i] = 0;
	mem_free(p.used);
	mem_free(p.next);
	mem_free(p.n);
	mem_free(p.dev);
	mem_free(p.candidate);
	mem_free(p.order);
	return packed;
}

static bool use_best_single(struct repair *r)
{
	double value;
	int dev = place_best_single(r->ev, &value);

	for (uint32_t i = 0; dev >= 0 && i < r->w->u->n; i++)
		move_unit(r, i, (uint16_t)dev);
	return dev >= 0;
}

static void repair_placement(struct evaluator *ev, const struct unit_traffic *w, uint16_t *device,
			     uint32_t *moved)
{
	const struct place_units *u = w->u;
	struct repair r = {ev, w, w->m, device, MEM_NEWN(uint16_t, u->n), MEM_NEWN(double, u->n)};
	uint16_t *was = MEM_NEWN(uint16_t, u->n), *first;

	for (uint32_t i = 0; i < u->n; i++) {
		was[i] = r.on[i] = device_of(u, device, i);
		r.size[i] = size_of(w, i);
	}
	repair_links(&r);
	bool legal = repair_memory(&r);

	first = mem_copy(r.on, u->n, sizeof(*first));
	legal = legal || pack_all(&r) || use_best_single(&r);
	for (uint32_t i = 0; !legal && i < u->n; i++)
		move_unit(&r, i, first[i]);
	*moved = 0;
	for (uint32_t i = 0; i < u->n; i++)
		*moved += r.on[i] != was[i];
	mem_free(first);
	mem_free(was);
	mem_free(r.size);
	mem_free(r.on);
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
