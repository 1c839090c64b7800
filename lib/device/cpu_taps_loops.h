/* cpu_taps_loops.h - the inner loops of cpu_taps.c, one level (cpu_levels.h). */
#define UNROLL _Pragma("GCC unroll 16")
#define INLINE static inline __attribute__((always_inline))

/* n vectors from `first` on; n, masked and max are constants where this is inlined. */
INLINE void LEVEL(vectors)(const int n, const bool masked, const bool max, const struct taps *t,
			   int64_t first, const float *x, const float *w, float *y)
{
	const struct taps_vector *v = t->vector + first;
	const VEC start = VALL(max ? -__FLT_MAX__ : 0.0f);
	const int64_t taps = t->g->taps;
	VEC acc[8];
	(void)masked;
	UNROLL
	for (int i = 0; i < n; i++)
		acc[i] = start;
	for (int64_t k = 0; k < taps; k++) {
		const float *at = x + t->offset[k];
		VEC weight = VALL(max ? 0.0f : w[k]);
		UNROLL
		for (int i = 0; i < n; i++) {
#if LEVEL_WIDTH == 16
			VEC in = masked ? _mm512_mask_loadu_ps(
						  start, t->bits[k * t->n_vectors + first + i],
						  at + v[i].from)
					: VLOAD(at + v[i].from);
#else
			VEC in = VLOAD(at + v[i].from);
#endif
			if (max)
				acc[i] = VMAX(in, acc[i]);
			else
				acc[i] = VFMA(weight, in, acc[i]);
		}
	}
	UNROLL
	for (int i = 0; i < n; i++) {
		if (v[i].n == LEVEL_WIDTH) {
			VSTORE(y + v[i].to, acc[i]);
			continue;
		}
#if LEVEL_WIDTH == 16
		_mm512_mask_storeu_ps(y + v[i].to, (__mmask16)((1u << v[i].n) - 1), acc[i]);
#else
		float edge[LEVEL_WIDTH];
		VSTORE(edge, acc[i]);
		for (int j = 0; j < v[i].n; j++)
			y[v[i].to + j] = edge[j];
#endif
	}
}

INLINE void LEVEL(plane)(const bool masked, const bool max, const struct taps *t, const float *x,
			 const float *w, float *y)
{
	int64_t i = 0;
	for (; i + 8 <= t->n_vectors; i += 8)
		LEVEL(vectors)(8, masked, max, t, i, x, w, y);
#define CASE(n) case n: LEVEL(vectors)(n, masked, max, t, i, x, w, y); break;
	switch (t->n_vectors - i) {
	CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7)
	}
#undef CASE
}

static void LEVEL(sums)(const struct taps *t, const float *x, const float *w, float *y)
{
	if (t->shifted)
		LEVEL(plane)(true, false, t, x, w, y);
	else
		LEVEL(plane)(false, false, t, x, w, y);
}

static void LEVEL(maxima)(const struct taps *t, const float *x, float *y)
{
	if (t->shifted)
		LEVEL(plane)(true, true, t, x, NULL, y);
	else
		LEVEL(plane)(false, true, t, x, NULL, y);
}

#undef UNROLL
#undef INLINE
