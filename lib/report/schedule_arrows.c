/* schedule_arrows.c - from which entry of a schedule to which each copy leads. */
#include "base/ascending.h"
#include "graph/rows.h"
#include "report/schedule_arrows.h"

#include <stdbool.h>
#include <stdlib.h>

/* Clocks are read at the end of one thing and at the beginning of the next. */
static const double CLOCK_S = 1e-9;

int schedule_check(const struct run_schedule *s, const struct place_rec *p, struct err *e)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->set[i] >= p->n_sets)
			return err_set(e, ST_INPUT, "schedule: set %u of %u", s->set[i], p->n_sets);
	for (uint32_t i = 0; i < s->n_copies; i++)
		if (s->copy_set[i] >= p->n_sets || s->copy_src[i] >= p->k || s->copy_dst[i] >= p->k)
			return err_set(e, ST_INPUT,
				       "schedule: copy %u is of a set or device that is not there",
				       i);
	return 0;
}

/* Entries by set: entry[ptr[s]] up to entry[ptr[s + 1]] are those of set s. */
struct by_set {
	uint32_t *ptr, *entry;
};

static struct by_set entries_by_set(const struct run_schedule *s, uint32_t n_sets, struct arena *a)
{
	struct by_set x = {ARENA_NEWN(a, uint32_t, (size_t)n_sets + 2),
			   ARENA_NEWN(a, uint32_t, s->n)};
	rows_sort(s->set, NULL, ROWS_STEP, s->n, n_sets, x.ptr, x.entry);
	return x;
}

static bool has_entry(const struct by_set *x, uint32_t set)
{
	return set != GRAPH_NONE && x->ptr[set + 1] > x->ptr[set];
}

/* "what set src makes, set dst reads" */
struct edge {
	uint32_t src, dst;
};

static int by_ends(const void *x, const void *y)
{
	const struct edge *a = x, *b = y;
	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	return (a->dst > b->dst) - (a->dst < b->dst);
}

/* Edges between sets on different devices, ordered by their ends. */
static uint32_t crossing_edges(const struct graph *g, const struct place_rec *p,
			       const struct by_set *x, struct edge *edge, struct arena *a)
{
	uint32_t *of = ARENA_NEWN(a, uint32_t, g->n), n = 0; /* the set that made a node's data */
	for (uint32_t v = 0; v < g->n; v++) {
		bool runs = has_entry(x, g->set[v]);
		of[v] = runs ? g->set[v] : GRAPH_NONE;
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			uint32_t from =
				g->in_node[i] == GRAPH_NONE ? GRAPH_NONE : of[g->in_node[i]];
			if (from == GRAPH_NONE)
				continue;
			if (!runs && of[v] == GRAPH_NONE)
				of[v] = from;
			if (runs && p->device[from] != p->device[g->set[v]])
				edge[n++] = (struct edge){from, g->set[v]};
		}
	}
	qsort(edge, n, sizeof *edge, by_ends);
	return n;
}

static uint32_t first_edge(const struct edge *edge, uint32_t n, uint32_t src)
{
	uint32_t lo = 0, hi = n;
	BISECT(lo, hi, mid, edge[mid].src < src)
	return lo;
}

/* The last entry of a copy's set that had ended when the copy began; none had: its first. */
static uint32_t maker(const struct run_schedule *s, const struct by_set *x, uint32_t copy)
{
	uint32_t set = s->copy_set[copy], best = GRAPH_NONE;
	for (uint32_t j = x->ptr[set]; j < x->ptr[set + 1]; j++) {
		uint32_t i = x->entry[j];
		if (best == GRAPH_NONE || (s->end_s[i] <= s->copy_start_s[copy] + CLOCK_S &&
					   s->end_s[i] > s->end_s[best]))
			best = i;
	}
	return best;
}

struct schedule_arrows schedule_arrows(const struct graph *g, const struct run_schedule *s,
				       const struct place_rec *p, struct arena *a)
{
	struct by_set x = entries_by_set(s, p->n_sets, a);
	struct edge *edge = ARENA_NEWN(a, struct edge, g->in_ptr[g->n]);
	uint32_t n = crossing_edges(g, p, &x, edge, a);
	struct schedule_arrows out = {ARENA_NEWN(a, uint32_t, s->n_copies),
				      ARENA_NEWN(a, uint32_t, s->n_copies)};
	for (uint32_t c = 0; c < s->n_copies; c++) {
		uint32_t set = s->copy_set[c];
		out.from[c] = maker(s, &x, c);
		out.to[c] = GRAPH_NONE;
		for (uint32_t i = first_edge(edge, n, set); i < n && edge[i].src == set; i++)
			for (uint32_t j = x.ptr[edge[i].dst];
			     p->device[edge[i].dst] == s->copy_dst[c] && j < x.ptr[edge[i].dst + 1];
			     j++) {
				uint32_t to = x.entry[j];
				if (s->start_s[to] + CLOCK_S >= s->copy_start_s[c] &&
				    (out.to[c] == GRAPH_NONE ||
				     s->start_s[to] < s->start_s[out.to[c]]))
					out.to[c] = to;
			}
	}
	return out;
}
