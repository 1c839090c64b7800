/* color_loops.h - a row of pixels from luma and chroma, in bytes, one level (isa_dispatch.h). */

/* Limited to 0 .. 255 and rounded. */
static inline uint32_t LEVEL(color_byte)(float x)
{
	float low = x < 0 ? 0 : x;
	return (uint32_t)(int32_t)((low > 255 ? 255 : low) + 0.5f);
}

#if LEVEL_WIDTH == 16
static inline __m512i LEVEL(color_bytes)(VEC x)
{
	return _mm512_cvttps_epi32(VADD(VMIN(VMAX(VALL(0.0f), x), VALL(255.0f)), VALL(0.5f)));
}

/* 16 pixels, as below. */
static inline void LEVEL(yuv_pixels)(const uint8_t *luma, const uint8_t *u, const uint8_t *v,
				     int step, bool bgr, uint8_t *to)
{
	const __m512i twice = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
	const __m512i three = _mm512_broadcast_i32x4(
		_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
	const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 0, 0, 0, 0);
	VEC p, q, c;
	c = _mm512_cvtepi32_ps(
		_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)luma)));
	if (step == 2) { /* v is the byte behind u */
		VEC both = _mm512_cvtepi32_ps(
			_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)u)));
		p = _mm512_moveldup_ps(both);
		q = _mm512_movehdup_ps(both);
	} else {
		p = _mm512_cvtepi32_ps(_mm512_permutexvar_epi32(
			twice,
			_mm512_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)u))));
		q = _mm512_cvtepi32_ps(_mm512_permutexvar_epi32(
			twice,
			_mm512_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)v))));
	}
	p = VSUB(p, VALL(128.0f));
	q = VSUB(q, VALL(128.0f));
	c = VMUL(VALL(1.164f), VSUB(c, VALL(16.0f)));
	__m512i red = LEVEL(color_bytes)(VADD(c, VMUL(VALL(1.596f), q)));
	__m512i green =
		LEVEL(color_bytes)(VSUB(VSUB(c, VMUL(VALL(0.391f), p)), VMUL(VALL(0.813f), q)));
	__m512i blue = LEVEL(color_bytes)(VADD(c, VMUL(VALL(2.018f), p)));
	__m512i pixel = _mm512_or_si512(bgr ? blue : red, _mm512_slli_epi32(green, 8));
	pixel = _mm512_or_si512(pixel, _mm512_slli_epi32(bgr ? red : blue, 16));
	_mm512_mask_storeu_epi32(
		to, 0x0fff, _mm512_permutexvar_epi32(lanes, _mm512_shuffle_epi8(pixel, three)));
}
#elif LEVEL_WIDTH == 8
static inline __m256i LEVEL(color_bytes)(VEC x)
{
	return _mm256_cvttps_epi32(VADD(VMIN(VMAX(VALL(0.0f), x), VALL(255.0f)), VALL(0.5f)));
}

/* p[i / 2] - 128 for 8 pixels. */
static inline VEC LEVEL(color_twice)(const uint8_t *p)
{
	int32_t four;
	__builtin_memcpy(&four, p, sizeof four);
	__m256i twice = _mm256_cvtepu8_epi32(_mm_shuffle_epi8(
		_mm_cvtsi32_si128(four),
		_mm_setr_epi8(0, 0, 1, 1, 2, 2, 3, 3, -1, -1, -1, -1, -1, -1, -1, -1)));
	return VSUB(_mm256_cvtepi32_ps(twice), VALL(128.0f));
}

/* 8 pixels, as below; writes 4 bytes behind them. */
static inline void LEVEL(yuv_pixels)(const uint8_t *luma, const uint8_t *u, const uint8_t *v,
				     int step, bool bgr, uint8_t *to)
{
	const __m256i three = _mm256_broadcastsi128_si256(
		_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
	VEC p, q,
		c = _mm256_cvtepi32_ps(
			_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)luma)));
	if (step == 2) { /* v is the byte behind u */
		VEC both = VSUB(_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(
					_mm_loadl_epi64((const __m128i *)(const void *)u))),
				VALL(128.0f));
		p = _mm256_moveldup_ps(both);
		q = _mm256_movehdup_ps(both);
	} else {
		p = LEVEL(color_twice)(u);
		q = LEVEL(color_twice)(v);
	}
	c = VMUL(VALL(1.164f), VSUB(c, VALL(16.0f)));
	__m256i red = LEVEL(color_bytes)(VADD(c, VMUL(VALL(1.596f), q)));
	__m256i green =
		LEVEL(color_bytes)(VSUB(VSUB(c, VMUL(VALL(0.391f), p)), VMUL(VALL(0.813f), q)));
	__m256i blue = LEVEL(color_bytes)(VADD(c, VMUL(VALL(2.018f), p)));
	__m256i pixel = _mm256_or_si256(bgr ? blue : red, _mm256_slli_epi32(green, 8));
	pixel = _mm256_shuffle_epi8(_mm256_or_si256(pixel, _mm256_slli_epi32(bgr ? red : blue, 16)),
				    three);
	_mm_storeu_si128((__m128i *)(void *)to, _mm256_castsi256_si128(pixel));
	_mm_storeu_si128((__m128i *)(void *)(to + 12), _mm256_extracti128_si256(pixel, 1));
}
#endif

/* BT.601, as OpenVINO has its factors; u, v: one for two pixels, `step` bytes apart; to (n, 3). */
static void LEVEL(yuv_row)(const uint8_t *luma, const uint8_t *u, const uint8_t *v, int step,
			   bool bgr, uint8_t *to, int64_t n)
{
	enum { PIECE = 64 };
	int64_t x0 = 0;
#if LEVEL_WIDTH == 16
	for (; x0 + 16 <= n; x0 += 16, to += 48)
		LEVEL(yuv_pixels)(luma + x0, u + x0 / 2 * step, v + x0 / 2 * step, step, bgr, to);
#elif LEVEL_WIDTH == 8
	for (; x0 + 10 <= n; x0 += 8, to += 24) /* the next pixels follow in this row */
		LEVEL(yuv_pixels)(luma + x0, u + x0 / 2 * step, v + x0 / 2 * step, step, bgr, to);
#endif
	for (; x0 < n; x0 += PIECE) {
		int64_t m = n - x0 < PIECE ? n - x0 : PIECE;
		float y[PIECE] = {0}, p[PIECE] = {0}, q[PIECE] = {0};
		uint32_t pixel[PIECE];
		for (int64_t i = 0; i < m; i++)
			y[i] = (float)luma[x0 + i];
		for (int64_t i = 0; i < m; i += 2) {
			p[i] = p[i + 1] = (float)u[(x0 + i) / 2 * step] - 128;
			q[i] = q[i + 1] = (float)v[(x0 + i) / 2 * step] - 128;
		}
		for (int i = 0; i < PIECE; i++) {
			float c = 1.164f * (y[i] - 16);
			uint32_t red = LEVEL(color_byte)(c + 1.596f * q[i]);
			uint32_t green = LEVEL(color_byte)(c - 0.391f * p[i] - 0.813f * q[i]);
			uint32_t blue = LEVEL(color_byte)(c + 2.018f * p[i]);
			pixel[i] = (bgr ? blue : red) | green << 8 | (bgr ? red : blue) << 16;
		}
		/* Four bytes each; the next pixel overwrites the last of them.  Bytes are little-endian. */
		for (int64_t i = 0; i + 1 < m; i++, to += 3)
			__builtin_memcpy(to, &pixel[i], 4);
		__builtin_memcpy(to, &pixel[m - 1], 3);
		to += 3;
	}
}
