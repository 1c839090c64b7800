/* cpu_tiles.c - see cpu_tiles.h.  Source: Intel's Software Developer's Manual, volume 1, chapter 18. */
#include "kernel/gemm/cpu_tiles.h"
#include "kernel/cpu_level.h"
#include "kernel/gemm/cpu_pairs.h"

#if defined(CPU_HAS_LEVELS) && defined(__linux__)

#include "base/tiles.h"

#include <immintrin.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TILES __attribute__((target("arch=x86-64-v4,amx-tile,amx-bf16,prfchw,prefer-vector-width=512")))

enum {
	SIDE = 16,
	LINE = 64,
	TILE = SIDE * PAIRS_K
}; /* rows of a tile, bytes of one, elements of all */

_Static_assert((int)PAIRS_N == 2 * (int)SIDE, "a panel is two tiles wide");
_Static_assert((int)PAIRS_M == (int)SIDE && (int)PAIRS_K * 2 == (int)LINE, "a block is a tile");

static bool allowed;

static void ask(void)
{
	enum { ARCH_REQ_XCOMP_PERM = 0x1023, XTILEDATA = 18 };
	allowed = tiles_of_processor() == TILES_USABLE &&
		  syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XTILEDATA) == 0;
}

bool tiles_there(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, ask);
	return allowed && cpu_level >= 4;
}

/* Tiles 0 to 3: two by two of sums, 4 and 5: rows of A, `upper` and `lower` of them, 6 and 7: pairs of rows of B. */
TILES static void set_up(int upper, int lower)
{
	struct {
		uint8_t palette, start, unused[14];
		uint16_t bytes[16];
		uint8_t rows[16];
	} c = {.palette = 1};
	const int rows[8] = {upper, upper, lower, lower, upper, lower, SIDE, SIDE};
	for (int i = 0; i < 8; i++) {
		c.bytes[i] = rows[i] ? LINE : 0;
		c.rows[i] = (uint8_t)rows[i];
	}
	__asm__ volatile("" : : "r"(&c) : "memory"); /* gcc 12 takes only 8 bytes of it for read */
	_tile_loadconfig(&c);
}

/* 16 rows and `lower` ones, by 32 columns. */
TILES static void four(const uint16_t *a, const uint16_t *b, int64_t k, float *c, int64_t c_bytes)
{
	const uint16_t *below = a + SIDE * k;
	_tile_zero(0);
	_tile_zero(1);
	_tile_zero(2);
	_tile_zero(3);
	for (int64_t i = 0; i < k; i += PAIRS_K) {
		_tile_loadd(4, a, LINE);
		_tile_loadd(6, b, 2 * LINE);
		_tile_loadd(7, b + LINE / 2, 2 * LINE);
		_tile_dpbf16ps(0, 4, 6);
		_tile_loadd(5, below, LINE);
		_tile_dpbf16ps(1, 4, 7);
		_tile_dpbf16ps(2, 5, 6);
		_tile_dpbf16ps(3, 5, 7);
		a += TILE;
		below += TILE;
		b += PAIRS_K * PAIRS_N;
	}
	_tile_stored(0, c, c_bytes);
	_tile_stored(1, c + SIDE, c_bytes);
	c += SIDE * c_bytes / (int64_t)sizeof *c;
	_tile_stored(2, c, c_bytes);
	_tile_stored(3, c + SIDE, c_bytes);
}

/* At most 16 rows. */
TILES static void two(const uint16_t *a, const uint16_t *b, int64_t k, float *c, int64_t c_bytes)
{
	_tile_zero(0);
	_tile_zero(1);
	for (int64_t i = 0; i < k; i += PAIRS_K) {
		_tile_loadd(4, a, LINE);
		_tile_loadd(6, b, 2 * LINE);
		_tile_loadd(7, b + LINE / 2, 2 * LINE);
		_tile_dpbf16ps(0, 4, 6);
		_tile_dpbf16ps(1, 4, 7);
		a += TILE;
		b += PAIRS_K * PAIRS_N;
	}
	_tile_stored(0, c, c_bytes);
	_tile_stored(1, c + SIDE, c_bytes);
}

/* w of the PAIRS_N columns of each row. */
TILES static void copy(const float *from, int64_t rows, int64_t w, float *c, int64_t ldc)
{
	__mmask16 low = (__mmask16)(w < SIDE ? (1u << w) - 1 : 0xffff);
	__mmask16 high = (__mmask16)(w > SIDE ? (1u << (w - SIDE)) - 1 : 0);
	for (int64_t i = 0; i < rows; i++, from += PAIRS_N, c += ldc) {
		_mm512_mask_storeu_ps(c, low, _mm512_loadu_ps(from));
		_mm512_mask_storeu_ps(c + SIDE, high, _mm512_loadu_ps(from + SIDE));
	}
}

/* `rows` rows, at most 32, of w columns. */
TILES static void block(const uint16_t *a, const uint16_t *b, int64_t k, int64_t rows, float *c,
			int64_t ldc, int64_t w)
{
	float whole[2 * SIDE * PAIRS_N] __attribute__((aligned(LINE)));
	float *to = w < PAIRS_N ? whole : c;
	int64_t step = w < PAIRS_N ? PAIRS_N : ldc;
	if (rows > SIDE)
		four(a, b, k, to, step * (int64_t)sizeof *c);
	else
		two(a, b, k, to, step * (int64_t)sizeof *c);
	if (to == whole)
		copy(whole, rows, w, c, ldc);
}

/* All panels, for rows in blocks of `rows`, in tiles that are set up. */
TILES static void rows_of(const uint16_t *a, const uint16_t *b, int64_t m, int64_t n, int64_t k,
			  int64_t rows, float *c, int64_t ldc)
{
	for (int64_t j = 0; j < n; j += PAIRS_N, b += k * PAIRS_N)
		for (int64_t i = 0; i < m; i += rows)
			block(a + i * k, b, k, rows, c + i * ldc + j, ldc,
			      n - j < PAIRS_N ? n - j : PAIRS_N);
}

TILES void tiles_multiply(const uint16_t *a, const uint16_t *b, int64_t m, int64_t n, int64_t k,
			  float *c, int64_t ldc)
{
	int64_t whole = m / (2 * SIDE) * (2 * SIDE), rest = m - whole;
	if (ldc >= (n + PAIRS_N - 1) / PAIRS_N * PAIRS_N)
		n = (n + PAIRS_N - 1) / PAIRS_N * PAIRS_N;
	if (whole > 0) {
		set_up(SIDE, SIDE);
		rows_of(a, b, whole, n, k, 2 * SIDE, c, ldc);
	}
	if (rest > 0) {
		set_up(rest < SIDE ? (int)rest : SIDE, rest > SIDE ? (int)rest - SIDE : 0);
		rows_of(a + whole * k, b, rest, n, k, rest, c + whole * ldc, ldc);
	}
	_tile_release();
}

#else

bool tiles_there(void)
{
	return false;
}

void tiles_multiply(const uint16_t *a, const uint16_t *b, int64_t m, int64_t n, int64_t k, float *c,
		    int64_t ldc)
{
	(void)a, (void)b, (void)m, (void)n, (void)k, (void)c, (void)ldc;
}

#endif
