/* test_searches.c - every method of the table on random problems with masks, memory limits, company
 * and missing links: what it hands over is legal or it says why not, searches are never worse than
 * the best single device, hill climbing on HEFT's schedule keeps to limits, the seed alone decides,
 * threads do not. */
#include <stdlib.h>
#include <string.h>

#include "place/method/method.h"
#include "placegen.h"
#include "tap.h"

enum { CASES = 10, EVALS = 300, SAMPLES = 3, BESIDE = 20 };

struct told {
	struct method_run run;
	struct problem *p;
	uint32_t n;                     /* placements that were handed over */
	uint16_t device[PLACEGEN_SETS]; /* the last */
	double value;                   /* of the last; INFINITY: not legal */
};

static int hear(struct method_run *r, struct err *e)
{
	struct told *t = (struct told *)r;
	const struct place_result *x = place_evaluate(t->p->ev, r->device);

	(void)e;
	t->n++;
	t->value = x->status == PLACE_OK ? x->value : INFINITY;
	memcpy(t->device, r->device, r->m->n_sets * sizeof(*r->device));
	return 0;
}

/* What the method says with this seed; rc as the method's. */
static int ask_briefly(struct told *t, struct problem *p, const struct place_method *x,
		       uint64_t seed, uint64_t evals, int threads, struct err *e)
{
	uint16_t device[PLACEGEN_SETS] = {0};

	err_clear(e);
	*t = (struct told){.p = p, .value = INFINITY};
	t->run = (struct method_run){.m = &p->m,
				     .seed = seed,
				     .evals = evals,
				     .threads = threads,
				     .samples = SAMPLES,
				     .a = p->a,
				     .device = device,
				     .names = p->m.names,
				     .k = p->m.k,
				     .emit = hear};
	return x->run(&t->run, e);
}

static int ask(struct told *t, struct problem *p, const struct place_method *x, uint64_t seed,
	       int threads, struct err *e)
{
	return ask_briefly(t, p, x, seed, EVALS, threads, e);
}

/* Of a method that may make next to no simulations. */
static double first_value(struct problem *p, const char *name)
{
	const char *arg;
	struct err e = ERR_INIT;
	struct told t;
	const struct place_method *x = place_method_find(name, &arg, &e);

	return ask_briefly(&t, p, x, 1, 2, 1, &e) == 0 ? t.value : INFINITY;
}

static bool same(const struct told *a, const struct told *b, uint32_t n_sets)
{
	return a->n == b->n && !memcmp(a->device, b->device, n_sets * sizeof(*a->device));
}

static bool is_search(const char *name)
{
	static const char *const search[] = {
		"climb",         "anneal",       "tabu",      "genetic",
		"cross-entropy", "local-search", "portfolio", NULL};

	for (int i = 0; search[i]; i++)
		if (strcmp(search[i], name) == 0)
			return true;
	return false;
}

static void method(const struct place_method *x)
{
	int asked = 0, answered = 0, legal = 0, not_worse = 0, again = 0, threads = 0, silent = 0;
	int kept = 0, not_behind = 0;

	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct problem p;
		struct told a, b;
		struct err e = ERR_INIT;
		double single;

		if (!problem_make(&p, seed, (enum place_rules)(seed % 3), PLACEGEN_SETS, false))
			continue;
		asked++;
		bool any = place_best_single(p.ev, &single) >= 0;
		int rc = ask(&a, &p, x, 7, 1, &e);

		silent += rc < 0 && !*e.msg;
		answered += rc == 0 && a.n > 0;
		legal += a.value < INFINITY;
		kept += !any || rc < 0 || p.m.rules != PLACE_SCHEDULE || a.value < INFINITY;
		not_worse += !any || (a.value <= single * (1 + 1e-9));
		double heft = first_value(&p, "heft");

		not_behind += !(a.value > heft) && !(first_value(&p, x->name) > heft);
		again += ask(&b, &p, x, 7, 1, &e) == rc && same(&a, &b, p.m.n_sets);
		threads += ask(&b, &p, x, 7, 3, &e) == rc && same(&a, &b, p.m.n_sets);
		problem_end(&p);
	}
	tap(silent == 0 && answered > 0, "%s: answers (%d of %d, %d legal) or says why not",
	    x->name, answered, asked, legal);
	tap(again == asked && threads == asked, "%s: the seed decides, threads do not (%d, %d)",
	    x->name, again, threads);
	if (strcmp(x->name, "refine") == 0)
		tap(kept == asked, "refine: legal where a single device is (%d)", kept);
	if (is_search(x->name) || strcmp(x->name, "refine") == 0)
		tap(not_behind == asked, "%s: never worse than HEFT (%d)", x->name, not_behind);
	if (is_search(x->name))
		tap(not_worse == asked, "%s: never worse than the best single device (%d)", x->name,
		    not_worse);
}

/* Layers of tasks on two devices that slow each other, and on one of both, which takes turns with them and is nearly as fast as
 * both together: every single move away from it costs. */
static void make_beside(struct problem *p, uint64_t seed)
{
	static const char *const names[] = {"a", "b", "both"}, *const types[] = {"cpu", "cpu",
										 "cpu"};
	enum { LAYERS = 8, WIDTH = 3, N = LAYERS * WIDTH, K = 3 };
	struct gen r = gen_new(seed);
	struct err e = ERR_INIT;
	uint32_t m = 0;

	p->a = arena_new();
	p->g = gen_tensors(N, 1);
	double *s = ARENA_NEWN(p->a, double, N *K), *lat = ARENA_NEWN(p->a, double, K *K),
	       *bw = ARENA_NEWN(p->a, double, K *K);
	uint64_t *limit = ARENA_NEWN(p->a, uint64_t, K);
	uint8_t *turns = ARENA_NEWN(p->a, uint8_t, K * K);

	for (uint32_t v = 0; v < N; v++) {
		double alone = 10 + gen_below(&r, 20);

		if (v >= WIDTH)
			p->g->in_node[m++] = v / WIDTH * WIDTH - WIDTH + gen_below(&r, WIDTH);
		p->g->in_ptr[v + 1] = m;
		for (uint32_t d = 0; d < K; d++)
			s[v * K + d] = d == 2 ? 0.56 * alone : alone;
	}
	graph_finish(p->g);
	for (uint32_t i = 0; i < K * K; i++) {
		turns[i] = i / K != i % K && (i / K == 2 || i % K == 2);
		lat[i] = i / K == i % K ? 0 : 2;
		bw[i] = INFINITY;
	}
	const struct place_setup setup = {.k = K,
					  .names = names,
					  .types = types,
					  .set_s = s,
					  .links = {.k = K, .latency_s = lat, .bytes_per_s = bw},
					  .mem_limit = limit,
					  .contention = true,
					  .overlap = true,
					  .turns = turns,
					  .multi_slowdown = 0.1};

	if (place_model_init(&p->m, p->g, &setup, p->a, &e) < 0)
		abort();
	place_units_init(&p->u, &p->m, p->a);
	p->ev = evaluator_new(&p->m);
}

static void beside(void)
{
	int n = 0, found = 0;

	for (uint64_t seed = 0; seed < BESIDE; seed++) {
		struct problem p;
		struct err e = ERR_INIT;
		struct told t;
		double single, apart;

		make_beside(&p, seed);
		single = first_value(&p, "single:both");
		apart = first_value(&p, "heft-apart");
		/* where nothing but a search finds what is on several devices */
		if (single < apart) {
			n++;
			found += ask_briefly(&t, &p, &method_portfolio, 1, 20000, 1, &e) == 0 &&
				 t.value < single;
		}
		problem_end(&p);
	}
	tap(n > 0 && found == n, "the portfolio leaves the device of all (%d of %d)", found, n);
}

int main(void)
{
	for (size_t i = 0; place_methods[i]; i++)
		if (place_methods[i]->needs_costs && !place_methods[i]->needs_arg)
			method(place_methods[i]);
	beside();
	return tap_end();
}
