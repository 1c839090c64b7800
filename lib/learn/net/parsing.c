/* parsing.c - dominant edges and their components. */
#include "learn/net/parsing.h"
#include "base/ascending.h"
#include "base/disjoint.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Roots -> groups numbered by first member. */
static void number_groups(uint32_t *parent, uint32_t n, struct arena *a, struct parsed *out)
{
	out->group = arena_raw(a, n, sizeof *out->group);
	out->n_groups = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t r = disjoint_find(parent, i);
		out->group[i] = r == i ? out->n_groups++ : out->group[r];
	}
}

void parse_groups(const struct ugraph *g, const uint32_t *kept, uint32_t n_kept, struct arena *a,
		  struct parsed *out)
{
	uint32_t *parent = disjoint_new(g->n, a);
	out->n_kept = n_kept;
	out->kept = arena_raw(a, n_kept, sizeof *kept);
	for (uint32_t i = 0; i < n_kept; i++) {
		out->kept[i] = kept[i];
		disjoint_join(parent, g->u[kept[i]], g->v[kept[i]]);
	}
	number_groups(parent, g->n, a, out);
}

static bool is_tie(const struct ugraph *g, const struct parse_limits *lim, uint32_t e)
{
	return lim->together && lim->together[g->u[e]] == lim->together[g->v[e]];
}

/* Edges that are the highest-scored one of an end, and ties: ascending in kept[]. */
static uint32_t dominant_edges(const struct ugraph *g, const float *score,
			       const struct parse_limits *lim, uint32_t *best, uint32_t *kept)
{
	const uint8_t *dropped = lim->dropped;
	for (uint32_t i = 0; i < g->n; i++)
		best[i] = UINT32_MAX;
	for (uint32_t e = 0; e < g->m; e++) {
		if (dropped && dropped[e])
			continue;
		uint32_t *bu = &best[g->u[e]], *bv = &best[g->v[e]];
		if (*bu == UINT32_MAX || score[e] > score[*bu])
			*bu = e;
		if (*bv == UINT32_MAX || score[e] > score[*bv])
			*bv = e;
	}
	uint32_t n = 0;
	for (uint32_t e = 0; e < g->m; e++)
		if (best[g->u[e]] == e || best[g->v[e]] == e || is_tie(g, lim, e))
			kept[n++] = e;
	return n;
}

struct scored {
	float score;
	uint32_t edge;
};

static int by_score(const void *pa, const void *pb)
{
	const struct scored *a = pa, *b = pb;
	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	return a->edge < b->edge ? -1 : a->edge > b->edge;
}

/* Have the rows u and v of mask (.,k) a device in common?  Then row u becomes what they share. */
static bool share_device(uint8_t *mask, uint32_t k, uint32_t u, uint32_t v)
{
	uint8_t *a = mask + (size_t)u * k, *b = mask + (size_t)v * k;
	bool any = false;
	for (uint32_t d = 0; d < k; d++)
		any = any || (a[d] && b[d]);
	if (any)
		for (uint32_t d = 0; d < k; d++)
			a[d] = a[d] && b[d];
	return any;
}

/* Walk the kept edges from the highest score (NULL: all are equal) down and keep those that the
 * limits allow; returns their number, kept[] ascending again. */
static uint32_t keep_allowed(const struct ugraph *g, const float *score,
			     const struct parse_limits *lim, uint32_t *parent, uint32_t *kept,
			     uint32_t n, struct arena *a)
{
	struct scored *s = arena_raw(a, n, sizeof *s);
	for (uint32_t i = 0; i < n; i++)
		s[i] = (struct scored){is_tie(g, lim, kept[i]) ? INFINITY
				       : score                 ? score[kept[i]]
							       : 0,
				       kept[i]};
	qsort(s, n, sizeof *s, by_score); /* ties come first */
	uint8_t *mask = NULL;
	if (lim->mask) {
		size_t bytes = (size_t)g->n * lim->k;
		mask = memcpy(arena_raw(a, bytes, 1), lim->mask, bytes);
	}
	uint32_t n_groups = g->n, n_kept = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t u = disjoint_find(parent, g->u[s[i].edge]),
			 v = disjoint_find(parent, g->v[s[i].edge]);
		if (u != v) {
			bool tie = is_tie(g, lim, s[i].edge);
			if (n_groups <= lim->min_groups && !tie)
				continue;
			if (mask && !share_device(mask, lim->k, u < v ? u : v, u < v ? v : u) &&
			    !tie)
				continue;
			disjoint_join(parent, u, v);
			n_groups--;
		}
		kept[n_kept++] = s[i].edge;
	}
	qsort(kept, n_kept, sizeof *kept, ascending_u32);
	return n_kept;
}

/* A mask without zeros is none. */
static bool is_limited(const struct ugraph *g, const struct parse_limits *lim)
{
	return lim->mask && memchr(lim->mask, 0, (size_t)g->n * lim->k);
}

void parse_edges(const struct ugraph *g, const float *score, const struct parse_limits *lim,
		 struct arena *a, struct parsed *out)
{
	uint32_t *best = arena_raw(a, g->n, sizeof *best);
	uint32_t *kept = arena_raw(a, g->m, sizeof *kept);
	uint32_t *parent = disjoint_new(g->n, a);
	uint32_t n = dominant_edges(g, score, lim, best, kept), n_joins = 0;
	for (uint32_t i = 0; i < n; i++)
		n_joins += disjoint_join(parent, g->u[kept[i]], g->v[kept[i]]);
	if (is_limited(g, lim) || g->n - n_joins < lim->min_groups) {
		for (uint32_t i = 0; i < g->n; i++)
			parent[i] = i;
		n = keep_allowed(g, score, lim, parent, kept, n, a);
	}
	out->kept = kept;
	out->n_kept = n;
	number_groups(parent, g->n, a, out);
}

void parse_along(const struct ugraph *g, const uint32_t *edge, uint32_t n,
		 const struct parse_limits *lim, struct arena *a, struct parsed *out)
{
	uint32_t *kept = arena_raw(a, g->m, sizeof *kept), n_kept = 0;
	for (uint32_t e = 0, i = 0; e < g->m; e++) {
		bool named = i < n && edge[i] == e;
		i += named;
		if (named || is_tie(g, lim, e))
			kept[n_kept++] = e;
	}
	uint32_t *parent = disjoint_new(g->n, a);
	out->kept = kept;
	out->n_kept = keep_allowed(g, NULL, lim, parent, kept, n_kept, a);
	number_groups(parent, g->n, a, out);
}
