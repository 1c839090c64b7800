/* thin.c - products with few rows, for each level of instructions. */
#include "kernel/gemm/thin.h"

#include <string.h>

#define LEVEL_FILE "kernel/gemm/thin_loops.h"
#include "kernel/isa_dispatch.h"

void thin_panel(int m, int nr, int64_t k, const float *a, const void *b, bool b_half, float *c,
		int64_t ldc)
{
	float edge[GEMM_M * GEMM_N];
	if (nr == GEMM_N) {
		LEVEL_CALL(thin, m, k, a, b, b_half, c, ldc);
		return;
	}
	LEVEL_CALL(thin, m, k, a, b, b_half, edge, GEMM_N);
	for (int i = 0; i < m; i++)
		memcpy(c + i * ldc, edge + i * GEMM_N, (size_t)nr * sizeof *c);
}
