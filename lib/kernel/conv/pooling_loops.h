/* pooling_loops.h - pooling in two steps, down the rows of a window and then across, one level
 * (isa_dispatch.h).  The first makes a line for each output row, `pitch` floats: the columns' sums or
 * maxima between g->pad[2] columns of padding and more behind. */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#define INLINE static inline __attribute__((always_inline))

INLINE VEC LEVEL(pool_join)(const bool max, VEC v, VEC joined)
{
	if (max)
		return VMAX(v, joined);
	return VADD(v, joined);
}

/* Every other float of (a, b), from the first or the second on, in the order of `in_order`. */
INLINE VEC LEVEL(every_other)(const bool odd, VEC a, VEC b)
{
#if LEVEL_WIDTH == 16
	return odd ? _mm512_shuffle_ps(a, b, 0xdd) : _mm512_shuffle_ps(a, b, 0x88);
#elif LEVEL_WIDTH == 8
	return odd ? _mm256_shuffle_ps(a, b, 0xdd) : _mm256_shuffle_ps(a, b, 0x88);
#else
	return odd ? (vec4){a[1], a[3], b[1], b[3]} : (vec4){a[0], a[2], b[0], b[2]};
#endif
}

INLINE VEC LEVEL(in_order)(VEC v)
{
#if LEVEL_WIDTH == 16
	return _mm512_castpd_ps(_mm512_permutexvar_pd(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7),
						      _mm512_castps_pd(v)));
#elif LEVEL_WIDTH == 8
	return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(v), 0xd8));
#else
	return v;
#endif
}

/* y[i] = what n rows of x, ld floats apart, have in column i < width. */
INLINE void LEVEL(pool_down)(const bool max, const int64_t n, const float *x, int64_t ld,
			     int64_t width, float *y)
{
	const float start = max ? -__FLT_MAX__ : 0.0f;
	int64_t last = width - LEVEL_WIDTH;
	/* The last vector may do columns of the one before it again. */
	for (int64_t i = 0; last >= 0 && i < width; i += LEVEL_WIDTH) {
		int64_t at = i < last ? i : last;
		VEC v = VALL(start);
		for (int64_t j = 0; j < n; j++)
			v = LEVEL(pool_join)(max, VLOAD(x + j * ld + at), v);
		VSTORE(y + at, v);
	}
	for (int64_t i = 0; last < 0 && i < width; i++) {
		float s = start;
		for (int64_t j = 0; j < n; j++) {
			float v = x[j * ld + i];
			s = !max ? s + v : v > s ? v : s;
		}
		y[i] = s;
	}
}

INLINE void LEVEL(pool_lines_of)(const bool max, const struct window *g, const float *x,
				 int64_t first, int64_t rows, float *line, int64_t pitch)
{
	const int64_t ld = g->in[2];
	for (int64_t i = first; i < first + rows; i++, line += pitch) {
		int64_t lo = i * g->stride[1] - g->pad[1], hi = lo + g->kernel[1];
		lo = lo < 0 ? 0 : lo;
		hi = hi < g->in[1] ? hi : g->in[1];
		switch (hi - lo) {
		case 2: LEVEL(pool_down)(max, 2, x + lo * ld, ld, ld, line + g->pad[2]); break;
		case 3: LEVEL(pool_down)(max, 3, x + lo * ld, ld, ld, line + g->pad[2]); break;
		default: /* any number of rows */
			LEVEL(pool_down)(max, hi - lo, x + lo * ld, ld, ld, line + g->pad[2]); break;
		}
	}
}

/* Columns of one line; s is 1 or 2. */
INLINE VEC LEVEL(pool_columns)(const bool max, const int64_t k, const int64_t s, const float *x)
{
	VEC v = VALL(max ? -__FLT_MAX__ : 0.0f);
	for (int64_t j = 0; j < k && s == 1; j++)
		v = LEVEL(pool_join)(max, VLOAD(x + j), v);
	if (s == 1)
		return v;
	for (int64_t j = 0; j < k; j += 2) {
		VEC a = VLOAD(x + j), b = VLOAD(x + j + LEVEL_WIDTH);
		v = LEVEL(pool_join)(max, LEVEL(every_other)(false, a, b), v);
		if (j + 1 < k)
			v = LEVEL(pool_join)(max, LEVEL(every_other)(true, a, b), v);
	}
	return LEVEL(in_order)(v);
}

/* Rows `first` and on of plane y.  A vector may write the beginning of the next row, which comes later. */
INLINE void LEVEL(pool_across_of)(const bool max, const int64_t k, const int64_t s,
				  const struct window *g, const float *line, int64_t pitch,
				  int64_t first, int64_t rows, const float *counts, float *y)
{
	const int64_t width = g->out[2], end = g->out_plane;
	for (int64_t i = first; i < first + rows; i++, line += pitch)
		for (int64_t x = 0, at = i * width; x < width; x += LEVEL_WIDTH, at += LEVEL_WIDTH) {
			VEC v = LEVEL(pool_columns)(max, k, s, line + x * s);
			if (!max)
				v = v / VLOAD(counts + at);
			if (at + LEVEL_WIDTH <= end) {
				VSTORE(y + at, v);
				continue;
			}
			float edge[LEVEL_WIDTH];
			VSTORE(edge, v);
			for (int64_t j = 0; j < width - x && j < LEVEL_WIDTH; j++)
				y[at + j] = edge[j];
		}
}

static void LEVEL(pool_lines)(bool max, const struct window *g, const float *x, int64_t first,
			      int64_t rows, float *line, int64_t pitch)
{
	if (max)
		LEVEL(pool_lines_of)(true, g, x, first, rows, line, pitch);
	else
		LEVEL(pool_lines_of)(false, g, x, first, rows, line, pitch);
}

static void LEVEL(pool_across)(bool max, const struct window *g, const float *line, int64_t pitch,
			       int64_t first, int64_t rows, const float *counts, float *y)
{
	const int64_t k = g->kernel[2], s = g->stride[2];
#define CASE(max_, k_, s_) \
	if (max == (max_) && k == (k_) && s == (s_)) { \
		LEVEL(pool_across_of)(max_, k_, s_, g, line, pitch, first, rows, counts, y); \
		return; \
	}
	CASE(false, 2, 2) CASE(false, 3, 1) CASE(false, 3, 2)
	CASE(true, 2, 2) CASE(true, 3, 1) CASE(true, 3, 2)
	CASE(false, k, 1) CASE(false, k, 2) CASE(true, k, 1) CASE(true, k, 2)
#undef CASE
}
#undef INLINE
