/* cpu_turn_loops.h - the loops of cpu_turn.c, one level (cpu_levels.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */

/* to[j][i] = from[i][j] for i, j < 16; rows of `from` are f, those of `to` t floats apart. */
static inline void LEVEL(transpose16)(const float *from, int64_t f, float *to, int64_t t)
{
#if LEVEL_WIDTH == 16
	__m512 r[16], s[16];
	for (int i = 0; i < 16; i++)
		r[i] = _mm512_loadu_ps(from + i * f);
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
		_mm512_storeu_ps(to + j * t, _mm512_shuffle_f32x4(a, c, 0x88));
		_mm512_storeu_ps(to + (j + 8) * t, _mm512_shuffle_f32x4(a, c, 0xdd));
		_mm512_storeu_ps(to + (j + 4) * t, _mm512_shuffle_f32x4(b, d, 0x88));
		_mm512_storeu_ps(to + (j + 12) * t, _mm512_shuffle_f32x4(b, d, 0xdd));
	}
#else
	for (int j = 0; j < 16; j++)
		for (int i = 0; i < 16; i++)
			to[j * t + i] = from[i * f + j];
#endif
}

/* rows x cols floats, transposed. */
static void LEVEL(transpose)(const float *from, int64_t f, int64_t rows, int64_t cols, float *to,
			     int64_t t)
{
	int64_t r16 = rows / 16 * 16, c16 = cols / 16 * 16;
	for (int64_t i = 0; i < r16; i += 16)
		for (int64_t j = 0; j < c16; j += 16)
			LEVEL(transpose16)(from + i * f + j, f, to + j * t + i, t);
	for (int64_t i = r16; i < rows; i++) /* few: images have three channels */
		for (int64_t j = 0; j < c16; j++)
			to[j * t + i] = from[i * f + j];
	for (int64_t j = c16; j < cols; j++)
		for (int64_t i = 0; i < rows; i++)
			to[j * t + i] = from[i * f + j];
}
