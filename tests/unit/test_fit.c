/* test_fit.c - costs fitted to placements whose times a simulator made: the rule of copies by which it
 * made them is found, and what boundaries of segments take. */
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

/* What the cases take when copies take `times`, and boundaries on device 1 `boundary` as long as the profile says. */
static bool simulate(const struct graph *g, const struct profile *p, const struct copy_rule *rule,
		     double times, double boundary, struct fit_case *c, struct arena *a)
{
	uint32_t *src = ARENA_NEWN(a, uint32_t, p->n_pairs),
		 *dst = ARENA_NEWN(a, uint32_t, p->n_pairs);
	double *saved_s = ARENA_NEWN(a, double, (size_t)p->n_pairs *K);
	struct place_model m;
	struct err e = ERR_INIT;
	uint64_t limit[K] = {0};
	double latency[K * K] = {0}, rate[K * K] = {INFINITY, 1e10, 1e10, INFINITY};
	double *set_s = ARENA_NEWN(a, double, (size_t)g->n_sets *K);
	for (uint32_t i = 0; i < g->n_sets * K; i++)
		set_s[i] = p->set_s[i].mid;
	for (uint32_t i = 0; i < p->n_pairs; i++) {
		double guessed = p->saved_s[i * K + 1].mid;
		src[i] = p->pair[i].src;
		dst[i] = p->pair[i].dst;
		saved_s[i * K + 1] = boundary * guessed;
		set_s[dst[i] * K + 1] += (boundary - 1) * guessed;
	}
	for (uint32_t i = 1; i < K * K - 1; i++)
		latency[i] = times * p->link[i].latency_s.mid;
	struct place_setup s = {.k = K,
				.names = names,
				.set_s = set_s,
				.links = {.k = K, .latency_s = latency, .bytes_per_s = rate},
				.mem_limit = limit,
				.contention = true,
				.overlap = rule->overlap,
				.copy_holds = rule->holds,
				.saved = {p->n_pairs, src, dst, saved_s}};
	if (place_model_init(&m, g, &s, a, &e) < 0)
		return false;
	struct evaluator *x = evaluator_new(&m);
	for (uint32_t i = 0; i < CASES; i++)
		c[i].lat_s = place_evaluate(x, c[i].device)->lat_s;
	evaluator_free(x);
	return true;
}

/* Each edge between sets as a boundary of segments on device 1, which is guessed to take 40 us. */
static void guess_boundaries(const struct graph *g, struct profile *p, struct arena *a)
{
	enum { MOST = 4 * NODES };
	p->pair = ARENA_NEWN(a, struct set_pair, MOST);
	p->saved_s = ARENA_NEWN(a, struct interval, (size_t)MOST * K);
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			uint32_t u = g->in_node[i];
			struct set_pair e = {u == GRAPH_NONE ? GRAPH_NONE : g->set[u], g->set[v]};
			uint32_t j = 0;
			while (j < p->n_pairs &&
			       (p->pair[j].src != e.src || p->pair[j].dst != e.dst))
				j++;
			if (e.src == GRAPH_NONE || e.dst == GRAPH_NONE || e.src == e.dst ||
			    j < p->n_pairs || j == MOST)
				continue;
			p->pair[p->n_pairs++] = e;
			p->saved_s[j * K + 1] = (struct interval){40e-6, 40e-6, 40e-6};
			struct interval *s = &p->set_s[e.dst * K + 1];
			*s = (struct interval){s->mid + 40e-6, s->lo + 40e-6, s->hi + 40e-6};
		}
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
	bool boundaries = !what, segments[K] = {false, true};
	if (boundaries)
		guess_boundaries(g, &p, a);
	bool ok = simulate(g, &p, rule, 1.5, boundaries ? 0.25 : 1, c, a);
	struct fit_devices d = {.k = K,
				.names = names,
				.alike = alike,
				.host = host,
				.segments = boundaries ? segments : NULL,
				.n_rules = 3,
				.rule = {rules[0], rules[1], rules[2]}};
	ok = ok && fit_profile(g, &d, c, CASES, 20, &p, &e) == 0;
	if (boundaries) {
		double b = p.saved_s[1].mid;
		tap(ok && p.n_pairs > 0 && b > 5e-6 && b < 20e-6,
		    "boundaries that take a fourth of the guess are found to take less than half "
		    "of it (%.1f us; 10)",
		    b * 1e6);
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
			fits(seed, &rules[i], what[i]);
	for (uint64_t seed = 1; seed <= 3; seed++)
		fits(seed, &rules[1], NULL);
	return tap_end();
}
