/* Fractal dimension of large graphs: bench_fractal [NODES].  Prints seconds on
 * all processors for round, long and chain-like DAGs, exact and capped. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "feature/fractal.h"
#include "graphgen.h"

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void bench(const char *name, const struct digraph *d, uint32_t cap, struct pool *pool,
		  double *D)
{
	struct fractal_opts o = {false, cap, pool};
	double t = now();
	fractal_dimension(d, &o, D);
	t = now() - t;
	double mean = 0;
	for (uint32_t v = 0; v < d->n; v++)
		mean += D[v] / d->n;
	printf("fractal %-12s %8u nodes %8u edges  cap %6u  %8.3f s  mean D %.3f\n", name, d->n,
	       d->m, cap, t, mean);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)atol(argv[1]) : 100000;
	struct {
		const char *name;
		uint32_t per_node, span;
	} shapes[] = {
		{"random", 2, n},
		{"local", 3, 100},
		{"thin", 2, 10},
		{"chain", 1, 1},
	};
	struct pool *pool = pool_new(pool_n_cpus(), NULL);
	double *D = MEM_NEWN(double, n);
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		struct arena *a = arena_new();
		struct digraph d = gen_digraph(1, n, shapes[i].per_node, shapes[i].span, a);
		double t = now();
		uint32_t cap = fractal_radius_cap(&d, false, 2e9);
		printf("fractal %-12s default cap %u, found in %.3f s\n", shapes[i].name, cap,
		       now() - t);
		bench(shapes[i].name, &d, cap, pool, D);
		bench(shapes[i].name, &d, 32, pool, D);
		arena_free(a);
	}
	mem_free(D);
	pool_free(pool);
	return 0;
}
