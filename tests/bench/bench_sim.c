/* bench_sim - how many placements the simulator evaluates per second on one core.
 *
 *   bench_sim STREAM     a graph with devs and cost records (devsim --probe)
 *
 * Distinct random placements, contention and memory peaks included; the best of
 * several rounds in processor time.  Prints lines "NAME FIGURE". */
#include <stdio.h>
#include <time.h>

#include "base/msg.h"
#include "place/inputs.h"
#include "place/search.h"

enum { DISTINCT = 512, ROUNDS = 7 };

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

static void bench(const struct place_model *m)
{
	struct evaluator *x = evaluator_new(m);
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)DISTINCT * m->n_sets);
	double best = 1e9, sum = 0;

	for (uint32_t i = 0; i < DISTINCT; i++)
		search_random(m, 1, i, i % 2, device + (size_t)i * m->n_sets);
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

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct place_inputs in;
	struct place_model m;
	struct arena *a = arena_new();
	int rc;

	msg_program("bench_sim");
	if (argc != 2) {
		fprintf(stderr, "usage: bench_sim STREAM\n");
		return ST_USAGE;
	}
	rc = place_inputs_init(&in, NULL, &e);
	if (rc == 0)
		rc = load(argv[1], &in, &e);
	if (rc == 0)
		rc = place_inputs_model(&in, in.devs.names, in.devs.k, a, &m, &e);
	if (rc == 0)
		bench(&m);
	place_inputs_release(&in);
	arena_free(a);
	return rc == 0 ? 0 : msg_error(&e);
}
