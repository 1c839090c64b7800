/* repair_impl.h - what repairing a placement works on; not for others than repair*.c. */
#ifndef HSDAG_PLACE_METHOD_REPAIR_IMPL_H
#define HSDAG_PLACE_METHOD_REPAIR_IMPL_H

#include "base/clock.h"
#include "place/method/unittraffic.h"
#include "place/simulate/held.h"

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

/* A change that can be made, for lists that are sorted. */
struct item_move {
	double price; /* seconds that it adds for each byte that it moves away */
	uint32_t item;
	uint16_t dev;
};

/* Is there no time for more than the best single device? */
static inline bool repair_is_late(const struct repair *r)
{
	return r->w->deadline_s > 0 && clock_s() > r->w->deadline_s;
}

/* qsort: by price, then by item and device. */
int repair_cheaper_first(const void *pa, const void *pb);

/* Items: units joined where they share values of at least so many bytes; UINT64_MAX: none are.  Fills
 * n_items, item_ptr, item_unit, mem_on and makes. */
void repair_make_items(struct repair *r, uint64_t least);

/* Bytes from which on sharing keeps units together, and of the largest value that is shared. */
uint64_t repair_large_value(const struct place_model *m, uint64_t *largest);

/* Item i on dev in r->on; r->device stays. */
void repair_put_item(struct repair *r, uint32_t i, uint16_t dev);

/* Seconds that item i adds on dev, where the others are where they are; INFINITY: it cannot. */
double repair_item_cost_s(struct repair *r, uint32_t i, uint16_t dev);

/* Is there room on dev for `size` bytes more than the (k) that are used? */
/* Has dev, or its pool, too little for what is used (k)? */
bool repair_is_over(const struct repair *r, const double *used, uint32_t dev);
bool repair_memory_fits(const struct repair *r, const double *used, uint32_t dev, double size);

/* Bytes that item i holds on dev. */
uint64_t repair_mem_of(const struct repair *r, uint32_t i, uint32_t dev);

/* All items packed anew by descending memory, into r->on and r->device.  False: no legal placement
 * was found; what is there then is any. */
bool repair_pack_items(struct repair *r);

#endif
