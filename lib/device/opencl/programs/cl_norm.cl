/* cl_norm.cl - softmax and mean-variance normalisation (and a chain after it): one
 * work-group per row. */

/* Sum or maximum over the work-items of a group; the result is in all of them. */
float group_reduce(float x, bool maximum, local float *tmp)
{
#if LS == 1
	return x;
#else
	int l = LOCAL;
	SYNC;
	tmp[l] = x;
	for (int s = LS / 2; s > 0; s /= 2) {
		SYNC;
		if (l < s)
			tmp[l] = maximum ? fmax(tmp[l], tmp[l + s]) : tmp[l] + tmp[l + s];
	}
	SYNC;
	return tmp[0];
#endif
}

float lane_sum(fv x)
{
	float t[VW], s = 0.0f;
	VSTORE(x, 0, t);
	for (int j = 0; j < VW; j++)
		s += t[j];
	return s;
}

float lane_max(fv x)
{
	float t[VW], s;
	VSTORE(x, 0, t);
	s = t[0];
	for (int j = 1; j < VW; j++)
		s = fmax(s, t[j]);
	return s;
}

void store_row(fv x, global real *p, int s, int i, int m)
{
	if (s == 1 && m == VW) {
		vst(x, p + i);
	} else {
		float t[VW];
		VSTORE(x, 0, t);
		PLAIN for (int j = 0; j < m; j++)
			st(t[j], p, (i + j) * s);
	}
}

/* x and o may be one. */
KERNEL_LOCAL(LS, softmax, 1, (local float tmp[LS]), (local float *tmp), (tmp), 3,
	(global const real *x, global real *o, const struct norm_args p), (x, o, p))
{
	int row = group.x, s = p.inner;
	int n = p.causal ? min(p.n, row % p.causal + 1) : p.n;
	int base = row / s * p.n * s + row % s;
	fv top = (fv)(-INFINITY), sum = (fv)(0.0f);
	x += base;
	o += base;
	FOR_ROW(n)
		top = fmax(top, load_row(x, s, i, m, -INFINITY));
	float hi = group_reduce(lane_max(top), true, tmp);
	bool nothing = p.masked && hi == -INFINITY;
	hi = nothing ? 0.0f : hi;
	FOR_ROW(n) {
		fv y = exp(load_row(x, s, i, m, -INFINITY) - hi);
		sum += y;
		if (!p.log)
			store_row(y, o, s, i, m);
	}
	float total = group_reduce(lane_sum(sum), false, tmp);
	if (p.log) {
		float shift = hi + log(total);
		FOR_ROW(n)
			store_row(load_row(x, s, i, m, 0.0f) - shift, o, s, i, m);
	} else {
		float scale = nothing ? 0.0f : 1.0f / total;
		FOR_ROW(n)
			store_row(load_row(o, s, i, m, 0.0f) * scale, o, s, i, m);
	}
	for (int i = n + LOCAL; i < p.n; i += LS)
		st(p.log ? -INFINITY : 0.0f, o, i * s);
}

KERNEL_LOCAL(LS, mvn, 1, (local float tmp[LS]), (local float *tmp), (tmp), 7,
	(global const real *restrict x, global real *o, global const real *p0,
	global const real *p1, global const real *p2, global const real *p3,
	const struct norm_args p), (x, o, p0, p1, p2, p3, p))
{
	fv sum = (fv)(0.0f), var = (fv)(0.0f);
	int row = group.x;
	struct sources s;
	x += row * p.n;
	o += row * p.n;
	FOR_ROW(p.n)
		sum += load_row(x, 1, i, m, 0.0f);
	float mean = group_reduce(lane_sum(sum), false, tmp) / p.n, scale = 1.0f;
	if (p.normalize == 2)
		mean = 0.0f;
	if (p.normalize) {
		FOR_ROW(p.n) {
			fv y = load_row(x, 1, i, m, mean) - mean;
			var += y * y;
		}
		float v = group_reduce(lane_sum(var), false, tmp) / p.n;
		scale = p.eps_inside ? 1.0f / sqrt(v + p.eps) : 1.0f / (sqrt(v) + p.eps);
	}
	sources_of(&s, p.at, p0, p1, p2, p3, row);
	for (int i = LOCAL * (CV * VW); i < p.n; i += LS * CV * VW) {
		fv y[CV];
		ROW y[v] = (load(x, 1, i + v * VW, p.n - i - v * VW) - mean) * scale;
		chain_apply(y, &p.chain, &s, i, p.n - i);
		ROW store(y[v], o + i + v * VW, p.n - i - v * VW);
	}
}
