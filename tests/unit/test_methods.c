/* test_methods.c - the placement methods of lib/place against brute force over all placements of small problems,
 * under all rules: exact is exact, nothing is better, bounds are below, memory and company are kept. */
#include <math.h>
#include <string.h>

#include "place/bound.h"
#include "place/method.h"
#include "place/units.h"
#include "problemgen.h"
#include "tap.h"

enum { NODES = 7, CASES = 60 };

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
static double run(struct problem *p, int (*method)(struct method_run *, struct err *), uint64_t evals,
		  double *bound_s)
{
	uint16_t device[NODES + 1] = {0};
	struct err e = ERR_INIT;
	struct method_run r = {.m = &p->m, .seed = 1, .evals = evals, .threads = 1, .a = p->a, .device = device,
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

		if (!make(&p, seed, rules, NODES, false))
			continue;
		made++;
		struct place_units u;
		double best = brute_force(&p), bound, s = run(&p, method_exact, 20000, &bound);

		place_units_init(&u, &p.m, p.a);
		exact += s == best || fabs(s - best) < 1e-9 * best;
		below += place_lower_bound(&u) <= best * (1 + 1e-9);
		proved += fabs(bound - best) <= 1e-8 * best;
		s = run(&p, method_anneal, 20000, NULL);
		above += s >= best * (1 - 1e-9);
		near += s <= best * (1 + 1e-9);
		for (const struct place_method *x = place_methods; x->name; x++)
			if (x->needs_costs && !(run(&p, x->run, 200, NULL) >= best * (1 - 1e-9)))
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

		if (!make(&p, seed, rules, NODES, false))
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
