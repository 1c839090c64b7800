/* segment_why.c - why two segments of a device are not one: the path between them
 * that leads over other segments. */
#include "graph/segment.h"

/* mark[v] = value for the segments that reach `start` (in) or that it reaches (!in), among
 * those with mark[v] == among. */
static void spread(const struct digraph *q, bool in, uint32_t start, uint8_t among, uint8_t value,
		   uint8_t *mark, struct arena *a)
{
	uint32_t *ptr, *adj, *stack = arena_raw(a, (size_t)q->n + 1, sizeof *stack), n = 0;
	digraph_csr(q, in, a, &ptr, &adj);
	stack[n++] = start;
	while (n > 0) {
		uint32_t v = stack[--n];
		for (uint32_t i = ptr[v]; i < ptr[v + 1]; i++)
			if (mark[adj[i]] == among) {
				mark[adj[i]] = value;
				stack[n++] = adj[i];
			}
	}
}

/* A second path from the segment of why->from to s: where it leaves, where it enters. */
static bool second_path(const struct digraph *d, const struct segments *x, const struct digraph *q,
			uint32_t s, struct arena *a, struct segment_split *why)
{
	enum { OTHER, REACHES, ON_PATH };
	uint32_t t = x->of[why->from];
	uint8_t *mark = ARENA_NEWN(a, uint8_t, q->n);
	mark[t] = mark[s] = UINT8_MAX;
	spread(q, true, s, OTHER, REACHES, mark, a);
	why->out = why->back = GRAPH_NONE;
	for (uint32_t i = 0; i < d->m && why->out == GRAPH_NONE; i++)
		if (x->of[d->src[i]] == t && x->of[d->dst[i]] != GRAPH_NONE &&
		    mark[x->of[d->dst[i]]] == REACHES)
			why->out = d->dst[i];
	if (why->out == GRAPH_NONE)
		return false;
	mark[x->of[why->out]] = ON_PATH;
	spread(q, false, x->of[why->out], REACHES, ON_PATH, mark, a);
	for (uint32_t i = 0; i < d->m && why->back == GRAPH_NONE; i++)
		if (x->of[d->dst[i]] == s && x->of[d->src[i]] != GRAPH_NONE &&
		    mark[x->of[d->src[i]]] == ON_PATH)
			why->back = d->src[i];
	return why->back != GRAPH_NONE;
}

bool segment_why(const struct digraph *d, const struct segments *x, uint32_t s, struct arena *a,
		 struct segment_split *why)
{
	struct digraph q;
	segment_quotient(d, x->of, x->n, a, &q);
	for (uint32_t i = 0; i < d->m; i++) {
		uint32_t u = d->src[i], v = d->dst[i];
		if (x->of[v] != s || x->of[u] == s || x->of[u] == GRAPH_NONE ||
		    x->device[x->of[u]] != x->device[s] || x->device[s] >= SEGMENT_ALONE)
			continue;
		*why = (struct segment_split){.from = u, .to = v};
		if (second_path(d, x, &q, s, a, why))
			return true;
	}
	return false;
}
