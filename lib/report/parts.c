/* parts.c - by operation: which devices have parts of it. */
#include "report/parts.h"

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
