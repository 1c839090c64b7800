/* fft_loops.h - one stage of a Fourier transform, one level (isa_dispatch.h).
 *
 * Stockham's order (Cochran et al., 1967; Van Loan, 1992, section 1.7): a stage with radix r turns
 * sequences of n = r m elements, s of them interleaved, into sequences of m, r s of them; no
 * reordering is left at the end.  With runs of s w floats, for p < m:
 *   y[r p + k] = root(p k) * sum over i < r of x[p + i m] root(i k n / r)
 * Roots are powers of the whole transform's first one: (N, 2) floats, N = n s. */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */

/* (re, im) of run j times root k, or as they are where the root is 1. */
#define PUT(k, vr, vi) do { \
		float r_ = (vr), i_ = (vi); \
		out_r[(k) * run + j] = plain ? r_ : FMA(r_, wr[k], -(i_ * wi[k])); \
		out_i[(k) * run + j] = plain ? i_ : FMA(r_, wi[k], i_ * wr[k]); \
	} while (0)

static inline __attribute__((always_inline)) void
LEVEL(fft_two)(bool plain, const float *restrict r0, const float *restrict i0, int64_t apart,
	       const float *wr, const float *wi, int64_t run, float *restrict out_r,
	       float *restrict out_i)
{
	const float *r1 = r0 + apart, *i1 = i0 + apart;
	IVDEP
	for (int64_t j = 0; j < run; j++) {
		float ar = r0[j], ai = i0[j], br = r1[j], bi = i1[j];
		out_r[j] = ar + br;
		out_i[j] = ai + bi;
		PUT(1, ar - br, ai - bi);
	}
}

/* turn: 1 forward, -1 inverse; -i turn is root(n / 4). */
static inline __attribute__((always_inline)) void
LEVEL(fft_four)(bool plain, float turn, const float *restrict r0, const float *restrict i0,
		int64_t apart, const float *wr, const float *wi, int64_t run,
		float *restrict out_r, float *restrict out_i)
{
	const float *r1 = r0 + apart, *r2 = r1 + apart, *r3 = r2 + apart;
	const float *i1 = i0 + apart, *i2 = i1 + apart, *i3 = i2 + apart;
	IVDEP
	for (int64_t j = 0; j < run; j++) {
		float er = r0[j] + r2[j], ei = i0[j] + i2[j], fr = r0[j] - r2[j], fi = i0[j] - i2[j];
		float gr = r1[j] + r3[j], gi = i1[j] + i3[j];
		float hr = turn * (i1[j] - i3[j]), hi = turn * (r3[j] - r1[j]);
		out_r[j] = er + gr;
		out_i[j] = ei + gi;
		PUT(1, fr + hr, fi + hi);
		PUT(2, er - gr, ei - gi);
		PUT(3, fr - hr, fi - hi);
	}
}

/* An odd radix.  Elements i and r - i become their sum and their difference, in place; then
 *   a = x0 + sum of sums * cos, b = sum of differences * sin, outputs k and r - k are a +- i b. */
#define ODD(V, WIDTH, LOAD, STORE, ALL, ADD, SUB, MUL, MULADD) \
	for (; j + (WIDTH) <= run; j += (WIDTH)) { \
		V ar = LOAD(xr + j), ai = LOAD(xi + j), br = ALL(0.0f), bi = ALL(0.0f); \
		for (int64_t i = 1, t = k; 2 * i < r; i++, t = t + k < r ? t + k : t + k - r) { \
			V c = ALL(root[2 * t * each]), s = ALL(root[2 * t * each + 1]); \
			ar = MULADD(LOAD(xr + i * apart + j), c, ar); \
			ai = MULADD(LOAD(xi + i * apart + j), c, ai); \
			br = MULADD(LOAD(xr + (r - i) * apart + j), s, br); \
			bi = MULADD(LOAD(xi + (r - i) * apart + j), s, bi); \
		} \
		V pr = SUB(ar, bi), pi = ADD(ai, br), qr = ADD(ar, bi), qi = SUB(ai, br); \
		STORE(yr + k * run + j, SUB(MUL(pr, ALL(w1[0])), MUL(pi, ALL(w1[1])))); \
		STORE(yi + k * run + j, MULADD(pr, ALL(w1[1]), MUL(pi, ALL(w1[0])))); \
		STORE(yr + (r - k) * run + j, SUB(MUL(qr, ALL(w2[0])), MUL(qi, ALL(w2[1])))); \
		STORE(yi + (r - k) * run + j, MULADD(qr, ALL(w2[1]), MUL(qi, ALL(w2[0])))); \
	}
#define ONE_LOAD(p) (*(p))
#define ONE_STORE(p, v) (*(p) = (v))
#define ONE_ALL(x) (x)
#define ONE_ADD(a, b) ((a) + (b))
#define ONE_SUB(a, b) ((a) - (b))
#define ONE_MUL(a, b) ((a) * (b))
static void LEVEL(fft_odd)(int64_t r, const float *root, int64_t each, int64_t turn, float *xr,
			   float *xi, int64_t apart, int64_t run, float *yr, float *yi)
{
	for (int64_t i = 1; 2 * i < r; i++) {
		float *pr = xr + i * apart, *pi = xi + i * apart;
		float *qr = xr + (r - i) * apart, *qi = xi + (r - i) * apart;
		IVDEP
		for (int64_t j = 0; j < run; j++) {
			float sr = pr[j] + qr[j], si = pi[j] + qi[j];
			qr[j] = pr[j] - qr[j];
			qi[j] = pi[j] - qi[j];
			pr[j] = sr;
			pi[j] = si;
		}
	}
	__builtin_memcpy(yr, xr, (size_t)run * sizeof *yr);
	__builtin_memcpy(yi, xi, (size_t)run * sizeof *yi);
	for (int64_t i = 1; 2 * i < r; i++) {
		const float *pr = xr + i * apart, *pi = xi + i * apart;
		IVDEP
		for (int64_t j = 0; j < run; j++) {
			yr[j] += pr[j];
			yi[j] += pi[j];
		}
	}
	for (int64_t k = 1; 2 * k < r; k++) {
		const float *w1 = root + 2 * turn * k, *w2 = root + 2 * turn * (r - k);
		int64_t j = 0;
		ODD(VEC, LEVEL_WIDTH, VLOAD, VSTORE, VALL, VADD, VSUB, VMUL, VFMA)
		ODD(float, 1, ONE_LOAD, ONE_STORE, ONE_ALL, ONE_ADD, ONE_SUB, ONE_MUL, FMA)
	}
}

static void LEVEL(fft_stage)(const float *root, int64_t n, int64_t s, int64_t r, float *x,
			     float *y, int64_t w)
{
	const int64_t m = n / r, run = s * w, half = n * run, apart = m * run;
	const float turn = n * s > 1 && root[2 * (n * s / 4) + 1] > 0 ? -1.0f : 1.0f;
	for (int64_t p = 0; p < m; p++) {
		float *xr = x + p * run, *xi = xr + half, *yr = y + r * p * run, *yi = yr + half;
		float wr[4], wi[4];
		for (int64_t k = 0; k < 4 && k < r; k++) {
			wr[k] = root[2 * p * k * s];
			wi[k] = root[2 * p * k * s + 1];
		}
		if (r == 4 && p == 0)
			LEVEL(fft_four)(true, turn, xr, xi, apart, wr, wi, run, yr, yi);
		else if (r == 4)
			LEVEL(fft_four)(false, turn, xr, xi, apart, wr, wi, run, yr, yi);
		else if (r == 2 && p == 0)
			LEVEL(fft_two)(true, xr, xi, apart, wr, wi, run, yr, yi);
		else if (r == 2)
			LEVEL(fft_two)(false, xr, xi, apart, wr, wi, run, yr, yi);
		else
			LEVEL(fft_odd)(r, root, n * s / r, p * s, xr, xi, apart, run, yr, yi);
	}
}
#undef PUT
#undef ODD
#undef ONE_LOAD
#undef ONE_STORE
#undef ONE_ALL
#undef ONE_ADD
#undef ONE_SUB
#undef ONE_MUL

/* Elements (i, l) of w lines: line l is at x + at[l], elements step floats apart, or pairs of
 * floats (pairs); at[l] < 0: zeros.  times: (n) factors, or NULL.  Into y (n, w). */
static void LEVEL(fft_take)(const float *x, const int64_t *at, int64_t step, const float *times,
			    float *restrict y, int64_t n, int64_t w)
{
	bool rows = true;
	for (int64_t l = 0; l < w; l++)
		rows = rows && at[l] >= 0 && at[l] == at[0] + l * (at[1] - at[0]);
	int64_t next = w > 1 ? at[1] - at[0] : 1;
	if (rows && next <= 2) {
		for (int64_t i = 0; i < n; i++, y += w) {
			const float *from = x + at[0] + i * step;
			float f = times ? times[i] : 1;
			if (next == 2)
				for (int64_t l = 0; l < w; l++)
					y[l] = from[2 * l] * f;
			else
				for (int64_t l = 0; l < w; l++)
					y[l] = from[l * next] * f;
		}
		return;
	}
	enum { BLOCK = 32 };
	for (int64_t i0 = 0; i0 < n; i0 += BLOCK) {
		int64_t i1 = n - i0 < BLOCK ? n : i0 + BLOCK;
		for (int64_t l = 0; l < w; l++) {
			const float *from = x + (at[l] < 0 ? 0 : at[l]);
			float keep = at[l] < 0 ? 0 : 1;
			for (int64_t i = i0; i < i1; i++)
				y[i * w + l] = keep == 0 ? 0 : from[i * step] * (times ? times[i] : 1);
		}
	}
}

/* The way back: x (n, w) times scale to line l at y + at[l], or nowhere. */
static void LEVEL(fft_put)(const float *restrict x, float scale, float *y, const int64_t *at,
			   int64_t step, int64_t n, int64_t w)
{
	enum { BLOCK = 32 };
	for (int64_t i0 = 0; i0 < n; i0 += BLOCK) {
		int64_t i1 = n - i0 < BLOCK ? n : i0 + BLOCK;
		for (int64_t l = 0; l < w; l++) {
			if (at[l] < 0)
				continue;
			float *to = y + at[l];
			for (int64_t i = i0; i < i1; i++)
				to[i * step] = x[i * w + l] * scale;
		}
	}
}
