/* cl_special.cl - FakeQuantize and BatchNormInference, LRN, NormalizeL2, the sums of
 * transposed convolutions, and what recurrent cells do besides products. */

/* FakeQuantize-1 as OpenVINO computes it, in two multiply-adds; p.alpha: levels - 1. */
float quantize(float x, float il, float ih, float ol, float oh, float top)
{
	if (x <= fmin(il, ih))
		return ol;
	if (x > fmax(il, ih))
		return oh;
	float scale = top / (ih - il);
	return fma(rint(fma(x, scale, -il * scale)), (oh - ol) / top, ol);
}

/* o = f(a, b, c, d, e) with broadcasting. */
KERNEL(LS, elem_five, 7, (global const real *a, global const real *b, global const real *c,
	global const real *d, global const real *e, global real *o, const struct five_args p),
	(a, b, c, d, e, o, p))
{
	FOR_ROWS(p.r) {
		int at[5];
		UNROLL for (int j = 0; j < 5; j++)
			at[j] = row_offset(row, p.rank, p.dim, p.stride[j]);
		for (int i = i0 + LOCAL; i < i1; i += LS) {
			float x = ld(a, at[0] + i * p.inner[0]), q = ld(b, at[1] + i * p.inner[1]);
			float r = ld(c, at[2] + i * p.inner[2]), s = ld(d, at[3] + i * p.inner[3]);
			float t = ld(e, at[4] + i * p.inner[4]);
			/* gamma, beta, mean, variance */
			float y = p.levels ? quantize(x, q, r, s, t, p.alpha)
				: (x - s) * (q / sqrt(t + p.alpha)) + r;
			st(y, o, row * p.r.inner + i);
		}
	}
}

/* A work-item for each (outer, inner). */
#define FOR_AXES(p) FOR_ITEMS(col, (p).outer * (p).inner)

KERNEL(LS, normalize_l2, 3, (global const real *x, global real *o, const struct axis_args p),
	(x, o, p))
{
	FOR_AXES(p) {
		int base = col / p.inner * p.n * p.inner + col % p.inner;
		float sum = 0.0f;
		for (int i = 0; i < p.n; i++) {
			float y = ld(x, base + i * p.inner);
			sum += y * y;
		}
		float scale = 1.0f / sqrt(p.add ? sum + p.bias : fmax(sum, p.bias));
		for (int i = 0; i < p.n; i++)
			st(ld(x, base + i * p.inner) * scale, o, base + i * p.inner);
	}
}

KERNEL(LS, lrn, 3, (global const real *x, global real *o, const struct axis_args p), (x, o, p))
{
	FOR_AXES(p) {
		int base = col / p.inner * p.n * p.inner + col % p.inner;
		for (int i = 0; i < p.n; i++) {
			int from = max(i - (p.size - 1) / 2, 0), to = min(i + p.size / 2, p.n - 1);
			float sum = 0.0f;
			for (int j = from; j <= to; j++) {
				float y = ld(x, base + j * p.inner);
				sum += y * y;
			}
			st(ld(x, base + i * p.inner) / pow(p.bias + p.alpha * sum, p.beta), o,
				base + i * p.inner);
		}
	}
}

/* x (batch, channels, kh, kw, h, w): each output is the sum of the products that fall on it. */
KERNEL(LS, fold, 3, (global const real *x, global real *o, const struct fold_args p), (x, o, p))
{
	int n = p.batch * p.channels * p.oh;
	for (int row = group.x; row < n; row += group.n) {
		int c = row / p.oh, y = row % p.oh + p.ph;
		for (int j = LOCAL; j < p.ow; j += LS) {
			float sum = 0.0f;
			for (int ky = 0; ky < p.kh; ky++) {
				int iy = y - ky * p.dh;
				if (iy < 0 || iy % p.sh || iy / p.sh >= p.h)
					continue;
				PLAIN for (int kx = 0; kx < p.kw; kx++) {
					int ix = j + p.pw - kx * p.dw;
					if (ix >= 0 && ix % p.sw == 0 && ix / p.sw < p.w)
						sum += ld(x, (((c * p.kh + ky) * p.kw + kx) * p.h
							+ iy / p.sh) * p.w + ix / p.sw);
				}
			}
			st(sum, o, row * p.ow + j);
		}
	}
}

/* ---- recurrent cells ---- */

float activate(int op, float x, float clip)
{
	if (clip > 0.0f)
		x = clamp(x, -clip, clip);
	switch (op) {
	case E_SIGMOID: return 1.0f / (1.0f + exp(-x));
	case E_TANH: return tanh(x);
	case E_RELU: return fmax(x, 0.0f);
	case E_COPY: return x;
	}
	return NAN;   /* cl_lower_cell.c names no other */
}

/* Gates are the sum of two products: xg, of the input, with all biases in it, and rg (batch, rows,
 * hidden), of the state.  Their order is OpenVINO's: LSTM f i c o, GRU z r h.  Which step
 * of its row it is follows from the row's length.  GRU in two parts where the reset comes before
 * the product: CELL_GRU_RESET puts r * h into s2, CELL_GRU takes its product with R there.
 * Source: LSTMCell-4, GRUCell-3, RNNCell-1. */
KERNEL(LS, cell, 7, (global const real *xg, global const real *rg, global real *h, global real *s2,
	global real *out, global const uchar *len, const struct cell_args p),
	(xg, rg, h, s2, out, len, p))
{
	FOR_ITEMS(i, p.batch * p.hidden) {
		int b = i / p.hidden, j = i - b * p.hidden, n = p.hidden, t = p.t;
		int length = p.code < 0 ? p.steps : (int)load_int(len, p.code, b);
		if (t >= length) {
			if (p.y_step && p.kind != CELL_GRU_RESET)
				st(0.0f, out, p.y_at + b * p.y_step + t * p.t_y + j);
			continue;
		}
		if (p.reverse)
			t = length - 1 - t;
		int xa = p.x_at + b * p.x_step + t * p.t_x + j, ra = p.r_at + b * p.x_rows * n + j;
		int sa = p.state_at + b * p.state_step + j;
		float y, old = ld(h, sa);
		float g0 = ld(xg, xa) + ld(rg, ra);
		if (p.kind == CELL_LSTM) {
			float f = activate(p.act[0], g0, p.clip);
			float in = activate(p.act[0], ld(xg, xa + n) + ld(rg, ra + n), p.clip);
			float z = activate(p.act[1], ld(xg, xa + 2 * n) + ld(rg, ra + 2 * n), p.clip);
			float q = activate(p.act[0], ld(xg, xa + 3 * n) + ld(rg, ra + 3 * n), p.clip);
			float c = f * ld(s2, sa) + in * z;
			st(c, s2, sa);
			y = q * activate(p.act[2], c, 0.0f);
		} else if (p.kind == CELL_RNN) {
			y = activate(p.act[0], g0, p.clip);
		} else {
			float z = activate(p.act[0], g0, p.clip);
			float r = activate(p.act[0], ld(xg, xa + n) + ld(rg, ra + n), p.clip);
			if (p.kind == CELL_GRU_RESET) {
				st(r * old, s2, p.y_at + i);
				continue;
			}
			float v = p.kind == CELL_GRU_BEFORE ? r * ld(rg, ra + 2 * n)
				: ld(s2, ra + 2 * n);
			y = activate(p.act[1], ld(xg, xa + 2 * n) + v, p.clip);
			y = (1.0f - z) * y + z * old;
		}
		st(y, h, sa);
		if (p.y_step)
			st(y, out, p.y_at + b * p.y_step + t * p.t_y + j);
	}
}
