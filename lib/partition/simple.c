/* simple.c - groupings that take a few lines: random, and chunks of the topological order. */
#include "base/rng.h"
#include "partition/grouping.h"

enum { DRAW_GROUP = 64 }; /* low bits of the random stream */

int group_random(const struct group_task *t, struct err *e)
{
	struct rng_addr draw = {t->seed, 0, 0, RNG_SEARCH + DRAW_GROUP};

	(void)e;
	for (uint32_t v = 0; v < t->g->n; v++)
		t->group[v] = rng_below(&draw, v, t->n_groups);
	return 0;
}

/* A node is in the chunk in which the middle of its weight lies. */
int group_chunks(const struct group_task *t, struct err *e)
{
	const struct group_graph *g = t->g;
	double total = 0, before = 0, end;
	uint32_t chunk = 0;

	(void)e;
	for (uint32_t v = 0; v < g->n; v++)
		total += g->weight[v];
	end = t->share ? t->share[0] : 1.0 / t->n_groups;
	for (uint32_t v = 0; v < g->n; v++) {
		double w = total > 0 ? g->weight[v] / total : 1.0 / g->n;

		while (chunk + 1 < t->n_groups && before + w / 2 > end) {
			chunk++;
			end = t->share ? end + t->share[chunk] : (chunk + 1.0) / t->n_groups;
		}
		t->group[v] = chunk;
		before += w;
	}
	return 0;
}
