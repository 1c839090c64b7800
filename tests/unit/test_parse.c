/* test_parse.c - undirected graphs and dominant-edge parsing against naive
 * implementations over random graphs. */
#include "tap.h"
#include "randgraph.h"

#include "learn/net/parsing.h"

#include <math.h>
#include <string.h>

enum { MAX = 64, GRAPHS = 400 };

static bool linked[MAX][MAX];

/* Component numbers by repeated relabelling of what `linked` joins. */
static uint32_t naive_groups(uint32_t n, uint32_t *group)
{
	uint32_t label[MAX], n_groups = 0;
	for (uint32_t i = 0; i < n; i++)
		label[i] = i;
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < n; j++)
				if (linked[i][j] && label[j] < label[i]) {
					label[i] = label[j];
					changed = true;
				}
	}
	for (uint32_t i = 0; i < n; i++)
		group[i] = label[i] == i ? n_groups++ : group[label[i]];
	return n_groups;
}

static void link_edge(const struct ugraph *g, uint32_t e)
{
	linked[g->u[e]][g->v[e]] = linked[g->v[e]][g->u[e]] = true;
}

/* The definition, word by word: each node keeps its highest-scored incident edge. */
static uint32_t naive_parse(const struct ugraph *g, const float *score, bool *kept, uint32_t *group)
{
	memset(linked, 0, sizeof linked);
	memset(kept, 0, g->m);
	for (uint32_t v = 0; v < g->n; v++) {
		int best = -1;
		for (uint32_t e = 0; e < g->m; e++)
			if ((g->u[e] == v || g->v[e] == v) && (best < 0 || score[e] > score[best]))
				best = (int)e;
		if (best >= 0) {
			kept[best] = true;
			link_edge(g, (uint32_t)best);
		}
	}
	return naive_groups(g->n, group);
}

static bool same_kept(const struct parsed *p, const bool *kept, uint32_t m)
{
	uint32_t i = 0;
	for (uint32_t e = 0; e < m; e++)
		if (kept[e] && (i >= p->n_kept || p->kept[i++] != e))
			return false;
	return i == p->n_kept;
}

/* Random scores; with few levels there are many ties. */
static void random_scores(float *s, uint32_t m, uint32_t levels, uint64_t seed)
{
	struct rng_addr at = {.seed = seed, .stream = 98};
	for (uint32_t e = 0; e < m; e++)
		s[e] = (float)(1 + rng_below(&at, e, levels)) / (float)(levels + 1);
}

static void make(struct ugraph *g, uint64_t seed, struct arena *a)
{
	struct rng_addr at = {.seed = seed, .stream = 97};
	struct digraph d;
	uint32_t n = 1 + rng_below(&at, 0, MAX - 1);
	random_dag(&d, n, 1 + rng_below(&at, 1, 10), rng_below(&at, 2, n), 0.3, seed, a);
	ugraph_from_digraph(g, &d, a);
}

static void plain(struct arena *a)
{
	int bad = 0, bad_again = 0;
	for (uint64_t s = 0; s < GRAPHS; s++) {
		struct ugraph g;
		struct parse_limits none = {0};
		struct parsed p, again;
		float score[3 * MAX];
		bool kept[3 * MAX];
		uint32_t group[MAX];
		arena_reset(a);
		make(&g, s, a);
		random_scores(score, g.m, s % 2 ? 3 : 1000, s);
		parse_edges(&g, score, &none, a, &p);
		uint32_t n_groups = naive_parse(&g, score, kept, group);
		bad += p.n_groups != n_groups || !same_kept(&p, kept, g.m) ||
		       memcmp(p.group, group, g.n * sizeof *group) != 0;
		parse_groups(&g, p.kept, p.n_kept, a, &again);
		bad_again += again.n_groups != n_groups ||
			     memcmp(again.group, group, g.n * sizeof *group) != 0;
	}
	tap(bad == 0, "parsing is the naive one on %d random graphs (%d differ)", GRAPHS, bad);
	tap(bad_again == 0, "the kept edges give the same groups again");
}

/* Numbering the nodes anew renumbers the groups and changes nothing else. */
static void renumbered(struct arena *a)
{
	int bad = 0;
	for (uint64_t s = 0; s < GRAPHS; s++) {
		struct ugraph g, h;
		struct parse_limits none = {0};
		struct parsed p, q;
		float score[3 * MAX], moved[3 * MAX];
		uint32_t to[MAX];
		arena_reset(a);
		make(&g, s, a);
		for (uint32_t e = 0; e < g.m; e++)
			score[e] = (float)((e * 37) % 211) / 211; /* distinct */
		for (uint32_t i = 0; i < g.n; i++)
			to[i] = g.n - 1 - i;
		struct digraph d = {.n = g.n, .m = g.m};
		d.src = ARENA_NEWN(a, uint32_t, g.m);
		d.dst = ARENA_NEWN(a, uint32_t, g.m);
		for (uint32_t e = 0; e < g.m; e++) {
			d.src[e] = to[g.u[e]];
			d.dst[e] = to[g.v[e]];
		}
		ugraph_from_digraph(&h, &d, a);
		for (uint32_t e = 0; e < g.m; e++)
			for (uint32_t f = 0; f < h.m; f++)
				if (h.u[f] == to[g.v[e]] && h.v[f] == to[g.u[e]])
					moved[f] = score[e];
		parse_edges(&g, score, &none, a, &p);
		parse_edges(&h, moved, &none, a, &q);
		for (uint32_t i = 0; i < g.n; i++)
			for (uint32_t j = 0; j < g.n; j++)
				bad += (p.group[i] == p.group[j]) !=
				       (q.group[to[i]] == q.group[to[j]]);
	}
	tap(bad == 0, "renumbering nodes commutes with parsing");
}

/* A floor: as many groups as it says, or as many as there are without it. */
static void limits(struct arena *a)
{
	int bad_floor = 0, bad_mask = 0, bad_drop = 0, bit = 0;
	for (uint64_t s = 0; s < GRAPHS; s++) {
		struct ugraph g;
		struct parsed free_p, p;
		struct rng_addr at = {.seed = s, .stream = 96};
		float score[3 * MAX];
		uint8_t mask[2 * MAX], dropped[3 * MAX];
		arena_reset(a);
		make(&g, s, a);
		random_scores(score, g.m, 50, s);
		parse_edges(&g, score, &(struct parse_limits){0}, a, &free_p);

		struct parse_limits lim = {.min_groups = 1 + rng_below(&at, 0, MAX)};
		uint32_t want = lim.min_groups < free_p.n_groups ? free_p.n_groups : lim.min_groups;
		parse_edges(&g, score, &lim, a, &p);
		bad_floor += p.n_groups != (want < g.n ? want : g.n);

		for (uint32_t i = 0; i < g.n; i++) {
			uint32_t r = rng_below(&at, 10 + i, 3);
			mask[2 * i] = r != 1;
			mask[2 * i + 1] = r != 2;
		}
		lim = (struct parse_limits){.mask = mask, .k = 2};
		parse_edges(&g, score, &lim, a, &p);
		for (uint32_t x = 0; x < p.n_groups; x++) {
			uint8_t both[2] = {1, 1};
			for (uint32_t i = 0; i < g.n; i++)
				for (int k = 0; k < 2 && p.group[i] == x; k++)
					both[k] &= mask[2 * i + (uint32_t)k];
			bad_mask += !both[0] && !both[1];
		}
		bit += p.n_groups > free_p.n_groups;

		for (uint32_t e = 0; e < g.m; e++)
			dropped[e] = rng_below(&at, 200 + e, 2) != 0;
		lim = (struct parse_limits){.dropped = dropped};
		parse_edges(&g, score, &lim, a, &p);
		for (uint32_t i = 0; i < p.n_kept; i++)
			bad_drop += dropped[p.kept[i]];
	}
	tap(bad_floor == 0, "a floor on the number of groups is met exactly");
	tap(bad_mask == 0 && bit > 10, "groups share a device (the masks mattered %d times)", bit);
	tap(bad_drop == 0, "dropped edges are not kept");
}

/* Nodes of one class are in one group, whatever the other limits say; without the tied edges and
 * below the floor nothing else is joined. */
static void ties(struct arena *a)
{
	enum { CLASSES = 9 };
	int apart = 0, floored = 0, masked = 0, edges = 0;
	for (uint64_t s = 0; s < GRAPHS; s++) {
		struct ugraph g, t;
		struct parsed p;
		struct rng_addr at = {.seed = s, .stream = 94};
		uint32_t class[MAX], size[CLASSES + MAX] = {0}, n_classes = 0;
		float score[4 * MAX];
		uint8_t mask[2 * MAX], dropped[4 * MAX];
		arena_reset(a);
		make(&g, s, a);
		for (uint32_t i = 0; i < g.n; i++) {
			uint32_t c = rng_below(&at, i, 2 * CLASSES);
			class[i] = c < CLASSES ? c : CLASSES + i;
			n_classes += size[class[i]]++ == 0;
			mask[2 * i] = class[i] % 2 == 0;
			mask[2 * i + 1] = class[i] % 3 != 0 || class[i] % 2 != 0;
		}
		ugraph_tie(&t, &g, class, CLASSES + g.n, a);
		edges += t.m < g.m || t.m > g.m + g.n - n_classes;
		random_scores(score, t.m, 50, s);
		memset(dropped, 1, t.m);
		struct parse_limits lim = {.together = class,
					   .min_groups = MAX,
					   .mask = mask,
					   .k = 2,
					   .dropped = s % 2 ? dropped : NULL};
		parse_edges(&t, score, &lim, a, &p);
		floored += p.n_groups != n_classes;
		lim.min_groups = 0;
		lim.dropped = NULL;
		parse_edges(&t, score, &lim, a, &p);
		for (uint32_t i = 0; i < g.n; i++)
			for (uint32_t j = 0; j < i; j++) {
				apart += class[i] == class[j] && p.group[i] != p.group[j];
				masked += p.group[i] == p.group[j] &&
					  !(mask[2 * i] & mask[2 * j]) &&
					  !(mask[2 * i + 1] & mask[2 * j + 1]);
			}
	}
	tap(edges == 0, "nodes of one class are tied in a row");
	tap(floored == 0, "with a high floor there are as many groups as classes");
	tap(apart == 0 && masked == 0, "classes stay together, and groups share a device");
}

/* Dhat^-1/2 (A + I) Dhat^-1/2 from a dense matrix. */
static void operator(struct arena *a)
{
	double worst = 0;
	int bad = 0;
	for (uint64_t s = 0; s < 50; s++) {
		struct ugraph g;
		double A[MAX][MAX] = {{0}}, deg[MAX] = {0};
		arena_reset(a);
		make(&g, s, a);
		for (uint32_t i = 0; i < g.n; i++)
			A[i][i] = 1;
		for (uint32_t e = 0; e < g.m; e++) {
			A[g.u[e]][g.v[e]] = A[g.v[e]][g.u[e]] = 1;
			bad += g.u[e] >= g.v[e] ||
			       (e > 0 && (g.u[e] < g.u[e - 1] ||
					  (g.u[e] == g.u[e - 1] && g.v[e] <= g.v[e - 1])));
		}
		for (uint32_t i = 0; i < g.n; i++)
			for (uint32_t j = 0; j < g.n; j++)
				deg[i] += A[i][j];
		for (uint32_t i = 0; i < g.n; i++)
			for (uint32_t p = g.ptr[i]; p < g.ptr[i + 1]; p++) {
				double *x = &A[i][g.adj[p]];
				double w = *x / sqrt(deg[i] * deg[g.adj[p]]);
				worst = fmax(worst, fabs(w - g.weight[p]));
				bad += p > g.ptr[i] && g.adj[p] <= g.adj[p - 1];
				*x = 0;
			}
		for (uint32_t i = 0; i < g.n; i++)
			for (uint32_t j = 0; j < g.n; j++)
				bad += A[i][j] != 0;
	}
	tap(bad == 0 && worst < 1e-6, "rows of the GCN operator, ascending (error %.1e)", worst);
}

static void quotients(struct arena *a)
{
	int bad = 0;
	for (uint64_t s = 0; s < GRAPHS; s++) {
		struct ugraph g, q;
		struct rng_addr at = {.seed = s, .stream = 95};
		uint32_t group[MAX], seen = 0;
		arena_reset(a);
		make(&g, s, a);
		uint32_t n_groups = 1 + rng_below(&at, 0, g.n);
		for (uint32_t i = 0; i < g.n; i++)
			group[i] = i < n_groups ? i : rng_below(&at, 1 + i, n_groups);
		ugraph_quotient(&q, &g, group, n_groups, a);
		memset(linked, 0, sizeof linked);
		for (uint32_t e = 0; e < g.m; e++) {
			uint32_t x = group[g.u[e]], y = group[g.v[e]];
			if (x != y && !linked[x][y]) {
				linked[x][y] = linked[y][x] = true;
				seen++;
			}
		}
		bad += q.m != seen || q.n != n_groups;
		for (uint32_t e = 0; e < q.m; e++)
			bad += !linked[q.u[e]][q.v[e]] || q.u[e] >= q.v[e];
	}
	tap(bad == 0, "quotients have the edges between groups, once");
}

int main(void)
{
	struct arena *a = arena_new();
	plain(a);
	renumbered(a);
	limits(a);
	ties(a);
	operator(a);
	quotients(a);
	arena_free(a);
	return tap_end();
}
