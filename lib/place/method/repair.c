/* repair.c - from a placement to a legal one nearby. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/disjoint.h"
#include "place/method/method.h"
#include "place/method/repair.h"
#include "place/simulate/held.h"

/* Limits: of rounds of repair_memory, each of which ends with an evaluation; of packings that leave
 * more and more room for what is made; in the last one, of placements evaluated; in each, of items
 * set down. */
enum { ROUNDS = 60, PACKINGS = 8, LEAVES = 300, VISITS = 50000 };

struct repair {
	struct evaluator *ev;
	const struct unit_traffic *w;
	const struct place_model *m;
	const struct held *held;
	uint16_t *device; /* (n_sets) */
	uint16_t *on;     /* (units) */
	/* What moves for memory's sake: units that share large values move as one. */
	uint32_t n_items;
	uint32_t *item_ptr, *item_unit; /* units of item i: item_unit[item_ptr[i]] .. */
	uint64_t *mem_on; /* (items,k) what it holds, values that its units share once */
	double *makes;    /* (items) bytes of tensors that a move takes along, roughly */
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

/* ---- items ---- */

static uint64_t most_of(const uint64_t *bytes, uint32_t k)
{
	uint64_t most = 0;

	for (uint32_t d = 0; d < k; d++)
		most = bytes[d] > most ? bytes[d] : most;
	return most;
}

/* up (units): roots of classes of units that share values of at least so many bytes. */
static void join_units(const struct repair *r, uint64_t least, uint32_t *up)
{
	const struct place_model *m = r->m;
	const uint32_t *of = r->w->u->of_set;

	for (uint32_t i = 0; i < r->w->u->n; i++)
		up[i] = i;
	for (uint32_t i = 0; i < m->n_shared; i++) {
		const struct shared_weight *x = &m->shared[i];

		if (most_of(x->bytes, m->k) < least)
			continue;
		for (uint32_t j = 1; j < x->n; j++)
			disjoint_join(up, of[m->tasks.task_set[m->weight_task[x->first]]],
				      of[m->tasks.task_set[m->weight_task[x->first + j]]]);
	}
}

/* Bytes of what unit i makes and reads, half of each: a tensor has two ends. */
static double made_by(const struct unit_traffic *w, uint32_t i)
{
	double size = 0;

	for (uint32_t j = w->ptr[i]; j < w->ptr[i + 1]; j++)
		size += 0.5 * (double)w->m->tasks.dag.tensor_bytes[w->exchange[j].tensor];
	return size;
}

/* Sums over the units of an item; what several of them share once, small values included. */
static void sum_items(struct repair *r)
{
	uint32_t k = r->m->k, *last = MEM_NEWN(uint32_t, r->m->n_shared);

	memset(last, 0xff, r->m->n_shared * sizeof(*last));
	memset(r->mem_on, 0, (size_t)r->w->u->n * k * sizeof(*r->mem_on));
	memset(r->makes, 0, r->w->u->n * sizeof(*r->makes));
	for (uint32_t i = 0; i < r->n_items; i++) {
		uint64_t *sum = &r->mem_on[(size_t)i * k];
		bool alone = r->item_ptr[i + 1] - r->item_ptr[i] == 1;

		for (uint32_t j = r->item_ptr[i]; j < r->item_ptr[i + 1]; j++) {
			uint32_t unit = r->item_unit[j];

			r->makes[i] += made_by(r->w, unit);
			for (uint32_t d = 0; d < k; d++)
				sum[d] += r->w->u->mem_on[(size_t)unit * k + d];
			for (uint32_t x = r->held->ptr[unit]; !alone && x < r->held->ptr[unit + 1];
			     x++) {
				uint32_t value = r->held->shared[x];

				for (uint32_t d = 0; last[value] != i && d < k; d++)
					sum[d] += r->m->shared[value].bytes[d];
				last[value] = i;
			}
		}
	}
	mem_free(last);
}

/* Items: units joined where they share values of at least so many bytes; UINT64_MAX: none are. */
static void make_items(struct repair *r, uint64_t least)
{
	uint32_t n = r->w->u->n, *up = MEM_NEWN(uint32_t, n), *number = MEM_NEWN(uint32_t, n);

	join_units(r, least, up);
	r->n_items = 0;
	memset(r->item_ptr, 0, ((size_t)n + 2) * sizeof(*r->item_ptr));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t root = disjoint_find(up, i);

		/* In the order of their first units. */
		number[i] = root < i ? number[root] : r->n_items++;
		r->item_ptr[number[i] + 2]++;
	}
	for (uint32_t i = 0; i < n; i++)
		r->item_ptr[i + 2] += r->item_ptr[i + 1];
	for (uint32_t i = 0; i < n; i++)
		r->item_unit[r->item_ptr[number[i] + 1]++] = i;
	sum_items(r);
	mem_free(number);
	mem_free(up);
}

static void put_item(struct repair *r, uint32_t i, uint16_t dev)
{
	for (uint32_t j = r->item_ptr[i]; j < r->item_ptr[i + 1]; j++)
		r->on[r->item_unit[j]] = dev;
}

static void move_item(struct repair *r, uint32_t i, uint16_t dev)
{
	for (uint32_t j = r->item_ptr[i]; j < r->item_ptr[i + 1]; j++)
		move_unit(r, r->item_unit[j], dev);
}

/* Seconds that item i adds on dev, where the others are where they are; INFINITY: it cannot. */
static double item_cost_s(struct repair *r, uint32_t i, uint16_t dev)
{
	uint32_t first = r->item_ptr[i], end = r->item_ptr[i + 1];
	double sum = 0;

	if (end - first == 1)
		return unit_traffic_cost_s(r->w, r->item_unit[first], dev, r->on);
	uint16_t *was = MEM_NEWN(uint16_t, end - first);
	for (uint32_t j = first; j < end; j++)
		was[j - first] = r->on[r->item_unit[j]];
	put_item(r, i, dev);
	for (uint32_t j = first; j < end && sum < INFINITY; j++)
		sum += unit_traffic_cost_s(r->w, r->item_unit[j], dev, r->on);
	for (uint32_t j = first; j < end; j++)
		r->on[r->item_unit[j]] = was[j - first];
	mem_free(was);
	return sum;
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

struct item_move {
	double price; /* seconds that it adds for each byte that it moves away */
	uint32_t item;
	uint16_t dev;
};

static int cheaper_first(const void *pa, const void *pb)
{
	const struct item_move *a = pa, *b = pb;

	if (a->price != b->price)
		return a->price < b->price ? -1 : 1;
	if (a->item != b->item)
		return a->item < b->item ? -1 : 1;
	return (a->dev > b->dev) - (a->dev < b->dev);
}

static bool memory_fits(const struct repair *r, const double *used, uint32_t dev, double size)
{
	return !r->m->mem_limit[dev] || used[dev] + size <= (double)r->m->mem_limit[dev];
}

static uint64_t mem_of(const struct repair *r, uint32_t i, uint32_t dev)
{
	return r->mem_on[(size_t)i * r->m->k + dev];
}

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
		double size = (double)mem_of(r, i, full) + r->makes[i];

		if (!is_on(r, i, full) || size <= 0)
			continue;
		double here = item_cost_s(r, i, (uint16_t)full);

		for (uint32_t d = 0; d < r->m->k; d++) {
			double s = d == full ? INFINITY : item_cost_s(r, i, (uint16_t)d);

			if (s < INFINITY && memory_fits(r, used, d, (double)mem_of(r, i, d)))
				candidate[n++] =
					(struct item_move){(s - here) / size, i, (uint16_t)d};
		}
	}
	if (n > 1)
		qsort(candidate, n, sizeof(*candidate), cheaper_first);
	for (uint32_t j = 0; j < n && used[full] > (double)r->m->mem_limit[full]; j++) {
		uint32_t i = candidate[j].item, dev = candidate[j].dev;
		double more = (double)mem_of(r, i, dev) + r->makes[i];

		if (!is_on(r, i, full) || !memory_fits(r, used, dev, more))
			continue;
		move_item(r, i, (uint16_t)dev);
		used[full] -= (double)mem_of(r, i, full) + r->makes[i];
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

	for (int round = 0; round < ROUNDS && x->status == PLACE_MEMORY; round++) {
		if (!empty_device(r, x->mem_bytes, x->bad_dev))
			return false;
		x = place_evaluate(r->ev, r->device);
	}
	return x->status == PLACE_OK;
}

/* ---- packing all items anew ---- */

struct packed_item {
	uint64_t mem;
	uint32_t item;
};

static int larger_first(const void *pa, const void *pb)
{
	const struct packed_item *a = pa, *b = pb;

	if (a->mem != b->mem)
		return a->mem > b->mem ? -1 : 1;
	return (a->item > b->item) - (a->item < b->item);
}

/* Items in order of descending memory, one a depth of the search; each tries the devices that have
 * room, the cheapest first. */
struct packing {
	struct repair *r;
	struct packed_item *order;   /* (items) */
	struct item_move *candidate; /* (k) scratch */
	uint16_t *dev;               /* (items,k) by depth: devices to try */
	uint16_t *at;                /* (items) by depth: where it is; UINT16_MAX: nowhere */
	uint32_t *n, *next;          /* (items) by depth: how many, which is next */
	double *used;                /* (k) with what is kept free */
	double *free;                /* (k) bytes for what is made while the model runs */
};

static void list_devices(struct packing *p, uint32_t depth)
{
	struct repair *r = p->r;
	uint32_t i = p->order[depth].item, k = r->m->k, n = 0;

	for (uint32_t d = 0; d < k; d++) {
		double s = item_cost_s(r, i, (uint16_t)d);

		if (s < INFINITY && memory_fits(r, p->used, d, (double)mem_of(r, i, d)))
			p->candidate[n++] = (struct item_move){s, i, (uint16_t)d};
	}
	if (n > 1)
		qsort(p->candidate, n, sizeof(*p->candidate), cheaper_first);
	for (uint32_t j = 0; j < n; j++)
		p->dev[(size_t)depth * k + j] = p->candidate[j].dev;
	p->n[depth] = n;
	p->next[depth] = 0;
}

static void take_out(struct packing *p, uint32_t depth)
{
	uint32_t i = p->order[depth].item;

	if (p->at[depth] == UINT16_MAX)
		return;
	p->used[p->at[depth]] -= (double)mem_of(p->r, i, p->at[depth]);
	p->at[depth] = UINT16_MAX;
	put_item(p->r, i, UINT16_MAX);
}

/* Is the placement that was packed legal?  If not for memory, what is missing will be kept free. */
static bool packed_is_legal(struct packing *p)
{
	struct repair *r = p->r;
	const struct place_model *m = r->m;

	for (uint32_t j = 0; j < r->w->u->n; j++)
		place_unit_set(r->w->u, j, r->on[j], r->device);
	const struct place_result *x = place_evaluate(r->ev, r->device);

	for (uint32_t d = 0; x->status == PLACE_MEMORY && d < m->k; d++)
		if (m->mem_limit[d] && x->mem_bytes[d] > m->mem_limit[d])
			p->free[d] += (double)(x->mem_bytes[d] - m->mem_limit[d]);
	return x->status == PLACE_OK;
}

/* Depth-first search with backtracking, until so many placements were evaluated; its first descent
 * is first-fit decreasing.  False: none was legal, *leaves is how many there were. */
static bool pack(struct packing *p, uint32_t most, uint32_t *leaves)
{
	struct repair *r = p->r;
	uint32_t n = r->n_items, depth = 0, visits = 0, k = r->m->k;

	for (uint32_t i = 0; i < r->w->u->n; i++)
		r->on[i] = UINT16_MAX;
	memset(p->at, 0xff, n * sizeof(*p->at));
	memcpy(p->used, p->free, k * sizeof(*p->used));
	*leaves = 0;
	list_devices(p, 0);
	for (;;) {
		uint32_t i = p->order[depth].item;

		take_out(p, depth);
		if (visits++ > VISITS + n)
			return false;
		if (p->next[depth] == p->n[depth]) {
			if (depth-- == 0)
				return false;
			continue;
		}
		uint16_t dev = p->dev[(size_t)depth * k + p->next[depth]++];

		put_item(r, i, dev);
		p->at[depth] = dev;
		p->used[dev] += (double)mem_of(r, i, dev);
		if (++depth < n) {
			list_devices(p, depth);
			continue;
		}
		if (packed_is_legal(p))
			return true;
		if (++*leaves == most)
			return false;
		depth--;
	}
}

/* Packings of which each keeps free what the last one missed; then one that keeps nothing free, and
 * looks at more placements. */
static bool pack_again(struct packing *p)
{
	uint32_t leaves = 1;

	for (int i = 0; i < PACKINGS && leaves; i++)
		if (pack(p, 1, &leaves))
			return true;
	memset(p->free, 0, p->r->m->k * sizeof(*p->free));
	return pack(p, LEAVES, &leaves);
}

static bool pack_items(struct repair *r)
{
	uint32_t n = r->n_items, k = r->m->k;
	struct packing p = {r,
			    MEM_NEWN(struct packed_item, n),
			    MEM_NEWN(struct item_move, k),
			    MEM_NEWN(uint16_t, (size_t)n * k),
			    MEM_NEWN(uint16_t, n),
			    MEM_NEWN(uint32_t, n),
			    MEM_NEWN(uint32_t, n),
			    MEM_NEWN(double, k),
			    MEM_NEWN(double, k)};

	for (uint32_t i = 0; i < n; i++)
		p.order[i] = (struct packed_item){most_of(&r->mem_on[(size_t)i * k], k), i};
	if (n > 1)
		qsort(p.order, n, sizeof(*p.order), larger_first);
	bool packed = n && pack_again(&p);

	for (uint32_t i = 0; i < r->w->u->n; i++)
		if (r->on[i] == UINT16_MAX)
			r->on[i] = 0;
	mem_free(p.free);
	mem_free(p.used);
	mem_free(p.next);
	mem_free(p.n);
	mem_free(p.at);
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

static void place_as(struct repair *r, const uint16_t *on)
{
	for (uint32_t i = 0; i < r->w->u->n; i++)
		move_unit(r, i, on[i]);
}

/* Values of less than this part of the smallest limit may be on several devices without harm. */
enum { SMALL_VALUE = 1000 };

/* Bytes from which on sharing keeps units together, and of the largest value that is shared. */
static uint64_t large_value(const struct place_model *m, uint64_t *largest)
{
	uint64_t least = UINT64_MAX;

	*largest = 0;
	for (uint32_t i = 0; i < m->n_shared; i++) {
		uint64_t bytes = most_of(m->shared[i].bytes, m->k);

		*largest = bytes > *largest ? bytes : *largest;
	}
	for (uint32_t d = 0; d < m->k; d++)
		if (m->mem_limit[d] && m->mem_limit[d] / SMALL_VALUE < least)
			least = m->mem_limit[d] / SMALL_VALUE + 1;
	return least;
}

/* Steps 2 to 4 of repair.h, with items that share more and more: joined units may be too large for
 * any device.  The rest of *r is there. */
static bool repair_by_items(struct repair *r)
{
	uint32_t n = r->w->u->n;
	uint64_t largest, least = large_value(r->m, &largest);
	uint16_t *first = mem_copy(r->on, n, sizeof(*first)), *left = NULL;
	bool legal = false;

	for (;; least *= 10) {
		least = least > largest ? UINT64_MAX : least;
		make_items(r, least);
		place_as(r, first);
		legal = repair_memory(r);
		if (!left)
			left = mem_copy(r->on, n, sizeof(*left));
		legal = legal || pack_items(r);
		if (legal || least == UINT64_MAX)
			break;
	}
	legal = legal || use_best_single(r);
	if (!legal)
		place_as(r, left);
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
