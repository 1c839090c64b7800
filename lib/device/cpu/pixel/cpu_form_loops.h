/* cpu_form_loops.h - the inner loops of cpu_form.c, one level (cpu_levels.h). */

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

#define SUM_CODES(name, A) \
static void LEVEL(name)(const A *restrict x, int64_t n, float *restrict y) \
{ \
	for (int64_t i = 0; i < n; i++) \
		y[i] += (float)x[i]; \
}
SUM_CODES(sum_f32, float)
SUM_CODES(sum_u8, uint8_t)
SUM_CODES(sum_i8, int8_t)
#undef SUM_CODES

static void LEVEL(sum_bf16)(const uint16_t *restrict x, int64_t n, float *restrict y)
{
	for (int64_t i = 0; i < n; i++) {
		uint32_t u = (uint32_t)x[i] << 16;
		float f;
		__builtin_memcpy(&f, &u, sizeof f);
		y[i] += f;
	}
}

#define ADD_CODES(name, A, B, C) \
static void LEVEL(name)(const void *a, float fa, const void *b, float fb, int64_t n, float low, \
			float high, void *dst) \
{ \
	const A *restrict x = a; \
	const B *restrict y = b; \
	C *restrict z = dst; \
	for (int64_t i = 0; i < n; i++) { \
		float q = __builtin_rintf((float)x[i] * fa + (float)y[i] * fb); \
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

static void LEVEL(from_rows)(const uint8_t *restrict x, int64_t n, float by, float zero, float *restrict y)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = ((float)x[i] - zero) * by;
}

static void LEVEL(from_u8)(const uint8_t *restrict x, int64_t n, float by, float *restrict y)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (float)x[i] * by;
}

static void LEVEL(from_i8)(const int8_t *restrict x, int64_t n, float by, float *restrict y)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (float)x[i] * by;
}

/* n rows of `channels` numbers each, times `by` and `more`: one, or, with `each`, one for each channel; rounded and limited to 0 .. 255,
 * less `base`. */
static void LEVEL(to_bytes)(const float *restrict x, int64_t n, int64_t channels, const float *restrict by,
			    const float *restrict more, bool each, int base, uint8_t *restrict y)
{
	if (!each) {
		channels *= n;
		n = 1;
	}
	for (int64_t p = 0; p < n; p++, x += channels, y += channels) {
		int64_t i = 0;
#if LEVEL_WIDTH == 16
		VEC scale = VALL(*by), shift = VALL(*more);
		const __m512i less = _mm512_set1_epi32(base);
		for (; i < channels; i += 16) {
			__mmask16 m = channels - i >= 16 ? (__mmask16)0xffff : (__mmask16)((1u << (channels - i)) - 1);
			if (each) {
				scale = _mm512_maskz_loadu_ps(m, by + i);
				shift = _mm512_maskz_loadu_ps(m, more + i);
			}
			__m512 q = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(m, x + i), scale, shift);
			q = _mm512_min_ps(_mm512_max_ps(q, _mm512_setzero_ps()), _mm512_set1_ps(255));
			__m512i code = _mm512_sub_epi32(_mm512_cvtps_epi32(q), less);
			_mm512_mask_cvtepi32_storeu_epi8(y + i, m, code);
		}
#endif
		for (; i < channels; i++) {
			float q = __builtin_rintf(FMA(x[i], by[each ? i : 0], more[each ? i : 0]));
			q = q > 0 ? q : 0;
			q = q < 255 ? q : 255;
			y[i] = (uint8_t)((int)q - base);
		}
	}
}

/* n rows of `channels` codes each as numbers, with a scale for each channel. */
#define FROM_BYTES(name, C) \
static void LEVEL(name)(const C *restrict x, int64_t n, int64_t channels, const float *restrict by, float *restrict y) \
{ \
	for (int64_t p = 0; p < n; p++, x += channels, y += channels) \
		for (int64_t i = 0; i < channels; i++) \
			y[i] = (float)x[i] * by[i]; \
}
FROM_BYTES(from_u8_by, uint8_t)
FROM_BYTES(from_i8_by, int8_t)
#undef FROM_BYTES
