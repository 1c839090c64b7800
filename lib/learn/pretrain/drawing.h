/* drawing.h - a graph that is being drawn: edges from earlier to later nodes, each of which has a
 * type. */
#ifndef HSDAG_LEARN_PRETRAIN_DRAWING_H
#define HSDAG_LEARN_PRETRAIN_DRAWING_H

#include "place/search/random_stream.h"

enum { MOST_TYPES = 12, MOST_INPUTS = 24 };

struct drawing {
	struct random_stream rng;
	uint32_t n, most;
	uint32_t (*in)[MOST_INPUTS]; /* (most) earlier nodes that a node reads */
	uint32_t *n_in;              /* (most) */
	uint8_t *type;               /* (most) */
	uint32_t n_types;
};

/* Draws: an integer of [0,n), a number of [lo,hi), a standard normal one. */
uint32_t draw_below(struct drawing *d, uint32_t n);
double draw_uniform(struct drawing *d, double lo, double hi);
double draw_normal(struct drawing *d);

/* Up to d->most nodes and some more (64 at most), by one of the kinds of graphs.  The arrays of d are
 * there and have room. */
void draw_graph(struct drawing *d);

#endif
