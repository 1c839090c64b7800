/* shown.c - which operations pictures show, and where. */
#include "report/shown.h"

#include "graph/segment.h"
#include "report/placecheck.h"

struct shown shown_nodes(const struct report_input *in, struct arena *a)
{
	const struct graph *g = in->x->graph;
	struct shown x = {.node = ARENA_NEWN(a, uint32_t, g->n),
			  .row = ARENA_NEWN(a, uint32_t, g->n)};
	for (uint32_t v = 0; v < g->n; v++) {
		x.row[v] = in->constant[v] ? GRAPH_NONE : x.n;
		if (!in->constant[v])
			x.node[x.n++] = v;
	}
	return x;
}

struct shown_places shown_places(const struct report_input *in, const struct shown *x,
				 const struct placed *p, struct arena *a)
{
	const struct graph *g = in->x->graph;
	struct shown_places out = {ARENA_NEWN(a, uint32_t, x->n), ARENA_NEWN(a, uint32_t, x->n), 0};
	uint16_t *device = ARENA_NEWN(a, uint16_t, g->n);
	struct segments segments;
	placecheck_devices(g, p, in->constant, device);
	segments_of_graph(g, device, false, a, &segments);
	for (uint32_t i = 0; i < x->n; i++) {
		uint16_t d = device[x->node[i]];
		out.device[i] = d == SEGMENT_NOWHERE ? GRAPH_NONE : d;
		out.segment[i] = segments.of[x->node[i]];
		if (out.segment[i] != GRAPH_NONE && out.segment[i] >= out.n_segments)
			out.n_segments = out.segment[i] + 1;
	}
	return out;
}

uint32_t *shown_titles(const struct graph *g, const struct shown *x, struct arena *a)
{
	uint32_t *of = ARENA_NEWN(a, uint32_t, (size_t)g->n_sets + 1);
	for (uint32_t s = 0; s < g->n_sets; s++)
		of[s] = GRAPH_NONE;
	for (int reads = 1; reads >= 0; reads--)
		for (uint32_t i = 0; i < x->n; i++) {
			uint32_t v = x->node[i], s = g->set[v];
			if (s != GRAPH_NONE && of[s] == GRAPH_NONE &&
			    (!reads || g->in_ptr[v + 1] > g->in_ptr[v]))
				of[s] = i;
		}
	return of;
}

const char *shown_title(const struct graph *g, uint32_t node)
{
	return g->ir_version ? g->type[node] : g->node_name[node];
}
