/* test_methods.c - the placement methods of lib/place against brute force over all placements of small problems,
 * under all rules: exact is exact, nothing is better, bounds are below, memory and company are kept. */
#include <math.h>
#include <string.h>

#include "graphgen.h"
#include "place/bound.h"
#include "place/method.h"
#include "place/units.h"
#include "tap.h"

enum { NODES = 7, DEVICES = 4, CASES = 60 };

struct problem {
	struct arena *a;
	struct graph *g;
	struct place_model m;
	struct evaluator *x;
};

static const char *const names[DEVICES] = {"cpu:0", "acc:0", "acc:1", "acc:2"};
static const char *const types[DEVICES] = {"cpu", "accelerator", "accelerator", "accelerator"};

/* A DAG of one output a node; node v reads one or two of the nodes before it. */
static struct graph *make_graph(struct gen *r, uint32_t n)
{
	struct graph *g = gen_columns(n, 2, 1, 1);
	uint32_t m = 0;

	g->n_sets = n;
	g->set = ARENA_NEWN(g->arena, uint32_t, n);
	for (uint32_t v = 0; v < n; v++) {
		g->node_name[v] = g->type[v] = "Node";
		g->opset[v] = "";
		g->set[v] = v;
		for (uint32_t i = 0, k = v ? gen_below(r, 3) : 0; i < k; i++)
			g->in_node[m++] = gen_below(r, v);
		g->in_ptr[v + 1] = m;
		g->out_ptr[v + 1] = g->dim_ptr[v + 1] = v + 1;
		g->out_elem[v] = EL_U8;
		g->out_rank[v] = 1;
		g->out_names[v] = "";
		g->dim[v] = gen_below(r, 5);
	}
	return g;
}

static bool make(struct problem *p, uint64_t seed, enum place_rules rules)
{
	struct gen r = gen_new(seed);
	uint32_t k = 2 + gen_below(&r, DEVICES - 1), n = 2 + gen_below(&r, NODES - 1);
	struct err e = ERR_INIT;

	p->a = arena_new();
	p->g = make_graph(&r, n);
	double *s = ARENA_NEWN(p->a, double, n * k), *move = ARENA_NEWN(p->a, double, n);
	double *lat = ARENA_NEWN(p->a, double, k * k), *bw = ARENA_NEWN(p->a, double, k * k);
	uint64_t *limit = ARENA_NEWN(p->a, uint64_t, k), *mem = ARENA_NEWN(p->a, uint64_t, n);
	uint32_t *together = ARENA_NEWN(p->a, uint32_t, n);
	bool twins = gen_below(&r, 2);

	for (uint32_t v = 0; v < n; v++) {
		for (uint32_t d = 0; d < k; d++)
			s[v * k + d] = twins && d > 1 ? s[v * k + 1] :
				       gen_below(&r, 8) || d == 0 ? 1.0 + gen_below(&r, 9) : -1;
		move[v] = gen_below(&r, 3);
		mem[v] = gen_below(&r, 10);
		together[v] = gen_below(&r, 4) ? v : v / 3;
	}
	for (uint32_t i = 0; i < k * k; i++) {
		lat[i] = i / k == i % k ? 0 : 1;
		bw[i] = i / k == i % k ? INFINITY : 2;
	}
	for (uint32_t d = 1; d < k; d++)
		limit[d] = 15 + (twins ? 0 : gen_below(&r, 10));
	const struct place_setup setup = {
		.k = k, .names = names, .types = types, .set_s = s, .links = {k, lat, bw}, .mem_limit = limit,
		.contention = true, .overlap = true, .set_mem = mem, .rules = rules, .move_s = move,
		.together = together};
	if (place_model_init(&p->m, p->g, &setup, p->a, &e) < 0)
		return false;
	p->x = evaluator_new(&p->m);
	return true;
}

static void end(struct problem *p)
{
	evaluator_free(p->x);
	graph_free(p->g);
	arena_free(p->a);
}

static double value(struct problem *p, const uint16_t *device)
{
	const struct place_result *r = place_evaluate(p->x, device);

	return r->status == PLACE_OK ? r->lat_s : INFINITY;
}

static double brute_force(struct problem *p)
{
	uint16_t device[NODES + 1] = {0};
	double best = INFINITY;
	uint32_t i;

	do {
		best = fmin(best, value(p, device));
		for (i = 0; i < p->m.n_sets && ++device[i] == p->m.k; i++)
			device[i] = 0;
	} while (i < p->m.n_sets);
	return best;
}

static int take(struct method_run *r, struct err *e)
{
	(void)r;
	(void)e;
	return 0;
}

/* What a method gives; INFINITY: nothing legal. */
static double run(struct problem *p, int (*method)(struct method_run *, struct err *), double *bound_s)
{
	uint16_t device[NODES + 1] = {0};
	struct err e = ERR_INIT;
	struct method_run r = {.m = &p->m, .seed = 1, .evals = 20000, .threads = 1, .a = p->a, .device = device,
			       .names = p->m.names, .k = p->m.k, .emit = take};
	double s = method(&r, &e) < 0 ? INFINITY : value(p, device);

	if (bound_s)
		*bound_s = r.bound_s;
	return s;
}

static void against_brute_force(enum place_rules rules)
{
	int made = 0, exact = 0, below = 0, proved = 0, near = 0, above = 0, listed = 0;

	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct problem p;

		if (!make(&p, seed, rules))
			continue;
		made++;
		struct place_units u;
		double best = brute_force(&p), bound, s = run(&p, method_exact, &bound);

		place_units_init(&u, &p.m, p.a);
		exact += s == best || fabs(s - best) < 1e-9 * best;
		below += place_lower_bound(&u) <= best * (1 + 1e-9);
		proved += fabs(bound - best) <= 1e-8 * best;
		s = run(&p, method_anneal, NULL);
		above += s >= best * (1 - 1e-9);
		near += s <= best * (1 + 1e-9);
		for (const struct place_method *x = place_methods; x->name; x++)
			if (x->needs_costs && !(run(&p, x->run, NULL) >= best * (1 - 1e-9)))
				listed++;
		end(&p);
	}
	const char *name = place_rules_names[rules];
	tap(made == CASES && exact == CASES, "%s: exact is the best of all (%d of %d)", name, exact, CASES);
	tap(below == CASES, "%s: the lower bound is one", name);
	tap(proved == CASES, "%s: exact proves it", name);
	tap(above == CASES && near > CASES * 9 / 10, "%s: annealing finds it (%d of %d)", name, near, CASES);
	tap(listed == 0, "%s: no method is better", name);
}

/* Moves one after the other, asked in between, against evaluations from scratch. */
static void moves(enum place_rules rules)
{
	int same = 0, asked = 0;

	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct gen r = gen_new(seed + 1000);
		uint16_t device[NODES + 1] = {0};
		struct problem p;

		if (!make(&p, seed, rules))
			continue;
		struct evaluator *x = evaluator_new(&p.m);

		place_begin(x, device);
		for (int i = 0; i < 40; i++) {
			uint32_t set = gen_below(&r, p.m.n_sets), dev = gen_below(&r, p.m.k);

			for (uint32_t v = 0; v < p.m.n_sets; v++)
				if (p.m.together[v] == p.m.together[set]) {
					device[v] = (uint16_t)dev;
					place_move(x, v, (uint16_t)dev);
				}
			const struct place_result *a = place_moved(x), *b = place_evaluate(p.x, device);

			asked++;
			same += a->status == b->status &&
				((a->status != PLACE_OK && a->status != PLACE_MEMORY) ||
				 (fabs(a->lat_s - b->lat_s) < 1e-9 &&
				  !memcmp(a->mem_bytes, b->mem_bytes, p.m.k * sizeof(*a->mem_bytes))));
		}
		evaluator_free(x);
		end(&p);
	}
	tap(asked && same == asked, "%s: moves give what evaluations from scratch give (%d of %d)",
	    place_rules_names[rules], same, asked);
}

int main(void)
{
	moves(PLACE_SCHEDULE);
	moves(PLACE_DNNPART_LATENCY);
	moves(PLACE_DNNPART_THROUGHPUT);
	against_brute_force(PLACE_SCHEDULE);
	against_brute_force(PLACE_DNNPART_LATENCY);
	against_brute_force(PLACE_DNNPART_THROUGHPUT);
	return tap_end();
}
