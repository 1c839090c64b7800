/* transpose_loops.h - the loops of transpose.c, one level (isa_dispatch.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */

#if LEVEL_WIDTH == 8
/* Four columns of eight rows, to four rows. */
static inline __attribute__((always_inline)) void
LEVEL(turn8)(const float *from, int64_t f, float *to, int64_t t)
{
	__m256 r[4], s[4];
	for (int i = 0; i < 4; i++)
		r[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(from + i * f)),
					    _mm_loadu_ps(from + (i + 4) * f), 1);
	for (int i = 0; i < 4; i += 2) {
		s[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
		s[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
	}
	_mm256_storeu_ps(to, _mm256_shuffle_ps(s[0], s[2], 0x44));
	_mm256_storeu_ps(to + t, _mm256_shuffle_ps(s[0], s[2], 0xee));
	_mm256_storeu_ps(to + 2 * t, _mm256_shuffle_ps(s[1], s[3], 0x44));
	_mm256_storeu_ps(to + 3 * t, _mm256_shuffle_ps(s[1], s[3], 0xee));
}
#endif

/* to[j][i] = from[i][j] for i < n <= 16, j < m <= 16; rows of `from` are f, those of `to` t floats
 * apart.  With n = m = 16 as constants no mask is left. */
static inline __attribute__((always_inline)) void
LEVEL(turn16)(const float *from, int64_t f, int n, int m, float *to, int64_t t)
{
#if LEVEL_WIDTH == 16
	const __mmask16 in = (__mmask16)((1u << m) - 1), out = (__mmask16)((1u << n) - 1);
	__m512 r[16], s[16];
	for (int i = 0; i < 16; i++)
		r[i] = i < n ? _mm512_maskz_loadu_ps(in, from + i * f) : _mm512_setzero_ps();
	for (int i = 0; i < 16; i += 2) {
		s[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
		s[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
	}
	for (int i = 0; i < 16; i += 4) {
		r[i] = _mm512_shuffle_ps(s[i], s[i + 2], 0x44);
		r[i + 1] = _mm512_shuffle_ps(s[i], s[i + 2], 0xee);
		r[i + 2] = _mm512_shuffle_ps(s[i + 1], s[i + 3], 0x44);
		r[i + 3] = _mm512_shuffle_ps(s[i + 1], s[i + 3], 0xee);
	}
	/* r[4 g + j] has columns j, j + 4, j + 8, j + 12 of rows 4 g .. 4 g + 3. */
	for (int j = 0; j < 4; j++) {
		__m512 a = _mm512_shuffle_f32x4(r[j], r[4 + j], 0x88);
		__m512 b = _mm512_shuffle_f32x4(r[j], r[4 + j], 0xdd);
		__m512 c = _mm512_shuffle_f32x4(r[8 + j], r[12 + j], 0x88);
		__m512 d = _mm512_shuffle_f32x4(r[8 + j], r[12 + j], 0xdd);
		s[j] = _mm512_shuffle_f32x4(a, c, 0x88);
		s[j + 8] = _mm512_shuffle_f32x4(a, c, 0xdd);
		s[j + 4] = _mm512_shuffle_f32x4(b, d, 0x88);
		s[j + 12] = _mm512_shuffle_f32x4(b, d, 0xdd);
	}
	for (int j = 0; j < 16; j++)
		if (j < m)
			_mm512_mask_storeu_ps(to + j * t, out, s[j]);
#else
	int i0 = 0;
#if LEVEL_WIDTH == 8
	for (; i0 + 8 <= n; i0 += 8) {
		int j = 0;
		for (; j + 4 <= m; j += 4)
			LEVEL(turn8)(from + i0 * f + j, f, to + j * t + i0, t);
		for (; j < m; j++)
			for (int i = i0; i < i0 + 8; i++)
				to[j * t + i] = from[i * f + j];
	}
#endif
	for (int j = 0; j < m; j++)
		for (int i = i0; i < n; i++)
			to[j * t + i] = from[i * f + j];
#endif
}

/* n x m floats of a tile. */
static void LEVEL(turn_tile)(const float *from, int64_t f, int n, int m, float *to, int64_t t)
{
	for (int j = 0; j < m; j += 16)
		for (int i = 0; i < n; i += 16) {
			const float *x = from + i * f + j;
			float *y = to + j * t + i;
			if (n - i >= 16 && m - j >= 16)
				LEVEL(turn16)(x, f, 16, 16, y, t);
			else
				LEVEL(turn16)(x, f, n - i < 16 ? n - i : 16, m - j < 16 ? m - j : 16,
					      y, t);
		}
}

/* Three rows of `cols` floats, one after the other in each column: a picture's planes to pixels. */
static void LEVEL(three_planes)(const float *from, int64_t f, int64_t cols, float *to)
{
	const float *a = from, *b = from + f, *c = from + 2 * f;
	int64_t j = 0;
#if LEVEL_WIDTH == 16
	/* Which lane of a (0..) and b (16..) is each of the 16 next; then where c's go. */
	const __m512i ab0 = _mm512_setr_epi32(0, 16, 0, 1, 17, 0, 2, 18, 0, 3, 19, 0, 4, 20, 0, 5);
	const __m512i ab1 = _mm512_setr_epi32(21, 0, 6, 22, 0, 7, 23, 0, 8, 24, 0, 9, 25, 0, 10, 26);
	const __m512i ab2 = _mm512_setr_epi32(0, 11, 27, 0, 12, 28, 0, 13, 29, 0, 14, 30, 0, 15, 31, 0);
	const __m512i c0 = _mm512_setr_epi32(0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12, 13, 20, 15);
	const __m512i c1 = _mm512_setr_epi32(0, 21, 2, 3, 22, 5, 6, 23, 8, 9, 24, 11, 12, 25, 14, 15);
	const __m512i c2 = _mm512_setr_epi32(26, 1, 2, 27, 4, 5, 28, 7, 8, 29, 10, 11, 30, 13, 14, 31);
	for (; j + 16 <= cols; j += 16) {
		__m512 x = _mm512_loadu_ps(a + j), y = _mm512_loadu_ps(b + j), z = _mm512_loadu_ps(c + j);
		_mm512_storeu_ps(to + 3 * j, _mm512_permutex2var_ps(_mm512_permutex2var_ps(x, ab0, y), c0, z));
		_mm512_storeu_ps(to + 3 * j + 16,
				 _mm512_permutex2var_ps(_mm512_permutex2var_ps(x, ab1, y), c1, z));
		_mm512_storeu_ps(to + 3 * j + 32,
				 _mm512_permutex2var_ps(_mm512_permutex2var_ps(x, ab2, y), c2, z));
	}
#endif
	for (; j < cols; j++) {
		to[3 * j] = a[j];
		to[3 * j + 1] = b[j];
		to[3 * j + 2] = c[j];
	}
}

/* rows x cols floats, transposed, in tiles: a tile's lines and pages stay in the first level. */
static void LEVEL(transpose)(const float *from, int64_t f, int64_t rows, int64_t cols, float *to,
			     int64_t t)
{
	enum { TILE = 32 };
	if (rows == 3 && t == 3) {
		LEVEL(three_planes)(from, f, cols, to);
		return;
	}
	for (int64_t i = 0; i < rows; i += TILE)
		for (int64_t j = 0; j < cols; j += TILE)
			LEVEL(turn_tile)(from + i * f + j, f, rows - i < TILE ? (int)(rows - i) : TILE,
					 cols - j < TILE ? (int)(cols - j) : TILE, to + j * t + i, t);
}
