/* test_fit.c - costs fitted to placements whose times a simulator made: the rule of copies by which it
 * made them is found, and what boundaries of segments take for a tensor and for a byte. */
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

/* What boundaries of segments of device 1 should take for a tensor and a byte, which is in both links, and what they do take. */
static const double guessed_s[K] = {0, 200e-6}, guessed_byte_s[K] = {0, 5e-9};
static const double TRUE_S = 50e-6, TRUE_BYTE_S = 20e-9;

/* What the cases take when links have that latency and rate. */
static bool simulate(const struct graph *g, const struct profile *p, const struct copy_rule *rule,
		     double latency_s, double bytes_per_s, struct fit_case *c, struct arena *a)
{
	struct place_model m;
	struct err e = ERR_INIT;
	uint64_t limit[K] = {0};
	double latency[K * K] = {0, latency_s, latency_s, 0};
	double rate[K * K] = {INFINITY, bytes_per_s, bytes_per_s, INFINITY};
	double *set_s = ARENA_NEWN(a, double, (size_t)g->n_sets *K);
	for (uint32_t i = 0; i < g->n_sets * K; i++)
		set_s[i] = p->set_s[i].mid;
	struct place_setup s = {.k = K,
				.names = names,
				.set_s = set_s,
				.links = {.k = K, .latency_s = latency, .bytes_per_s = rate},
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

/* what: by which rule copies go; NULL: boundaries of segments are looked for, by tensors of so many elements in each dim. */
static void fits(uint64_t seed, const struct copy_rule *rule, const char *what, int64_t dim)
{
	struct arena *a = arena_new();
	struct graph *g = gen_graph(seed, NODES, 5);
	struct rng_addr r = {seed, 0, 0, RNG_SEARCH};
	struct fit_case c[CASES] = {{0}};
	struct err e = ERR_INIT;
	uint32_t n = 0, alike[K] = {0, 1};
	bool host[K] = {true, false};
	for (uint32_t i = 0; i < g->dim_ptr[g->out_ptr[g->n]]; i++)
		g->dim[i] = dim;
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
	bool boundaries = !what;
	double none[K] = {0};
	bool ok = boundaries
			  ? simulate(g, &p, rule, 20e-6 + TRUE_S, 1 / (1e-10 + TRUE_BYTE_S), c, a)
			  : simulate(g, &p, rule, 30e-6, 1e10, c, a);
	for (uint32_t i = 1; i < K * K - 1 && boundaries; i++)
		p.link[i] = link_longer(p.link[i], guessed_s[1], guessed_byte_s[1]);
	struct fit_devices d = {.k = K,
				.names = names,
				.alike = alike,
				.host = host,
				.boundary_s = boundaries ? guessed_s : none,
				.boundary_byte_s = boundaries ? guessed_byte_s : none,
				.n_rules = 3,
				.rule = {rules[0], rules[1], rules[2]}};
	ok = ok && fit_profile(g, &d, c, CASES, 20, &p, &e) == 0;
	if (boundaries) {
		double s = p.link[1].latency_s.mid, byte_s = 1 / p.link[1].bytes_per_s.mid;
		if (dim == 1)
			tap(ok && s > 55e-6 && s < 85e-6,
			    "what boundaries take for a tensor, a fourth of the guess, is found "
			    "(%.1f us; 70)",
			    s * 1e6);
		else
			tap(ok && byte_s > 15e-9 && byte_s < 26e-9,
			    "what boundaries take for a byte, four times the guess, is found (%.1f "
			    "ns; 20.1)",
			    byte_s * 1e9);
	} else {
		tap(ok && p.overlap == rule->overlap && p.copy_holds == rule->holds,
		    "%s is found (copies take %.1f us; 30)", what, p.link[1].latency_s.mid * 1e6);
	}
	graph_free(g);
	arena_free(a);
}

int main(void)
{
	static const char *const what[] = {"copies that occupy one device", "overlap",
					   "copies that occupy both"};
	for (uint64_t seed = 1; seed <= 3; seed++)
		for (int i = 0; i < 3; i++)
			fits(seed, &rules[i], what[i], 16);
	for (uint64_t seed = 1; seed <= 3; seed++)
		for (int i = 0; i < 2; i++)
			fits(seed, &rules[1], NULL, i ? 40 : 1);
	return tap_end();
}
