/* partition_placement.c - from parts to a placement. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "place/heuristic/partition_placement.h"
#include "place/method/repair.h"

enum { ALL_ORDERS = 4, MOST_TRIES = 120 };

/* The devices that take part by descending share, as many as there are units. */
static void choose_devices(struct partition_placement *p, const bool *use)
{
	uint32_t k = p->r->m->k;
	double *share = ARENA_NEWN(p->r->a, double, k), sum = 0;

	p->dev = ARENA_NEWN(p->r->a, uint16_t, k);
	p->share = ARENA_NEWN(p->r->a, double, k);
	unit_traffic_shares(&p->w, share);
	while (p->n_parts < p->u.n) {
		uint32_t best = UINT32_MAX;

		for (uint32_t d = 0; d < k; d++) {
			bool may = (!use || use[d]) && share[d] > 0;

			if (may && (best == UINT32_MAX || share[d] > share[best]))
				best = d;
		}
		if (best == UINT32_MAX)
			break;
		p->dev[p->n_parts] = (uint16_t)best;
		p->share[p->n_parts++] = share[best];
		sum += share[best];
		share[best] = 0;
	}
	for (uint32_t i = 0; i < p->n_parts; i++)
		p->share[i] /= sum;
}

/* Shares of memory by limits; NULL unless every device has one. */
static double *memory_shares(const struct partition_placement *p)
{
	double *share = ARENA_NEWN(p->r->a, double, p->n_parts), sum = 0;

	for (uint32_t i = 0; i < p->n_parts; i++) {
		if (!p->r->m->mem_limit[p->dev[i]])
			return NULL;
		share[i] = (double)p->r->m->mem_limit[p->dev[i]];
		sum += share[i];
	}
	for (uint32_t i = 0; i < p->n_parts; i++)
		share[i] /= sum;
	return share;
}

void partition_placement_init(struct partition_placement *p, struct method_run *r, const bool *use,
			      bool memory)
{
	bool limited = false;

	*p = (struct partition_placement){.r = r};
	place_units_init(&p->u, r->m, r->a);
	unit_traffic_init(&p->w, &p->u, r->a);
	p->w.deadline_s = method_deadline_s(r);
	for (uint32_t d = 0; d < r->m->k; d++)
		limited |= r->m->mem_limit[d] > 0;
	unit_traffic_graph(&p->w, memory && limited, r->a, &p->g);
	choose_devices(p, use);
	p->part = ARENA_NEWN(r->a, uint32_t, p->u.n);
	uint32_t *size = ARENA_NEWN(r->a, uint32_t, p->u.n);
	for (uint32_t i = 0; i < p->u.n; i++)
		size[i] = 1;
	p->task = (struct group_task){.g = &p->g,
				      .size = size,
				      .n_groups = p->n_parts,
				      .share = p->share,
				      .memory_share = memory_shares(p),
				      .seed = r->seed,
				      .group = p->part};
}

/* ---- which part goes where ---- */

struct order_trial {
	struct partition_placement *p;
	struct evaluator *ev;
	const uint16_t *on; /* (units) instead of parts and their devices; NULL */
	uint16_t *device;   /* (n_sets) */
	double value;       /* of r->device, the best so far */
	uint32_t tries, moved;
	bool legal;
};

static void try_order(struct order_trial *t, const uint16_t *dev)
{
	struct partition_placement *p = t->p;
	uint32_t moved;

	place_unit_set(&p->u, GRAPH_NONE, p->n_parts ? dev[0] : 0, t->device);
	for (uint32_t i = 0; i < p->u.n; i++) {
		uint16_t to = t->on ? t->on[i] : p->n_parts ? dev[p->part[i]] : 0;

		place_unit_set(&p->u, i, to, t->device);
	}
	const struct place_result *x = place_repaired(t->ev, &p->w, t->device, &moved);
	bool legal = x->status == PLACE_OK;

	if (t->tries++ == 0 || (legal && (!t->legal || x->value < t->value))) {
		memcpy(p->r->device, t->device, p->r->m->n_sets * sizeof(*t->device));
		t->value = legal ? x->value : INFINITY;
		t->legal = legal;
		t->moved = moved;
	}
}

static void swap_devices(uint16_t *x, uint16_t *y)
{
	uint16_t t = *x;

	*x = *y;
	*y = t;
}

/* Every order of dev[first ..]; the first one as it is. */
static void all_orders(struct order_trial *t, uint16_t *dev, uint32_t first)
{
	if (first + 1 >= t->p->n_parts) {
		try_order(t, dev);
		return;
	}
	for (uint32_t i = first; i < t->p->n_parts; i++) {
		swap_devices(&dev[first], &dev[i]);
		all_orders(t, dev, first + 1);
		swap_devices(&dev[first], &dev[i]);
	}
}

static void exchanges(struct order_trial *t, uint16_t *dev, double deadline_s)
{
	uint32_t n = t->p->n_parts, since = 0;

	try_order(t, dev);
	for (uint32_t i = 0, j = 1; since < n * (n - 1) / 2 && t->tries < MOST_TRIES; since++) {
		double before = t->value;

		if (method_is_late(deadline_s))
			return;
		swap_devices(&dev[i], &dev[j]);
		try_order(t, dev);
		if (t->value < before)
			since = 0;
		else
			swap_devices(&dev[i], &dev[j]);
		if (++j == n) {
			i = i + 2 < n ? i + 1 : 0;
			j = i + 1;
		}
	}
}

static int hand_over(struct partition_placement *p, bool permute, const uint16_t *on,
		     const char *text, struct err *e)
{
	struct method_run *r = p->r;
	double deadline_s = method_deadline_s(r);
	struct order_trial t = {.p = p,
				.ev = evaluator_new(r->m),
				.on = on,
				.device = MEM_NEWN(uint16_t, r->m->n_sets)};
	uint16_t *dev = ARENA_NEWN(r->a, uint16_t, (size_t)p->n_parts + 1);
	char moved[60] = "";

	memcpy(dev, p->dev, p->n_parts * sizeof(*dev));
	if (!permute || p->n_parts < 2)
		try_order(&t, dev);
	else if (p->n_parts <= ALL_ORDERS)
		all_orders(&t, dev, 0);
	else
		exchanges(&t, dev, deadline_s);
	if (t.moved)
		snprintf(moved, sizeof(moved), "; %u units moved to be legal", t.moved);
	snprintf(r->note, sizeof(r->note), "%s%s%s", text, moved,
		 t.legal ? "" : "; no legal placement found");
	mem_free(t.device);
	evaluator_free(t.ev);
	return r->emit(r, e);
}

int partition_placement_answer(struct partition_placement *p, bool permute, const char *text,
			       struct err *e)
{
	return hand_over(p, permute, NULL, text, e);
}

int partition_placement_units(struct partition_placement *p, const uint16_t *on, const char *text,
			      struct err *e)
{
	return hand_over(p, false, on, text, e);
}
