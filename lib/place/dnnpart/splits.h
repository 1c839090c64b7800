/* splits.h - contiguous splits: the units of a graph in a row of pieces, one piece a device.  A
 * piece is a contiguous part of the graph, so that the devices form a pipeline.  The dynamic
 * program over ideals (ideals.h) looks for the split whose most loaded device has the least load.
 *
 *     a -- b -- d -- e          ideals: what lies left of a cut
 *      \       /
 *       '- c -'                 { a b | c d | e } is a split into three pieces
 *
 * The order.  Units (units.h) are ordered by the edges between them.  In training, forward and
 * backward tasks share devices, and this makes the order a circle.  Then the backward half is
 * folded onto the forward half (Tarnawski et al., NeurIPS 2020, section 5.3 and appendix): edges
 * between nodes of type Backward count the other way round, edges between the halves do not count,
 * and a piece's load is that of both halves.  If that is a circle, too, only edges to units that
 * begin later count.
 *
 * Items.  Pieces are made of items.  An item is a unit, or several: a unit that takes no time is
 * glued to its only successor or predecessor where that never makes a split worse, because no more
 * is moved with it than without it (the paper glues units without inputs or outputs).
 *
 * Classes.  Devices that differ by name alone are one class; only how many of a class are used
 * matters. */
#ifndef HSDAG_PLACE_DNNPART_SPLITS_H
#define HSDAG_PLACE_DNNPART_SPLITS_H

#include "place/simulate/units.h"

enum { MAX_CLASSES = 16 };

/* A problem as splits see it; shared by all threads. */
struct splits {
	const struct place_units *u;
	uint32_t n;                /* items */
	uint32_t *of_unit;         /* (units) */
	double *least_s;           /* (n) sum of units on their fastest devices */
	uint64_t *mem;             /* (n) */
	uint32_t *succ_ptr, *succ; /* (n+1) the order, as edges between items */
	uint32_t *pred_ptr, *pred; /* the same by their heads */
	enum splits_fold { FOLD_NONE, FOLD_MIRROR, FOLD_LATER } fold;

	uint32_t n_classes;
	uint32_t first[MAX_CLASSES], size[MAX_CLASSES]; /* first device; devices */
	double *cost_s; /* (n,n_classes) INFINITY: cannot run there */
	/* Values that items read from others: made by item i are made_ptr[i] .. made_ptr[i+1]-1,
	 * read by it read[read_ptr[i]] .. */
	uint32_t n_values, *made_ptr, *read_ptr, *read;
	uint32_t *maker, *n_readers; /* (n_values) readers: items other than the maker */
	double *in_s, *out_s;        /* (n_values,n_classes) to bring in, to take out */
	bool sum[MAX_CLASSES];       /* transfers add to the load of a device, or go beside it */
};

/* u is borrowed; memory from a.  false: more than MAX_CLASSES classes. */
bool splits_init(struct splits *p, const struct place_units *u, struct arena *a);

/* Fills chain with the same problem whose order is a chain: the items in `order` (n), which is a
 * linear extension.  Where there are more than max_items, runs of about equal cost are its
 * items. */
void splits_chain(struct splits *chain, const struct splits *p, const uint32_t *order,
		  uint32_t max_items, struct arena *a);

/* A linear extension of the order, depth first: every item right behind what it needs, one
 * branch to its end before the next begins; branches in an order that depends on seed (0: as
 * they are numbered). order (n). */
void splits_depth_first(const struct splits *p, uint64_t seed, uint32_t *order);

/* What a piece takes on each class, while items come and go. */
struct split_load {
	double node_s[MAX_CLASSES], in_s[MAX_CLASSES], out_s[MAX_CLASSES];
	double in_low_s[MAX_CLASSES], out_low_s[MAX_CLASSES]; /* what these two rounded off */
	double least_s; /* of its items, each on its fastest device */
	uint64_t mem;
};

struct split_piece {
	const struct splits *p;
	bool *inside;       /* (n) */
	uint32_t *n_inside; /* (n_values) readers inside */
	struct split_load load;
};

void split_piece_init(struct split_piece *x, const struct splits *p);
void split_piece_release(struct split_piece *x);
void split_piece_add(struct split_piece *x, uint32_t item);
/* Take out the item that was added last; load is what it was before. */
void split_piece_drop(struct split_piece *x, uint32_t item, const struct split_load *load);
double split_piece_load_s(const struct split_piece *x, uint32_t class);

#endif
