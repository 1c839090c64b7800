/* cl_rows.cl - reductions, softmax and normalisation: one work-group per row. */

/* Sum or maximum over the work-items of a group; the result is in all of them. */
float group_reduce(float x, bool maximum, local float *tmp)
{
#if LS == 1
	return x;
#else
	int l = get_local_id(0);
	barrier(CLK_LOCAL_MEM_FENCE);
	tmp[l] = x;
	for (int s = LS / 2; s > 0; s /= 2) {
		barrier(CLK_LOCAL_MEM_FENCE);
		if (l < s)
			tmp[l] = maximum ? fmax(tmp[l], tmp[l + s]) : tmp[l] + tmp[l + s];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
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

/* m elements p[i*s], ...; the lanes beyond hold `fill`. */
fv load_row(global const float *p, int s, int i, int m, float fill)
{
	if (s == 1 && m == VW)
		return VLOAD(0, p + i);
	float t[VW];
	for (int j = 0; j < VW; j++)
		t[j] = j < m ? p[(i + j) * s] : fill;
	return VLOAD(0, t);
}

void store_row(fv x, global float *p, int s, int i, int m)
{
	if (s == 1 && m == VW) {
		VSTORE(x, 0, p + i);
	} else {
		float t[VW];
		VSTORE(x, 0, t);
		for (int j = 0; j < m; j++)
			p[(i + j) * s] = t[j];
	}
}

#define FOR_ROW(n) for (int i = (int)get_local_id(0) * VW, m; \
	m = min((n) - i, VW), i < (n); i += LS * VW)

kernel GROUP(LS) void softmax(global const float *restrict x, global float *restrict o,
	const struct norm_args p)
{
	local float tmp[LS];
	int row = get_group_id(0), s = p.inner;
	int base = row / s * p.n * s + row % s;
	fv top = (fv)(-INFINITY), sum = (fv)(0.0f);
	x += base;
	o += base;
	FOR_ROW(p.n)
		top = fmax(top, load_row(x, s, i, m, -INFINITY));
	float hi = group_reduce(lane_max(top), true, tmp);
	FOR_ROW(p.n) {
		fv y = exp(load_row(x, s, i, m, -INFINITY) - hi);
		sum += y;
		if (!p.log)
			store_row(y, o, s, i, m);
	}
	float total = group_reduce(lane_sum(sum), false, tmp);
	if (p.log) {
		float shift = hi + log(total);
		FOR_ROW(p.n)
			store_row(load_row(x, s, i, m, 0.0f) - shift, o, s, i, m);
	} else {
		float scale = 1.0f / total;
		FOR_ROW(p.n)
			store_row(load_row(o, s, i, m, 0.0f) * scale, o, s, i, m);
	}
}

kernel GROUP(LS) void mvn(global const float *restrict x, global float *restrict o,
	const struct norm_args p)
{
	local float tmp[LS];
	fv sum = (fv)(0.0f), var = (fv)(0.0f);
	x += get_group_id(0) * p.n;
	o += get_group_id(0) * p.n;
	FOR_ROW(p.n)
		sum += load_row(x, 1, i, m, 0.0f);
	float mean = group_reduce(lane_sum(sum), false, tmp) / p.n, scale = 1.0f;
	if (p.normalize) {
		FOR_ROW(p.n) {
			fv y = load_row(x, 1, i, m, mean) - mean;
			var += y * y;
		}
		float v = group_reduce(lane_sum(var), false, tmp) / p.n;
		scale = p.eps_inside ? 1.0f / sqrt(v + p.eps) : 1.0f / (sqrt(v) + p.eps);
	}
	FOR_ROW(p.n)
		store_row((load_row(x, 1, i, m, 0.0f) - mean) * scale, o, 1, i, m);
}

float reduce_start(int op)
{
	return op == R_PROD ? 1.0f : op == R_MIN ? INFINITY : op == R_MAX ? -INFINITY : 0.0f;
}

fv reduce_step(int op, fv acc, fv x)
{
	switch (op) {
	case R_PROD: return acc * x;
	case R_MIN: return fmin(acc, x);
	case R_MAX: return fmax(acc, x);
	case R_L1: return acc + fabs(x);
	case R_L2: return acc + x * x;
	default: return acc + x;
	}
}

float reduce_pair(int op, float x, float y)
{
	return op == R_PROD ? x * y : op == R_MIN ? fmin(x, y) : op == R_MAX ? fmax(x, y) : x + y;
}

/* Over the loops red_dim, for one result per work-group. */
kernel GROUP(LS) void reduce(global const float *restrict x, global float *restrict o,
	const struct reduce_args p)
{
	local float tmp[LS];
	int r = get_group_id(0), l = get_local_id(0), last = p.n_red - 1, n_rows = 1;
	float id = reduce_start(p.op), t[VW], y;
	fv acc = (fv)(id);
	x += row_offset(r, p.rank, p.dim, p.stride);
	for (int d = 0; d < last; d++)
		n_rows *= p.red_dim[d];
	/* |0| and 0 * 0 are harmless to L1 and L2; the others are filled with what
	 * changes nothing. */
	for (int row = 0; row < n_rows; row++) {
		global const float *q = x + row_offset(row, last, p.red_dim, p.red_stride);
		FOR_ROW(p.red_dim[last])
			acc = reduce_step(p.op, acc, load_row(q, p.red_stride[last], i, m, id));
	}
	VSTORE(acc, 0, t);
	y = t[0];
	for (int j = 1; j < VW; j++)
		y = reduce_pair(p.op, y, t[j]);
#if LS > 1
	tmp[l] = y;
	for (int s = LS / 2; s > 0; s /= 2) {
		barrier(CLK_LOCAL_MEM_FENCE);
		if (l < s)
			tmp[l] = reduce_pair(p.op, tmp[l], tmp[l + s]);
	}
	y = tmp[l];
#endif
	if (l == 0)
		o[r] = p.op == R_L2 ? sqrt(y) : y * p.scale;
}

kernel GROUP(LS) void reduce_int(global const uchar *x, global uchar *o, const struct reduce_args p)
{
	for (int r = get_global_id(0); r < p.n; r += get_global_size(0)) {
		int base = row_offset(r, p.rank, p.dim, p.stride), n = 1;
		for (int d = 0; d < p.n_red; d++)
			n *= p.red_dim[d];
		long acc = load_int(x, p.in_code, base);
		acc = p.op == R_L1 ? abs(acc) : p.op == R_L2 ? acc * acc : acc;
		for (int i = 1; i < n; i++) {
			long y = load_int(x, p.in_code,
				base + row_offset(i, p.n_red, p.red_dim, p.red_stride));
			switch (p.op) {
			case R_PROD: acc *= y; break;
			case R_MIN: acc = min(acc, y); break;
			case R_MAX: acc = max(acc, y); break;
			case R_AND: acc = acc && y; break;
			case R_OR: acc = acc || y; break;
			case R_L1: acc += y < 0 ? -y : y; break;
			case R_L2: acc += y * y; break;
			default: acc += y; break;
			}
		}
		if (p.scale != 1.0f)
			acc = acc / (long)n;
		store_int(p.op == R_L2 ? (long)sqrt((float)acc) : acc, o, p.out_code, r);
	}
}
