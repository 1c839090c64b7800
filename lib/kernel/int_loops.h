/* int_loops.h - divisions of integers in double precision, one level (isa_dispatch.h).
 *
 * Where |p|, |q| < 2^52, the quotient p / q rounded to 53 bits lies on the same side of every integer
 * as the exact one: they differ by at most |p / q| 2^-53, and an integer k that p / q is not is at
 * least |k| 2^-52 away. */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#define DIVIDE(T, most) \
	enum { PIECE = 64 }; \
	T p[PIECE], q[PIECE], r[PIECE]; \
	for (int i = 0; i < PIECE; i++) { \
		p[i] = sa ? 1 : a[0]; \
		q[i] = sb ? 1 : b[0]; \
	} \
	for (int64_t i0 = 0; i0 < n; i0 += PIECE) { \
		int64_t m = n - i0 < PIECE ? n - i0 : PIECE; \
		T wide = 0; \
		if (sa) \
			__builtin_memcpy(p, a + i0, (size_t)m * sizeof *p); \
		if (sb) \
			__builtin_memcpy(q, b + i0, (size_t)m * sizeof *q); \
		for (int i = 0; i < PIECE; i++) \
			wide |= (p[i] ^ p[i] >> (8 * sizeof(T) - 1)) | (q[i] ^ q[i] >> (8 * sizeof(T) - 1)); \
		if (wide > (most)) \
			return i0; \
		for (int i = 0; i < PIECE; i++) { \
			double x = (double)p[i], d = q[i] == 0 ? 1 : (double)q[i]; \
			T t = (T)(x / d), rest = p[i] - t * q[i]; \
			T turned = floor && rest != 0 && (rest ^ q[i]) < 0 ? rest + q[i] : rest; \
			r[i] = q[i] == 0 ? 0 : quotient ? t : turned; \
		} \
		__builtin_memcpy(y + i0, r, (size_t)m * sizeof *y); \
	} \
	return n

#if LEVEL_WIDTH == 8
/* Whole numbers of less than 2^51 and the same as doubles: 1.5 * 2^52 has them in its last bits. */
static const int64_t LEVEL(shifter) = 0x4338000000000000;

static inline __m256d LEVEL(reals)(__m256i v)
{
	const __m256i shift = _mm256_set1_epi64x(LEVEL(shifter));
	return _mm256_sub_pd(_mm256_castsi256_pd(_mm256_add_epi64(v, shift)), _mm256_castsi256_pd(shift));
}

static inline __m256i LEVEL(wholes)(__m256d v)
{
	const __m256i shift = _mm256_set1_epi64x(LEVEL(shifter));
	return _mm256_sub_epi64(_mm256_castpd_si256(_mm256_add_pd(v, _mm256_castsi256_pd(shift))), shift);
}

/* Is any of them larger? */
static inline bool LEVEL(any_large)(__m256i p, __m256i q)
{
	const __m256i half = _mm256_set1_epi64x(INT64_C(1) << 51);
	__m256i bits = _mm256_or_si256(_mm256_add_epi64(p, half), _mm256_add_epi64(q, half));
	return !_mm256_testz_si256(bits, _mm256_set1_epi64x(-(INT64_C(1) << 52)));
}

/* t d is a whole number that x is not far from: the rest is exact. */
static inline __m256i LEVEL(divided)(bool quotient, bool floor, __m256i p, __m256i q)
{
	const __m256d none = _mm256_setzero_pd(), x = LEVEL(reals)(p), by = LEVEL(reals)(q);
	__m256d zero = _mm256_cmp_pd(by, none, _CMP_EQ_OQ), d = _mm256_blendv_pd(by, _mm256_set1_pd(1), zero);
	__m256d t = _mm256_round_pd(_mm256_div_pd(x, d), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
	__m256d rest = _mm256_fnmadd_pd(t, d, x);
	if (floor) { /* where the rest is not 0 and has another sign than d */
		__m256d turned = _mm256_and_pd(_mm256_cmp_pd(rest, none, _CMP_NEQ_OQ),
					       _mm256_xor_pd(_mm256_cmp_pd(rest, none, _CMP_LT_OQ),
							     _mm256_cmp_pd(d, none, _CMP_LT_OQ)));
		rest = _mm256_add_pd(rest, _mm256_and_pd(turned, d));
	}
	return LEVEL(wholes)(_mm256_andnot_pd(zero, quotient ? t : rest));
}
#endif

/* Quotients towards zero, or remainders of p's sign, or of q's (floor); 0 where q is 0.  Returns how
 * many elements are done: the next ones have a number that is too large. */
static int64_t LEVEL(divide_i64)(bool quotient, bool floor, const int64_t *a, int sa,
				 const int64_t *b, int sb, int64_t *y, int64_t n)
{
#if LEVEL_WIDTH == 8
	int64_t i = 0, p[4] = {0}, q[4] = {1, 1, 1, 1};
	for (; i + 4 <= n; i += 4) {
		__m256i u = sa ? _mm256_loadu_si256((const void *)(a + i)) : _mm256_set1_epi64x(*a);
		__m256i v = sb ? _mm256_loadu_si256((const void *)(b + i)) : _mm256_set1_epi64x(*b);
		if (LEVEL(any_large)(u, v))
			return i;
		_mm256_storeu_si256((void *)(y + i), LEVEL(divided)(quotient, floor, u, v));
	}
	for (int64_t j = 0; j < n - i; j++) {
		p[j] = a[(i + j) * sa];
		q[j] = b[(i + j) * sb];
	}
	__m256i u = _mm256_loadu_si256((const void *)p), v = _mm256_loadu_si256((const void *)q);
	if (LEVEL(any_large)(u, v))
		return i;
	_mm256_storeu_si256((void *)p, LEVEL(divided)(quotient, floor, u, v));
	__builtin_memcpy(y + i, p, (size_t)(n - i) * sizeof *y);
	return n;
#else
	DIVIDE(int64_t, INT64_C(0xfffffffffffff));
#endif
}

/* -2^31 / -1 has no i32: the largest size is left to others. */
static int64_t LEVEL(divide_i32)(bool quotient, bool floor, const int32_t *a, int sa,
				 const int32_t *b, int sb, int32_t *y, int64_t n)
{
	DIVIDE(int32_t, INT32_MAX - 1);
}
#undef DIVIDE
