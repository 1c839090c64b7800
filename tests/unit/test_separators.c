/* test_separators.c - the program along a graph's separators beside all placements of small chains
 * of blocks. */
#include <math.h>

#include "placegen.h"
#include "place/bound/bound_parts.h"
#include "place/bound/separators.h"
#include "tap.h"

enum { CASES = 300, MOST = 8, DEVICES = 4 };

static void read_from(struct graph *g, uint32_t *m, uint32_t v, uint32_t from)
{
	for (uint32_t i = g->in_ptr[v]; i < *m; i++)
		if (g->in_node[i] == from)
			return;
	g->in_node[(*m)++] = from;
}

/* A chain of tasks and of blocks of up to three branches, of up to three tasks each, which may
 * be joined; with skips some tasks also read what is far before them. */
static struct graph *chain_of_blocks(struct gen *r, uint32_t n, bool skips)
{
	struct graph *g = gen_tensors(n, n);
	uint32_t m = 0, v = 0, end[3], n_ends = 0;

	while (v < n) {
		uint32_t branches = v ? gen_below(r, 4) : 0, from = v ? v - 1 : 0, n_in_block = 0;

		for (uint32_t b = 0; b < branches && v + 1 < n; b++) {
			uint32_t length = 1 + gen_below(r, 3), last = from;

			for (; length && v + 1 < n; length--) {
				read_from(g, &m, v, last);
				if (n_in_block && gen_below(r, 4) == 0)
					read_from(g, &m, v, end[gen_below(r, n_in_block)]);
				last = v;
				g->in_ptr[++v] = m;
			}
			if (last != from)
				end[n_in_block++] = last;
		}
		n_ends = n_in_block;
		for (uint32_t b = 0; b < n_ends; b++)
			read_from(g, &m, v, end[b]);
		if (v && (n_ends == 0 || gen_below(r, 3) == 0))
			read_from(g, &m, v, from);
		if (skips && v > 1)
			read_from(g, &m, v, gen_below(r, v));
		g->in_ptr[++v] = m;
	}
	graph_finish(g);
	return g;
}

/* Do tasks read what is far before them? */
static bool has_skips(uint64_t seed)
{
	return seed % 3 == 0;
}

/* Have all accelerators but the first hardly any memory? */
static bool is_uneven(uint64_t seed)
{
	return seed % 4 == 1;
}

/* The graph p->g on a CPU and three accelerators; all arrays from p->a. */
static bool model_make(struct problem *p, const double *set_s, const double *move_s,
		       const uint64_t *limit, const uint64_t *mem)
{
	static const char *const names[] = {"cpu", "acc:0", "acc:1", "acc:2"};
	static const char *const types[] = {"cpu", "accelerator", "accelerator", "accelerator"};
	static double no_time[DEVICES * DEVICES] = {0}, bw[DEVICES * DEVICES];
	struct err e = ERR_INIT;

	for (uint32_t i = 0; i < DEVICES * DEVICES; i++)
		bw[i] = INFINITY;
	const struct place_setup setup = {
		.k = DEVICES,
		.names = names,
		.types = types,
		.set_s = set_s,
		.links = {.k = DEVICES, .latency_s = no_time, .bytes_per_s = bw},
		.mem_limit = limit,
		.set_mem = mem,
		.rules = PLACE_DNNPART_LATENCY,
		.move_s = move_s};
	if (place_model_init(&p->m, p->g, &setup, p->a, &e) < 0)
		return false;
	place_units_init(&p->u, &p->m, p->a);
	p->ev = evaluator_new(&p->m);
	return true;
}

/* Costs for such a chain.  Some moves take so long that nothing is ever moved there. */
static bool chain_make(struct problem *p, uint64_t seed)
{
	struct gen r = gen_new(seed);
	uint32_t n = 3 + gen_below(&r, MOST - 2), moves = 1 + gen_below(&r, 8),
		 room = 4 + gen_below(&r, 12);

	p->a = arena_new();
	p->g = chain_of_blocks(&r, n, has_skips(seed));
	double *s = ARENA_NEWN(p->a, double, n *DEVICES), *move = ARENA_NEWN(p->a, double, n);
	uint64_t *limit = ARENA_NEWN(p->a, uint64_t, DEVICES), *mem = ARENA_NEWN(p->a, uint64_t, n);
	for (uint32_t v = 0; v < n; v++) {
		bool cpu_only = gen_below(&r, 12) == 0;

		for (uint32_t d = 0; d < DEVICES; d++)
			s[v * DEVICES + d] = d == 0     ? 5.0 + gen_below(&r, 20)
					     : d > 1    ? s[v * DEVICES + 1]
					     : cpu_only ? -1.0
							: gen_below(&r, 4);
		move[v] = gen_below(&r, 12) ? gen_below(&r, moves) : 1e13 / 3;
		mem[v] = gen_below(&r, 6);
	}
	for (uint32_t d = 1; d < DEVICES; d++)
		limit[d] = d > 1 && is_uneven(seed) ? 1 : room;
	return model_make(p, s, move, limit, mem);
}

/* The best of all placements of sets v, v+1, ..; of accelerators beyond `used`, which are empty and
 * alike, only the first is tried. */
static double best_of_all(struct problem *p, uint16_t *device, uint32_t v, uint32_t used)
{
	double best = INFINITY;

	if (v == p->m.n_sets) {
		const struct place_result *r = place_evaluate(p->ev, device);

		return r->status == PLACE_OK ? r->value : INFINITY;
	}
	for (uint32_t d = 0; d < DEVICES && d <= used + 1; d++) {
		device[v] = (uint16_t)d;
		best = fmin(best, best_of_all(p, device, v + 1, d > used ? d : used));
	}
	return best;
}

/* priced: with a price for memory. */
static double along_separators(struct problem *p, uint32_t *piece, uint32_t *n_pieces, uint32_t *n,
			       double *priced)
{
	struct bound_view v;
	struct reach g;
	struct separators s;

	bound_view_init(&v, &p->u, p->a);
	reach_init(&g, &v, p->a);
	separators_init(&s, &g, false, false, p->a);
	*n = s.n;
	*priced = bound_separators_s(&g);
	return separators_solve(&s, piece, n_pieces);
}

/* 0 -> 1 -> 2 -> 3 -> 4, the last of them for the CPU; 2 reads 0, which takes for ever to move, and
 * 4 reads 1.  Best is 0 .. 3 in one piece; that 0 is inside must not cost the others' last
 * digits. */
static bool keeps_digits(void)
{
	enum { TASKS = 5 };
	static const uint32_t edge[][2] = {{0, 1}, {1, 2}, {0, 2}, {2, 3}, {3, 4}, {1, 4}};
	struct problem p = {.a = arena_new(), .g = gen_tensors(TASKS, TASKS)};
	double *s = ARENA_NEWN(p.a, double, TASKS *DEVICES), *move = ARENA_NEWN(p.a, double, TASKS);
	uint64_t *none = ARENA_NEWN(p.a, uint64_t, TASKS);
	uint32_t piece[TASKS], n_pieces, n, m = 0;
	double priced, right = 4 * 1.0 + 2 * 0.3 + 2;

	for (uint32_t v = 0; v < TASKS; v++) {
		for (size_t i = 0; i < sizeof(edge) / sizeof(edge[0]); i++)
			if (edge[i][1] == v)
				read_from(p.g, &m, v, edge[i][0]);
		p.g->in_ptr[v + 1] = m;
		for (uint32_t d = 0; d < DEVICES; d++)
			s[v * DEVICES + d] = v < 4 ? (d ? 1 : 50) : d ? -1 : 2;
		move[v] = v ? 0.3 : 1.1e13;
	}
	graph_finish(p.g);
	bool ok = model_make(&p, s, move, none, none) &&
		  fabs(along_separators(&p, piece, &n_pieces, &n, &priced) - right) < 1e-9 &&
		  fabs(priced - right) < 1e-6;

	problem_end(&p);
	return ok;
}

int main(void)
{
	int n = 0, below = 0, tight = 0, separated = 0, worth = 0, few = 0, tighter = 0;

	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct problem p;
		uint16_t device[MOST + 1] = {0};
		uint32_t piece[MOST + 1] = {0}, n_pieces = 0, length;

		if (!chain_make(&p, seed))
			continue;
		double best = best_of_all(&p, device, 0, is_uneven(seed) ? 1 : 0);
		double priced, least = along_separators(&p, piece, &n_pieces, &length, &priced);

		n++;
		separated += length > 1;
		bool is_below = least <= best * (1 + 1e-12) && priced <= best * (1 + 1e-12);

		below += is_below;
		tight += least >= best * (1 - 1e-12);
		tighter += priced > least * (1 + 1e-6);
		if (!is_below)
			printf("# seed %d: best %.9g, bounds %.9g, %.9g\n", (int)seed, best, least,
			       priced);
		/* Without skips, and as many accelerators as there are pieces: it is worth what
		 * was said. */
		if (n_pieces < DEVICES && !has_skips(seed) && !is_uneven(seed)) {
			for (uint32_t t = 0; t < p.m.tasks.dag.n; t++)
				device[p.m.tasks.task_set[t]] = (uint16_t)piece[t];
			const struct place_result *r = place_evaluate(p.ev, device);

			few++;
			worth += r->status == PLACE_OK && fabs(r->value - least) <= 1e-9 * least;
			if (!(r->status == PLACE_OK && fabs(r->value - least) <= 1e-9 * least))
				printf("# seed %d: placement %.9g, said to be %.9g\n", (int)seed,
				       r->value, least);
		}
		problem_end(&p);
	}
	tap(n == CASES && separated > n * 9 / 10, "graphs have a spine (%d of %d)", separated, n);
	tap(below == n, "the bound is never above the best placement (%d)", below);
	tap(tight > n / 2, "mostly it is as high (%d of %d)", tight, n);
	tap(tighter > 0, "a price of memory helps (%d)", tighter);
	tap(few > n / 3 && worth == few, "the placement is worth what was said (%d of %d)", worth,
	    few);
	tap(keeps_digits(), "moves that nobody makes change no digits");
	return tap_end();
}
