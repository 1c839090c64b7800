/* test_fit.c - costs fitted to placements whose times a simulator made: the rule of copies by which it
 * made them is found. */
#include "profile/fit.h"
#include "base/rng.h"
#include "graphgen.h"
#include "place/simulate/evaluate.h"
#include "tap.h"

#include <math.h>
#include <string.h>

enum { K = 2, CASES = 14, NODES = 120 };

static const char *names[K] = {"host", "own"};
static const uint8_t holds_own[K * K] = {0, COPY_HOLDS_DST, COPY_HOLDS_SRC, 0};
static const struct copy_rule rules[] = {{false, holds_own}, {true, NULL}, {false, NULL}};

/* What the cases take when copies take `times` as long as the profile says. */
static bool simulate(const struct graph *g, const struct profile *p, const struct copy_rule *rule,
		     double times, struct fit_case *c, struct arena *a)
{
	struct place_model m;
	struct err e = ERR_INIT;
	uint64_t limit[K] = {0};
	double latency[K * K] = {0}, rate[K * K] = {INFINITY, 1e10, 1e10, INFINITY};
	double *set_s = ARENA_NEWN(a, double, (size_t)g->n_sets *K);
	for (uint32_t i = 0; i < g->n_sets * K; i++)
		set_s[i] = p->set_s[i].mid;
	for (uint32_t i = 1; i < K * K - 1; i++)
		latency[i] = times * p->link[i].latency_s.mid;
	struct place_setup s = {.k = K,
				.names = names,
				.set_s = set_s,
				.links = {K, latency, rate},
				.mem_limit = limit,
				.contention = true,
				.overlap = rule->overlap,
				.copy_holds = rule->holds};
	if (place_model_init(&m, g, &s, a, &e) < 0)
		return false;
	struct evaluator *x = evaluator_new(&m);
	for (uint32_t i = 0; i < CASES; i++)
		c[i].lat_s = place_evaluate(x, c[i].device)->lat_s;
	evaluator_free(x);
	return true;
}

static void fits(uint64_t seed, const struct copy_rule *rule, const char *what)
{
	struct arena *a = arena_new();
	struct graph *g = gen_graph(seed, NODES, 5);
	struct rng_addr r = {seed, 0, 0, RNG_SEARCH};
	struct fit_case c[CASES] = {{0}};
	struct err e = ERR_INIT;
	uint32_t n = 0, alike[K] = {0, 1};
	bool host[K] = {true, false};
	graph_colocate(g, CONST_DROP, true);
	struct profile p = {.set_s = ARENA_NEWN(a, struct interval, (size_t)g->n_sets * K),
			    .has_link = ARENA_NEWN(a, bool, K *K),
			    .link = ARENA_NEWN(a, struct link_cost, K * K)};
	for (uint32_t i = 0; i < g->n_sets * K; i++) {
		double s = 1e-6 * (1 + rng_below(&r, n++, 60));
		p.set_s[i] = (struct interval){s, s, s};
	}
	for (uint32_t i = 1; i < K * K - 1; i++) {
		p.has_link[i] = true;
		p.link[i] = (struct link_cost){{20e-6, 20e-6, 20e-6}, {1e10, 1e10, 1e10}};
	}
	for (uint32_t i = 0; i < CASES; i++) {
		uint16_t *device = ARENA_NEWN(a, uint16_t, g->n_sets);
		for (uint32_t j = 0; j < g->n_sets; j++)
			device[j] = i < K ? (uint16_t)i : rng_below(&r, n++, 10) < i - 1;
		c[i].device = device;
	}
	bool ok = simulate(g, &p, rule, 1.5, c, a);
	struct fit_devices d = {.k = K,
				.names = names,
				.alike = alike,
				.host = host,
				.n_rules = 3,
				.rule = {rules[0], rules[1], rules[2]}};
	ok = ok && fit_profile(g, &d, c, CASES, 20, &p, &e) == 0;
	tap(ok && p.overlap == rule->overlap && p.copy_holds == rule->holds,
	    "%s is found (copies take %.1f us; 30)", what, p.link[1].latency_s.mid * 1e6);
	graph_free(g);
	arena_free(a);
}

int main(void)
{
	static const char *const what[] = {"copies that occupy one device", "overlap",
					   "copies that occupy both"};
	for (uint64_t seed = 1; seed <= 3; seed++)
		for (int i = 0; i < 3; i++)
			fits(seed, &rules[i], what[i]);
	return tap_end();
}
