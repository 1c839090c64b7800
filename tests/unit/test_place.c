/* test_place.c - lib/place: specifications, costs, legality, and searches against
 * brute force over all placements of small graphs. */
#include <math.h>
#include <string.h>

#include "graphgen.h"
#include "op/op.h"
#include "place/heuristic/heft.h"
#include "place/heuristic/random.h"
#include "place/search/search_state.h"
#include "place/search/walks.h"
#include "tap.h"

/* ---- specifications ---- */

static int parse(const char *text, struct arena *a, struct spec *s, struct err *e)
{
	*s = (struct spec){0};
	err_clear(e);
	return spec_parse(text, strlen(text), "t", a, s, e);
}

static void spec_files(struct arena *a)
{
	struct err e = ERR_INIT;
	struct spec s;
	static const char *const bad[] = {
		"device",
		"device a flops 1e9",
		"device a bandwidth 1e9",
		"device a flops 1e9 bandwidth x",
		"device a flops 1e9 bandwidth 1e9 colour 3",
		"device a flops 1e9 bandwidth",
		"device a flops 1e9 flops 1e9 bandwidth 1e9",
		"device a flops nan bandwidth 1e9",
		"device a flops inf bandwidth 1e9",
		"device a flops 0 bandwidth 1e9",
		"device a flops 1e9 bandwidth 1e9 efficiency 2",
		"device a flops 1e9 bandwidth 1e9 overhead -1",
		"device a flops 1 bandwidth 1\ndevice a flops 1 bandwidth 1",
		"link a",
		"link a b latency 1",
		"link a b latency 1 bandwidth 0",
		"machine x",
		"port a",
		"port a net",
		"port a net out 0",
		"port a net out 1 in",
		"port a net out 1 width 2",
		"port a \xff out 1",
		"link a b latency 1 bandwidth 1 port",
		"link a b latency 1 bandwidth 1 port \xff",
		"device a\001 flops 1 bandwidth 1",
		"1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4"};

	int rc = parse(
		"# two\n\tdevice a type cpu flops 4e9 efficiency 0.5 bandwidth 1e9 # fast\r\n\n"
		"device b flops 1e9 bandwidth 2e9 overhead 1e-6 memory 100",
		a, &s, &e);
	tap(rc == 0 && s.n_devs == 2 && s.dev[0].flops_per_s == 2e9 && s.dev[1].mem_bytes == 100 &&
		    strcmp(s.dev[0].type, "cpu") == 0 && strcmp(s.dev[1].type, "model") == 0,
	    "a specification is read");
	tap(spec_find(&s, "a:0") == &s.dev[0] && spec_find(&s, "b") == &s.dev[1] &&
		    !spec_find(&s, "c") && !spec_find(&s, "ab"),
	    "one more device like one that is there");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		tap(parse(bad[i], a, &s, &e) < 0 && e.code == ST_INPUT && strstr(e.msg, "t, line "),
		    "refused: %s", e.msg);
	for (const struct preset *p = presets; p->name; p++) {
		const char *list = strcmp(p->name, "fused") == 0 ? "paper,fused" : p->name;

		err_clear(&e);
		tap(spec_load(list, a, &s, &e) == 0 && s.n_devs > 0, "preset %s", p->name);
	}
	tap(spec_load("desktop-cpu,integrated-gpu,datacenter-gpu", a, &s, &e) == 0 && s.n_devs == 3,
	    "presets can be joined");
	tap(spec_load("fused", a, &s, &e) < 0 && strstr(e.msg, "no device is described above"),
	    "fused has no devices of its own");
	err_clear(&e);
	tap(spec_load("no-such-file", a, &s, &e) < 0 && e.code == ST_USAGE, "a missing file");
	err_clear(&e);
	tap(spec_load("paper,,paper", a, &s, &e) < 0 && e.code == ST_USAGE, "an empty name");
}

static void links(struct arena *a)
{
	static const char *const names[] = {"a:0", "a:1", "b", "c"};
	struct err e = ERR_INIT;
	struct sched_links l;
	struct spec s;
	double *j;

	int rc = parse("device a flops 1 bandwidth 1\ndevice b flops 1 bandwidth 1\n"
		       "device c flops 1 bandwidth 1\nlink a b latency 1 bandwidth 10\n"
		       "link * b latency 2 bandwidth 20\nlink * b latency 3 bandwidth 30\n"
		       "link a a latency 4 bandwidth 40\n",
		       a, &s, &e);
	spec_links(&s, names, 4, a, &l, &j);
	tap(rc == 0 && l.latency_s[0 * 4 + 2] == 1 && l.latency_s[3 * 4 + 2] == 3,
	    "exact names win over *, a later line over an earlier one");
	tap(l.latency_s[0 * 4 + 1] == 4 && l.latency_s[0] == 0 && l.latency_s[2 * 4 + 0] < 0,
	    "two of a kind are linked; the same device is free; no line, no link");
	tap(sched_copy_s(&l, 0, 2, 100) == 11, "latency and bytes over bandwidth");
	tap(l.ports == NULL, "links without ports");
	rc = parse("device a flops 1 bandwidth 1\ndevice b flops 1 bandwidth 1\n"
		   "device c flops 1 bandwidth 1\nlink * * latency 1 bandwidth 20 port net\n"
		   "link a a latency 1 bandwidth 40 port bus\nlink c c latency 1 bandwidth 1\n"
		   "link a b latency 1 bandwidth 30 port net\n"
		   "port a net out 25 in 15\nport * net in 50\nport a bus in 100\nport a:1 net in "
		   "16\n",
		   a, &s, &e);
	spec_links(&s, names, 4, a, &l, &j);
	const struct sched_ports *p = l.ports;
	tap(rc == 0 && p && p->n == 2 && p->of[0 * 4 + 2] == 0 && p->of[0 * 4 + 1] == 1 &&
		    p->of[0] == SCHED_NONE,
	    "ports by name");
	tap(l.bytes_per_s[0 * 4 + 2] == 25 && l.bytes_per_s[2 * 4 + 0] == 15 &&
		    l.bytes_per_s[2 * 4 + 1] == 16 && l.bytes_per_s[0 * 4 + 1] == 40 &&
		    l.bytes_per_s[2 * 4 + 3] == 20,
	    "no link is faster than what is told of its ports; exact names and later lines win");
	tap(sched_port_rate(&l, 0, 0, false) == 25 && sched_port_rate(&l, 0, 1, false) == 40 &&
		    sched_port_rate(&l, 0, 1, true) == 100 &&
		    sched_port_rate(&l, 3, 0, true) == 50 && sched_port_rate(&l, 3, 0, false) == 20,
	    "a port is as fast as the fastest of its links, or as it is told");
}

/* ---- objectives ---- */

static void objectives(void)
{
	static const char *const bad[] = {"",
					  "speed",
					  "latency,latency",
					  "latency=",
					  "latency=-1",
					  "latency=nan",
					  "latency=1,",
					  "energy=0,memory=0",
					  ",energy",
					  "energy = 1",
					  "latency=1=2",
					  "latency<=1s",
					  "throughput,latency<=50",
					  "throughput,latency<=ms",
					  "throughput,latency<=0ms",
					  "throughput,latency<=-1ms",
					  "throughput,latency<=1h",
					  "throughput,latency<=nans",
					  "throughput,latency<=infs",
					  "throughput,latency<=1e-400s",
					  "throughput,latency<50ms",
					  "throughput,latency<=1s,latency<=2s",
					  "throughput=2,latency<=1s",
					  "throughput,energy,latency<=1s",
					  "latency,throughput,latency<=1s",
					  "throughput,memory<=1s"};
	struct place_objective o;
	struct err e = ERR_INIT;

	tap(place_objective_parse("energy", &o, &e) == 0 && o.energy == 1 && o.latency == 0 &&
		    place_objective_value(&o, 2, 3, 5, 7) == 5,
	    "one metric");
	tap(place_objective_parse("memory=0.5,latency=2,throughput=0", &o, &e) == 0 &&
		    place_objective_value(&o, 2, 3, 5, 7) == 2 * 2 + 0.5 * 7,
	    "a mixture");
	tap(place_objective_parse("latency=3", &o, &e) == 0 && !place_objective_is_latency(&o) &&
		    place_objective_value(&o, 2, 3, 5, 7) == 6,
	    "a weight counts even when it is alone");
	tap(place_objective_parse("latency", &o, &e) == 0 && place_objective_is_latency(&o) &&
		    place_objective_is_latency(&(struct place_objective){0}),
	    "latency, and nothing, are latency");
	tap(place_objective_parse("throughput,latency<=50ms", &o, &e) == 0 && o.limit_s == 50e-3 &&
		    place_objective_has_latency(&o) &&
		    place_objective_value(&o, 0.04, 0.01, 5, 7) == 0.01 &&
		    place_objective_value(&o, 0.06, 0.01, 5, 7) == 0.06 &&
		    place_objective_value(&o, 0.045, 0.02, 5, 7) == 0.045 / 2 &&
		    place_objective_value(&o, 0.04, 0.03, 5, 7) == 0.04,
	    "a limit: the rate of as many requests as keep it, the latency of what does not");
	tap(place_objective_parse("latency<=2us,throughput=1", &o, &e) == 0 &&
		    fabs(o.limit_s - 2e-6) < 1e-20 &&
		    place_objective_parse("throughput,latency<=1.5s", &o, &e) == 0 &&
		    o.limit_s == 1.5,
	    "in us and s, before or behind the throughput");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct place_objective before = o;

		err_clear(&e);
		tap(place_objective_parse(bad[i], &o, &e) < 0 && e.code == ST_USAGE &&
			    memcmp(&o, &before, sizeof(o)) == 0,
		    "refused: %s", e.msg);
	}
}

/* ---- problems ---- */

struct problem {
	struct arena *a;
	struct graph *g;
	struct place_model m;
	double *set_s;
	uint64_t limit[4];
	struct evaluator *x;
};

static const char *const names[] = {"a", "b", "c", "d"};

/* Random costs on k devices; links cost little against tasks, or much. */
static void problem_new(struct problem *p, uint64_t seed, uint32_t n, uint32_t k)
{
	struct gen r = gen_new(seed + 1000);
	struct err e = ERR_INIT;
	struct place_setup s = {.k = k,
				.names = names,
				.contention = true,
				.overlap = seed % 3 > 0,
				.policy = seed % 4 ? SCHED_RANK : SCHED_FIFO};

	p->a = arena_new();
	p->g = gen_graph(seed, n, 5);
	graph_colocate(p->g, CONST_DROP, true);
	p->set_s = ARENA_NEWN(p->a, double, (size_t)p->g->n_sets *k);
	for (size_t i = 0; i < (size_t)p->g->n_sets * k; i++)
		p->set_s[i] = 1e-6 * (1 + gen_below(&r, 100));
	s.set_s = p->set_s;
	memset(p->limit, 0, sizeof(p->limit));
	s.mem_limit = p->limit;
	s.links = (struct sched_links){.k = k,
				       .latency_s = ARENA_NEWN(p->a, double, k *k),
				       .bytes_per_s = ARENA_NEWN(p->a, double, k *k)};
	for (uint32_t i = 0; i < k * k; i++) {
		s.links.latency_s[i] = i / k == i % k ? 0 : 1e-6 * gen_below(&r, 20);
		s.links.bytes_per_s[i] = i / k == i % k ? INFINITY : 1e8 * (1 + gen_below(&r, 50));
	}
	if (place_model_init(&p->m, p->g, &s, p->a, &e) < 0)
		tap(false, "model: %s", e.msg);
	p->x = evaluator_new(&p->m);
}

static void problem_end(struct problem *p)
{
	evaluator_free(p->x);
	graph_free(p->g);
	arena_free(p->a);
}

/* The best of all k^n_sets placements. */
/* Climb from device, which becomes the result; evaluations that it took. */
static uint32_t climb(struct problem *x, uint64_t seed, uint64_t evals, uint16_t *device,
		      double *value)
{
	struct limits limits = {evals, 0, 0};
	struct arena *a = arena_new();
	struct search_context s;
	struct search_state p;

	search_context_init(&s, &(struct method_run){.m = &x->m, .a = a});
	search_state_init(&p, &s, random_stream_new(seed, RANDOM_CLIMB, 0, 0));
	search_state_set(&p, device);
	search_state_climb(&p, &limits);
	uint32_t used = (uint32_t)p.used;
	memcpy(device, p.device, x->m.n_sets * sizeof(*device));
	*value = p.value;
	search_state_release(&p);
	search_context_release(&s);
	arena_free(a);
	return used;
}

static double brute_force(struct problem *p)
{
	uint16_t device[16] = {0};
	double best = INFINITY;
	uint32_t i;

	do {
		const struct place_result *r = place_evaluate(p->x, device);

		if (r->status == PLACE_OK)
			best = fmin(best, r->lat_s);
		for (i = 0; i < p->m.n_sets && ++device[i] == p->m.k; i++)
			device[i] = 0;
	} while (i < p->m.n_sets);
	return best;
}

static double latency(struct problem *p, const uint16_t *device)
{
	const struct place_result *r = place_evaluate(p->x, device);

	return r->status == PLACE_OK ? r->lat_s : INFINITY;
}

/* Where copies take no time, nothing but the tasks on the critical chain makes the makespan; where
 * they do, these take no longer than it. */
static void chains(void)
{
	int same = 0, below = 0, all = 0, cases = 0;

	for (uint64_t seed = 0; seed < 60; seed++) {
		struct problem p;
		struct place_units u;
		uint16_t device[64];
		double sum = 0, lat_s;
		uint32_t n;

		problem_new(&p, seed, 40, 2 + seed % 3);
		p.m.costs.overlap = true;
		for (uint32_t i = 0; seed % 2 && i < p.m.k * p.m.k; i++) {
			p.m.costs.links.latency_s[i] = 0;
			p.m.costs.links.bytes_per_s[i] = INFINITY;
		}
		place_units_init(&u, &p.m, p.a);
		random_placement(&p.m, seed, 0, false, device);
		struct evaluator *x = evaluator_new(&p.m);
		struct critical *c = critical_new(&u);
		const uint32_t *unit = critical_units(c, device, &n);

		lat_s = place_evaluate(x, device)->lat_s;
		for (uint32_t i = 0; i < n; i++)
			sum += u.cost_s[(size_t)unit[i] * p.m.k + device[u.set[u.ptr[unit[i]]]]];
		same += seed % 2 && fabs(sum - lat_s) <= 1e-12 * lat_s;
		below += seed % 2 == 0 && n > 0 && sum <= lat_s * (1 + 1e-12);
		all += n == u.n;
		cases++;
		critical_free(c);
		evaluator_free(x);
		problem_end(&p);
	}
	tap(same == cases / 2, "tasks of a critical chain make the makespan (%d)", same);
	tap(below == cases / 2 && all < cases / 2, "or are part of it (%d; %d are everything)",
	    below, all);
}

static void searches(void)
{
	int cases = 0, single_right = 0, climb_right = 0, climb_optimal = 0, heft_legal = 0,
	    heft_right = 0;
	double worst_heft = 1;

	for (uint64_t seed = 0; cases < 120; seed++) {
		struct problem p;
		uint16_t device[16] = {0};
		double single_s = 0, lat_s, all_s = INFINITY, best;
		struct err e = ERR_INIT;

		problem_new(&p, seed, 12, 2 + seed % 2);
		if (p.m.n_sets > 8) {
			problem_end(&p);
			continue;
		}
		cases++;
		best = brute_force(&p);
		for (uint32_t d = 0; d < p.m.k; d++) {
			for (uint32_t i = 0; i < p.m.n_sets; i++)
				device[i] = (uint16_t)d;
			all_s = fmin(all_s, latency(&p, device));
		}
		int dev = place_best_single(p.x, &single_s);
		for (uint32_t i = 0; i < p.m.n_sets; i++)
			device[i] = (uint16_t)dev;
		single_right += single_s == all_s && latency(&p, device) == all_s && best <= all_s;
		uint32_t used = climb(&p, seed, 10000, device, &lat_s);
		climb_right += lat_s >= best && lat_s <= single_s && latency(&p, device) == lat_s &&
			       used >= 1 && used < 10000;
		climb_optimal += lat_s == best;
		heft_legal += heft_placement(&p.m, 0, device, &lat_s, &e) == 0 &&
			      latency(&p, device) < INFINITY;
		heft_right += latency(&p, device) >= best;
		worst_heft = fmax(worst_heft, latency(&p, device) / best);
		problem_end(&p);
	}
	tap(single_right == cases,
	    "the best single device is the best of them, and never beats the optimum");
	tap(climb_right == cases, "climbing lies between the optimum and the best single device");
	tap(climb_optimal > cases / 2, "and often finds the optimum (%d of %d)", climb_optimal,
	    cases);
	tap(heft_legal == cases && heft_right == cases && worst_heft < 2.5,
	    "heft is legal and near the optimum (worst %.2f times)", worst_heft);
}

/* The ten tasks of Topcuoglu, Hariri and Wu 2002, figure 2: HEFT's schedule takes 80. */
static void heft_example(struct arena *a)
{
	static const double cost[30] = {14, 16, 9, 13, 19, 18, 11, 13, 19, 13, 8,  17, 12, 13, 10,
					13, 16, 9, 7,  15, 11, 5,  11, 14, 18, 12, 20, 21, 7,  16};
	static const uint16_t edge[15][3] = {{0, 1, 18}, {0, 2, 12}, {0, 3, 9},  {0, 4, 11},
					     {0, 5, 14}, {1, 7, 19}, {1, 8, 16}, {2, 6, 23},
					     {3, 7, 27}, {3, 8, 23}, {4, 8, 13}, {5, 7, 15},
					     {6, 9, 17}, {7, 9, 11}, {8, 9, 13}};
	double lat[9] = {0}, bw[9], makespan_s;
	struct sched_edge e[15];
	uint32_t set[10];
	uint16_t device[10];
	struct err err = ERR_INIT;
	uint64_t mem[30] = {0};
	struct place_model m = {
		.k = 3, .n_sets = 10, .set_s = cost, .mem_limit = mem, .task_mem = mem};

	for (int i = 0; i < 9; i++)
		bw[i] = i % 4 ? 1 : INFINITY;
	for (uint32_t i = 0; i < 15; i++)
		e[i] = (struct sched_edge){edge[i][0], edge[i][1], i, edge[i][2]};
	for (uint32_t i = 0; i < 10; i++)
		set[i] = i;
	sched_dag_build(&m.tasks.dag, 10, e, 15, a);
	m.tasks.task_set = set;
	m.costs = (struct sched_costs){.task_s = cost,
				       .links = {.k = 3, .latency_s = lat, .bytes_per_s = bw},
				       .contention = true,
				       .overlap = true};
	int rc = heft_placement(&m, 0, device, &makespan_s, &err);
	tap(rc == 0 && makespan_s == 80, "heft takes 80 on its published example (%g)", makespan_s);
}

/* No flip of one set improves a placement that climbing ended with. */
static void local_optimum(void)
{
	struct problem p;
	uint16_t device[200] = {0};
	double lat_s;
	bool ok = true;

	problem_new(&p, 5, 60, 3);
	uint32_t used = climb(&p, 1, 1000000, device, &lat_s);
	for (uint32_t i = 0; i < p.m.n_sets; i++)
		for (uint32_t d = 1; d < p.m.k; d++) {
			uint16_t was = device[i];

			device[i] = (uint16_t)((was + d) % p.m.k);
			ok &= latency(&p, device) >= lat_s;
			device[i] = was;
		}
	tap(ok && used > p.m.n_sets, "climbing ends in a local optimum (%u evaluations)", used);
	memset(device, 0, sizeof(device));
	tap(climb(&p, 1, 50, device, &lat_s) == 50, "or when the evaluations are used up");
	problem_end(&p);
}

/* Searches with a context of somebody else: one evaluator for one after the other, which says what
 * a new one would. */
static void shared_space(void)
{
	struct problem p;
	struct arena *a = arena_new();
	struct search_context s, borrowed;
	uint16_t device[200] = {0};
	bool same = true;

	problem_new(&p, 5, 60, 3);
	search_context_init(&s, &(struct method_run){.m = &p.m, .a = a});
	search_context_init(&borrowed, &(struct method_run){.m = &p.m, .a = a, .context = &s});
	struct evaluator *first = evaluators_take(s.ev), *second = evaluators_take(borrowed.ev);
	place_begin(first, device);
	for (uint32_t i = 0; i < p.m.n_sets; i++) {
		place_move(first, i, (uint16_t)(i % p.m.k));
		place_moved_below(first, INFINITY);
	}
	evaluators_put(s.ev, first);
	search_context_release(&borrowed);
	struct evaluator *again = evaluators_take(s.ev);
	for (uint32_t i = 0; i < p.m.n_sets; i++) {
		device[i] = (uint16_t)(i * 7 % p.m.k);
		same &= place_evaluate(again, device)->value == place_evaluate(p.x, device)->value;
	}
	tap(borrowed.u.set == s.u.set && second != first && again == first && same,
	    "a context and its evaluators serve several searches");
	evaluators_put(s.ev, again);
	evaluators_put(s.ev, second);
	search_context_release(&s);
	arena_free(a);
	problem_end(&p);
}

/* ---- legality and memory ---- */

static void legality(void)
{
	struct problem p;
	uint16_t device[200] = {0};
	char text[300];

	problem_new(&p, 3, 40, 2);
	const struct place_result *r = place_evaluate(p.x, device);
	tap(r->status == PLACE_OK && r->copies == 0 && r->mem_bytes[1] == 0 &&
		    r->mem_bytes[0] > 0 && r->busy_s[0] == r->lat_s,
	    "all on one device: no copies, memory there, always busy");
	p.limit[0] = r->mem_bytes[0];
	tap(place_evaluate(p.x, device)->status == PLACE_OK, "memory that just fits");
	p.limit[0]--;
	r = place_evaluate(p.x, device);
	tap(r->status == PLACE_MEMORY && r->bad_dev == 0 &&
		    strstr(place_reason(p.x, r, text, sizeof(text)), "bytes on a, which has"),
	    "%s", place_reason(p.x, r, text, sizeof(text)));
	p.limit[0] = 0;
	problem_end(&p);
}

/* Masked sets: searches keep away from them, evaluation names them. */
static void masks(void)
{
	struct problem p;
	uint16_t device[200] = {0};
	char text[300];
	struct err e = ERR_INIT;
	double lat_s = 0;
	bool ok = true;

	problem_new(&p, 9, 40, 2);
	uint32_t set = p.m.tasks.task_set[p.m.tasks.dag.n / 2];
	p.set_s[2 * set] = -1;
	((double *)(uintptr_t)p.m.costs.task_s)[2 * (p.m.tasks.dag.n / 2)] = -1;
	evaluator_free(p.x);
	p.x = evaluator_new(&p.m);
	const struct place_result *r = place_evaluate(p.x, device);
	tap(r->status == PLACE_CANNOT_RUN && r->bad_set == set && r->bad_dev == 0, "%s",
	    place_reason(p.x, r, text, sizeof(text)));
	tap(place_best_single(p.x, &lat_s) == 1, "the other device can run everything");
	for (uint32_t i = 0; i < 50; i++) {
		random_placement(&p.m, 1, i, i % 2, device);
		ok &= device[set] == 1;
	}
	tap(ok, "random placements respect the mask");
	tap(heft_placement(&p.m, 0, device, &lat_s, &e) == 0 && device[set] == 1, "heft too");
	problem_end(&p);
}

static void random_draws(void)
{
	struct problem p;
	uint16_t device[200], again[200];
	uint32_t extreme = 0, middle = 0, same = 0;

	problem_new(&p, 11, 60, 2);
	for (uint32_t i = 0; i < 200; i++) {
		uint32_t ones = 0;

		random_placement(&p.m, 1, i, true, device);
		random_placement(&p.m, 1, i, true, again);
		same += memcmp(device, again, p.m.n_sets * sizeof(*device)) == 0;
		for (uint32_t v = 0; v < p.m.n_sets; v++)
			ones += device[v];
		extreme += ones < p.m.n_sets / 4 || ones > 3 * p.m.n_sets / 4;
		random_placement(&p.m, 1, i, false, device);
		ones = 0;
		for (uint32_t v = 0; v < p.m.n_sets; v++)
			ones += device[v];
		middle += ones > p.m.n_sets / 4 && ones < 3 * p.m.n_sets / 4;
	}
	tap(extreme > 60 && extreme < 140,
	    "a biased draw leans to one device half of the time (%u of 200)", extreme);
	tap(middle > 195, "a uniform draw does not (%u of 200)", 200 - middle);
	tap(same == 200, "a sample depends on seed and number alone");
	problem_end(&p);
}

/* ---- costs and weights of a graph by hand ---- */

static struct graph *by_hand(void)
{
	/* Parameter x (1,4) -> MatMul w (4,8) -> Add b (1,8) -> Add b -> Result. */
	static const char *const type[] = {"Parameter", "Const", "MatMul", "Const",
					   "Add",       "Add",   "Result"};
	static const uint32_t in[] = {0, 1, 2, 3, 4, 3, 5}, at[] = {0, 0, 0, 2, 2, 4, 6, 7};
	static const int64_t dim[] = {1, 4, 4, 8, 1, 8, 1, 8, 1, 8, 1, 8};
	struct graph *g = graph_new();
	struct arena *a = g->arena;

	g->n = 7;
	g->name = "by hand";
	g->xml = g->weights = "";
	g->id = ARENA_NEWN(a, int64_t, 7);
	g->node_name = ARENA_NEWN(a, const char *, 7);
	g->type = ARENA_NEWN(a, const char *, 7);
	g->opset = ARENA_NEWN(a, const char *, 7);
	g->attr_ptr = ARENA_NEWN(a, uint32_t, 8);
	g->in_ptr = ARENA_NEWN(a, uint32_t, 8);
	g->in_node = ARENA_NEWN(a, uint32_t, 7);
	g->in_port = ARENA_NEWN(a, uint32_t, 7);
	g->out_ptr = ARENA_NEWN(a, uint32_t, 8);
	g->out_elem = ARENA_NEWN(a, uint8_t, 6);
	g->out_rank = ARENA_NEWN(a, uint8_t, 6);
	g->out_names = ARENA_NEWN(a, const char *, 6);
	g->dim_ptr = ARENA_NEWN(a, uint32_t, 7);
	g->dim = ARENA_NEWN(a, int64_t, 12);
	g->set = ARENA_NEWN(a, uint32_t, 7);
	memcpy(g->in_ptr, at, sizeof(at));
	memcpy(g->in_node, in, sizeof(in));
	memcpy(g->dim, dim, sizeof(dim));
	g->n_const = 2;
	g->const_node = ARENA_NEWN(a, uint32_t, 2);
	g->const_offset = ARENA_NEWN(a, uint64_t, 2);
	g->const_bytes = ARENA_NEWN(a, uint64_t, 2);
	g->const_node[0] = 1;
	g->const_node[1] = 3;
	for (uint32_t v = 0; v < 7; v++) {
		g->type[v] = g->node_name[v] = type[v];
		g->opset[v] = "opset1";
		g->out_ptr[v + 1] = v < 6 ? v + 1 : 6;
	}
	for (uint32_t o = 0; o < 6; o++) {
		g->out_elem[o] = EL_F32;
		g->out_rank[o] = 2;
		g->out_names[o] = "";
		g->dim_ptr[o + 1] = 2 * (o + 1);
	}
	graph_finish(g);
	graph_colocate(g, CONST_DROP, false); /* sets: Parameter, MatMul, Add, Add, Result */
	return g;
}

static void costs_by_hand(struct arena *a)
{
	static const uint64_t limit[2] = {0, 0};
	static double lat[4] = {0, 1, 1, 0}, bw[4] = {INFINITY, 32, 32, INFINITY};
	struct graph *g = by_hand();
	double set_s[10];
	struct err e = ERR_INIT;
	struct spec s;
	struct place_model m;

	int rc = parse("device a flops 64 bandwidth 1e9 overhead 0.5\n"
		       "device b flops 1e9 bandwidth 208\n",
		       a, &s, &e);
	rc |= place_spec_costs(g, &s, names, 2, set_s, &e);
	tap(rc == 0 && g->n_sets == 5 && set_s[0] == 0 && set_s[8] == 0,
	    "inputs and results are free");
	/* MatMul: 2 * 4 * 8 = 64 FLOP; reads 16 + 128, writes 32 bytes. */
	tap(set_s[2] == 1.5 && set_s[3] == 176 / 208.0,
	    "overhead plus the slower of compute and memory");
	tap(place_spec_costs(g, &s, (const char *const[]){"zz"}, 1, set_s, &e) < 0 &&
		    e.code == ST_USAGE,
	    "a device that the specification does not have");
	err_clear(&e);
	for (int i = 0; i < 10; i++)
		set_s[i] = i < 2 || i > 7 ? 0 : 1;
	struct place_setup setup = {.k = 2,
				    .names = names,
				    .set_s = set_s,
				    .links = {.k = 2, .latency_s = lat, .bytes_per_s = bw},
				    .mem_limit = limit,
				    .contention = true,
				    .overlap = true,
				    .policy = SCHED_RANK};
	rc = place_model_init(&m, g, &setup, a, &e);
	struct evaluator *x = evaluator_new(&m);
	const struct place_result *r = place_evaluate(x, (uint16_t[]){0, 0, 0, 0, 0});
	/* Weights 128 + 32 once; at most two of the 32-byte tensors at once (x has 16). */
	tap(rc == 0 && r->lat_s == 3 && r->mem_bytes[0] == 160 + 64,
	    "three seconds, weights once, two tensors");
	r = place_evaluate(x, (uint16_t[]){0, 0, 0, 1, 1});
	tap(r->lat_s == 5 && r->copies == 1 && r->copy_bytes == 32 && r->mem_bytes[1] == 32 + 64,
	    "a shared constant is on both devices");
	evaluator_free(x);
	graph_free(g);
}

/* Three devices that only their ports may tell apart: which stands for which. */
static bool stand_for(struct sched_ports *ports, uint32_t second, uint32_t third, struct arena *a)
{
	static const uint64_t limit[3] = {0, 0, 0};
	static double lat[9] = {0, 1, 1, 1, 0, 1, 1, 1, 0}, bw[9];
	struct graph *g = by_hand();
	double set_s[15] = {0};
	struct place_setup setup = {
		.k = 3,
		.names = names,
		.set_s = set_s,
		.links = {.k = 3, .latency_s = lat, .bytes_per_s = bw, .ports = ports},
		.mem_limit = limit,
		.contention = true,
		.overlap = true};
	struct place_model m;
	struct place_units u;
	struct err e = ERR_INIT;

	for (int i = 0; i < 9; i++)
		bw[i] = i % 4 ? 32 : INFINITY;
	for (int i = 0; i < 15; i++)
		set_s[i] = 1;
	int rc = place_model_init(&m, g, &setup, a, &e);
	if (rc == 0)
		place_units_init(&u, &m, a);
	bool right = rc == 0 && u.equivalent[0] == 0 && u.equivalent[1] == second &&
		     u.equivalent[2] == third;
	graph_free(g);
	return right;
}

static void equivalent_by_ports(struct arena *a)
{
	struct sched_ports *p = sched_ports_new(3, 2, a);

	tap(stand_for(p, 0, 0, a), "devices without ports are equivalent");
	for (int i = 0; i < 9; i++)
		p->of[i] = i % 4 ? 0 : SCHED_NONE;
	tap(stand_for(p, 0, 0, a), "so are those with the same ports");
	p->in_bytes_per_s[1 * 2] = 64;
	tap(stand_for(p, 1, 0, a), "not one of which another rate is told");
	p->in_bytes_per_s[1 * 2] = 0;
	p->out_bytes_per_s[2 * 2] = 64;
	tap(stand_for(p, 0, 2, a), "out as well as in");
	p->out_bytes_per_s[2 * 2] = 0;
	p->of[0 * 3 + 1] = p->of[0 * 3 + 2] = 1;
	tap(stand_for(p, 1, 1, a), "nor one whose links have ports of another name");
}

/* Rounds of a budget: one walk that is ample rather than several that are not. */
static void rounds(void)
{
	struct walks_rounds few = walks_rounds(5e4, 999), one = walks_rounds(1.25e5, 999),
			    many = walks_rounds(1e7, 999);

	tap(few.ample < 1 && few.share == 1, "rounds: too little for one walk is one round");
	tap(one.ample == 1 && fabs(one.share - 0.8) < 1e-12,
	    "rounds: an ample walk, and what is left");
	tap(many.ample == 1 && fabs(many.share - 1.0 / 6) < 1e-12, "rounds: six at most");
}

int main(void)
{
	struct arena *a = arena_new();

	spec_files(a);
	objectives();
	links(a);
	costs_by_hand(a);
	chains();
	searches();
	heft_example(a);
	local_optimum();
	shared_space();
	legality();
	masks();
	random_draws();
	rounds();
	equivalent_by_ports(a);
	arena_free(a);
	return tap_end();
}
