/* bench_products.c - products in f32 as training has them, by the kernels of kernel/gemm and by OpenBLAS in turns, on one
 * thread: medians of microseconds, and how many times as long OpenBLAS takes.
 *
 *   bench_products [TURNS]
 *
 * OPENBLAS_CORETYPE says which kernels OpenBLAS takes. */
#include "base/clock.h"
#include "base/rng.h"
#include "learn/tape/tape.h"
#include "learn/tape/tape_product.h"
#include "stats/quantile.h"

#include <stdio.h>
#include <stdlib.h>

enum kind { ROWS, FEW, OUTER };

static const struct {
	const char *what;
	enum kind kind;
	uint32_t m, k, n;
} shapes[] = {
	{"features of bert_base times weights", ROWS, 759, 26, 128},
	{"its nodes times weights", ROWS, 759, 128, 128},
	{"its groups times weights", ROWS, 101, 128, 128},
	{"inputs of an LSTM of 256", ROWS, 435, 256, 1024},
	{"a step of it", FEW, 1, 256, 1024},
	{"a step of two sequences", FEW, 2, 256, 1024},
	{"a step of ten", FEW, 10, 256, 1024},
	{"gradient of weights", OUTER, 128, 759, 128},
	{"gradient of an LSTM's weights", OUTER, 256, 256, 1024},
};

/* Operands and result of a shape, and room for what is packed. */
struct work {
	float *a, *b, *c, *packed;
	struct packed right;
};

static float *filled(size_t n)
{
	const struct rng_addr at = {.seed = n};
	float *x = mem_try(n * sizeof *x); /* 64-byte aligned */
	if (!x)
		exit(ST_RUNTIME);
	rng_uniform_f32(&at, -1, 1, x, n);
	return x;
}

/* Weights are packed once for all rows of a step of training, and for all steps of an LSTM. */
static void multiply(struct work *w, size_t i)
{
	size_t m = shapes[i].m, k = shapes[i].k, n = shapes[i].n;
	const struct rows left = {w->a, m, k, 1}, across = {w->a, m, 1, m};
	if (shapes[i].kind == ROWS) {
		w->right = product_pack(w->packed, w->b, k, n, n, 1, false);
		product_rows(w->c, n, &left, &w->right, false);
	} else if (shapes[i].kind == FEW) {
		product_few(w->c, n, &left, &w->right);
	} else {
		product_outer(w->c, n, &across, w->b, n, k, n, false, w->packed);
	}
}

static double time_us(struct work *w, size_t i, const char *who)
{
	struct err e = ERR_INIT;
	size_t m = shapes[i].m, k = shapes[i].k, n = shapes[i].n,
	       repeat = 1 + (1u << 25) / (m * k * n);
	setenv("HSDAG_PRODUCTS", who, 1);
	if (tape_choose_products(&e) < 0) {
		fprintf(stderr, "bench_products: error: %s\n", e.msg);
		exit(e.code);
	}
	w->right = product_pack(w->packed, w->b, k, n, n, 1, false);
	multiply(w, i);
	double begin = clock_s();
	for (size_t r = 0; r < repeat; r++)
		multiply(w, i);
	return 1e6 * (clock_s() - begin) / (double)repeat;
}

int main(int argc, char **argv)
{
	enum { MOST = 999 };
	int turns = argc > 1 ? atoi(argv[1]) : 51;
	static double us[2][MOST], ratio[MOST];
	if (turns < 1 || turns > MOST) {
		fprintf(stderr, "bench_products: error: turns lie between 1 and %d\n", MOST);
		return ST_USAGE;
	}
	printf("%-36s %5s %5s %5s %9s %9s %6s\n", "", "m", "k", "n", "own", "OpenBLAS", "ratio");
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		size_t m = shapes[i].m, k = shapes[i].k, n = shapes[i].n,
		       outer = product_outer_floats(k, n);
		struct work w = {filled(m * k),
				 filled(k * n),
				 filled(m * n),
				 filled(packed_floats(k, n) + outer),
				 {0}};
		for (int t = 0; t < turns; t++) {
			us[0][t] = time_us(&w, i, "own");
			us[1][t] = time_us(&w, i, "openblas");
			ratio[t] = us[1][t] / us[0][t];
		}
		printf("%-36s %5zu %5zu %5zu %9.2f %9.2f %6.2f\n", shapes[i].what, m, k, n,
		       lower_median(us[0], (uint32_t)turns), lower_median(us[1], (uint32_t)turns),
		       lower_median(ratio, (uint32_t)turns));
		mem_free(w.a);
		mem_free(w.b);
		mem_free(w.c);
		mem_free(w.packed);
	}
	return 0;
}
