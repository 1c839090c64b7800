/* cl_window.cl - depthwise convolution and pooling.
 *
 * A work-group computes a tile of one output plane.  It first brings the part
 * of the input plane that the tile sees into local memory, padding included,
 * with columns that are a multiple of the stride apart side by side: column c
 * of the tile lies in strip c % sw at c / sw.  Then all the inputs of a vector
 * of outputs are contiguous, whatever the stride. */

void fill_tile(global const float *restrict x, local float *t, const struct window_args p,
	int y0, int x0, float pad)
{
	int strip = p.pitch / p.sw;
	for (int i = get_local_id(0); i < p.rows * p.sw; i += LS) {
		int y = y0 + i / p.sw, c0 = x0 + i % p.sw;
		local float *q = t + i / p.sw * p.pitch + i % p.sw * strip;
		if (y < 0 || y >= p.h) {
			PLAIN for (int j = 0; j < strip; j++)
				q[j] = pad;
			continue;
		}
		/* columns j for which 0 <= c0 + j * sw < w */
		int lo = c0 < 0 ? min((-c0 + p.sw - 1) / p.sw, strip) : 0;
		int hi = c0 < p.w ? min((p.w - c0 + p.sw - 1) / p.sw, strip) : 0;
		global const float *row = x + y * p.w + c0;
		PLAIN for (int j = 0; j < lo; j++)
			q[j] = pad;
		if (p.sw == 1) {
			for (int j = lo; j < hi; j++)
				q[j] = row[j];
		} else {
			PLAIN for (int j = lo; j < hi; j++)
				q[j] = row[j * p.sw];
		}
		PLAIN for (int j = max(lo, hi); j < strip; j++)
			q[j] = pad;
	}
	barrier(CLK_LOCAL_MEM_FENCE);
}

/* How many rows (columns) of a window that begins at i lie in the plane. */
int count(int i, int n, int k, int d)
{
	int c = 0;
	PLAIN for (int j = 0; j < k; j++, i += d)
		c += i >= 0 && i < n;
	return c;
}

kernel GROUP(LS) void window(global const float *restrict x, global const float *restrict w,
	global float *restrict o, const struct window_args p)
{
	local float t[WINDOW_LOCAL];
	int g = get_group_id(0), tx = g % p.tiles_w, ty = g / p.tiles_w % p.tiles_h;
	int plane = g / (p.tiles_w * p.tiles_h), strip = p.pitch / p.sw;
	int oy0 = ty * p.th, ox0 = tx * p.tw;
	int oy1 = min(oy0 + p.th, p.oh), nx = min(p.tw, p.ow - ox0), per_row = (nx + VW - 1) / VW;
	fill_tile(x + plane * p.h * p.w, t, p, oy0 * p.sh - p.ph, ox0 * p.sw - p.pw,
		p.op == W_MAX ? -MAXFLOAT : 0.0f);
	global const float *wp = w + (p.op == W_DEPTHWISE ? plane % p.channels * p.kh * p.kw : 0);
	for (int i = get_local_id(0); i < (oy1 - oy0) * per_row; i += LS) {
		int y = i / per_row, v = (i - y * per_row) * VW, m = min(nx - v, VW);
		fv acc = (fv)(p.op == W_MAX ? -MAXFLOAT : 0.0f);
		for (int ky = 0; ky < p.kh; ky++) {
			local const float *row = t + (y * p.sh + ky * p.dh) * p.pitch + v;
			for (int kx = 0, q = 0; kx < p.kw; kx++) {
				/* column kx * dw: strip q of those a stride apart */
				fv a = VLOAD(0, row + q * strip);
				for (q += p.dw; q >= p.sw; q -= p.sw)
					row++;
				if (p.op == W_DEPTHWISE)
					acc += a * wp[ky * p.kw + kx];
				else if (p.op == W_MAX)
					acc = fmax(acc, a);
				else
					acc += a;
			}
		}
		float r[VW];
		VSTORE(acc, 0, r);
		global float *q = o + (plane * p.oh + oy0 + y) * p.ow + ox0 + v;
		if (p.op == W_AVG || p.op == W_AVG_ALL) {
			/* a window with nothing in it has no mean */
			bool all = p.op == W_AVG_ALL;
			int cy = count((oy0 + y) * p.sh - p.ph, p.h, p.kh, p.dh);
			PLAIN for (int j = 0; j < m; j++)
				r[j] /= (float)(all ? p.kh * p.kw
					: cy * count((ox0 + v + j) * p.sw - p.pw, p.w, p.kw, p.dw));
		}
		if (m == VW && p.op < W_AVG) {
			VSTORE(acc, 0, q);
		} else {
			PLAIN for (int j = 0; j < m; j++)
				q[j] = r[j];
		}
	}
}
