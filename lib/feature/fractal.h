/* fractal.h - the fractal dimension of every node of a graph.
 *
 * N(v,r) is the number of nodes within r hops of v, v itself not counted.  D(v) is
 * the slope of the least-squares line of log N(v,r) on log r, r = 1 .. the distance
 * of the farthest node that v reaches; 0 where there are fewer than two radii.
 * Source: Paper, section 3 (features); nodes that v cannot reach do not count. */
#ifndef HSDAG_FEATURE_FRACTAL_H
#define HSDAG_FEATURE_FRACTAL_H

#include "base/pool.h"
#include "graph/graph.h"

struct fractal_opts {
	bool directed;       /* follow arrows; else paths go both ways */
	uint32_t radius_cap; /* balls of at most this many hops; 0: no limit, D is exact */
	struct pool *pool;   /* NULL: this thread alone; results do not depend on it */
};

/* D[d->n], by searches from 64 or 512 nodes at once (multibfs.h): about n (n + m) / 64 .. n (n + m)
 * visits. */
void fractal_dimension(const struct digraph *d, const struct fractal_opts *o, double *D);

/* The largest radius cap (at least 2) for which fractal_dimension visits about
 * `budget` nodes or fewer, from a sample of searches; 0 when no cap is needed. */
uint32_t fractal_radius_cap(const struct digraph *d, bool directed, double budget);

#endif
