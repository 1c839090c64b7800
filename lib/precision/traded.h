/* traded.h - what error buys: the placements in several precisions that devrun mixed measured, with their errors, their times, and how
 * much of the model's operations each precision has. */
#ifndef HSDAG_PRECISION_TRADED_H
#define HSDAG_PRECISION_TRADED_H

#include <stdio.h>

#include "graph/graph.h"
#include "stream/rec.h"

enum { TRADED_PRECISIONS = 4 };
extern const char *const traded_precisions[TRADED_PRECISIONS]; /* "f32", "bf16", "int8", "f16" */

struct traded_one {
	uint8_t *precision; /* (n_sets) owned */
	double error, lat_s;
	double share[TRADED_PRECISIONS]; /* traded_finish */
	bool within;                     /* the limit */
};

struct traded {
	struct traded_one *v; /* (n) */
	uint32_t n, n_sets;
	size_t cap;
	struct traded_one last; /* a placement whose run has not come */
};

/* A record of the stream of devrun mixed --path about graph g.  ST_INPUT: it is malformed, or about another graph. */
int traded_take(struct traded *x, const struct graph *g, const struct rec *r,
		struct err *e) MUST_CHECK;
/* Once all are there: shares by the nodes' operations (n), the largest error first; of many those alone that are the fastest with as
 * little error. */
void traded_finish(struct traded *x, const struct graph *g, const double *flops);
void traded_release(struct traded *x);

/* The table, with a mark at the fastest within the limit; speed-ups are over the one with the least error.  Nothing of fewer than two. */
void traded_print(FILE *out, const struct traded *x);

#endif
