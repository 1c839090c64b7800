/* gemm.c - packing of the operands, and the tile kernels of each level. */
#include "kernel/gemm/gemm.h"
#include "op/value.h"

#include <string.h>

#define LEVEL_FILE "kernel/gemm/gemm_loops.h"
#include "kernel/isa_dispatch.h"

int64_t gemm_a_elements(int64_t m, int64_t k)
{
	return (m + GEMM_M - 1) / GEMM_M * GEMM_M * k;
}

int64_t gemm_b_elements(int64_t k, int64_t n)
{
	return (n + GEMM_N - 1) / GEMM_N * GEMM_N * k;
}

/* Panels of `width` along dim x (n_x of them, distance step_x), k along step_k. */
#define PACK(T, S, convert) \
	do { \
		T *to = dst; \
		const S *from = src; \
		for (int64_t x0 = 0; x0 < n_x; x0 += width) { \
			int64_t w = n_x - x0 < width ? n_x - x0 : width; \
			for (int64_t i = 0; i < k; i++, to += width) { \
				const S *s = from + x0 * step_x + i * step_k; \
				for (int64_t j = 0; j < w; j++) \
					to[j] = convert(s[j * step_x]); \
				for (int64_t j = w; j < width; j++) \
					to[j] = 0; \
			} \
		} \
	} while (0)
#define KEEP(x) (x)

static void pack(void *dst, enum elem elem, const void *src, int64_t n_x, int64_t k, int64_t width,
		 int64_t step_x, int64_t step_k)
{
	if (elem == EL_F16)
		PACK(uint16_t, uint16_t, KEEP);
	else if (elem == EL_BF16)
		PACK(float, uint16_t, bf16_to_float);
	else
		PACK(float, float, KEEP);
}

void gemm_pack_a(void *dst, enum elem elem, const void *src, int64_t m, int64_t k, int64_t row,
		 int64_t col)
{
	pack(dst, elem, src, m, k, GEMM_M, row, col);
}

void gemm_pack_a_f32(float *dst, enum elem elem, const void *src, int64_t m, int64_t k, int64_t row,
		     int64_t col)
{
	int64_t n_x = m, step_x = row, step_k = col, width = GEMM_M;
	if (elem == EL_F16)
		PACK(float, uint16_t, half_to_float);
	else
		pack(dst, elem, src, m, k, GEMM_M, row, col);
}

void gemm_pack_b(void *dst, enum elem elem, const void *src, int64_t k, int64_t n, int64_t row,
		 int64_t col)
{
	pack(dst, elem, src, n, k, GEMM_N, col, row);
}

void gemm_gather_panels(const float *const *row, int64_t kc, int64_t at, int64_t n, float *dst)
{
	LEVEL_CALL(gather_panels, row, kc, at, n, dst);
}

void gemm_gather_pieces(const float *const *row, int64_t kc, int64_t n, int n_pieces,
			const struct gemm_piece *piece, float *dst)
{
	LEVEL_CALL(gather_pieces, row, kc, n, n_pieces, piece, dst);
}

bool gemm_gathers_shifted(void)
{
	return cpu_level >= 4;
}

void gemm_gather_shifted(const float *const *row, int64_t kc, int64_t at, int64_t n,
			 const uint16_t *bits, int64_t tap0, int64_t taps, int64_t words,
			 float *dst)
{
	LEVEL_CALL(gather_shifted, row, kc, at, n, bits, tap0, taps, words, dst);
}

void gemm_gather_halves(const float *const *row, int64_t kc, int64_t n, int n_pieces,
			const struct gemm_piece *piece, const uint32_t *bits, int64_t tap0,
			int64_t taps, float *dst)
{
	LEVEL_CALL(gather_halves, row, kc, n, n_pieces, piece, bits, tap0, taps, dst);
}

bool gemm_is_thin(int nr)
{
	return cpu_level >= 4 && nr <= GEMM_THIN;
}

void gemm_finish(const struct gemm_post *p, float *c, int64_t ldc, int rows, int64_t n)
{
	LEVEL_CALL(finish, p, c, ldc, rows, n);
}

void gemm_multiply(const struct gemm_block *g)
{
	LEVEL_CALL(block, g);
}
