/* test_tape_product.c - a product has the same bits however its left side lies in memory: by rows, by columns, or with
 * gaps, which only packing can read. */
#include "tap.h"

#include "base/rng.h"
#include "learn/tape/tape_product.h"

#include <string.h>

enum { M = 61, K = 300, N = 75 };

static float a[M * K], across[K * M], apart[4 * M * K], b[K * N];
static float panels[K * (N + PRODUCT_PANEL)] __attribute__((aligned(64)));
static float y[3][M * N];

static void fill(uint32_t m, uint32_t k)
{
	const struct rng_addr at = {.seed = 1};
	rng_uniform_f32(&at, -1, 1, b, K * N);
	rng_uniform_f32(&at, -1, 1, a, M * K);
	for (uint32_t i = 0; i < m; i++)
		for (uint32_t j = 0; j < k; j++)
			across[j * m + i] = apart[i * 2 * k + 2 * j] = a[i * k + j];
}

/* Largest distance of y from the sum in double precision. */
static double error_of(const float *of, uint32_t m, uint32_t k, uint32_t n)
{
	double most = 0;
	for (uint32_t i = 0; i < m; i++)
		for (uint32_t j = 0; j < n; j++) {
			double s = 0;
			for (uint32_t x = 0; x < k; x++)
				s += (double)a[i * k + x] * (double)b[x * n + j];
			s -= (double)of[i * n + j];
			most = s > most ? s : -s > most ? -s : most;
		}
	return most;
}

static bool three_ways(uint32_t m, uint32_t k, uint32_t n)
{
	fill(m, k);
	const struct packed p = product_pack(panels, b, k, n, n, 1);
	const struct rows left[] = {{a, m, k, 1}, {across, m, 1, m}, {apart, m, 2 * k, 2}};
	for (int i = 0; i < 3; i++)
		product_rows(y[i], n, &left[i], &p, false);
	size_t size = sizeof(float) * m * n;
	return error_of(y[2], m, k, n) < 1e-4 && memcmp(y[0], y[2], size) == 0 &&
	       memcmp(y[1], y[2], size) == 0;
}

int main(void)
{
	static const uint32_t rows[] = {1, 13, 61}, inner[] = {1, 2, 128, 300};
	for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
		for (size_t k = 0; k < sizeof inner / sizeof *inner; k++) {
			uint32_t wrong = 0;
			for (uint32_t n = 1; n <= N && !wrong; n++)
				wrong = three_ways(rows[r], inner[k], n) ? 0 : n;
			tap(!wrong, "%u rows of %u: the same bits by rows, by columns and packed%s",
			    rows[r], inner[k], wrong ? "" : ", of 1 to 75 columns");
		}
	return tap_end();
}
