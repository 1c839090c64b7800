/* test_segment.c - segments of random graphs: one device each, no cycle, as large
 * as they can be. */
#include "base/rng.h"
#include "graph/segment.h"
#include "tap.h"

#include <string.h>

struct world {
	struct digraph d;
	uint16_t *device;
	struct arena *a;
};

/* One number after the other. */
static uint32_t below(uint32_t *at, uint32_t bound)
{
	return rng_below(&(struct rng_addr){.seed = 7}, (*at)++, bound);
}

/* A random graph of n nodes: each has up to `fan` sources, most of them near. */
static void make_world(struct world *w, uint32_t *r, uint32_t n, uint32_t fan, uint32_t k, bool odd)
{
	w->a = arena_new();
	w->d = (struct digraph){.n = n};
	w->d.src = arena_raw(w->a, (size_t)n * fan, sizeof *w->d.src);
	w->d.dst = arena_raw(w->a, (size_t)n * fan, sizeof *w->d.dst);
	w->device = arena_raw(w->a, n, sizeof *w->device);
	for (uint32_t v = 0; v < n; v++) {
		w->device[v] = (uint16_t)below(r, k);
		if (odd && below(r, 8) == 0)
			w->device[v] = below(r, 2) ? SEGMENT_ALONE : SEGMENT_NOWHERE;
		uint32_t m = v ? below(r, fan + 1) : 0;
		for (uint32_t i = 0; i < m; i++) {
			uint32_t far = below(r, 8) == 0 ? v : v < 6 ? v : 6;
			w->d.src[w->d.m] = v - 1 - below(r, far);
			w->d.dst[w->d.m++] = v;
		}
	}
}

/* Order, devices and lists are as segment.h says. */
static bool is_sound(const struct world *w, const struct segments *x)
{
	uint32_t n = 0;
	for (uint32_t v = 0; v < w->d.n; v++) {
		bool nowhere = w->device[v] == SEGMENT_NOWHERE;
		if (nowhere != (x->of[v] == GRAPH_NONE))
			return false;
		if (!nowhere && (x->of[v] >= x->n || x->device[x->of[v]] != w->device[v]))
			return false;
		n += !nowhere;
	}
	for (uint32_t i = 0; i < w->d.m; i++) {
		uint32_t s = x->of[w->d.src[i]], t = x->of[w->d.dst[i]];
		if (s != GRAPH_NONE && t != GRAPH_NONE && s > t)
			return false;
	}
	for (uint32_t s = 0; s < x->n; s++) {
		if (x->ptr[s] == x->ptr[s + 1] || x->piece[s] >= x->n_pieces)
			return false;
		if (x->device[s] == SEGMENT_ALONE && x->ptr[s + 1] - x->ptr[s] != 1)
			return false;
		for (uint32_t i = x->ptr[s]; i < x->ptr[s + 1]; i++)
			if (x->of[x->node[i]] != s ||
			    (i > x->ptr[s] && x->node[i] <= x->node[i - 1]))
				return false;
	}
	return x->ptr[x->n] == n && x->n >= x->n_pieces;
}

/* Would the graph of segments stay acyclic with t and u as one? */
static bool can_join(const struct world *w, const struct segments *x, uint32_t t, uint32_t u)
{
	struct arena *a = arena_new();
	uint32_t *group = arena_raw(a, w->d.n, sizeof *group);
	for (uint32_t v = 0; v < w->d.n; v++)
		group[v] = x->of[v] == u ? t : x->of[v];
	struct digraph q;
	segment_quotient(&w->d, group, x->n, a, &q);
	bool ok = digraph_toposort(&q, a, arena_raw(a, x->n, sizeof(uint32_t)));
	arena_free(a);
	return ok;
}

/* No edge joins two segments of a device that could be one. */
static bool is_maximal(const struct world *w, const struct segments *x)
{
	for (uint32_t i = 0; i < w->d.m; i++) {
		uint32_t s = x->of[w->d.src[i]], t = x->of[w->d.dst[i]];
		if (s == t || s == GRAPH_NONE || t == GRAPH_NONE || x->device[s] != x->device[t] ||
		    x->device[s] == SEGMENT_ALONE)
			continue;
		if (can_join(w, x, s, t))
			return false;
	}
	return true;
}

/* Where an edge of its device leads into a segment, why says which path forbids joining. */
static bool is_explained(const struct world *w, const struct segments *x)
{
	for (uint32_t s = 0; s < x->n; s++) {
		struct segment_split y;
		bool edge = false;
		for (uint32_t i = 0; i < w->d.m; i++) {
			uint32_t t = x->of[w->d.src[i]];
			edge |= x->of[w->d.dst[i]] == s && t != s && t != GRAPH_NONE &&
				x->device[t] == x->device[s] && x->device[s] != SEGMENT_ALONE;
		}
		if (segment_why(&w->d, x, s, w->a, &y) != edge)
			return false;
		if (edge &&
		    (x->of[y.to] != s || x->of[y.out] == s || x->of[y.back] == s ||
		     x->of[y.out] == x->of[y.from] || x->device[x->of[y.from]] != x->device[s]))
			return false;
	}
	return true;
}

static void small_graphs(void)
{
	uint32_t at = 0, sound = 0, maximal = 0, explained = 0, joined = 0, n = 600;
	for (uint32_t i = 0; i < n; i++) {
		struct world w;
		struct segments x, y;
		make_world(&w, &at, 1 + below(&at, 40), 1 + below(&at, 3), 1 + below(&at, 4),
			   i % 3 == 0);
		segments_of(&w.d, w.device, false, w.a, &x);
		segments_of(&w.d, w.device, true, w.a, &y);
		sound += is_sound(&w, &x);
		maximal += is_maximal(&w, &x);
		explained += is_explained(&w, &x);
		joined += is_sound(&w, &y) && y.n <= x.n && is_maximal(&w, &y);
		arena_free(w.a);
	}
	tap(sound == n, "segments of one device in a topological order (%u of %u)", sound, n);
	tap(maximal == n, "no two joined segments can be one (%u of %u)", maximal, n);
	tap(explained == n, "every split is explained by a path (%u of %u)", explained, n);
	tap(joined == n, "unconnected segments joined: sound, and not more (%u of %u)", joined, n);
}

/* 0 -> 1 -> 2 and 0 -> 2 with 1 elsewhere: two segments.  A node that only feeds 2
 * from elsewhere splits nothing. */
static void known_graphs(void)
{
	struct arena *a = arena_new();
	struct segments x;
	struct segment_split y;
	uint32_t src[] = {0, 0, 1}, dst[] = {1, 2, 2};
	struct digraph d = {.n = 3, .m = 3, .src = src, .dst = dst};
	uint16_t away[] = {0, 1, 0}, before[] = {1, 0, 0}, nowhere[] = {0, SEGMENT_NOWHERE, 0};
	segments_of(&d, away, false, a, &x);
	tap(x.n == 3 && x.n_pieces == 2 && x.of[0] != x.of[2] && x.n_limited == 0,
	    "a way out and back splits");
	tap(segment_why(&d, &x, x.of[2], a, &y) && y.from == 0 && y.to == 2 && y.out == 1 &&
		    y.back == 1,
	    "and is told");
	segments_of(&d, before, false, a, &x);
	tap(x.n == 2 && x.of[1] == x.of[2], "an input from elsewhere does not");
	segments_of(&d, nowhere, false, a, &x);
	tap(x.n == 1 && x.of[1] == GRAPH_NONE, "nor a node that is nowhere");
	uint32_t src2[] = {0, 1, 0, 3}, dst2[] = {2, 3, 4, 4};
	struct digraph late = {.n = 5, .m = 4, .src = src2, .dst = dst2};
	uint16_t mixed[] = {0, 1, 0, 1, 0};
	segments_of(&late, mixed, false, a, &x);
	tap(x.n == 2, "changes of device before a late input do not split (%u)", x.n);
	segments_of(&(struct digraph){0}, NULL, false, a, &x);
	tap(x.n == 0 && x.n_pieces == 0, "no nodes, no segments");
	arena_free(a);
}

/* Convex wholes: of each chain of nodes that are one device's, those that follow each other directly. */
static uint32_t draw_wholes(const struct world *w, uint32_t *at, uint32_t *whole)
{
	uint32_t n = 0;
	for (uint32_t v = 0; v < w->d.n; v++) {
		whole[v] = GRAPH_NONE;
		if (w->device[v] < SEGMENT_ALONE && below(at, 3) > 0) {
			bool follows = v > 0 && whole[v - 1] != GRAPH_NONE &&
				       w->device[v - 1] == w->device[v] && below(at, 2);
			whole[v] = follows ? whole[v - 1] : v;
			n += follows;
		}
	}
	return n;
}

/* Neighbours in the order of rows can be contracted without closing a cycle, so they can be wholes. */
static void wholes(void)
{
	uint32_t at = 1, sound = 0, whole = 0, joined = 0, n = 600;
	for (uint32_t i = 0; i < n; i++) {
		struct world w;
		struct segments x, y;
		make_world(&w, &at, 1 + below(&at, 40), 1 + below(&at, 3), 1 + below(&at, 3),
			   i % 3 == 0);
		uint32_t *of = arena_raw(w.a, w.d.n, sizeof *of);
		joined += draw_wholes(&w, &at, of);
		segments_of_wholes(&w.d, w.device, of, false, w.a, &x);
		sound += is_sound(&w, &x);
		bool together = true;
		for (uint32_t v = 0; v < w.d.n; v++)
			together &= of[v] == GRAPH_NONE || x.of[v] == x.of[of[v]];
		whole += together;
		segments_of_wholes(&w.d, w.device, NULL, false, w.a, &y);
		segments_of(&w.d, w.device, false, w.a, &x);
		sound -= memcmp(x.of, y.of, w.d.n * sizeof *x.of) != 0;
		arena_free(w.a);
	}
	tap(sound == n && joined > n, "segments with wholes are sound (%u of %u)", sound, n);
	tap(whole == n, "wholes are in one segment (%u of %u)", whole, n);
}

static void large_graph(void)
{
	uint32_t at = 0;
	struct world w;
	struct segments x, y;
	make_world(&w, &at, 100000, 3, 3, true);
	segments_of(&w.d, w.device, false, w.a, &x);
	tap(is_sound(&w, &x), "100000 nodes at random: %u segments of %u pieces, %u limited", x.n,
	    x.n_pieces, x.n_limited);
	segments_of(&w.d, w.device, false, w.a, &y);
	tap(x.n == y.n && memcmp(x.of, y.of, w.d.n * sizeof *x.of) == 0, "the same again");
	arena_free(w.a);
	make_world(&w, &at, 100000, 3, 3, false);
	for (uint32_t v = 0; v < w.d.n; v++)
		w.device[v] = (uint16_t)(v / 1000 % 3);
	segments_of(&w.d, w.device, false, w.a, &x);
	tap(is_sound(&w, &x), "100000 nodes in stretches: %u segments of %u pieces, %u limited",
	    x.n, x.n_pieces, x.n_limited);
	arena_free(w.a);
}

int main(void)
{
	known_graphs();
	small_graphs();
	wholes();
	large_graph();
	return tap_end();
}
