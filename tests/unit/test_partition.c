/* test_partition.c - methods that cut graphs, and m-SCT: the minimum cut against brute force, that all
 * of them, on problems with masks, missing links and little memory, hand over what is legal, that
 * favourite children stay with their parents; linear programmes. */
#include <math.h>
#include <string.h>

#include "partition/lp.h"
#include "graphgen.h"
#include "place/method/method.h"
#include "place/simulate/units.h"
#include "tap.h"

enum { NODES = 8, DEVICES = 3 };

static const char *const names[] = {"acc:0", "acc:1", "cpu:0"};
static const char *const types[] = {"accelerator", "accelerator", "cpu"};

struct kind {
	uint32_t k;
	bool masks, gaps, limits; /* gaps: links are missing */
};

struct problem {
	struct arena *a;
	struct graph *g;
	struct place_model m;
	struct evaluator *x;
};

static struct place_savings make_savings(struct gen *r, const struct graph *g, uint32_t k,
					 struct arena *a)
{
	uint32_t *src = ARENA_NEWN(a, uint32_t, g->n), *dst = ARENA_NEWN(a, uint32_t, g->n);
	struct place_savings s = {
		.src = src, .dst = dst, .saved_s = ARENA_NEWN(a, double, g->n *k)};

	for (uint32_t v = 1; v < g->n; v++) {
		if (g->in_ptr[v] == g->in_ptr[v + 1] || gen_below(r, 3))
			continue;
		src[s.n] = g->in_node[g->in_ptr[v]];
		dst[s.n] = v;
		for (uint32_t d = 0; d < k; d++)
			s.saved_s[s.n * k + d] = 0.5 * gen_below(r, 2);
		s.n++;
	}
	return s;
}

static void make(struct problem *p, uint64_t seed, const struct kind *kind)
{
	struct gen r = gen_new(seed);
	uint32_t k = kind->k, n = 2 + gen_below(&r, NODES - 1);
	struct err e = ERR_INIT;

	p->a = arena_new();
	p->g = gen_nodes(&r, n, false);
	double *s = ARENA_NEWN(p->a, double, n *k), *lat = ARENA_NEWN(p->a, double, k *k);
	double *bw = ARENA_NEWN(p->a, double, k *k);
	uint64_t *limit = ARENA_NEWN(p->a, uint64_t, k), *mem = ARENA_NEWN(p->a, uint64_t, n);
	uint32_t *together = ARENA_NEWN(p->a, uint32_t, n);

	for (uint32_t v = 0; v < n; v++) {
		for (uint32_t d = 0; d < k; d++)
			s[v * k + d] = 1.0 + gen_below(&r, 9);
		if (kind->masks && gen_below(&r, 4) == 0)
			s[v * k + gen_below(&r, k)] = -1;
		mem[v] = gen_below(&r, 10);
		together[v] = gen_below(&r, 4) ? v : v / 4;
	}
	for (uint32_t i = 0; i < k * k; i++) {
		lat[i] = i / k == i % k                        ? 0
			 : kind->gaps && gen_below(&r, 4) == 0 ? -1
							       : 1.0 * gen_below(&r, 3);
		bw[i] = i / k == i % k ? INFINITY : 1.0 + gen_below(&r, 3);
	}
	for (uint32_t d = 0; d < k && kind->limits; d++)
		limit[d] = 20 + gen_below(&r, 15);
	const struct place_setup setup = {.k = k,
					  .names = names,
					  .types = types,
					  .set_s = s,
					  .links = {.k = k, .latency_s = lat, .bytes_per_s = bw},
					  .mem_limit = limit,
					  .contention = true,
					  .overlap = true,
					  .set_mem = mem,
					  .together = together,
					  .saved = make_savings(&r, p->g, k, p->a)};
	if (place_model_init(&p->m, p->g, &setup, p->a, &e) < 0)
		tap(false, "a model: %s", e.msg);
	p->x = evaluator_new(&p->m);
}

static void end(struct problem *p)
{
	evaluator_free(p->x);
	graph_free(p->g);
	arena_free(p->a);
}

/* What Stone's method minimises, from its definition. */
static double sum_of(const struct problem *p, const uint16_t *device)
{
	const struct place_model *m = &p->m;
	const struct sched_dag *d = &m->tasks.dag;
	double sum = 0;

	for (uint32_t i = 0; i < m->n_sets; i++)
		if (device[i] != device[m->together[i]])
			return INFINITY;
	for (uint32_t t = 0; t < d->n; t++) {
		uint16_t here = device[m->tasks.task_set[t]];
		double s = m->costs.task_s[t * m->k + here];

		sum += s < 0 ? INFINITY : s;
		for (uint32_t j = m->saved_ptr ? m->saved_ptr[t] : 0;
		     m->saved_ptr && j < m->saved_ptr[t + 1]; j++)
			if (device[m->tasks.task_set[m->saved_task[j]]] == here)
				sum -= m->saved_s[j * m->k + here];
	}
	for (uint32_t t = 0; t < d->n_tensors; t++) {
		uint16_t from = device[m->tasks.task_set[d->tensor_task[t]]];
		bool sent[DEVICES] = {false};

		for (uint32_t i = d->use_ptr[t]; i < d->use_ptr[t + 1]; i++) {
			uint16_t to = device[m->tasks.task_set[d->use_task[i]]];

			if (to == from || sent[to])
				continue;
			sent[to] = true;
			sum += m->costs.links.latency_s[from * m->k + to] < 0
				       ? INFINITY
				       : sched_copy_s(&m->costs.links, from, to,
						      d->tensor_bytes[t]);
		}
	}
	return sum;
}

/* The least sum, and whether anything is legal. */
static double brute_force(struct problem *p, bool *legal)
{
	uint16_t device[NODES + 1] = {0};
	double best = INFINITY;
	uint32_t i;

	*legal = false;
	do {
		best = fmin(best, sum_of(p, device));
		*legal = *legal || place_evaluate(p->x, device)->status == PLACE_OK;
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

static bool run(struct problem *p, const char *name, uint16_t *device)
{
	struct err e = ERR_INIT;
	const char *arg;
	const struct place_method *x = place_method_find(name, &arg, &e);
	struct method_run r = {.m = &p->m,
			       .seed = 1,
			       .threads = 1,
			       .a = p->a,
			       .device = device,
			       .names = p->m.names,
			       .k = p->m.k,
			       .emit = take};

	return x && x->run(&r, &e) == 0;
}

static void test_minimum(uint32_t k)
{
	const struct kind kind = {k, true, true, false};
	uint32_t cases = 0, same = 0, below = 0;

	for (uint64_t seed = 0; seed < 400; seed++) {
		struct problem p;
		uint16_t device[NODES + 1] = {0};
		bool legal;

		make(&p, seed, &kind);
		double least = brute_force(&p, &legal);

		if (least < INFINITY && run(&p, "mincut", device)) {
			double sum = sum_of(&p, device);

			cases++;
			same += fabs(sum - least) < 1e-6;
			below += sum < least - 1e-6;
		}
		end(&p);
	}
	tap(cases > 300 && below == 0 && (k > 2 ? same > 0.9 * cases : same == cases),
	    "mincut on %u devices: the least sum in %u of %u cases", k, same, cases);
}

static void test_legal(const char *name, bool gaps, double wanted)
{
	const struct kind kind = {3, true, gaps, true};
	uint32_t cases = 0, good = 0;

	for (uint64_t seed = 1000; seed < 1300; seed++) {
		struct problem p;
		uint16_t device[NODES + 1] = {0};
		bool legal;

		make(&p, seed, &kind);
		brute_force(&p, &legal);
		cases += legal;
		good += legal && run(&p, name, device) &&
			place_evaluate(p.x, device)->status == PLACE_OK;
		end(&p);
	}
	tap(cases > 50 && good >= wanted * cases,
	    "%s%s: legal in %u of %u cases that have an answer", name,
	    gaps ? ", links missing" : "", good, cases);
}

/* ---- linear programmes ---- */

/* Largest 3 a + 2 b with a + b <= 4, a + 3 b <= 9, a <= 3: 11 at (3, 1). */
static void test_lp(void)
{
	struct lp *p = lp_new();
	double x[2], dual[3], value;
	struct err e = ERR_INIT;
	uint32_t a = lp_column(p, 0, 3, -3), b = lp_column(p, 0, INFINITY, -2);

	lp_row(p, -INFINITY, 4);
	lp_term(p, a, 1);
	lp_term(p, b, 1);
	lp_row(p, -INFINITY, 9);
	lp_term(p, a, 1);
	lp_term(p, b, 3);
	int status = lp_solve(p, 0, 0, x, dual, &value, &e);

	tap(status == LP_OPTIMAL && fabs(value + 11) < 1e-9 && fabs(x[a] - 3) < 1e-9 &&
		    fabs(x[b] - 1) < 1e-9 && fabs(dual[0] + 2) < 1e-9 && fabs(dual[1]) < 1e-9,
	    "a linear programme: %g at (%g, %g), prices %g %g", value, x[0], x[1], dual[0],
	    dual[1]);
	lp_row(p, 9, INFINITY);
	lp_term(p, b, 1);
	tap(lp_solve(p, 0, 0, NULL, NULL, &value, &e) == LP_INFEASIBLE, "one without a solution");
	lp_free(p);
	p = lp_new();
	lp_column(p, 0, INFINITY, -1);
	lp_row(p, 0, INFINITY);
	lp_term(p, 0, 1);
	tap(lp_solve(p, 0, 0, NULL, NULL, &value, &e) == LP_UNBOUNDED, "one without an end");
	lp_free(p);
}

/* ---- m-SCT ---- */

enum { CHAINS = 2, LINKS = 5 };

/* Chains of equal tasks whose copies are short (the case that SCT is for), and a little traffic from
 * each chain to the other: every chain stays on its device. */
static void test_favourites(void)
{
	uint32_t n = CHAINS * LINKS, m = 0;
	struct problem p = {.a = arena_new(), .g = gen_tensors(n, 2)};
	struct graph *g = p.g;
	double s[CHAINS * LINKS * 2], lat[4] = {0, 1e-3, 1e-3, 0},
				      bw[4] = {INFINITY, 100, 100, INFINITY};
	uint64_t limit[2] = {0, 0};
	uint16_t device[CHAINS * LINKS] = {0};
	struct err e = ERR_INIT;

	for (uint32_t v = 0; v < n; v++) {
		s[2 * v] = s[2 * v + 1] = 1;
		if (v >= CHAINS) /* node v is of chain v % CHAINS */
			g->in_node[m++] = v - CHAINS;
		if (v >= 2 * CHAINS && v % CHAINS == 0)
			g->in_node[m++] = v - 2 * CHAINS + 1;
		g->in_ptr[v + 1] = m;
		g->dim[v] = 50;
	}
	graph_finish(g);
	const struct place_setup setup = {.k = 2,
					  .names = names,
					  .types = types,
					  .set_s = s,
					  .links = {.k = 2, .latency_s = lat, .bytes_per_s = bw},
					  .mem_limit = limit,
					  .contention = true,
					  .overlap = true};
	bool made = place_model_init(&p.m, g, &setup, p.a, &e) == 0;

	p.x = evaluator_new(&p.m);
	bool whole = made && run(&p, "m-sct", device);

	for (uint32_t v = CHAINS; v < n && whole; v++)
		whole = device[v] == device[v - CHAINS];
	tap(whole && device[0] != device[1] && place_evaluate(p.x, device)->lat_s <= LINKS + 0.6,
	    "m-sct: favourite children follow their parents");
	end(&p);
}

int main(void)
{
	test_lp();
	test_favourites();
	test_minimum(2);
	test_minimum(3);
	for (const char *const *x =
		     (const char *const[]){"metis", "scotch", "scotch-mincut", "mincut", NULL};
	     *x; x++) {
		test_legal(*x, false, 0.97);
		test_legal(*x, true, 0.97);
	}
	return tap_end();
}
