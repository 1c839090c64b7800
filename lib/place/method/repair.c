/* repair.c - from a placement to a legal one nearby. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place/method/method.h"
#include "place/method/repair.h"

/* Rounds of memory, each ends with an evaluation; of backtracking: units set down, placements
 * evaluated. */
enum { ROUNDS = 60, VISITS = 50000, LEAVES = 300 };

struct repair {
	struct evaluator *ev;
	const struct unit_traffic *w;
	const struct place_model *m;
	uint16_t *device; /* (n_sets) */
	uint16_t *on;     /* (units) */
	double *size;     /* (units) bytes that a move takes along */
};

static void move(struct repair *r, uint32_t i, uint16_t dev)
{
	r->on[i] = dev;
	place_unit_set(r->w->u, i, dev, r->device);
}

static uint16_t device_of(const struct place_units *u, const uint16_t *device, uint32_t i)
{
	return device[u->set[u->ptr[i]]];
}

/* ---- masks and links ---- */

/* Put units that have no place where they are wherever they add least, round and round. */
static void mend_ways(struct repair *r)
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
			move(r, i, best < INFINITY ? to : any);
		}
	}
}

/* ---- memory ---- */

struct offer {
	double price; /* seconds more for each byte */
	uint32_t unit;
	uint16_t dev;
};

static int cheaper_first(const void *pa, const void *pb)
{
	const struct offer *a = pa, *b = pb;

	if (a->price != b->price)
		return a->price < b->price ? -1 : 1;
	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	return (a->dev > b->dev) - (a->dev < b->dev);
}

/* What unit i takes along: what it holds and, roughly, what it makes and reads. */
static double size_of(const struct unit_traffic *w, uint32_t i)
{
	double size = (double)w->u->mem[i];

	for (uint32_t j = w->ptr[i]; j < w->ptr[i + 1]; j++)
		size += 0.5 * (double)w->m->tasks.dag.tensor_bytes[w->exchange[j].tensor];
	return size;
}

static bool has_room(const struct repair *r, const double *used, uint32_t dev, double size)
{
	return !r->m->mem_limit[dev] || used[dev] + size <= (double)r->m->mem_limit[dev];
}

/* Units go from `full` until it should have room; returns how many went. */
static uint32_t empty_device(struct repair *r, const uint64_t *mem, uint32_t full)
{
	const struct place_units *u = r->w->u;
	uint32_t n = 0, went = 0;
	struct offer *offer = MEM_NEWN(struct offer, (size_t)u->n * r->m->k);
	double *used = MEM_NEWN(double, r->m->k);

	for (uint32_t d = 0; d < r->m->k; d++)
		used[d] = (double)mem[d];
	for (uint32_t i = 0; i < u->n; i++) {
		if (r->on[i] != full || r->size[i] <= 0)
			continue;
		double here = unit_traffic_cost_s(r->w, i, full, r->on);

		for (uint32_t d = 0; d < r->m->k; d++) {
			double s = d == full ? INFINITY : unit_traffic_cost_s(r->w, i, d, r->on);

			if (s < INFINITY && has_room(r, used, d, (double)u->mem[i]))
				offer[n++] =
					(struct offer){(s - here) / r->size[i], i, (uint16_t)d};
		}
	}
	if (n > 1)
		qsort(offer, n, sizeof(*offer), cheaper_first);
	for (uint32_t j = 0; j < n && used[full] > (double)r->m->mem_limit[full]; j++) {
		uint32_t i = offer[j].unit;

		if (r->on[i] != full || !has_room(r, used, offer[j].dev, r->size[i]))
			continue;
		move(r, i, offer[j].dev);
		used[full] -= r->size[i];
		used[offer[j].dev] += r->size[i];
		went++;
	}
	mem_free(used);
	mem_free(offer);
	return went;
}

static bool mend_memory(struct repair *r)
{
	const struct place_result *x = place_evaluate(r->ev, r->device);

	for (int round = 0; round < ROUNDS && x->status == PLACE_MEMORY; round++) {
		if (!empty_device(r, x->mem_bytes, x->bad_dev))
			return false;
		x = place_evaluate(r->ev, r->device);
	}
	return x->status == PLACE_OK;
}

/* ---- from scratch ---- */

struct held {
	uint64_t mem;
	uint32_t unit;
};

static int larger_first(const void *pa, const void *pb)
{
	const struct held *a = pa, *b = pb;

	if (a->mem != b->mem)
		return a->mem > b->mem ? -1 : 1;
	return (a->unit > b->unit) - (a->unit < b->unit);
}

/* The units in turn, each on the devices with room, cheapest first. */
struct packing {
	struct repair *r;
	struct held *order;  /* (units) */
	struct offer *offer; /* (k) scratch */
	uint16_t *dev;       /* (units,k) where the unit of a depth may go, and how many, */
	uint32_t *n, *next;  /* (units) and which is next */
	double *used;        /* (k) */
};

static void open_depth(struct packing *p, uint32_t depth)
{
	struct repair *r = p->r;
	uint32_t i = p->order[depth].unit, k = r->m->k, n = 0;

	for (uint32_t d = 0; d < k; d++) {
		double s = unit_traffic_cost_s(r->w, i, d, r->on);

		if (s < INFINITY && has_room(r, p->used, d, (double)r->w->u->mem[i]))
			p->offer[n++] = (struct offer){s, i, (uint16_t)d};
	}
	if (n > 1)
		qsort(p->offer, n, sizeof(*p->offer), cheaper_first);
	for (uint32_t j = 0; j < n; j++)
		p->dev[(size_t)depth * k + j] = p->offer[j].dev;
	p->n[depth] = n;
	p->next[depth] = 0;
}

/* Depth-first over the units; the first descent is first-fit decreasing. */
static bool pack(struct packing *p)
{
	struct repair *r = p->r;
	uint32_t n = r->w->u->n, depth = 0, visits = 0, leaves = 0, k = r->m->k;

	for (uint32_t i = 0; i < n; i++)
		r->on[i] = UINT16_MAX;
	open_depth(p, 0);
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
			open_depth(p, depth);
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

static bool from_scratch(struct repair *r)
{
	const struct place_units *u = r->w->u;
	uint32_t n = u->n, k = r->m->k;
	struct packing p = {r,
			    MEM_NEWN(struct held, n),
			    MEM_NEWN(struct offer, k),
			    MEM_NEWN(uint16_t, (size_t)n * k),
			    MEM_NEWN(uint32_t, n),
			    MEM_NEWN(uint32_t, n),
			    MEM_NEWN(double, k)};

	for (uint32_t i = 0; i < n; i++)
		p.order[i] = (struct held){u->mem[i], i};
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
	mem_free(p.offer);
	mem_free(p.order);
	return packed;
}

static bool one_device(struct repair *r)
{
	double value;
	int dev = place_best_single(r->ev, &value);

	for (uint32_t i = 0; dev >= 0 && i < r->w->u->n; i++)
		move(r, i, (uint16_t)dev);
	return dev >= 0;
}

static void mend(struct evaluator *ev, const struct unit_traffic *w, uint16_t *device,
		 uint32_t *moved)
{
	const struct place_units *u = w->u;
	struct repair r = {ev, w, w->m, device, MEM_NEWN(uint16_t, u->n), MEM_NEWN(double, u->n)};
	uint16_t *was = MEM_NEWN(uint16_t, u->n), *first;

	for (uint32_t i = 0; i < u->n; i++) {
		was[i] = r.on[i] = device_of(u, device, i);
		r.size[i] = size_of(w, i);
	}
	mend_ways(&r);
	bool legal = mend_memory(&r);

	first = mem_copy(r.on, u->n, sizeof(*first));
	legal = legal || from_scratch(&r) || one_device(&r);
	for (uint32_t i = 0; !legal && i < u->n; i++)
		move(&r, i, first[i]);
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
	mend(ev, w, device, moved);
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
