/* test_group.c - groupings: every method on graphs that partitioners do not like, minimum cuts and
 * moves out of circles against brute force. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "graph/graph.h"
#include "record/grouprec.h"
#include "partition/grouping.h"
#include "partition/maxflow.h"
#include "partition/scotch_lib.h"
#include "tap.h"

static struct rng_addr at = {20, 0, 0, RNG_SEARCH};
static uint32_t drawn;

static uint32_t below(uint32_t n)
{
	return rng_below(&at, drawn++, n);
}

/* ---- minimum cuts ---- */

enum { CUT_NODES = 7 };

struct cut_case {
	int64_t arc[CUT_NODES][CUT_NODES], from[CUT_NODES], to[CUT_NODES];
};

static void add(int64_t *sum, int64_t cap)
{
	*sum = cap == MAXFLOW_INF || *sum == MAXFLOW_INF ? MAXFLOW_INF : *sum + cap;
}

/* What it costs when the nodes of the mask are on the sink's side. */
static int64_t cut_of(const struct cut_case *c, unsigned mask)
{
	int64_t sum = 0;

	for (int u = 0; u < CUT_NODES; u++) {
		add(&sum, mask >> u & 1 ? c->from[u] : c->to[u]);
		for (int v = 0; v < CUT_NODES; v++)
			if (!(mask >> u & 1) && mask >> v & 1)
				add(&sum, c->arc[u][v]);
	}
	return sum;
}

static int64_t draw_cap(void)
{
	return below(3) ? 0 : below(12) ? below(20) : MAXFLOW_INF;
}

static bool cut_agrees(void)
{
	struct cut_case c;
	struct maxflow *x = maxflow_new(CUT_NODES);
	int64_t best = MAXFLOW_INF;
	unsigned mask = 0;

	for (uint32_t u = 0; u < CUT_NODES; u++) {
		c.from[u] = draw_cap();
		c.to[u] = draw_cap();
		maxflow_ends(x, u, c.from[u], c.to[u]);
		for (uint32_t v = 0; v < CUT_NODES; v++)
			c.arc[u][v] = u == v ? 0 : draw_cap();
	}
	for (uint32_t u = 0; u < CUT_NODES; u++)
		for (uint32_t v = 0; v < u; v++)
			maxflow_arc(x, u, v, c.arc[u][v], c.arc[v][u]);
	for (unsigned i = 0; i < 1u << CUT_NODES; i++) {
		int64_t cut = cut_of(&c, i);

		best = cut < best ? cut : best;
	}
	int64_t found = maxflow_run(x);

	for (uint32_t u = 0; u < CUT_NODES; u++)
		mask |= (unsigned)maxflow_on_sink_side(x, u) << u;
	maxflow_free(x);
	return found == best && (best == MAXFLOW_INF || cut_of(&c, mask) == best);
}

static void test_cuts(void)
{
	uint32_t wrong = 0;

	for (int i = 0; i < 20000; i++)
		wrong += !cut_agrees();
	tap(wrong == 0, "minimum cuts are those of brute force (%u differ)", wrong);
}

/* ---- graphs ---- */

/* n nodes; each has up to `degree` inputs among the `span` before it. */
static void draw_graph(struct group_graph *g, uint32_t n, uint32_t degree, uint32_t span,
		       struct arena *a)
{
	*g = (struct group_graph){.n = n, .ordered = true};
	g->src = ARENA_NEWN(a, uint32_t, (size_t)n * (degree + 1));
	g->dst = ARENA_NEWN(a, uint32_t, (size_t)n * (degree + 1));
	g->traffic = ARENA_NEWN(a, double, (size_t)n *(degree + 1));
	g->weight = ARENA_NEWN(a, double, n);
	for (uint32_t u = 0; u < n; u++)
		g->weight[u] = below(100);
	for (uint32_t u = 0; u < n; u++) {
		for (uint32_t v = u + 1; v < n && v <= u + span; v++) {
			if (below(span) >= degree)
				continue;
			g->src[g->m] = u;
			g->dst[g->m] = v;
			g->traffic[g->m++] = below(1000);
			if (g->m == n * degree)
				return;
		}
	}
}

static uint32_t circles(const struct group_graph *g, const uint32_t *group, uint32_t n_groups)
{
	struct arena *a = arena_new();
	struct group_graph q;

	group_contract(g, group, n_groups, a, &q);
	uint32_t n = digraph_components(
		&(struct digraph){.n = q.n, .m = q.m, .src = q.src, .dst = q.dst},
		ARENA_NEWN(a, uint32_t, q.n));

	arena_free(a);
	return n_groups - n;
}

/* ---- circles ---- */

/* The least sum of steps, by trying every choice of places. */
static uint32_t least_steps(const struct group_graph *g, uint32_t n_groups, const uint32_t *place)
{
	uint32_t best = UINT32_MAX, x[8] = {0};

	for (;;) {
		uint32_t sum = 0, i;
		bool legal = true;

		for (i = 0; i < g->m; i++)
			legal &= x[g->src[i]] <= x[g->dst[i]];
		for (i = 0; i < g->n; i++)
			sum += x[i] > place[i] ? x[i] - place[i] : place[i] - x[i];
		if (legal && sum < best)
			best = sum;
		for (i = 0; i < g->n && ++x[i] == n_groups; i++)
			x[i] = 0;
		if (i == g->n)
			return best;
	}
}

/* Groups 0 .. 2 whose order by mean number is that of their numbers, all on one circle. */
static bool steps_agree(struct arena *a, bool *met)
{
	struct group_graph g;
	uint32_t group[8], was[8], size[3] = {0}, circle[3], steps = 0;
	double mean[3] = {0};

	draw_graph(&g, 8, 2, 5, a);
	for (uint32_t v = 0; v < g.n; v++) {
		was[v] = group[v] = below(3);
		mean[group[v]] += v;
		size[group[v]]++;
	}
	for (int i = 0; i < 3; i++)
		mean[i] /= size[i] ? size[i] : 1;
	struct group_graph q;

	group_contract(&g, group, 3, a, &q);
	if (!(mean[0] < mean[1] && mean[1] < mean[2]) ||
	    digraph_components(&(struct digraph){.n = 3, .m = q.m, .src = q.src, .dst = q.dst},
			       circle) != 1)
		return true;
	*met = true;
	group_acyclic(&g, 3, group);
	for (uint32_t v = 0; v < g.n; v++)
		steps += (uint32_t)abs((int)group[v] - (int)was[v]);
	return circles(&g, group, 3) == 0 && steps == least_steps(&g, 3, was);
}

static void test_circles(void)
{
	struct arena *a = arena_new();
	uint32_t wrong = 0, met = 0;

	for (int i = 0; i < 1500; i++) {
		bool one = false;

		wrong += !steps_agree(a, &one);
		met += one;
		arena_reset(a);
	}
	tap(met > 50 && wrong == 0, "out of circles with the fewest steps (%u of %u wrong)", wrong,
	    met);
	arena_free(a);
}

/* ---- methods ---- */

struct shape {
	const char *name;
	uint32_t n, degree, span, n_groups, max_size;
	bool acyclic, together, flat; /* flat: all weights and bytes 0 */
	double scale;
};

static const struct shape shapes[] = {
	{"plain", 300, 2, 20, 12, 0, false, false, false, 1},
	{"acyclic", 300, 2, 20, 12, 0, true, false, false, 1},
	{"together", 300, 2, 20, 12, 0, false, true, false, 1},
	{"together, acyclic", 300, 2, 20, 12, 0, true, true, false, 1},
	{"size cap", 300, 2, 20, 0, 7, true, false, false, 1},
	{"cap above count", 300, 2, 20, 5, 40, false, false, false, 1},
	{"one node", 1, 0, 1, 3, 0, true, false, false, 1},
	{"two nodes", 2, 0, 1, 2, 0, true, false, false, 1},
	{"one group", 50, 2, 9, 1, 0, true, false, false, 1},
	{"more groups than nodes", 20, 1, 9, 50, 0, true, false, false, 1},
	{"nearly as many groups", 40, 2, 9, 39, 0, true, false, false, 1},
	{"half as many groups", 40, 2, 9, 20, 0, false, false, false, 1},
	{"no edges", 200, 0, 9, 7, 0, true, false, false, 1},
	{"no weights", 200, 2, 9, 7, 0, true, false, true, 1},
	{"huge weights", 200, 2, 9, 7, 0, true, false, false, 1e300},
	{"tiny weights", 200, 2, 9, 7, 0, true, false, false, 1e-300},
	{"long", 3000, 1, 1, 40, 0, true, false, false, 1},
	{"dense", 120, 60, 119, 8, 0, true, false, false, 1},
};

static void scale_graph(struct group_graph *g, const struct shape *s)
{
	for (uint32_t v = 0; v < g->n; v++)
		g->weight[v] *= s->flat ? 0 : s->scale;
	for (uint32_t i = 0; i < g->m; i++)
		g->traffic[i] *= s->flat ? 0 : s->scale;
}

/* What is wrong with a grouping; NULL: nothing. */
static const char *fault(const struct group_graph *g, const struct group_options *o, bool none,
			 const uint32_t *group, const struct group_told *told)
{
	uint32_t *again = mem_copy(group, g->n, sizeof(*group)), *size = MEM_NEWN(uint32_t, g->n);
	uint32_t n = group_number(again, g->n), over = 0, nowhere = 0;
	const char *what = NULL;

	if (n != told->n_groups || memcmp(again, group, g->n * sizeof(*group)) != 0)
		what = "not numbered by first members";
	for (uint32_t v = 0; v < g->n; v++)
		size[again[v]]++;
	for (uint32_t i = 0; o->max_size && i < n; i++)
		over += size[i] > o->max_size;
	if (over != told->over || (!o->together && over))
		what = "over the size cap";
	for (uint32_t u = 0; o->together && u < g->n; u++)
		for (uint32_t v = 0; v < u; v++)
			if (o->together[u] == o->together[v] && group[u] != group[v])
				what = "parted";
	if (o->acyclic && circles(g, group, n))
		what = "a circle";
	for (uint32_t i = 0; o->mask && i < n; i++) {
		bool common[2] = {true, true};
		double held = 0;

		for (uint32_t v = 0; v < g->n; v++) {
			held += group[v] == i && o->held ? o->held[v] : 0;
			for (uint32_t d = 0; d < 2; d++)
				common[d] &= group[v] != i || o->mask[2 * v + d];
		}
		for (uint32_t d = 0; d < 2; d++)
			common[d] &= !o->held || held <= o->room[d];
		nowhere += !common[0] && !common[1];
	}
	if (nowhere != told->no_room || (!o->held && nowhere))
		what = "a group that no device can run and has room for";
	if (o->n_groups && !o->together && !none && !o->max_size && !o->mask &&
	    n != (o->n_groups < g->n ? o->n_groups : g->n))
		what = "another number of groups";
	mem_free(size);
	mem_free(again);
	return what;
}

static void test_method(const struct group_method *method)
{
	struct arena *a = arena_new();
	const char *what = NULL;
	struct err e = ERR_INIT;

	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes) && !what; i++) {
		const struct shape *s = &shapes[i];
		struct group_graph g;
		struct group_options o = {.n_groups = s->n_groups,
					  .max_size = s->max_size,
					  .acyclic = s->acyclic,
					  .seed = 5};
		uint32_t *class = ARENA_NEWN(a, uint32_t, s->n),
			 *group = ARENA_NEWN(a, uint32_t, s->n);
		uint32_t *twice = ARENA_NEWN(a, uint32_t, s->n);
		struct group_told told;

		draw_graph(&g, s->n, s->degree, s->span, a);
		scale_graph(&g, s);
		for (uint32_t v = 0; v < s->n; v++)
			class[v] = below(4) ? s->n + v : below(s->n / 4 + 1);
		o.together = s->together ? class : NULL;
		if (group_make(method, &g, &o, group, &told, &e) < 0 ||
		    group_make(method, &g, &o, twice, &told, &e) < 0)
			what = e.msg;
		else if (memcmp(group, twice, s->n * sizeof(*group)) != 0)
			what = "another answer when asked again";
		else
			what = fault(&g, &o, !method->run, group, &told);
		if (what)
			printf("# %s, %s: %s\n", method->name, s->name, what);
	}
	tap(!what, "%s: right on %zu kinds of graphs", method->name,
	    sizeof(shapes) / sizeof(*shapes));
	err_clear(&e);
	arena_free(a);
}

/* Small odd graphs in numbers. */
static void test_small(const struct group_method *method)
{
	struct arena *a = arena_new();
	uint32_t wrong = 0;
	struct err e = ERR_INIT;

	for (uint32_t i = 0; i < 300; i++) {
		struct group_graph g;
		uint32_t n = 1 + below(12), group[12];
		struct group_options o = {.n_groups = 1 + below(14), .acyclic = i % 2, .seed = i};
		uint8_t mask[24];
		struct group_told told;

		draw_graph(&g, n, below(4), 1 + below(12), a);
		if (i % 3 == 0) {
			g.memory = ARENA_NEWN(a, double, n);
			for (uint32_t v = 0; v < n; v++)
				g.memory[v] = below(3) ? 0 : 1e9 * below(5);
		}
		for (uint32_t v = 0; v < n; v++) {
			mask[2 * v] = below(3) > 0;
			mask[2 * v + 1] = !mask[2 * v] || below(3) > 0;
		}
		double held[12], room[2] = {10, i % 8 ? 20 : INFINITY};

		for (uint32_t v = 0; v < n; v++)
			held[v] = below(9) ? below(9) : 15;
		o.mask = i % 4 < 2 ? mask : NULL;
		o.held = i % 4 < 2 && i % 3 ? held : NULL;
		o.room = room;
		o.k = o.mask ? 2 : 0;
		if (i % 5 == 0)
			g.weight[below(n)] = 1e12;
		if (group_make(method, &g, &o, group, &told, &e) < 0)
			wrong++;
		else
			wrong += fault(&g, &o, !method->run, group, &told) != NULL;
		err_clear(&e);
		arena_reset(a);
	}
	tap(wrong == 0, "%s: 300 small graphs (%u wrong)", method->name, wrong);
	arena_free(a);
}

/* The share of traffic between groups. */
static double cut_share(const struct group_graph *g, const uint32_t *group)
{
	double all = 0, cut = 0;

	for (uint32_t i = 0; i < g->m; i++) {
		all += g->traffic[i];
		cut += group[g->src[i]] != group[g->dst[i]] ? g->traffic[i] : 0;
	}
	return cut / all;
}

/* A graph of 8 blobs: partitioners find them, random does not. */
static void test_quality(void)
{
	struct arena *a = arena_new();
	struct group_graph g;
	struct group_options o = {.n_groups = 8, .seed = 3};
	uint32_t group[400];
	struct group_told told;
	struct err e = ERR_INIT;

	draw_graph(&g, 400, 4, 50, a);
	for (uint32_t i = 0; i < g.m; i++)
		g.traffic[i] = g.src[i] / 50 == g.dst[i] / 50 ? 100 : 1;
	for (uint32_t v = 0; v < g.n; v++)
		g.weight[v] = 1;
	for (const struct group_method *x = group_methods; x->run; x++) {
		bool blind = x->run == group_random;
		double cut =
			group_make(x, &g, &o, group, &told, &e) < 0 ? -1 : cut_share(&g, group);

		tap(cut >= 0 && (blind ? cut > 0.5 : cut < 0.2), "%s cuts %.3f of the bytes",
		    x->name, cut);
	}
	arena_free(a);
}

/* Blobs 0 and 1 exchange much, 2 and 3 do; devices 0 and 2 are near each other, 1 and 3 are. */
static void test_mapping(void)
{
	static const double speed[4] = {1, 1, 1, 1}, near[16] = {1, 100, 1, 100, 100, 1, 100, 1,
								 1, 100, 1, 100, 100, 1, 100, 1};
	const struct group_arch arch = {4, speed, near};
	struct arena *a = arena_new();
	struct group_graph g;
	uint32_t group[80], size[80];
	struct group_task t = {.g = &g, .size = size, .n_groups = 4, .seed = 1, .group = group};
	struct err e = ERR_INIT;
	bool whole = true;

	draw_graph(&g, 80, 5, 20, a);
	for (uint32_t i = 0; i < g.m; i++) {
		uint32_t u = g.src[i] / 20, v = g.dst[i] / 20;

		g.traffic[i] = u == v ? 1000 : u / 2 == v / 2 ? 10 : 0.1;
	}
	for (uint32_t v = 0; v < 80; v++)
		g.weight[v] = size[v] = 1;
	bool done = group_scotch_map(&t, &arch, false, &e) == 0;

	for (uint32_t v = 0; v < 80 && done; v++)
		whole &= group[v] == group[v / 20 * 20];
	tap(done && whole && group[0] % 2 == group[20] % 2 && group[0] != group[20] &&
		    group[40] % 2 == group[60] % 2 && group[40] != group[60] &&
		    group[0] % 2 != group[40] % 2,
	    "Scotch maps what exchanges much onto near devices (%u %u %u %u)", group[0], group[20],
	    group[40], group[60]);
	err_clear(&e);
	arena_free(a);
}

/* ---- a hub ---- */

/* One node that all others read, whose weights differ: it takes as many as it may, the heaviest edges
 * first, and what is left comes together. */
static void test_hub(void)
{
	enum { LEAVES = 600, GROUPS = 12, CAP = 100 };
	struct arena *a = arena_new();
	uint32_t n = LEAVES + 1, *group = ARENA_NEWN(a, uint32_t, n), taken = 0, most = 0;
	uint32_t *size = ARENA_NEWN(a, uint32_t, n), *one = ARENA_NEWN(a, uint32_t, n);
	struct group_graph g = {.n = n,
				.m = LEAVES,
				.ordered = true,
				.src = ARENA_NEWN(a, uint32_t, LEAVES),
				.dst = ARENA_NEWN(a, uint32_t, LEAVES),
				.traffic = ARENA_NEWN(a, double, LEAVES),
				.weight = ARENA_NEWN(a, double, n)};
	struct group_task t = {
		.g = &g, .size = one, .n_groups = GROUPS, .max_size = CAP, .group = group};
	struct err e = ERR_INIT;

	for (uint32_t v = 0; v < n; v++) {
		one[v] = 1;
		g.weight[v] = 1;
		if (v == 0)
			continue;
		g.dst[v - 1] = v;
		g.traffic[v - 1] = v;
	}
	bool done = group_heavy_edge(&t, &e) == 0;

	for (uint32_t v = 0; v < n; v++) {
		taken += group[v] == group[0] && (v == 0 || v > LEAVES / 2);
		size[group[v]]++;
		most = size[group[v]] > most ? size[group[v]] : most;
	}
	tap(done && most <= CAP && taken == CAP, "a hub takes the %d that send most (%u of %u)",
	    CAP, taken, most);
	arena_free(a);
}

int main(void)
{
	test_hub();
	test_cuts();
	test_mapping();
	test_circles();
	for (const struct group_method *x = group_methods; x->name; x++) {
		test_method(x);
		test_small(x);
	}
	test_quality();
	return tap_end();
}
