/* test_methods.c - the placement methods of lib/place against all placements of small problems,
 * under all rules: annealing mostly finds the best one, no method has a better one; by the rules of
 * dnn-partitioning, moves give what evaluations from scratch give (test_moves.c: the
 * schedule's). */
#include <math.h>
#include <string.h>

#include "place/method/method.h"
#include "placegen.h"
#include "tap.h"

enum { SETS = 7, CASES = 60 };

static double brute_force(const struct problem *p)
{
	uint16_t unit_dev[PLACEGEN_SETS] = {0};
	double best = INFINITY;

	do
		best = fmin(best, problem_value(p, unit_dev));
	while (problem_next(p, unit_dev));
	return best;
}

static int take(struct method_run *r, struct err *e)
{
	(void)r;
	(void)e;
	return 0;
}

/* What a method gives; INFINITY: nothing legal. */
static double run(const struct problem *p, int (*method)(struct method_run *, struct err *),
		  uint64_t evals)
{
	uint16_t device[PLACEGEN_SETS] = {0};
	struct err e = ERR_INIT;
	struct method_run r = {.m = &p->m,
			       .seed = 1,
			       .evals = evals,
			       .threads = 1,
			       .a = p->a,
			       .device = device,
			       .names = p->m.names,
			       .k = p->m.k,
			       .emit = take};
	int rc = method(&r, &e);
	const struct place_result *x = place_evaluate(p->ev, device);

	return rc == 0 && x->status == PLACE_OK ? x->value : INFINITY;
}

static void against_brute_force(enum place_rules rules)
{
	int made = 0, near = 0, better = 0;

	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct problem p;

		if (!problem_make(&p, seed, rules, SETS, false))
			continue;
		double best = brute_force(&p), s = run(&p, method_anneal.run, 20000);

		made++;
		near += s == best || s <= best * (1 + 1e-9);
		for (size_t i = 0; place_methods[i]; i++)
			better += place_methods[i]->needs_costs &&
				  run(&p, place_methods[i]->run, 200) < best * (1 - 1e-9);
		problem_end(&p);
	}
	const char *name = place_rules_names[rules];
	tap(made > CASES / 2 && near > made * 9 / 10, "%s: annealing finds the best (%d of %d)",
	    name, near, made);
	tap(better == 0, "%s: no method is better (%d)", name, better);
}

/* Moves one after the other, asked in between, against evaluations from scratch. */
static void moves(enum place_rules rules)
{
	int same = 0, asked = 0;

	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct gen r = gen_new(seed + 1000);
		uint16_t device[PLACEGEN_SETS] = {0};
		struct problem p;

		if (!problem_make(&p, seed, rules, SETS, false))
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
			const struct place_result *a = place_moved_below(x, INFINITY);
			const struct place_result *b = place_evaluate(p.ev, device);

			asked++;
			same += a->status == b->status &&
				((a->status != PLACE_OK && a->status != PLACE_MEMORY) ||
				 (fabs(a->lat_s - b->lat_s) < 1e-9 &&
				  !memcmp(a->mem_bytes, b->mem_bytes,
					  p.m.k * sizeof(*a->mem_bytes))));
		}
		evaluator_free(x);
		problem_end(&p);
	}
	tap(asked && same == asked, "%s: moves give what evaluations from scratch give (%d of %d)",
	    place_rules_names[rules], same, asked);
}

int main(void)
{
	moves(PLACE_DNNPART_LATENCY);
	moves(PLACE_DNNPART_THROUGHPUT);
	against_brute_force(PLACE_SCHEDULE);
	against_brute_force(PLACE_DNNPART_LATENCY);
	against_brute_force(PLACE_DNNPART_THROUGHPUT);
	return tap_end();
}
