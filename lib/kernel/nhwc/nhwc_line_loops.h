/* nhwc_line_loops.h - lines of f32, one level (isa_dispatch.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#ifdef __clang__
#define IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define IVDEP _Pragma("GCC ivdep")
#endif

/* Each step is a statement: it is rounded. */
#define EACH(product, sum) \
	do { \
		IVDEP \
		for (int64_t i = 0; i < n; i++) { \
			float v = x_sign * x[i]; \
			product; \
			sum; \
			float leak = v * slope; \
			v = v < 0 ? leak : v; \
			v = v < lo ? lo : v; \
			y[i] = v > hi ? hi : v; \
		} \
		return; \
	} while (0)

static void LEVEL(line)(const struct form_line *l, int64_t n)
{
	const float *x = l->x, *m = l->m, *a = l->a, lo = l->lo, hi = l->hi, slope = l->slope;
	const float x_sign = l->x_sign, a_sign = l->a_sign;
	float *y = l->y;
	if (!m && a)
		EACH(, v = v + a_sign * a[i]);
	if (m && !a)
		EACH(v = v * m[i], );
	if (!m)
		EACH(, );
	EACH(v = v * m[i], v = v + a_sign * a[i]);
}
#undef EACH
#undef IVDEP
