/* cl_window.cl - depthwise convolution and pooling.
 *
 * A work-group computes a tile of one output plane.  It first brings the part
 * of the input plane that the tile sees into local memory, padding included,
 * with columns that are a multiple of the stride apart side by side: column c
 * of the tile lies in strip c % sw at c / sw.  Then all the inputs of a vector
 * of outputs are contiguous, whatever the stride.  The outputs wait in local memory for
 * the chain, which takes them as one row. */

/* The plane x is followed by others: `size` elements from x on may be read, and where
 * `before` is set, some in front of it. */
void fill_tile(global const real *restrict x, local float *t, const struct window_args p,
	int y0, int x0, float pad, int size, bool before)
{
	int strip = p.pitch / p.sw;
#if LS == 1
	for (int i = 0; i < p.rows * p.sw; i++) {
		int y = y0 + i / p.sw, c0 = x0 + i % p.sw;
		local float *q = t + i / p.sw * p.pitch + i % p.sw * strip;
		bool in = y >= 0 && y < p.h;
		int at = y * p.w + c0;
		/* a later strip overwrites the excess of the one before */
		for (int j = 0; j < strip; j += VW, at += VW * p.sw) {
			uv c = CAT(as_uint, VW)(c0 + (j + IOTA) * p.sw);
			fv v = (fv)(pad);
			if (in && p.sw <= 2 && (at >= 0 || before) && at + VW * p.sw <= size) {
				v = VLOAD(0, x + at);
				if (p.sw == 2)
					v = (fv)(v.even, VLOAD(0, x + at + VW).even);
				v = select((fv)(pad), v, c < (uv)((uint)p.w));
			} else if (in) {
				float e[VW];
				PLAIN for (int k = 0; k < VW; k++)
					e[k] = (uint)(c0 + (j + k) * p.sw) < (uint)p.w
						? x[at + k * p.sw] : pad;
				v = VLOAD(0, e);
			}
			VSTORE(v, 0, q + j);
		}
	}
#else
	for (int i = LOCAL; i < p.rows * p.pitch; i += LS) {
		int r = i / p.pitch, c = i - r * p.pitch, y = y0 + r;
		int w = x0 + c / strip + c % strip * p.sw;
		bool in = y >= 0 && y < p.h && w >= 0 && w < p.w;
		t[i] = in ? ld(x, y * p.w + w) : pad;
	}
#endif
	SYNC;
}

/* How many of the k rows (columns) of windows that begin at i lie in a plane of n. */
iv count(iv i, int n, int k, int d)
{
	iv c = (iv)(0);
	PLAIN for (int j = 0; j < k; j++, i += d)
		c -= i >= 0 && i < n;
	return c;
}

/* RV rows of outputs at a time, VW columns of each; TAPS places of the window. */
#if LS == 1
#define RV 8
#define SINGLE 1             /* vectors in a row, where excess lanes do no harm */
#else
#define RV 1
#define SINGLE 0
#endif
#define TAPS 32
#define EACH UNROLL for (int r = 0; r < RV; r++)

/* Places first to first + TAPS - 1 of the window: offsets into the tile, and weights.  Column kx *
 * dw of a row lies in strip q of those a stride apart. */
INLINE int taps(global const real *w, const struct window_args *p, int first, int *at, float *f)
{
	int strip = p->pitch / p->sw, n = min(p->kh * p->kw - first, TAPS);
	PLAIN for (int i = 0; i < n; i++) {
		int ky = (first + i) / p->kw, x = (first + i - ky * p->kw) * p->dw;
		at[i] = ky * p->dh * p->pitch + x % p->sw * strip + x / p->sw;
		f[i] = p->op == W_DEPTHWISE ? ld(w, first + i) : 1.0f;
	}
	return n;
}

/* Outputs of the rows y to y + RV - 1 of the tile (rows from th on repeat the last one), columns
 * from v on, for n taps. */
INLINE void slide(local const float *t, const struct window_args *p, int y, int th, int v, int n,
	const int *at, const float *f, fv *acc)
{
	local const float *row[RV];
	EACH row[r] = t + min(y + r, th - 1) * p->sh * p->pitch + v;
	if (p->op == W_MAX) {
		for (int i = 0; i < n; i++)
			EACH acc[r] = fmax(acc[r], VLOAD(0, row[r] + at[i]));
	} else {
		for (int i = 0; i < n; i++)
			EACH acc[r] += VLOAD(0, row[r] + at[i]) * f[i];
	}
}

/* The chain, and to memory: n contiguous outputs from place `i` of plane z on. */
INLINE void put_places(local const float *t, global real *o, const struct window_args *p,
	const struct sources *s, int i, int n)
{
	for (int j = LOCAL * (CV * VW); j < n; j += LS * CV * VW) {
		fv x[CV];
		ROW x[v] = VLOAD(0, t + j + v * VW);
		chain_apply(x, &p->chain, s, i + j, n - j);
		ROW store(x[v], o + i + j + v * VW, n - j - v * VW);
	}
}

KERNEL_LOCAL(LS, window, 2, (local float t[WINDOW_LOCAL + VW], res[WINDOW_OUT + CV * VW]),
	(local float *t, local float *res), (t, res), 8,
	(global const real *restrict x, global const real *restrict w, global real *o,
	global const real *p0, global const real *p1, global const real *p2,
	global const real *p3, const struct window_args p), (x, w, o, p0, p1, p2, p3, p))
{
	int g = group.x, tx = g % p.tiles_w, ty = g / p.tiles_w % p.tiles_h;
	int z = g / (p.tiles_w * p.tiles_h), oy = ty * p.th, ox = tx * p.tw;
	int th = min(p.th, p.oh - oy), tw = min(p.tw, p.ow - ox), per_row = (tw + VW - 1) / VW;
	fill_tile(x + z * p.h * p.w, t, p, oy * p.sh - p.ph, ox * p.sw - p.pw,
		p.op == W_MAX ? -MAXFLOAT : 0.0f, (p.planes - z) * p.h * p.w, z > 0);
	w += p.op == W_DEPTHWISE ? z % p.channels * p.kh * p.kw : 0;
	float f[TAPS];
	int at[TAPS], total = p.kh * p.kw, n = taps(w, &p, 0, at, f);
	for (int i = LOCAL; i < (th + RV - 1) / RV * per_row; i += LS) {
		int y = i / per_row * RV, c = i % per_row * VW, m = min(tw - c, VW);
		fv acc[RV];
		EACH acc[r] = (fv)(p.op == W_MAX ? -MAXFLOAT : 0.0f);
		for (int first = 0; first < total; first += TAPS) {
			if (total > TAPS)
				n = taps(w, &p, first, at, f);
			slide(t, &p, y, th, c, n, at, f, acc);
		}
		iv cx = (iv)(1);
		if (p.op == W_AVG)
			cx = count((ox + c + IOTA) * p.sw - p.pw, p.w, p.kw, p.dw);
		fv sum[RV];
		EACH sum[r] = acc[r];
		PLAIN for (int r = 0; r < min(RV, th - y); r++) {
			local float *to = res + (y + r) * tw + c;
			fv x = sum[r];
			/* a window with nothing in it has no mean */
			if (p.op == W_AVG_ALL)
				x /= (float)(p.kh * p.kw);
			else if (p.op == W_AVG)
				x /= CAT(convert_float, VW)(cx * count((iv)((oy + y + r) * p.sh - p.ph),
					p.h, p.kh, p.dh));
			if (m == VW || per_row == SINGLE) {
				VSTORE(x, 0, to);        /* a later row overwrites the excess */
			} else {
				float q[VW];
				VSTORE(x, 0, q);
				PLAIN for (int j = 0; j < m; j++)
					to[j] = q[j];
			}
		}
	}
	SYNC;
	struct sources s;
	sources_of(&s, p.at, p0, p1, p2, p3, z);
	o += z * p.oh * p.ow;
	int rows = tw == p.ow ? 1 : th, n_row = tw == p.ow ? th * tw : tw;
	PLAIN for (int y = 0; y < rows; y++)
		put_places(res + y * tw, o, &p, &s, (oy + y) * p.ow + ox, n_row);
}
