/* cpu_winograd_loops.h - the transforms of cpu_winograd.c, one level (cpu_levels.h):
 * LEVEL_WIDTH tiles at a time, one in each lane. */
#define UNROLL _Pragma("GCC unroll 16")
#define INLINE static inline __attribute__((always_inline))

/* Six inputs to six points: rows of B^T. */
INLINE void LEVEL(to_points)(const VEC d[6], VEC v[6])
{
	VEC even_a = VFMA(VALL(-WINO_B2), d[2], d[4]), even_b = VFMA(VALL(-WINO_A2), d[2], d[4]);
	VEC odd_a = VFMA(VALL(-WINO_A * WINO_B2), d[1], VMUL(VALL(WINO_A), d[3]));
	VEC odd_b = VFMA(VALL(-WINO_B * WINO_A2), d[1], VMUL(VALL(WINO_B), d[3]));
	v[0] = VADD(VFMA(VALL(-WINO_A2 - WINO_B2), d[2], d[4]), VMUL(VALL(WINO_A2 * WINO_B2), d[0]));
	v[1] = VADD(even_a, odd_a);
	v[2] = VFMA(VALL(-1.0f), odd_a, even_a);
	v[3] = VADD(even_b, odd_b);
	v[4] = VFMA(VALL(-1.0f), odd_b, even_b);
	v[5] = VADD(VFMA(VALL(-WINO_A2 - WINO_B2), d[3], d[5]), VMUL(VALL(WINO_A2 * WINO_B2), d[1]));
}

/* Six points to four outputs: rows of A^T. */
INLINE void LEVEL(from_points)(const VEC m[6], VEC y[4])
{
	VEC sum_a = VADD(m[1], m[2]), dif_a = VFMA(VALL(-1.0f), m[2], m[1]);
	VEC sum_b = VADD(m[3], m[4]), dif_b = VFMA(VALL(-1.0f), m[4], m[3]);
	y[0] = VADD(VADD(m[0], sum_a), sum_b);
	y[1] = VFMA(VALL(WINO_A), dif_a, VMUL(VALL(WINO_B), dif_b));
	y[2] = VFMA(VALL(WINO_A2), sum_a, VMUL(VALL(WINO_B2), sum_b));
	y[3] = VADD(VFMA(VALL(WINO_A * WINO_A2), dif_a, VMUL(VALL(WINO_B * WINO_B2), dif_b)), m[5]);
}

/* Tiles at .. at + LEVEL_WIDTH - 1 of a block: element x of each, one float a tile from x on. */
INLINE VEC LEVEL(tiles)(const float *x, const struct wino_lanes *l)
{
#if LEVEL_WIDTH == 16
	VEC v = _mm512_maskz_loadu_ps(l->bits[0], x + l->from[0]);
	for (int i = 1; i < l->n; i++)
		v = _mm512_mask_loadu_ps(v, l->bits[i], x + l->from[i]);
	return v;
#else
	float v[LEVEL_WIDTH];
	for (int i = 0; i < LEVEL_WIDTH; i++)
		v[i] = i < l->n_tiles ? x[l->tile[i]] : 0;
	return VLOAD(v);
#endif
}

/* One channel: rows (row, phase, pitch) of the input to points, `stride` floats apart. */
static void LEVEL(input)(const float *rows, int64_t pitch, const struct wino_lanes *l, float *v,
			 int64_t stride)
{
	VEC t[6][6];
	for (int x = 0; x < 6; x++) {
		VEC d[6], p[6];
		const float *from = rows + x % 4 * pitch + x / 4;
		UNROLL
		for (int y = 0; y < 6; y++)
			d[y] = LEVEL(tiles)(from + y * 4 * pitch, l);
		LEVEL(to_points)(d, p);
		UNROLL
		for (int y = 0; y < 6; y++)
			t[y][x] = p[y];
	}
	for (int y = 0; y < 6; y++) {
		VEC p[6];
		LEVEL(to_points)(t[y], p);
		UNROLL
		for (int x = 0; x < 6; x++)
			VSTORE(v + (y * 6 + x) * stride, p[x]);
	}
}

/* One channel: points, `stride` floats apart, to outputs (4 rows, LEVEL_WIDTH tiles, 4). */
static void LEVEL(output)(const float *m, int64_t stride, float bias, float lo, float hi, float *y)
{
	VEC t[4][6];
	for (int x = 0; x < 6; x++) {
		VEC d[6], o[4];
		UNROLL
		for (int i = 0; i < 6; i++)
			d[i] = VLOAD(m + (i * 6 + x) * stride);
		LEVEL(from_points)(d, o);
		UNROLL
		for (int i = 0; i < 4; i++)
			t[i][x] = o[i];
	}
	for (int i = 0; i < 4; i++, y += 4 * LEVEL_WIDTH) {
		VEC o[4];
		LEVEL(from_points)(t[i], o);
		UNROLL
		for (int j = 0; j < 4; j++)
			o[j] = VMIN(VALL(hi), VMAX(VALL(lo), VADD(o[j], VALL(bias))));
#if LEVEL_WIDTH == 16
		/* within 128 bits: pairs, then the four of a tile; then tiles in order */
		VEC p = _mm512_unpacklo_ps(o[0], o[1]), q = _mm512_unpackhi_ps(o[0], o[1]);
		VEC r = _mm512_unpacklo_ps(o[2], o[3]), s = _mm512_unpackhi_ps(o[2], o[3]);
#define PAIRS(f, a, b) _mm512_castpd_ps(f(_mm512_castps_pd(a), _mm512_castps_pd(b)))
		VEC t0 = PAIRS(_mm512_unpacklo_pd, p, r), t1 = PAIRS(_mm512_unpackhi_pd, p, r);
		VEC t2 = PAIRS(_mm512_unpacklo_pd, q, s), t3 = PAIRS(_mm512_unpackhi_pd, q, s);
#undef PAIRS
		VEC u0 = _mm512_shuffle_f32x4(t0, t1, 0x44), u1 = _mm512_shuffle_f32x4(t2, t3, 0x44);
		VEC u2 = _mm512_shuffle_f32x4(t0, t1, 0xee), u3 = _mm512_shuffle_f32x4(t2, t3, 0xee);
		VSTORE(y, _mm512_shuffle_f32x4(u0, u1, 0x88));
		VSTORE(y + 16, _mm512_shuffle_f32x4(u0, u1, 0xdd));
		VSTORE(y + 32, _mm512_shuffle_f32x4(u2, u3, 0x88));
		VSTORE(y + 48, _mm512_shuffle_f32x4(u2, u3, 0xdd));
#else
		float lane[4][LEVEL_WIDTH];
		for (int j = 0; j < 4; j++)
			VSTORE(lane[j], o[j]);
		for (int k = 0; k < LEVEL_WIDTH; k++)
			for (int j = 0; j < 4; j++)
				y[4 * k + j] = lane[j][k];
#endif
	}
}

/* n floats of x to four phases, pitch floats apart: y[i % 4 * pitch + i / 4] = x[i]. */
static void LEVEL(split4)(const float *x, int64_t n, float *y, int64_t pitch)
{
	int64_t i = 0;
#if LEVEL_WIDTH == 16
	const __m512i even = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25,
					       29);
	const __m512i odd = _mm512_setr_epi32(2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27,
					      31);
	for (; i + 32 <= n; i += 32, x += 32, y += 8) {
		VEC a = VLOAD(x), b = VLOAD(x + 16);
		VEC p = _mm512_permutex2var_ps(a, even, b), q = _mm512_permutex2var_ps(a, odd, b);
		_mm256_storeu_ps(y, _mm512_castps512_ps256(p));
		_mm256_storeu_ps(y + pitch, _mm512_extractf32x8_ps(p, 1));
		_mm256_storeu_ps(y + 2 * pitch, _mm512_castps512_ps256(q));
		_mm256_storeu_ps(y + 3 * pitch, _mm512_extractf32x8_ps(q, 1));
	}
#endif
	for (int64_t j = 0; i < n; i++, j++)
		y[j % 4 * pitch + j / 4] = x[j];
}

#undef UNROLL
#undef INLINE
