/* amx_tiles.c - see amx_tiles.h.  Source: Intel's Software Developer's Manual, volume 1, chapter 18. */
#include "kernel/tiles/amx_tiles.h"
#include "kernel/isa_level.h"

bool tiles_off;

#if defined(CPU_HAS_LEVELS) && defined(__linux__)

#include "base/tiles.h"

#include <immintrin.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TILES \
	__attribute__((target("arch=x86-64-v4,avx512bf16,amx-tile,amx-bf16,amx-int8,prfchw," \
			      "prefer-vector-width=512")))

#define TILES_INLINE TILES __attribute__((always_inline)) static inline

enum {
	SIDE = 16,
	LINE = 64,
	TILE = SIDE * TILES_STEP / 2,
	COLUMNS = 2 * SIDE
}; /* rows of a tile, bytes of one, elements of all; columns of a panel */

_Static_assert((int)TILES_M == (int)SIDE && (int)TILES_N == (int)SIDE, "a tile has one side");
_Static_assert((int)TILES_STEP == (int)LINE, "a step is a line");

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
	return allowed && cpu_level >= 4 && !tiles_off;
}

/* Tiles 0 to 3: two by two of sums, 4 and 5: rows of A, `upper` and `lower` of them, 6 and 7: rows of units of B; `step`
 * bytes of k. */
TILES static void set_up(int upper, int lower, int64_t step)
{
	struct {
		uint8_t palette, start, unused[14];
		uint16_t bytes[16];
		uint8_t rows[16];
	} c = {.palette = 1};
	const int rows[8] = {upper,
			     upper,
			     lower,
			     lower,
			     upper,
			     lower,
			     (int)step / TILES_UNIT,
			     (int)step / TILES_UNIT};
	for (int i = 0; i < 8; i++) {
		c.bytes[i] = (uint16_t)(rows[i] == 0 ? 0 : i == 4 || i == 5 ? step : LINE);
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
	for (int64_t i = 0; i < k; i += TILES_STEP / 2) {
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
		b += TILES_STEP / 2 * COLUMNS;
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
	for (int64_t i = 0; i < k; i += TILES_STEP / 2) {
		_tile_loadd(4, a, LINE);
		_tile_loadd(6, b, 2 * LINE);
		_tile_loadd(7, b + LINE / 2, 2 * LINE);
		_tile_dpbf16ps(0, 4, 6);
		_tile_dpbf16ps(1, 4, 7);
		a += TILE;
		b += TILES_STEP / 2 * COLUMNS;
	}
	_tile_stored(0, c, c_bytes);
	_tile_stored(1, c + SIDE, c_bytes);
}

/* w of the COLUMNS columns of each row. */
TILES static void copy(const float *from, int64_t rows, int64_t w, float *c, int64_t ldc)
{
	__mmask16 low = (__mmask16)(w < SIDE ? (1u << w) - 1 : 0xffff);
	__mmask16 high = (__mmask16)(w > SIDE ? (1u << (w - SIDE)) - 1 : 0);
	for (int64_t i = 0; i < rows; i++, from += COLUMNS, c += ldc) {
		_mm512_mask_storeu_ps(c, low, _mm512_loadu_ps(from));
		_mm512_mask_storeu_ps(c + SIDE, high, _mm512_loadu_ps(from + SIDE));
	}
}

/* `rows` rows, at most 32, of w columns. */
TILES static void block(const uint16_t *a, const uint16_t *b, int64_t k, int64_t rows, float *c,
			int64_t ldc, int64_t w)
{
	float whole[2 * SIDE * COLUMNS] __attribute__((aligned(LINE)));
	float *to = w < COLUMNS ? whole : c;
	int64_t step = w < COLUMNS ? COLUMNS : ldc;
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
	for (int64_t j = 0; j < n; j += COLUMNS, b += k * COLUMNS)
		for (int64_t i = 0; i < m; i += rows)
			block(a + i * k, b, k, rows, c + i * ldc + j, ldc,
			      n - j < COLUMNS ? n - j : COLUMNS);
}

TILES void tiles_multiply(const uint16_t *a, const uint16_t *b, int64_t m, int64_t n, int64_t k,
			  float *c, int64_t ldc)
{
	int64_t whole = m / (2 * SIDE) * (2 * SIDE), rest = m - whole;
	if (ldc >= (n + COLUMNS - 1) / COLUMNS * COLUMNS)
		n = (n + COLUMNS - 1) / COLUMNS * COLUMNS;
	if (whole > 0) {
		set_up(SIDE, SIDE, TILES_STEP);
		rows_of(a, b, whole, n, k, 2 * SIDE, c, ldc);
	}
	if (rest > 0) {
		set_up(rest < SIDE ? (int)rest : SIDE, rest > SIDE ? (int)rest - SIDE : 0,
		       TILES_STEP);
		rows_of(a + whole * k, b, rest, n, k, rest, c + whole * ldc, ldc);
	}
	_tile_release();
}

/* ---- sums over steps ---- */

void tiles_begin(int rows, int64_t step)
{
	set_up(rows, rows, step);
}

TILES void tiles_end(void)
{
	_tile_release();
}

/* The tiles of sums from where they are, or zeros. */
TILES_INLINE void begin_sums(bool add, const int m, const int n, const float *c)
{
	const float *below = c + SIDE * COLUMNS;
	if (!add) {
		_tile_zero(0);
		_tile_zero(1);
		_tile_zero(2);
		_tile_zero(3);
		return;
	}
	_tile_loadd(0, c, 2 * LINE);
	if (n == 2)
		_tile_loadd(1, c + SIDE, 2 * LINE);
	if (m == 2)
		_tile_loadd(2, below, 2 * LINE);
	if (m == 2 && n == 2)
		_tile_loadd(3, below + SIDE, 2 * LINE);
}

TILES_INLINE void end_sums(const int m, const int n, float *c)
{
	float *below = c + SIDE * COLUMNS;
	_tile_stored(0, c, 2 * LINE);
	if (n == 2)
		_tile_stored(1, c + SIDE, 2 * LINE);
	if (m == 2)
		_tile_stored(2, below, 2 * LINE);
	if (m == 2 && n == 2)
		_tile_stored(3, below + SIDE, 2 * LINE);
}

#define PRODUCT(type, c, a, b) \
	do { \
		if (type == TILES_BF16) \
			_tile_dpbf16ps(c, a, b); \
		else if (type == TILES_U8) \
			_tile_dpbusd(c, a, b); \
		else \
			_tile_dpbssd(c, a, b); \
	} while (0)

TILES_INLINE void sum_of(const struct tiles_sum *s, const enum tiles_type type, const int m,
			 const int n, int64_t b_tile)
{
	const char *upper = s->a[0], *lower = s->a[1], *b = s->b, *ahead = s->ahead;
	const int64_t a_step = s->a_step, *steps = s->at, count = s->n;
	const int ahead_lines = s->ahead_lines;
	begin_sums(s->add, m, n, s->c);
	for (int64_t i = 0; i < count; i++, b += 2 * b_tile) {
		int64_t at = steps[i];
		_tile_loadd(6, b, LINE);
		_tile_loadd(4, upper + at, a_step);
		PRODUCT(type, 0, 4, 6);
		if (n == 2) {
			_tile_loadd(7, b + b_tile, LINE);
			PRODUCT(type, 1, 4, 7);
		}
		if (m == 2) {
			_tile_loadd(5, lower + at, a_step);
			PRODUCT(type, 2, 5, 6);
		}
		if (m == 2 && n == 2)
			PRODUCT(type, 3, 5, 7);
		for (int l = 0; l < ahead_lines; l++, ahead += LINE)
			_mm_prefetch(ahead, _MM_HINT_T1);
	}
	end_sums(m, n, s->c);
}

TILES_INLINE void sum_as(const struct tiles_sum *s, const enum tiles_type type, int m, int n,
			 int64_t step)
{
	int64_t b_tile = step / TILES_UNIT * LINE;
	if (m == 2 && n == 2)
		sum_of(s, type, 2, 2, b_tile);
	else if (m == 2)
		sum_of(s, type, 2, 1, b_tile);
	else if (n == 2)
		sum_of(s, type, 1, 2, b_tile);
	else
		sum_of(s, type, 1, 1, b_tile);
}

TILES void tiles_sum(const struct tiles_sum *s, int m, int n, int64_t step)
{
	if (s->type == TILES_BF16)
		sum_as(s, TILES_BF16, m, n, step);
	else if (s->type == TILES_U8)
		sum_as(s, TILES_U8, m, n, step);
	else
		sum_as(s, TILES_I8, m, n, step);
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

void tiles_begin(int rows, int64_t step)
{
	(void)rows, (void)step;
}

void tiles_end(void)
{
}

void tiles_sum(const struct tiles_sum *s, int m, int n, int64_t step)
{
	(void)s, (void)m, (void)n, (void)step;
}

#endif
