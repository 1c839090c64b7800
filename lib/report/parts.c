/* parts.c - by operation: which devices have parts of it. */
#include "report/parts.h"

#include "base/pairmap.h"

enum { NOBODY = -1, SEVERAL = -2 };

void parts_count(const struct graph *g, const struct placed *p, const double *flops,
		 struct arena *a, struct parts_told *out)
{
	*out = (struct parts_told){.share = ARENA_NEWN(a, double, p->k)};
	if (!g->whole)
		return;
	uint32_t n = g->whole->n;
	int64_t *who = arena_raw(a, n, sizeof *who); /* a device, or the above */
	double all = 0;
	for (uint32_t w = 0; w < n; w++)
		who[w] = NOBODY;
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t w = g->part_of[v];
		if (w == GRAPH_NONE)
			continue;
		out->cut += who[w] == NOBODY;
		if (who[w] == NOBODY)
			who[w] = p->node_device[v];
		else if (who[w] != p->node_device[v])
			who[w] = SEVERAL;
	}
	for (uint32_t w = 0; w < n; w++)
		out->apart += who[w] == SEVERAL;
	for (uint32_t v = 0; v < g->n; v++)
		if (g->part_of[v] != GRAPH_NONE && who[g->part_of[v]] == SEVERAL) {
			out->share[p->node_device[v]] += flops[v];
			all += flops[v];
		}
	for (uint32_t d = 0; d < p->k && all > 0; d++)
		out->share[d] /= all;
}

double *parts_by_operation(const struct graph *g, const struct placed *p, const double *flops,
			   struct arena *a)
{
	const struct graph *whole = g->whole;
	double *work = ARENA_NEWN(a, double, (size_t)whole->n * p->k);
	struct pairmap rows = {0}; /* by identifier: what was not cut keeps its own */
	for (uint32_t w = 0; w < whole->n; w++)
		if (!pairmap_get(&rows, (uint64_t)whole->id[w], 0))
			pairmap_put(&rows, (uint64_t)whole->id[w], 0, w);
	for (uint32_t v = 0; v < g->n; v++) {
		const uint64_t *row = pairmap_get(&rows, (uint64_t)g->id[v], 0);
		if (g->part_of[v] == GRAPH_NONE && !row)
			continue;
		uint32_t w = g->part_of[v] == GRAPH_NONE ? (uint32_t)*row : g->part_of[v];
		work[(size_t)w * p->k + p->node_device[v]] += flops[v];
	}
	pairmap_release(&rows);
	return work;
}
