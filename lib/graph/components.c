/* components.c - strongly connected components: what waits for itself in a circle. */
#include "graph/graph.h"

#include <string.h>

struct tarjan {
	const uint32_t *ptr, *dst;
	uint32_t *number, *low, *stack, *path, *at; /* (n) */
	uint32_t *component;
	uint32_t n_numbered, n_stack, n_components;
};

/* All nodes that v leads to, without recursion: path is the way from v, at the next edge of each
 * node on it. */
static void visit_from(struct tarjan *s, uint32_t v)
{
	uint32_t depth = 0;

	s->path[depth] = v;
	s->number[v] = s->low[v] = ++s->n_numbered;
	s->stack[s->n_stack++] = v;
	for (;;) {
		uint32_t x = s->path[depth];

		if (s->at[x] < s->ptr[x + 1]) {
			uint32_t w = s->dst[s->at[x]++];

			if (!s->number[w]) {
				s->path[++depth] = w;
				s->number[w] = s->low[w] = ++s->n_numbered;
				s->stack[s->n_stack++] = w;
			} else if (s->component[w] == UINT32_MAX && s->number[w] < s->low[x]) {
				s->low[x] = s->number[w];
			}
			continue;
		}
		if (s->low[x] == s->number[x]) {
			do
				s->component[s->stack[--s->n_stack]] = s->n_components;
			while (s->stack[s->n_stack] != x);
			s->n_components++;
		}
		if (depth == 0)
			return;
		if (s->low[x] < s->low[s->path[depth - 1]])
			s->low[s->path[depth - 1]] = s->low[x];
		depth--;
	}
}

uint32_t digraph_components(const struct digraph *d, uint32_t *component)
{
	struct arena *a = arena_new();
	uint32_t n = d->n, *ptr, *adj;
	digraph_csr(d, false, a, &ptr, &adj);
	struct tarjan s = {.ptr = ptr, .dst = adj, .component = component};

	s.number = ARENA_NEWN(a, uint32_t, n);
	s.low = ARENA_NEWN(a, uint32_t, n);
	s.stack = ARENA_NEWN(a, uint32_t, n);
	s.path = ARENA_NEWN(a, uint32_t, n);
	s.at = ARENA_NEWN(a, uint32_t, n);
	for (uint32_t v = 0; v < n; v++)
		component[v] = UINT32_MAX;
	memcpy(s.at, ptr, n * sizeof(*ptr));
	for (uint32_t v = 0; v < n; v++)
		if (!s.number[v])
			visit_from(&s, v);
	for (uint32_t v = 0; v < n; v++) /* found sinks first */
		component[v] = s.n_components - 1 - component[v];
	arena_free(a);
	return s.n_components;
}
