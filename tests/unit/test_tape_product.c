/* test_tape_product.c - a product has the same bits however its left side lies in memory: by rows, by columns, or with
 * gaps, which only packing can read.  One of rounded operands is that of operands that bf16 has, by the processor's
 * instructions and without them. */
#include "tap.h"

#include "base/rng.h"
#include "kernel/isa_level.h"
#include "kernel/vec.h"
#include "kernel/gemm/vnni_gemm.h"
#include "learn/tape/tape_product.h"

#include <string.h>

enum { M = 61, K = 300, N = 75 };

static float a[M * K], across[K * M], apart[4 * M * K], b[K * N];
enum { PANELS = K * (N + PRODUCT_PANEL) };
static float panels[PANELS] __attribute__((aligned(64)));
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
	const struct packed p = product_pack(panels, b, k, n, n, 1, false);
	const struct rows left[] = {{a, m, k, 1}, {across, m, 1, m}, {apart, m, 2 * k, 2}};
	for (int i = 0; i < 3; i++)
		product_rows(y[i], n, &left[i], &p, false);
	size_t size = sizeof(float) * m * n;
	return error_of(y[2], m, k, n) < 1e-4 && memcmp(y[0], y[2], size) == 0 &&
	       memcmp(y[1], y[2], size) == 0;
}

/* ---- rounded operands ---- */

static void round_all(float *x, uint32_t n)
{
	static uint16_t u[K * N]; /* M < N */
	vec_to_bf16(x, u, n);
	vec_from_bf16(u, x, n);
}

/* What y would be from x by bf16's own numbers; x becomes these. */
static double rounded_error(const float *of, uint32_t m, uint32_t k, uint32_t n)
{
	round_all(a, m * k);
	round_all(b, k * n);
	return error_of(of, m, k, n);
}

/* y = A B, of B by rows or by columns; then += the same, or as an outer product of A (m,k) across. */
static bool rounded(uint32_t m, uint32_t k, uint32_t n)
{
	static float scratch[PANELS] __attribute__((aligned(64))), turned[N * K];
	fill(m, k);
	for (uint32_t i = 0; i < k; i++)
		for (uint32_t j = 0; j < n; j++)
			turned[j * k + i] = b[i * n + j];
	const struct rows left = {a, m, k, 1}, columns = {across, m, 1, m};
	if (packed_floats(k, n) > PANELS || product_outer_floats(k, n) > PANELS)
		return false;
	struct packed p = product_pack(panels, b, k, n, n, 1, true);
	product_rows(y[0], n, &left, &p, false);
	memcpy(y[1], y[0], sizeof(float) * m * n);
	p = product_pack(panels, turned, k, n, 1, k, true);
	product_rows(y[2], n, &left, &p, false);
	bool same = memcmp(y[0], y[2], sizeof(float) * m * n) == 0;
	product_outer(y[1], n, &columns, b, n, k, n, true, scratch);
	product_rows(y[2], n, &left, &p, true);
	for (uint32_t i = 0; i < m * n; i++) {
		y[1][i] -= y[0][i];
		y[2][i] -= y[0][i];
	}
	return same && rounded_error(y[0], m, k, n) < 1e-4 && error_of(y[1], m, k, n) < 5e-4 &&
	       error_of(y[2], m, k, n) < 5e-4;
}

static void rounded_shapes(void)
{
	static const uint32_t rows[] = {1, 13, 48, 61}, inner[] = {1, 2, 31, 128, 300};
	for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
		for (size_t k = 0; k < sizeof inner / sizeof *inner; k++) {
			uint32_t wrong = 0;
			for (uint32_t n = 1; n <= N && !wrong; n++)
				wrong = rounded(rows[r], inner[k], n) ? 0 : n;
			tap(!wrong, "%u rows of %u, rounded%s: %u", rows[r], inner[k],
			    pairs_there() ? ", by instructions" : "", wrong);
		}
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
	rounded_shapes();
	int level = cpu_level;
	cpu_level = 3;
	rounded_shapes();
	cpu_level = level;
	return tap_end();
}
