/* bench_sim - how many placements the simulator evaluates per second on one core.
 *
 *   bench_sim [STREAM]   a graph with devs and cost records (devsim --probe); without it a random
 *                        graph of 300 nodes with 450 edges on two devices
 *
 * Contention and memory peaks included; the best of several rounds in processor time.  Distinct
 * random placements, then moves of local search: of one set, and of a group of 8 sets that follow
 * each other, away from HEFT's placement and back; asked for exactly, and with the value there is
 * as a limit (as a descent does).  Prints lines "NAME FIGURE". */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/msg.h"
#include "graphgen.h"
#include "place/heuristic/heft.h"
#include "place/heuristic/random.h"
#include "place/problem/placeinputs.h"
#include "randgraph.h"

enum { DISTINCT = 512, ROUNDS = 15, NODES = 300, EDGES = 450, GROUP = 8 };

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int load(const char *path, struct place_inputs *in, struct err *e)
{
	struct rec_reader *r = rec_reader_open(path, -1, e);
	struct rec x;
	int k = r ? 0 : -1;

	while (r && (k = rec_next(r, &x, e)) > 0)
		if (place_inputs_take(in, &x, e) < 0)
			break;
	rec_reader_close(r);
	if (k == 0 && (!in->g || !in->has_devs))
		return err_set(e, ST_INPUT, "no graph and devs in '%s'", path);
	return e->code ? -1 : k;
}

/* ---- a graph of its own ---- */

static struct graph *random_graph(struct arena *a)
{
	struct graph *g = gen_tensors(NODES, EDGES);
	struct gen r = gen_new(1);
	struct digraph d;
	uint32_t m = 0;

	random_dag(&d, NODES, 12, EDGES - NODES, 0.03, 1, a);
	for (uint32_t v = 0; v < NODES; v++) {
		for (uint32_t i = 0; i < d.m; i++)
			if (d.dst[i] == v)
				g->in_node[m++] = d.src[i];
		g->in_ptr[v + 1] = m;
		g->dim[v] = 1000 + gen_below(&r, 1000000);
	}
	graph_finish(g);
	return g;
}

static int random_model(struct arena *a, struct place_model *m, struct err *e)
{
	static const char *const names[] = {"a", "b"};
	static double latency_s[4] = {0, 1e-5, 1e-5, 0}, bytes_per_s[4] = {1e99, 1e10, 1e10, 1e99};
	static const uint64_t limit[2];
	double *set_s = ARENA_NEWN(a, double, 2 * NODES);
	struct gen r = gen_new(2);

	for (uint32_t i = 0; i < 2 * NODES; i++)
		set_s[i] = 1e-6 * (10 + gen_below(&r, 300));
	const struct place_setup s = {
		.k = 2,
		.names = names,
		.set_s = set_s,
		.mem_limit = limit,
		.links = {.k = 2, .latency_s = latency_s, .bytes_per_s = bytes_per_s},
		.contention = true,
		.overlap = true};
	return place_model_init(m, random_graph(a), &s, a, e);
}

/* ---- measurements ---- */

static void bench_distinct(const struct place_model *m)
{
	struct evaluator *x = evaluator_new(m);
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)DISTINCT * m->n_sets);
	double best = 1e9, sum = 0;

	for (uint32_t i = 0; i < DISTINCT; i++)
		random_placement(m, 1, i, i % 2, device + (size_t)i * m->n_sets);
	for (int round = 0; round < ROUNDS; round++) {
		double start = cpu_s();

		for (uint32_t i = 0; i < DISTINCT; i++)
			sum += place_evaluate(x, device + (size_t)i * m->n_sets)->lat_s;
		double s = (cpu_s() - start) / DISTINCT;
		best = s < best ? s : best;
	}
	printf("tasks %u\nevaluation_us %.2f\nevaluations_per_s %.0f\nmean_latency_ms %.4f\n",
	       m->tasks.dag.n, 1e6 * best, 1 / best, 1e3 * sum / (DISTINCT * ROUNDS));
	mem_free(device);
	evaluator_free(x);
}

/* The i-th group of n tasks' sets goes to other devices; its first task. */
static uint32_t flip(const struct place_model *m, uint32_t i, uint32_t n, uint16_t *device)
{
	uint32_t first = (uint32_t)((uint64_t)i * 2654435761u % (m->tasks.dag.n - n + 1));

	for (uint32_t t = first; t < first + n; t++) {
		uint16_t *dev = &device[m->tasks.task_set[t]];

		*dev = (uint16_t)((*dev + 1) % m->k);
	}
	return first;
}

enum way { WHOLE, MOVED, BELOW, WAYS };

/* Seconds of one round of moves. */
static double round_s(struct evaluator *x, const struct place_model *m, const uint16_t *base,
		      uint16_t *device, uint32_t group, enum way way, double value)
{
	double start = cpu_s();

	for (uint32_t i = 0; i < DISTINCT; i++) {
		uint32_t first = flip(m, i, group, device);

		for (uint32_t t = first; way != WHOLE && t < first + group; t++)
			place_move(x, m->tasks.task_set[t], device[m->tasks.task_set[t]]);
		if (way == WHOLE)
			place_evaluate(x, device);
		else
			place_moved_below(x, way == BELOW ? value : INFINITY);
		for (uint32_t t = first; t < first + group; t++) {
			uint32_t set = m->tasks.task_set[t];

			device[set] = base[set];
			if (way != WHOLE)
				place_move(x, set, base[set]);
		}
	}
	return (cpu_s() - start) / DISTINCT;
}

/* Ways alternate, so that they see the same machine. */
static void bench_moves(const struct place_model *m, const uint16_t *base, uint32_t group)
{
	struct evaluator *x = evaluator_new(m);
	uint16_t *device = mem_copy(base, m->n_sets, sizeof(*device));
	double best[WAYS] = {1e9, 1e9, 1e9}, value = place_evaluate(x, base)->value;

	for (int round = 0; round < ROUNDS; round++)
		for (int way = 0; way < WAYS; way++) {
			if (way == MOVED)
				place_begin(x, base);
			best[way] = fmin(best[way],
					 round_s(x, m, base, device, group, (enum way)way, value));
		}
	printf("whole_%u_us %.2f\nmoved_%u_us %.2f\nmoved_%u_speedup %.2f\nbelow_%u_us %.2f\n"
	       "below_%u_speedup %.2f\n",
	       group, 1e6 * best[WHOLE], group, 1e6 * best[MOVED], group, best[WHOLE] / best[MOVED],
	       group, 1e6 * best[BELOW], group, best[WHOLE] / best[BELOW]);
	mem_free(device);
	evaluator_free(x);
}

static void bench(const struct place_model *m)
{
	uint16_t *base = MEM_NEWN(uint16_t, m->n_sets);
	struct err e = ERR_INIT;
	double unused;

	bench_distinct(m);
	if (m->k > 1 && m->tasks.dag.n >= GROUP && heft_placement(m, 0, base, &unused, &e) == 0) {
		bench_moves(m, base, 1);
		bench_moves(m, base, GROUP);
	}
	mem_free(base);
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct place_inputs in;
	struct place_model m;
	struct arena *a = arena_new();
	int rc;

	msg_program("bench_sim");
	if (argc > 2) {
		fprintf(stderr, "usage: bench_sim [STREAM]\n");
		return ST_USAGE;
	}
	rc = place_inputs_init(&in, NULL, &e);
	if (rc == 0 && argc < 2) {
		rc = random_model(a, &m, &e);
	} else if (rc == 0) {
		rc = load(argv[1], &in, &e);
		if (rc == 0)
			rc = place_inputs_model(&in, in.devs.names, in.devs.k, a, &m, &e);
	}
	if (rc == 0)
		bench(&m);
	place_inputs_release(&in);
	arena_free(a);
	return rc == 0 ? 0 : msg_error(&e);
}
