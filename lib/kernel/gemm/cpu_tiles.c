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

#define TILES __attribute__((target("arch=x86-64-v4,amx-tile,amx-bf16,prefer-vector-width=512")))

enum { SIDE = 16, LINE = 64 }; /* rows of a tile, bytes of one */

_Static_assert((int)PAIRS_N == 2 * (int)SIDE, "a panel is two tiles wide");

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
	_tile_loadconfig(&c);
}

/* `lower` rows below 16, by 32 columns. */
TILES static void four(const uint16_t *a, int64_t a_bytes, const uint16_t *b, int64_t k, float *c,
		       int64_t c_bytes)
{
	const uint16_t *below = a + SIDE * a_bytes / 2;
	_tile_zero(0);
	_tile_zero(1);
	_tile_zero(2);
	_tile_zero(3);
	for (int64_t i = 0; i < k; i += TILES_K, b += TILES_K * PAIRS_N) {
		_tile_loadd(4, a + i, a_bytes);
		_tile_loadd(6, b, 2 * LINE);
		_tile_loadd(7, b + LINE / 2, 2 * LINE);
		_tile_dpbf16ps(0, 4, 6);
		_tile_loadd(5, below + i, a_bytes);
		_tile_dpbf16ps(1, 4, 7);
		_tile_dpbf16ps(2, 5, 6);
		_tile_dpbf16ps(3, 5, 7);
	}
	_tile_stored(0, c, c_bytes);
	_tile_stored(1, c + SIDE, c_bytes);
	c += SIDE * c_bytes / (int64_t)sizeof *c;
	_tile_stored(2, c, c_bytes);
	_tile_stored(3, c + SIDE, c_bytes);
}

/* At most 16 rows. */
TILES static void two(const uint16_t *a, int64_t a_bytes, const uint16_t *b, int64_t k, float *c,
		      int64_t c_bytes)
{
	_tile_zero(0);
	_tile_zero(1);
	for (int64_t i = 0; i < k; i += TILES_K, b += TILES_K * PAIRS_N) {
		_tile_loadd(4, a + i, a_bytes);
		_tile_loadd(6, b, 2 * LINE);
		_tile_loadd(7, b + LINE / 2, 2 * LINE);
		_tile_dpbf16ps(0, 4, 6);
		_tile_dpbf16ps(1, 4, 7);
	}
	_tile_stored(0, c, c_bytes);
	_tile_stored(1, c + SIDE, c_bytes);
}

/* `rows` rows, at most 32, of w columns. */
static void block(const uint16_t *a, int64_t a_bytes, const uint16_t *b, int64_t k, int64_t rows,
		  float *c, int64_t ldc, int64_t w)
{
	float whole[2 * SIDE * PAIRS_N];
	float *to = w < PAIRS_N ? whole : c;
	int64_t step = w < PAIRS_N ? PAIRS_N : ldc;
	if (rows > SIDE)
		four(a, a_bytes, b, k, to, step * (int64_t)sizeof *c);
	else
		two(a, a_bytes, b, k, to, step * (int64_t)sizeof *c);
	for (int64_t i = 0; i < rows && to == whole; i++)
		memcpy(c + i * ldc, whole + i * PAIRS_N, (size_t)w * sizeof *c);
}

/* All panels, for rows in blocks of `rows`, in tiles that are set up. */
static void rows_of(const uint16_t *a, int64_t a_bytes, const uint16_t *b, int64_t m, int64_t n,
		    int64_t k, int64_t rows, float *c, int64_t ldc)
{
	for (int64_t j = 0; j < n; j += PAIRS_N, b += k * PAIRS_N)
		for (int64_t i = 0; i < m; i += rows)
			block(a + i * a_bytes / 2, a_bytes, b, k, rows, c + i * ldc + j, ldc,
			      n - j < PAIRS_N ? n - j : PAIRS_N);
}

TILES void tiles_multiply(const uint16_t *a, int64_t a_row, const uint16_t *b, int64_t m, int64_t n,
			  int64_t k, float *c, int64_t ldc)
{
	int64_t whole = m / (2 * SIDE) * (2 * SIDE), rest = m - whole;
	int64_t a_bytes = a_row * (int64_t)sizeof *a;
	if (whole > 0) {
		set_up(SIDE, SIDE);
		rows_of(a, a_bytes, b, whole, n, k, 2 * SIDE, c, ldc);
	}
	if (rest > 0) {
		set_up(rest < SIDE ? (int)rest : SIDE, rest > SIDE ? (int)rest - SIDE : 0);
		rows_of(a + whole * a_row, a_bytes, b, rest, n, k, rest, c + whole * ldc, ldc);
	}
	_tile_release();
}

#else

bool tiles_there(void)
{
	return false;
}

void tiles_multiply(const uint16_t *a, int64_t a_row, const uint16_t *b, int64_t m, int64_t n,
		    int64_t k, float *c, int64_t ldc)
{
	(void)a, (void)a_row, (void)b, (void)m, (void)n, (void)k, (void)c, (void)ldc;
}

#endif
