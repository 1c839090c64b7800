/* test_split.c - cutting: borders of shares, the choice with the least sum beside all choices, rows of
 * convolutions beside windows counted one by one, constants of the record, groups of near devices. */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "split/decide.h"
#include "split/draft.h"
#include "split/pairwise.h"
#include "split/shares.h"
#include "split/split_graph.h"
#include "tap.h"

static void test_borders(void)
{
	const uint32_t share[] = {5, 3};
	const struct split_plan p = {.ways = 2, .share = share};
	tap(split_border(&p, 0, 112, 1, 0) == 0 && split_border(&p, 0, 112, 1, 1) == 70 &&
		    split_border(&p, 0, 112, 1, 2) == 112,
	    "5,3 of 112 is 70 and 42");
	tap(split_border(&p, 0, 112, 16, 1) == 64 && split_border(&p, 0, 100, 16, 1) == 64 &&
		    split_border(&p, 0, 100, 16, 2) == 100,
	    "borders are multiples of the unit, the last part has what is left");
	const uint32_t thirds[] = {1, 1, 1};
	const struct split_plan t = {.ways = 3, .share = thirds};
	tap(split_border(&t, 0, 7, 1, 1) == 2 && split_border(&t, 0, 7, 1, 2) == 5,
	    "7 in three parts");
}

/* ---- the choice with the least sum ---- */

enum { VARS = 7, EDGES = 12 };

struct choice_case {
	uint8_t n[VARS];
	double one[VARS][4];
	uint32_t from[EDGES], to[EDGES];
	double pair[EDGES][4][4];
};

/* The next of the numbers below `bound`. */
static uint32_t draw(uint32_t *at, uint32_t bound)
{
	const struct rng_addr a = {.seed = 7, .stream = RNG_SEARCH};
	return rng_below(&a, (*at)++, bound);
}

static void draw_case(uint32_t *r, struct choice_case *c)
{
	for (int v = 0; v < VARS; v++) {
		c->n[v] = (uint8_t)(1 + draw(r, 4));
		for (int a = 0; a < 4; a++)
			c->one[v][a] = (double)draw(r, 100);
	}
	for (int k = 0; k < EDGES; k++) {
		c->from[k] = draw(r, VARS - 1);
		c->to[k] = c->from[k] + 1 + draw(r, VARS - 1 - c->from[k]);
		for (int a = 0; a < 16; a++)
			c->pair[k][a / 4][a % 4] = (double)draw(r, 100);
	}
}

static double cost_of(const struct choice_case *c, const uint8_t *x)
{
	double sum = 0;
	for (int v = 0; v < VARS; v++)
		sum += c->one[v][x[v]];
	for (int k = 0; k < EDGES; k++)
		sum += c->pair[k][x[c->from[k]]][x[c->to[k]]];
	return sum;
}

static double least_of(const struct choice_case *c)
{
	uint8_t x[VARS] = {0};
	double least = cost_of(c, x);
	for (int v = VARS - 1; v >= 0;) {
		if (++x[v] < c->n[v]) {
			double s = cost_of(c, x);
			least = s < least ? s : least;
			v = VARS - 1;
		} else {
			x[v--] = 0;
		}
	}
	return least;
}

static void test_choices(void)
{
	uint32_t r = 0;
	int wrong = 0;
	for (int i = 0; i < 200; i++) {
		struct choice_case c;
		uint8_t x[VARS];
		draw_case(&r, &c);
		struct pairwise *p = pairwise_new(VARS, c.n);
		for (uint32_t v = 0; v < VARS; v++)
			for (uint8_t a = 0; a < c.n[v]; a++)
				pairwise_add_one(p, v, a, c.one[v][a]);
		for (int k = 0; k < EDGES; k++)
			for (uint8_t a = 0; a < c.n[c.from[k]]; a++)
				for (uint8_t b = 0; b < c.n[c.to[k]]; b++)
					pairwise_add_pair(p, c.from[k], a, c.to[k], b,
							  c.pair[k][a][b]);
		double told = pairwise_solve(p, x);
		wrong += told != least_of(&c) || cost_of(&c, x) != told;
		pairwise_free(p);
	}
	tap(wrong == 0, "the least sum of 200 random cases (%d wrong)", wrong);
}

/* A clique of 12 variables of 4 choices is more than a table holds: some are fixed, the cost is still that of the choice. */
static void test_large(void)
{
	enum { N = 12 };
	uint8_t n[N], x[N];
	double cost[N][N][16], sum = 0;
	uint32_t r = 0;
	memset(n, 4, N);
	struct pairwise *p = pairwise_new(N, n);
	for (uint32_t i = 0; i < N; i++)
		for (uint32_t j = i + 1; j < N; j++)
			for (int a = 0; a < 16; a++) {
				cost[i][j][a] = (double)draw(&r, 100);
				pairwise_add_pair(p, j, (uint8_t)(a % 4), i, (uint8_t)(a / 4),
						  cost[i][j][a]);
			}
	double told = pairwise_solve(p, x);
	for (uint32_t i = 0; i < N; i++)
		for (uint32_t j = i + 1; j < N; j++)
			sum += cost[i][j][x[i] * 4 + x[j]];
	tap(told == sum, "a clique: told %g, is %g", told, sum);
	pairwise_free(p);
}

/* ---- constants of the record ---- */

static void test_draft(void)
{
	struct graph *g = graph_new();
	struct draft d;
	g->n = 0;
	g->out_ptr = ARENA_NEWN(g->arena, uint32_t, 1);
	g->weights_bytes = 100000;
	draft_init(&d, g);
	struct draft_value a = draft_ints(&d, (int64_t[]){1, 2}, 2),
			   b = draft_ints(&d, (int64_t[]){1, 2}, 2),
			   c = draft_ints(&d, (int64_t[]){12}, 1),
			   s = draft_ints(&d, (int64_t[]){12}, -1);
	tap(a.node == b.node && c.node != s.node && d.n == 3, "equal integers are one constant");
	struct graph *out = draft_finish(&d, NULL);
	tap(out->tail_at == 131072 && out->tail_bytes == 136 && out->n_const == 3 &&
		    out->const_offset[1] == 131072 + 64 && out->tail[64] == 12,
	    "they lie behind the weights, from a page on");
	draft_release(&d);
	graph_free(out);
	graph_free(g);
}

/* ---- devices that are near each other ---- */

enum { DEVICES = 6 };

/* Links of 1e9 bytes/s, of 1e11 within sets of `size` devices beside each other, both ways or one. */
static void groups_of(struct split_costs *c, uint32_t size, bool both_ways, uint8_t *group)
{
	double latency_s[DEVICES * DEVICES], bytes_per_s[DEVICES * DEVICES];
	*c = (struct split_costs){.n = DEVICES};
	for (uint32_t i = 0; i < DEVICES; i++)
		for (uint32_t j = 0; j < DEVICES; j++) {
			bool near = i / size == j / size && (both_ways || j > i);
			latency_s[i * DEVICES + j] = i == j ? 0 : near ? 1e-6 : 1e-5;
			bytes_per_s[i * DEVICES + j] = near ? 1e11 : 1e9;
		}
	split_groups(c, latency_s, bytes_per_s, group);
}

static void test_groups(void)
{
	struct split_costs c;
	uint8_t group[DEVICES];
	groups_of(&c, 3, true, group);
	tap(c.groups == 2 && c.near == 3 && memcmp(group, (uint8_t[]){0, 0, 0, 1, 1, 1}, 6) == 0,
	    "two nodes of three devices");
	tap(c.in_group.latency_s == 1e-6 && c.in_group.s_per_byte == 1e-11 &&
		    c.between.latency_s == 1e-5 && c.between.s_per_byte == 1e-9,
	    "links within them, and between");
	groups_of(&c, 4, true, group);
	tap(c.groups == 1 && c.near == 6 && group[5] == 0 && c.in_group.s_per_byte == 1e-9,
	    "four devices and two: one group, as fast as its slowest link");
	groups_of(&c, 2, false, group);
	tap(c.groups == 1 && c.near == 6 && c.in_group.s_per_byte == 1e-9,
	    "nobody near: one group");
}

/* Fewer units than parts: what a share touches, so that nothing is left out; one unit is not divided. */
static void test_twice(void)
{
	const uint32_t share[] = {1, 1, 1, 1};
	const struct split_plan p = {.ways = 4, .share = share};
	struct split_range r[4];
	for (uint32_t i = 0; i < 4; i++)
		r[i] = split_share(&p, 0, 128, 64, i);
	tap(r[0].lo == 0 && r[0].hi == 64 && r[1].lo == 0 && r[1].hi == 64 && r[2].lo == 64 &&
		    r[2].hi == 128 && r[3].lo == 64 && r[3].hi == 128,
	    "two heads for four parts: each twice");
	r[0] = split_share(&p, 0, 192, 64, 1);
	tap(r[0].lo == 0 && r[0].hi == 128, "three for four: the second part has two");
	r[0] = split_share(&p, 0, 64, 64, 0);
	tap(r[0].lo == r[0].hi || (r[0].hi == 64 && split_share(&p, 0, 64, 64, 3).lo ==
							    split_share(&p, 0, 64, 64, 3).hi),
	    "one unit is not divided");
}

/* Shares by which unlike devices end together, by hand. */
static void test_rows(void)
{
	struct arena *a = arena_new();
	struct split_rows rows = split_rows_new(2, a);
	const double none[] = {0, 0}, s[] = {1, 3}, fixed[] = {0, 0.5}, late[] = {0, 2};
	uint8_t r = split_row_for(&rows, s, none);
	tap(rows.share[2 * r] == 24 && rows.share[2 * r + 1] == 8,
	    "1 and 3 seconds: 24 and 8 of 32");
	/* y with y/1 + (y - 0.5)/2.5 = 1 is 6/7, of which the first does 27.4 of 32 */
	r = split_row_for(&rows, s, fixed);
	tap(rows.share[2 * r] == 27 && rows.share[2 * r + 1] == 5,
	    "half a second at first: 27 and 5");
	r = split_row_for(&rows, s, late);
	tap(rows.share[2 * r] == 31 && rows.share[2 * r + 1] == 1,
	    "too late with anything: one unit");
	tap(rows.n == 3 && split_row_for(&rows, s, none) == 0 && rows.n == 3, "each row once");
	struct split_rows many = split_rows_new(16, a);
	double same[16], zero[16] = {0};
	for (int p = 0; p < 16; p++)
		same[p] = 2;
	r = split_row_for(&many, same, zero);
	bool even = true;
	for (uint32_t p = 0; p < 16; p++)
		even &= many.share[16 * r + p] == split_units(16) / 16;
	tap(even, "16 alike: all the same");
	/* rows that nobody has make room */
	uint8_t of[] = {2, 0, 2};
	split_rows_keep(&rows, of, 3);
	tap(rows.n == 2 && of[0] == 1 && of[1] == 0 && of[2] == 1 && rows.share[2] == 31 &&
		    rows.share[0] == 24,
	    "the first row and those in use are kept");
	arena_free(a);
}

/* Shares of each node. */
static void test_shares_of_nodes(void)
{
	const uint32_t share[] = {1, 1, 3, 1};
	const uint8_t of[] = {0, 1};
	const struct split_plan p = {.ways = 2, .rows = 2, .share = share, .share_of = of};
	tap(split_border(&p, 0, 8, 1, 1) == 4 && split_border(&p, 1, 8, 1, 1) == 6,
	    "each node has its own row");
}

int main(void)
{
	test_borders();
	test_rows();
	test_shares_of_nodes();
	test_twice();
	test_groups();
	test_choices();
	test_large();
	test_draft();
	return tap_end();
}
