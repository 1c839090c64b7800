/* cl_cube.cl - windows in three dimensions: the image of a convolution laid out for a product,
 * and pooling. */

/* x (planes, in0, in1, in2) -> o (planes, k0, k1, k2, out0, out1, out2): what each place of the
 * window sees; rows are all but the last dim. */
KERNEL(LS, unfold, 3, (global const real *restrict x, global real *restrict o,
	const struct cube_args p), (x, o, p))
{
	FOR_ROWS(p.r) {
		int y = row % p.out[1], rest = row / p.out[1], z = rest % p.out[0];
		rest /= p.out[0];
		int kx = rest % p.k[2], ky = rest / p.k[2] % p.k[1];
		int kz = rest / (p.k[2] * p.k[1]) % p.k[0], plane = rest / (p.k[2] * p.k[1] * p.k[0]);
		z = z * p.s[0] - p.p[0] + kz * p.d[0];
		y = y * p.s[1] - p.p[1] + ky * p.d[1];
		bool in = z >= 0 && z < p.in[0] && y >= 0 && y < p.in[1];
		int at = ((plane * p.in[0] + z) * p.in[1] + y) * p.in[2];
		PLAIN for (int i = i0 + LOCAL; i < i1; i += LS) {
			int c = i * p.s[2] - p.p[2] + kx * p.d[2];
			st(in && c >= 0 && c < p.in[2] ? ld(x, at + c) : 0.0f, o,
				row * p.r.inner + i);
		}
	}
}

/* One dim of a window that begins at `begin`: its places from *from to *to lie inside. */
void clip(int begin, int k, int d, int n, int *from, int *to)
{
	*from = begin < 0 ? (-begin + d - 1) / d : 0;
	*to = begin >= n ? 0 : min(k, (n - 1 - begin) / d + 1);
}

/* x (planes, in0, in1, in2) -> o (planes, out0, out1, out2). */
KERNEL(LS, pool_cube, 3, (global const real *restrict x, global real *restrict o,
	const struct cube_args p), (x, o, p))
{
	FOR_ROWS(p.r) {
		int from[3], to[3], y0 = row % p.out[1] * p.s[1] - p.p[1], rest = row / p.out[1];
		int z0 = rest % p.out[0] * p.s[0] - p.p[0], plane = rest / p.out[0] * p.in[0];
		clip(z0, p.k[0], p.d[0], p.in[0], &from[0], &to[0]);
		clip(y0, p.k[1], p.d[1], p.in[1], &from[1], &to[1]);
		PLAIN for (int i = i0 + LOCAL; i < i1; i += LS) {
			int x0 = i * p.s[2] - p.p[2], n = 0;
			float best = -MAXFLOAT, sum = 0.0f;
			clip(x0, p.k[2], p.d[2], p.in[2], &from[2], &to[2]);
			for (int a = from[0]; a < to[0]; a++)
				for (int b = from[1]; b < to[1]; b++)
					PLAIN for (int c = from[2]; c < to[2]; c++, n++) {
						float v = ld(x, ((plane + z0 + a * p.d[0]) * p.in[1]
							+ y0 + b * p.d[1]) * p.in[2] + x0 + c * p.d[2]);
						best = fmax(best, v);
						sum += v;
					}
			if (p.op == W_AVG_ALL)
				n = p.k[0] * p.k[1] * p.k[2];
			st(p.op == W_MAX ? best : sum / (float)n, o, row * p.r.inner + i);
		}
	}
}
