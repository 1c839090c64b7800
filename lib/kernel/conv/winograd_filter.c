/* winograd_filter.c - weights of minimal filtering (winograd.c): filters to points. */
#include "kernel/conv/conv.h"
#include "kernel/gemm/gemm.h"

#include <string.h>

enum { MAX_POINTS = 36 };

static const double four_G[6][3] = {
	/* 1 / N (1, p, p^2) at each point p; N: the product of its distances to the others */
	{1, 0, 0},
	{-2 / 3.0, -2 / 3.0 * 0.70710678118654752440, -1 / 3.0},
	{-2 / 3.0, 2 / 3.0 * 0.70710678118654752440, -1 / 3.0},
	{1 / 6.0, 1 / 6.0 * 1.41421356237309504880, 1 / 3.0},
	{1 / 6.0, -1 / 6.0 * 1.41421356237309504880, 1 / 3.0},
	{0, 0, 1},
};
static const double two_G[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};

#define LEVEL_FILE "kernel/conv/winograd_filter_loops.h"
#include "kernel/isa_dispatch.h"

void cpu_winograd_filter(int m, const double g[9], double *u)
{
	const double(*G)[3] = m == 4 ? four_G : two_G;
	int n = m + 2;
	double t[6][3];
	for (int i = 0; i < n; i++)
		for (int j = 0; j < 3; j++)
			t[i][j] = G[i][0] * g[j] + G[i][1] * g[3 + j] + G[i][2] * g[6 + j];
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			u[i * n + j] = t[i][0] * G[j][0] + t[i][1] * G[j][1] + t[i][2] * G[j][2];
}

int64_t cpu_winograd_floats(int m, int64_t cout, int64_t cin)
{
	return (m + 2) * (m + 2) * gemm_a_elements(cout, cin);
}

/* Tap i of GEMM_M filters, `row` elements apart from `first` on; zeros behind the last of n. */
static void take_taps(const struct tensor *w, int64_t first, int64_t row, int64_t n, double *to)
{
	for (int64_t o = 0; o < GEMM_M; o++) {
		int64_t at = first + o * row;
		to[o] = o >= n              ? 0
			: w->elem == EL_F32 ? ((const float *)w->data)[at]
					    : tensor_real(w, at);
	}
}

void cpu_winograd_pack(int m, float *dst, const struct tensor *w, int64_t first, int64_t cout,
		       int64_t cin)
{
	int64_t step = cin * GEMM_M;
	double g[9][GEMM_M];
	for (int64_t o = 0; o < cout; o += GEMM_M, dst += (m + 2) * (m + 2) * step)
		for (int64_t c = 0; c < cin; c++) {
			for (int i = 0; i < 9; i++)
				take_taps(w, first + (o * cin + c) * 9 + i, cin * 9, cout - o,
					  g[i]);
			LEVEL_CALL(filters, m, g, dst + c * GEMM_M, step);
		}
}
