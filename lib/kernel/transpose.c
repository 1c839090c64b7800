/* transpose.c - see transpose.h. */
#include "kernel/transpose.h"
#include "kernel/isa_level.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define LEVEL_FILE "kernel/transpose_loops.h"
#include "kernel/isa_dispatch.h"

void cpu_turn(const float *from, int64_t f, int64_t rows, int64_t cols, float *to, int64_t t)
{
	LEVEL_CALL(transpose, from, f, rows, cols, to, t);
}

enum { TILE = 16 };

#ifdef __SSE2__
/* A whole tile: row i is joined with row i + 8 byte by byte, four times. */
static void turn_tile(const uint8_t *from, int64_t f, uint8_t *to, int64_t t)
{
	__m128i row[TILE], joined[TILE];
	for (int i = 0; i < TILE; i++)
		row[i] = _mm_loadu_si128((const __m128i *)(const void *)(from + i * f));
	for (int pass = 0; pass < 4; pass++) {
		for (int i = 0; i < TILE / 2; i++) {
			joined[2 * i] = _mm_unpacklo_epi8(row[i], row[i + TILE / 2]);
			joined[2 * i + 1] = _mm_unpackhi_epi8(row[i], row[i + TILE / 2]);
		}
		for (int i = 0; i < TILE; i++)
			row[i] = joined[i];
	}
	for (int i = 0; i < TILE; i++)
		_mm_storeu_si128((__m128i *)(void *)(to + i * t), row[i]);
}
#else
static void turn_tile(const uint8_t *from, int64_t f, uint8_t *to, int64_t t)
{
	for (int i = 0; i < TILE; i++)
		for (int j = 0; j < TILE; j++)
			to[j * t + i] = from[i * f + j];
}
#endif

void cpu_turn_bytes(const uint8_t *from, int64_t f, int64_t rows, int64_t cols, uint8_t *to,
		    int64_t t)
{
	int64_t i = 0;
	for (; i + TILE <= rows; i += TILE) {
		int64_t j = 0;
		for (; j + TILE <= cols; j += TILE)
			turn_tile(from + i * f + j, f, to + j * t + i, t);
		for (; j < cols; j++)
			for (int64_t k = i; k < i + TILE; k++)
				to[j * t + k] = from[k * f + j];
	}
	for (; i < rows; i++)
		for (int64_t j = 0; j < cols; j++)
			to[j * t + i] = from[i * f + j];
}
