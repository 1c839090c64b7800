/* randgraph.h - seeded random graphs for tests and benchmarks. */
#ifndef HSDAG_TESTS_RANDGRAPH_H
#define HSDAG_TESTS_RANDGRAPH_H

#include "base/mem.h"
#include "base/rng.h"
#include "graph/graph.h"

/* A DAG of n nodes: every node but the roots has an edge from one of the `reach`
 * nodes before it; then `more` edges of the same kind.  Distinct, sorted. */
__attribute__((unused)) static void random_dag(struct digraph *d, uint32_t n, uint32_t reach,
					       uint32_t more, double root, uint64_t seed,
					       struct arena *a)
{
	struct rng_addr at = {.seed = seed, .stream = 99};
	uint32_t draw = 0, cap = n + more, m = 0;
	*d = (struct digraph){.n = n};
	d->src = ARENA_NEWN(a, uint32_t, cap);
	d->dst = ARENA_NEWN(a, uint32_t, cap);
	for (uint32_t i = 0; i < cap; i++) {
		uint32_t v = i < n ? i : n < 2 ? 0 : 1 + rng_below(&at, draw++, n - 1);
		if (v == 0 || (i < n && rng_uniform(&at, draw++) < root))
			continue;
		uint32_t back = 1 + rng_below(&at, draw++, v < reach ? v : reach), at_edge = 0;
		uint32_t u = v - back;
		while (at_edge < m &&
		       (d->src[at_edge] < u || (d->src[at_edge] == u && d->dst[at_edge] < v)))
			at_edge++;
		if (at_edge < m && d->src[at_edge] == u && d->dst[at_edge] == v)
			continue;
		for (uint32_t e = m++; e > at_edge; e--) {
			d->src[e] = d->src[e - 1];
			d->dst[e] = d->dst[e - 1];
		}
		d->src[at_edge] = u;
		d->dst[at_edge] = v;
	}
	d->m = m;
}

#endif
