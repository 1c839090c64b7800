/* convert_loops.h - conversions between the frequent types, one level (isa_dispatch.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */

#define LOOP(T, S, expr) \
	do { \
		const S *x = src; \
		T *y = dst; \
		for (int64_t i = 0; i < n; i++) \
			y[i] = (T)(expr); \
		return true; \
	} while (0)

/* Real numbers by way of W, whose least number stands for what it does not hold. */
#define WITHIN(W, least) (W)((x[i] >= (least) && x[i] < -(least)) ? x[i] : (least))
#define FROM(T, W, least) \
	switch (from) { \
	case EL_F32: LOOP(T, float, WITHIN(W, least)); \
	case EL_I64: LOOP(T, int64_t, x[i]); \
	case EL_I32: LOOP(T, int32_t, x[i]); \
	case EL_I8: LOOP(T, int8_t, x[i]); \
	case EL_U8: LOOP(T, uint8_t, x[i]); \
	case EL_BOOLEAN: LOOP(T, uint8_t, x[i] != 0); \
	default: return false; \
	}

static bool LEVEL(convert_to_real)(float *dst, enum elem from, const void *src, int64_t n)
{
	switch (from) {
	case EL_F64: LOOP(float, double, x[i]);
	case EL_I64: LOOP(float, int64_t, x[i]);
	case EL_I32: LOOP(float, int32_t, x[i]);
	case EL_I8: LOOP(float, int8_t, x[i]);
	case EL_U8: LOOP(float, uint8_t, x[i]);
	case EL_BOOLEAN: LOOP(float, uint8_t, x[i] != 0);
	default: return false;
	}
}

static bool LEVEL(convert_to_boolean)(uint8_t *dst, enum elem from, const void *src, int64_t n)
{
	switch (from) {
	case EL_F32: LOOP(uint8_t, float, x[i] != 0);
	case EL_I64: LOOP(uint8_t, int64_t, x[i] != 0);
	case EL_I32: LOOP(uint8_t, int32_t, x[i] != 0);
	case EL_I8: LOOP(uint8_t, int8_t, x[i] != 0);
	case EL_U8: LOOP(uint8_t, uint8_t, x[i] != 0);
	default: return false;
	}
}

static void LEVEL(convert_to_half)(uint16_t *y, const float *x, int64_t n)
{
	int64_t i = 0;
#if LEVEL_WIDTH > 4
	for (; i + 8 <= n; i += 8)
		_mm_storeu_si128((void *)(y + i), _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
#endif
	for (; i < n; i++)
		y[i] = half_from_float(x[i]);
}

static bool LEVEL(convert)(enum elem to, void *dst, enum elem from, const void *src, int64_t n)
{
	switch (to) {
	case EL_F32: return LEVEL(convert_to_real)(dst, from, src, n);
	case EL_BOOLEAN: return LEVEL(convert_to_boolean)(dst, from, src, n);
	case EL_I64: FROM(int64_t, int64_t, -0x1p63f)
	case EL_I32: FROM(int32_t, int32_t, -0x1p31f)
	case EL_I8: FROM(int8_t, int32_t, -0x1p31f)
	case EL_U8: FROM(uint8_t, int32_t, -0x1p31f)
	case EL_F16:
		if (from == EL_F32)
			LEVEL(convert_to_half)(dst, src, n);
		return from == EL_F32;
	default: return false;
	}
}
#undef LOOP
#undef WITHIN
#undef FROM
