/* cpu_form_line_loops.h - lines of f32, one level (cpu_levels.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#ifdef __clang__
#define IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define IVDEP _Pragma("GCC ivdep")
#endif

#define EACH(expr) \
	do { \
		IVDEP \
		for (int64_t i = 0; i < n; i++) { \
			float v = (expr); \
			v = v < lo ? lo : v; \
			y[i] = v > hi ? hi : v; \
		} \
		return; \
	} while (0)

static void LEVEL(line)(const struct form_line *l, int64_t n)
{
	const float *x = l->x, *m = l->m, *a = l->a, lo = l->lo, hi = l->hi;
	float *y = l->y;
	if (!m && a)
		EACH(x[i] + a[i]);
	if (m && !a)
		EACH(x[i] * m[i]);
	if (!m)
		EACH(x[i]);
	IVDEP
	for (int64_t i = 0; i < n; i++) {
		float v = x[i] * m[i]; /* rounded */
		v = v + a[i];
		v = v < lo ? lo : v;
		y[i] = v > hi ? hi : v;
	}
}
#undef EACH
#undef IVDEP
