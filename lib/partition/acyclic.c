/* acyclic.c - move nodes between groups until the groups wait for each other in no circle. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/rows.h"
#include "graph/graph.h"
#include "partition/grouping.h"
#include "partition/maxflow.h"

/* A stretch of a line of groups, lo .. hi, and the nodes that go there: node[first] ..
 * node[end-1]. */
struct stretch {
	uint32_t lo, hi, first, end;
};

struct line {
	const struct group_graph *g;
	uint32_t *out_ptr; /* (n+1) of edges, which are sorted by source */
	uint32_t *place;   /* (n) of the node's group in its line: the value to regress */
	uint32_t *node;    /* (n) permuted as stretches divide */
	uint32_t *at;      /* (n) place in node, of the stretch at hand; else UINT32_MAX */
	uint32_t *scratch; /* (n) */
};

/* Split by minimum cut.  A node on the side it does not prefer costs 1.  No node is above its
 * consumer.  The upper half becomes the last nodes of the stretch; returns the first of them. */
static uint32_t halve(struct line *l, const struct stretch *s)
{
	uint32_t mid = s->lo + (s->hi - s->lo) / 2, n_low = 0, n_high = 0;
	struct maxflow *f = maxflow_new(s->end - s->first);

	for (uint32_t i = s->first; i < s->end; i++)
		l->at[l->node[i]] = i;
	for (uint32_t i = s->first; i < s->end; i++) {
		uint32_t v = l->node[i];

		maxflow_ends(f, i - s->first, l->place[v] > mid, l->place[v] <= mid);
		for (uint32_t j = l->out_ptr[v]; j < l->out_ptr[v + 1]; j++) {
			uint32_t w = l->at[l->g->dst[j]];

			if (w != UINT32_MAX)
				maxflow_arc(f, i - s->first, w - s->first, MAXFLOW_INF, 0);
		}
	}
	maxflow_run(f);
	for (uint32_t i = s->first; i < s->end; i++) {
		l->at[l->node[i]] = UINT32_MAX;
		if (maxflow_on_sink_side(f, i - s->first))
			l->node[s->first + n_low++] = l->node[i];
		else
			l->scratch[n_high++] = l->node[i];
	}
	memcpy(l->node + s->first + n_low, l->scratch, n_high * sizeof(*l->node));
	maxflow_free(f);
	return s->first + n_low;
}

/* New places, of all nodes of a line. */
static void regress(struct line *l, struct stretch all)
{
	struct stretch stack[64];
	uint32_t n = 0;

	stack[n++] = all;
	while (n) {
		struct stretch s = stack[--n];

		if (s.first == s.end)
			continue;
		if (s.lo == s.hi) {
			for (uint32_t i = s.first; i < s.end; i++)
				l->place[l->node[i]] = s.lo;
			continue;
		}
		uint32_t cut = halve(l, &s), mid = s.lo + (s.hi - s.lo) / 2;

		stack[n++] = (struct stretch){s.lo, mid, s.first, cut};
		stack[n++] = (struct stretch){mid + 1, s.hi, cut, s.end};
	}
}

/* Groups with the line that they are in and where they would like to be. */
struct spot {
	uint32_t line, group;
	double mean;
};

static int by_spot(const void *pa, const void *pb)
{
	const struct spot *a = pa, *b = pb;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->mean != b->mean)
		return a->mean < b->mean ? -1 : 1;
	return (a->group > b->group) - (a->group < b->group);
}

/* Groups by circle, those of one by the mean number of their nodes. */
static struct spot *line_up(const struct group_graph *g, uint32_t n_groups, const uint32_t *group,
			    struct arena *a)
{
	struct spot *x = ARENA_NEWN(a, struct spot, n_groups);
	uint32_t *circle = ARENA_NEWN(a, uint32_t, n_groups);
	uint32_t *size = ARENA_NEWN(a, uint32_t, n_groups);
	struct group_graph q;

	group_contract(g, group, n_groups, a, &q);
	digraph_components(&(struct digraph){.n = n_groups, .m = q.m, .src = q.src, .dst = q.dst},
			   circle);
	for (uint32_t v = 0; v < g->n; v++) {
		x[group[v]].mean += v;
		size[group[v]]++;
	}
	for (uint32_t i = 0; i < n_groups; i++)
		x[i] = (struct spot){circle[i], i, size[i] ? x[i].mean / size[i] : 0};
	if (n_groups > 1)
		qsort(x, n_groups, sizeof(*x), by_spot);
	return x;
}

uint32_t group_acyclic(const struct group_graph *g, uint32_t n_groups, uint32_t *group)
{
	struct arena *a = arena_new();
	struct line l = {.g = g};
	struct spot *spot = line_up(g, n_groups, group, a);
	uint32_t *spot_of = ARENA_NEWN(a, uint32_t, n_groups), *ptr, moved = 0;

	l.out_ptr = ARENA_NEWN(a, uint32_t, (size_t)g->n + 1);
	l.place = ARENA_NEWN(a, uint32_t, g->n);
	l.node = ARENA_NEWN(a, uint32_t, g->n);
	l.at = ARENA_NEWN(a, uint32_t, g->n);
	l.scratch = ARENA_NEWN(a, uint32_t, g->n);
	ptr = ARENA_NEWN(a, uint32_t, (size_t)n_groups + 2);
	for (uint32_t i = 0; i < g->m; i++)
		l.out_ptr[g->src[i] + 1]++;
	for (uint32_t i = 0; i < n_groups; i++)
		spot_of[spot[i].group] = i;
	for (uint32_t v = 0; v < g->n; v++) {
		l.out_ptr[v + 1] += l.out_ptr[v];
		l.place[v] = spot_of[group[v]];
		l.at[v] = UINT32_MAX;
	}
	rows_sort(l.place, NULL, ROWS_STEP, g->n, n_groups, ptr, l.node);
	for (uint32_t i = 0, end; i < n_groups; i = end) {
		for (end = i + 1; end < n_groups && spot[end].line == spot[i].line;)
			end++;
		if (end > i + 1)
			regress(&l, (struct stretch){i, end - 1, ptr[i], ptr[end]});
	}
	for (uint32_t v = 0; v < g->n; v++) {
		moved += group[v] != spot[l.place[v]].group;
		group[v] = spot[l.place[v]].group;
	}
	arena_free(a);
	return moved;
}
