/* cl_table.cl - operators whose result is taken from places that tables tell, dim by dim:
 * Pad, Roll, Reverse, Interpolate. */

#define REMAP(T) do { \
	FOR_ROWS(p.r) { \
		int rest = row, base = 0; \
		bool in = true; \
		PLAIN for (int d = p.rank - 1; d >= 0; d--) { \
			int q = rest / p.dim[d], t = tab[p.at[d] + rest - q * p.dim[d]]; \
			in = in && t >= 0; \
			base += t; \
			rest = q; \
		} \
		PLAIN for (int i = i0 + LOCAL; i < i1; i += LS) { \
			int t = tab[p.at[p.rank] + i]; \
			((global T *)o)[row * p.r.inner + i] = in && t >= 0 \
				? ((global const T *)a)[base + t] \
				: p.filled ? ((global const T *)fill)[0] : (T)0; \
		} \
	} \
} while (0)

KERNEL(LS, remap, 5, (global const uchar *restrict a, global const uchar *restrict fill,
	global const int *restrict tab, global uchar *restrict o, const struct table_args p),
	(a, fill, tab, o, p))
{
	BY_SIZE(p.log, REMAP);
}

enum { MIXED = 64 };   /* products of the taps of all dims but the innermost */

KERNEL(LS, resample, 5, (global const real *restrict a, global const int *restrict tab,
	global const float *restrict weight, global real *restrict o, const struct table_args p),
	(a, tab, weight, o, p))
{
	FOR_ROWS(p.r) {
		int base[MIXED], n = 1, rest = row;
		float w[MIXED];
		base[0] = 0;
		w[0] = 1.0f;
		for (int d = p.rank - 1; d >= 0; d--) {
			int q = rest / p.dim[d], at = p.at[d] + (rest - q * p.dim[d]) * p.taps[d];
			/* the products so far, times each tap of this dim: the last one in place */
			for (int t = p.taps[d] - 1; t >= 0; t--)
				PLAIN for (int i = 0; i < n; i++) {
					base[t * n + i] = base[i] + tab[at + t];
					w[t * n + i] = w[i] * weight[at + t];
				}
			n *= p.taps[d];
			rest = q;
		}
		int last = p.taps[p.rank];
		PLAIN for (int i = i0 + LOCAL; i < i1; i += LS) {
			float sum = 0.0f;
			for (int t = 0; t < last; t++) {
				int at = p.at[p.rank] + i * last + t;
				float s = 0.0f;
				PLAIN for (int j = 0; j < n; j++)
					s += w[j] * ld(a, base[j] + tab[at]);
				sum += weight[at] * s;
			}
			st(sum, o, row * p.r.inner + i);
		}
	}
}
