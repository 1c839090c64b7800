/* qpanel_loops.h - the inner loops of qpanel.c, one level (isa_dispatch.h): codes become
 * values in registers, (code - zero) * scale as code * scale + (-zero * scale). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */

#define T_V 2
#define UNROLL _Pragma("GCC unroll 16")
#define INLINE static inline __attribute__((always_inline))

#if LEVEL_WIDTH == 16
#define T_M 12
#define QWORDS __m512i
#define QLOAD_WORDS(p) _mm512_loadu_si512(p)
#define QBYTES(p) _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)(p))))
#define QBF16(p) \
	_mm512_castsi512_ps(_mm512_slli_epi32( \
		_mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(p))), 16))
#define QLEVELS(p, i) VLOAD((p) + 8 * (i))
INLINE VEC LEVEL(qnibble)(QWORDS w, int s, const VEC level[2])
{
	return _mm512_permutexvar_ps(_mm512_srli_epi32(w, (unsigned)(4 * s)), level[0]);
}
#elif LEVEL_WIDTH == 8
#define T_M 4
#define QWORDS __m256i
#define QLOAD_WORDS(p) _mm256_loadu_si256((const void *)(p))
#define QBYTES(p) _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)(p))))
#define QBF16(p) \
	_mm256_castsi256_ps(_mm256_slli_epi32( \
		_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)(p))), 16))
#define QLEVELS(p, i) VLOAD((p) + 8 * (i))
INLINE VEC LEVEL(qnibble)(QWORDS w, int s, const VEC level[2])
{
	__m256i code = _mm256_srli_epi32(w, 4 * s);
	return _mm256_blendv_ps(_mm256_permutevar8x32_ps(level[0], code),
				_mm256_permutevar8x32_ps(level[1], code),
				_mm256_castsi256_ps(_mm256_slli_epi32(code, 28)));
}
#else
#define T_M 4
#define QWORDS const uint32_t *
#define QLOAD_WORDS(p) ((const uint32_t *)(const void *)(p))
#define QBYTES(p) ((vec4){(float)((const int8_t *)(p))[0], (float)((const int8_t *)(p))[1], \
			  (float)((const int8_t *)(p))[2], (float)((const int8_t *)(p))[3]})
#define QBF16(p) LEVEL(qwords)((const uint16_t *)(const void *)(p))
#define QLEVELS(p, i) VLOAD((p) + 8 * (i))
INLINE VEC LEVEL(qwords)(const uint16_t *p)
{
	return (vec4){bf16_to_float(p[0]), bf16_to_float(p[1]), bf16_to_float(p[2]),
		      bf16_to_float(p[3])};
}
INLINE VEC LEVEL(qnibble)(QWORDS w, int s, const float *level)
{
	return (vec4){level[w[0] >> 4 * s & 15], level[w[1] >> 4 * s & 15],
		      level[w[2] >> 4 * s & 15], level[w[3] >> 4 * s & 15]};
}
#endif

/* What the codes of a group need to become values. */
struct LEVEL(qgroup) {
	VEC scale[T_V], offset[T_V];
#if LEVEL_WIDTH >= 8
	VEC level[2];
#else
	const float *level;
#endif
};

INLINE void LEVEL(qenter)(const enum elem code, const struct qpanels *q, const char *group, int at,
			  struct LEVEL(qgroup) *x)
{
	UNROLL
	for (int j = 0; j < T_V && code != EL_BF16; j++) {
		int col = at + j * LEVEL_WIDTH;
		const char *zero = group + q->scale_bytes;
		x->scale[j] = q->scale == EL_F16
				      ? VHALF((const uint16_t *)(const void *)group + col)
				      : VLOAD((const float *)(const void *)group + col);
		x->offset[j] = VALL(0.0f);
		if (q->zero == EL_I8)
			x->offset[j] = VMUL(VSUB(x->offset[j], QBYTES(zero + col)), x->scale[j]);
		else if (q->zero == EL_F32)
			x->offset[j] = VMUL(VSUB(x->offset[j],
						 VLOAD((const float *)(const void *)zero + col)),
					    x->scale[j]);
	}
}

/* Row s of a block, columns at and on. */
INLINE void LEVEL(qrow)(const enum elem code, const char *block, int s, int at,
			const struct LEVEL(qgroup) *x, VEC row[T_V])
{
	UNROLL
	for (int j = 0; j < T_V; j++) {
		int col = at + j * LEVEL_WIDTH;
		if (code == EL_U4)
			row[j] = LEVEL(qnibble)(QLOAD_WORDS(block + 4 * col), s, x->level);
		else if (code == EL_I8)
			row[j] = QBYTES(block + s * GEMM_N + col);
		else
			row[j] = QBF16(block + 2 * (s * GEMM_N + col));
		if (code != EL_BF16)
			row[j] = VFMA(row[j], x->scale[j], x->offset[j]);
	}
}

INLINE void LEVEL(qlevels)(const struct qpanels *q, struct LEVEL(qgroup) *x)
{
#if LEVEL_WIDTH >= 8
	x->level[0] = QLEVELS(q->level, 0);
	x->level[1] = QLEVELS(q->level, LEVEL_WIDTH == 8);
#else
	x->level = q->level;
#endif
}

/* Row s of a block times mr elements of a column of A. */
INLINE void LEVEL(qstep)(const int mr, const enum elem code, const char *block, int s, int at,
			 const struct LEVEL(qgroup) *x, const float *a, VEC acc[T_M][T_V])
{
	VEC row[T_V];
	LEVEL(qrow)(code, block, s, at, x, row);
	UNROLL
	for (int i = 0; i < mr; i++)
		UNROLL
		for (int j = 0; j < T_V; j++)
			acc[i][j] = VFMA(VALL(a[i]), row[j], acc[i][j]);
}

/* mr rows of A times a panel's columns at and on; u sums for each, blocks unrolled where u > 1; sa:
 * distance of a[k] and a[k + 1].  mr, u, code and sa are constants where this is inlined. */
INLINE void LEVEL(qthin_of)(const int mr, const int u, const enum elem code, const int sa,
			    const struct qpanels *q, const char *panel, const float *a, int at,
			    float *c, int64_t ldc)
{
	VEC acc[4][T_M][T_V];
	struct LEVEL(qgroup) x;
	const int64_t parts = q->scale_bytes + q->zero_bytes, step = q->block_bytes;
	LEVEL(qlevels)(q, &x);
	UNROLL
	for (int s = 0; s < u; s++)
		UNROLL
		for (int i = 0; i < mr; i++)
			UNROLL
			for (int j = 0; j < T_V; j++)
				acc[s][i][j] = VALL(0.0f);
	for (int64_t k0 = 0; k0 < q->k; k0 += q->group, panel += q->group_bytes) {
		int64_t k = k0, k1 = q->k - k0 < q->group ? q->k : k0 + q->group;
		const char *block = panel + parts;
		LEVEL(qenter)(code, q, panel, at, &x);
		for (; k + QBLOCK <= k1; k += QBLOCK, block += step) {
			for (int64_t b = 0; b < step && at == 0; b += 64)
				__builtin_prefetch(block + 4096 + b, 0, 3);
			if (u > 1)
				UNROLL
				for (int s = 0; s < QBLOCK; s++)
					LEVEL(qstep)(mr, code, block, s, at, &x, a + (k + s) * sa,
						     acc[s % u]);
			else
				for (int s = 0; s < QBLOCK; s++)
					LEVEL(qstep)(mr, code, block, s, at, &x, a + (k + s) * sa,
						     acc[0]);
		}
		for (int s = 0; k < k1; k++, s++)
			LEVEL(qstep)(mr, code, block, s, at, &x, a + k * sa, acc[0]);
	}
	UNROLL
	for (int i = 0; i < mr; i++)
		UNROLL
		for (int j = 0; j < T_V; j++) {
			VEC sum = acc[0][i][j];
			UNROLL
			for (int s = 1; s < u; s++)
				sum = VADD(sum, acc[s][i][j]);
			VSTORE(c + i * ldc + at + j * LEVEL_WIDTH, sum);
		}
}

/* One function for each number of rows and kind of codes: all in one take minutes to compile. */
#define ROWS(name, mr, u, code, sa) \
	static __attribute__((noinline)) void LEVEL(name)( \
		const struct qpanels *q, const char *panel, const float *a, float *c, int64_t ldc) \
	{ \
		for (int at = 0; at < GEMM_N; at += T_V * LEVEL_WIDTH) \
			LEVEL(qthin_of)(mr, u, code, sa, q, panel, a, at, c, ldc); \
	}
ROWS(qnibble_1, 1, 4, EL_U4, 1)
ROWS(qbyte_1, 1, 4, EL_I8, 1)
ROWS(qword_1, 1, 4, EL_BF16, 1)
ROWS(qnibble_2, 2, 2, EL_U4, GEMM_M)
ROWS(qbyte_2, 2, 2, EL_I8, GEMM_M)
ROWS(qword_2, 2, 2, EL_BF16, GEMM_M)
ROWS(qnibble_4, 4, 1, EL_U4, GEMM_M)
ROWS(qbyte_4, 4, 1, EL_I8, GEMM_M)
ROWS(qword_4, 4, 1, EL_BF16, GEMM_M)
#if T_M == 12
ROWS(qnibble_8, 8, 1, EL_U4, GEMM_M)
ROWS(qbyte_8, 8, 1, EL_I8, GEMM_M)
ROWS(qword_8, 8, 1, EL_BF16, GEMM_M)
ROWS(qnibble_12, 12, 1, EL_U4, GEMM_M)
ROWS(qbyte_12, 12, 1, EL_I8, GEMM_M)
ROWS(qword_12, 12, 1, EL_BF16, GEMM_M)
#endif
#undef ROWS

typedef void LEVEL(qrows_fn)(const struct qpanels *q, const char *panel, const float *a, float *c,
			     int64_t ldc);

/* The function for at least m rows, and how many they are. */
static LEVEL(qrows_fn) *LEVEL(qrows)(const struct qpanels *q, int m, int *rows)
{
	static LEVEL(qrows_fn) *const fn[][3] = {
		{LEVEL(qnibble_1), LEVEL(qbyte_1), LEVEL(qword_1)},
		{LEVEL(qnibble_2), LEVEL(qbyte_2), LEVEL(qword_2)},
		{LEVEL(qnibble_4), LEVEL(qbyte_4), LEVEL(qword_4)},
#if T_M == 12
		{LEVEL(qnibble_8), LEVEL(qbyte_8), LEVEL(qword_8)},
		{LEVEL(qnibble_12), LEVEL(qbyte_12), LEVEL(qword_12)},
#endif
	};
	static const int size[] = {1, 2, 4, 8, 12};
	int i = 0, code = q->code == EL_U4 ? 0 : q->code == EL_I8 ? 1 : 2;
	while (size[i] < m)
		i++;
	*rows = size[i];
	return fn[i][code];
}

/* Rows behind the last are zeros of the packed A: computed, and left in `edge`. */
static void LEVEL(qthin)(const struct qpanels *q, const char *panel, int m, const float *a,
			 float *c, int64_t ldc)
{
	float edge[T_M * GEMM_N];
	int rows;
	if (m == 1) {
		LEVEL(qrows)(q, 1, &rows)(q, panel, a, c, ldc);
		return;
	}
	for (int i = 0; i < m; i += T_M, a += T_M, c += T_M * ldc) {
		int n = m - i < T_M ? m - i : T_M;
		LEVEL(qrows_fn) *fn = LEVEL(qrows)(q, n < 2 ? 2 : n, &rows);
		if (rows == n) {
			fn(q, panel, a, c, ldc);
			continue;
		}
		fn(q, panel, a, edge, GEMM_N);
		for (int r = 0; r < n; r++)
			memcpy(c + r * ldc, edge + r * GEMM_N, GEMM_N * sizeof *c);
	}
}

INLINE void LEVEL(qunpack_of)(const enum elem code, const struct qpanels *q, const char *panel,
			      int64_t k0, int64_t kc, int at, float *dst)
{
	struct LEVEL(qgroup) x;
	const int64_t parts = q->scale_bytes + q->zero_bytes, end = k0 + kc;
	int64_t first = k0 / q->group * q->group;
	panel += k0 / q->group * q->group_bytes;
	LEVEL(qlevels)(q, &x);
	for (int64_t k = k0; k < end; first += q->group, panel += q->group_bytes) {
		int64_t last = first + q->group < end ? first + q->group : end;
		LEVEL(qenter)(code, q, panel, at, &x);
		for (; k < last; k++) {
			int64_t i = k - first;
			VEC row[T_V];
			LEVEL(qrow)(code, panel + parts + i / QBLOCK * q->block_bytes,
				    (int)(i % QBLOCK), at, &x, row);
			UNROLL
			for (int j = 0; j < T_V; j++)
				VSTORE(dst + (k - k0) * GEMM_N + at + j * LEVEL_WIDTH, row[j]);
		}
	}
}

static void LEVEL(qunpack)(const struct qpanels *q, const char *panel, int64_t k0, int64_t kc,
			   float *dst)
{
	for (int at = 0; at < GEMM_N; at += T_V * LEVEL_WIDTH)
		switch (q->code) {
		case EL_U4: LEVEL(qunpack_of)(EL_U4, q, panel, k0, kc, at, dst); break;
		case EL_I8: LEVEL(qunpack_of)(EL_I8, q, panel, k0, kc, at, dst); break;
		case EL_BF16: LEVEL(qunpack_of)(EL_BF16, q, panel, k0, kc, at, dst); break;
		default: MISSED(q->code);
		}
}

#undef T_M
#undef T_V
#undef INLINE
#undef UNROLL
#undef QWORDS
#undef QLOAD_WORDS
#undef QBYTES
#undef QBF16
#undef QLEVELS
