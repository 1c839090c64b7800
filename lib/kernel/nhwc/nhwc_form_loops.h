/* nhwc_form_loops.h - the inner loops of nhwc_form.c, one level (isa_dispatch.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */

/* n rows of `bytes` each, x_step bytes apart, to rows y_step apart. */
static void LEVEL(copy_rows)(const char *x, int64_t x_step, int64_t n, int64_t bytes, char *y, int64_t y_step)
{
#if LEVEL_WIDTH == 16
	int64_t whole = bytes & ~(int64_t)63;
	__mmask64 rest = ((__mmask64)1 << (bytes - whole)) - 1;
	for (; n > 0; n--, x += x_step, y += y_step) {
		for (int64_t j = 0; j < whole; j += 64)
			_mm512_storeu_si512(y + j, _mm512_loadu_si512(x + j));
		if (rest)
			_mm512_mask_storeu_epi8(y + whole, rest, _mm512_maskz_loadu_epi8(rest, x + whole));
	}
#else
	for (; n > 0; n--, x += x_step, y += y_step)
		__builtin_memcpy(y, x, (size_t)bytes);
#endif
}

static void LEVEL(max_bf16)(const uint16_t *restrict x, int64_t n, uint16_t *restrict y)
{
	for (int64_t i = 0; i < n; i++) {
		uint32_t a = (uint32_t)x[i] << 16, b = (uint32_t)y[i] << 16;
		float fa, fb;
		__builtin_memcpy(&fa, &a, sizeof a);
		__builtin_memcpy(&fb, &b, sizeof b);
		y[i] = fa > fb || fa != fa ? x[i] : y[i];
	}
}

static void LEVEL(max_u8)(const uint8_t *restrict x, int64_t n, uint8_t *restrict y)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] > y[i] ? x[i] : y[i];
}

static void LEVEL(max_f32)(const float *restrict x, int64_t n, float *restrict y)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] > y[i] || x[i] != x[i] ? x[i] : y[i];
}

static void LEVEL(max_i8)(const int8_t *restrict x, int64_t n, int8_t *restrict y)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] > y[i] ? x[i] : y[i];
}

static inline float LEVEL(of_bf16)(uint16_t x)
{
	uint32_t u = (uint32_t)x << 16;
	float f;
	__builtin_memcpy(&f, &u, sizeof f);
	return f;
}

/* n columns of rows `step` elements apart are added to y, row by row. */
#if LEVEL_WIDTH == 16
#define SUM_ROWS(name, A, LOAD, ONE) \
static void LEVEL(name)(const A *restrict x, int64_t rows, int64_t step, int64_t n, float *restrict y) \
{ \
	int64_t j = 0; \
	for (; j + 64 <= n; j += 64) { \
		__m512 a = VLOAD(y + j), b = VLOAD(y + j + 16), c = VLOAD(y + j + 32), d = VLOAD(y + j + 48); \
		const A *p = x + j; \
		for (int64_t r = 0; r < rows; r++, p += step) { \
			a = VADD(a, LOAD(0xffff, p)); \
			b = VADD(b, LOAD(0xffff, p + 16)); \
			c = VADD(c, LOAD(0xffff, p + 32)); \
			d = VADD(d, LOAD(0xffff, p + 48)); \
		} \
		VSTORE(y + j, a); \
		VSTORE(y + j + 16, b); \
		VSTORE(y + j + 32, c); \
		VSTORE(y + j + 48, d); \
	} \
	for (; j < n; j += 16) { \
		__mmask16 m = n - j >= 16 ? (__mmask16)0xffff : (__mmask16)((1u << (n - j)) - 1); \
		__m512 a = _mm512_maskz_loadu_ps(m, y + j); \
		const A *p = x + j; \
		for (int64_t r = 0; r < rows; r++, p += step) \
			a = VADD(a, LOAD(m, p)); \
		_mm512_mask_storeu_ps(y + j, m, a); \
	} \
}
#else
#define SUM_ROWS(name, A, LOAD, ONE) \
static void LEVEL(name)(const A *restrict x, int64_t rows, int64_t step, int64_t n, float *restrict y) \
{ \
	for (int64_t r = 0; r < rows; r++, x += step) \
		for (int64_t i = 0; i < n; i++) \
			y[i] += ONE(x[i]); \
}
#endif
#define LOAD_U8(m, p) _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(m, p)))
#define LOAD_I8(m, p) _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(m, p)))
#define LOAD_BF16(m, p) _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(m, p)), 16))
SUM_ROWS(sum_f32, float, _mm512_maskz_loadu_ps, (float))
SUM_ROWS(sum_u8, uint8_t, LOAD_U8, (float))
SUM_ROWS(sum_i8, int8_t, LOAD_I8, (float))
SUM_ROWS(sum_bf16, uint16_t, LOAD_BF16, LEVEL(of_bf16))
#undef SUM_ROWS
#undef LOAD_U8
#undef LOAD_I8
#undef LOAD_BF16

#define ADD_CODES(name, A, B, C) \
static void LEVEL(name)(const void *a, float fa, const void *b, float fb, float more, int64_t n, float low, \
			float high, void *dst) \
{ \
	const A *restrict x = a; \
	const B *restrict y = b; \
	C *restrict z = dst; \
	for (int64_t i = 0; i < n; i++) { \
		float q = __builtin_rintf((float)x[i] * fa + (float)y[i] * fb + more); \
		q = q > low ? q : low; \
		q = q < high ? q : high; \
		z[i] = (C)(int)q; \
	} \
}
ADD_CODES(add_uuu, uint8_t, uint8_t, uint8_t)
ADD_CODES(add_uui, uint8_t, uint8_t, int8_t)
ADD_CODES(add_uiu, uint8_t, int8_t, uint8_t)
ADD_CODES(add_uii, uint8_t, int8_t, int8_t)
ADD_CODES(add_iiu, int8_t, int8_t, uint8_t)
ADD_CODES(add_iii, int8_t, int8_t, int8_t)
#undef ADD_CODES

static void LEVEL(from_u8)(const uint8_t *restrict x, int64_t n, float by, float zero, float *restrict y)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = ((float)x[i] - zero) * by;
}

static void LEVEL(from_i8)(const int8_t *restrict x, int64_t n, float by, float *restrict y)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (float)x[i] * by;
}

/* n rows of `channels` codes each as numbers, with a scale for each channel and a zero, `base` less than more. */
#define FROM_BYTES(name, C) \
static void LEVEL(name)(const C *restrict x, int64_t n, int64_t channels, const float *restrict by, \
			const float *restrict more, float base, float *restrict y) \
{ \
	for (int64_t p = 0; p < n; p++, x += channels, y += channels) \
		for (int64_t i = 0; i < channels; i++) \
			y[i] = ((float)x[i] + base - __builtin_rintf(more[i])) * by[i]; \
}
FROM_BYTES(from_u8_by, uint8_t)
FROM_BYTES(from_i8_by, int8_t)
#undef FROM_BYTES
