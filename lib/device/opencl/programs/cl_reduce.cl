/* cl_reduce.cl - reductions of f32: one work-group per result. */

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
	case R_SUM: return acc + x;
	}
	return NAN;   /* cl_operators.h names no other */
}

float reduce_pair(int op, float x, float y)
{
	return op == R_PROD ? x * y : op == R_MIN ? fmin(x, y) : op == R_MAX ? fmax(x, y) : x + y;
}

/* Over the loops red_dim, for one result per work-group. */
KERNEL_LOCAL(LS, reduce, 1, (local float tmp[LS]), (local float *tmp), (tmp), 3,
	(global const real *restrict x, global real *restrict o, const struct reduce_args p),
	(x, o, p))
{
	int r = group.x, l = LOCAL, last = p.n_red - 1, n_rows = 1;
	float id = reduce_start(p.op), t[VW], y;
	fv acc = (fv)(id);
	x += row_offset(r, p.rank, p.dim, p.stride);
	for (int d = 0; d < last; d++)
		n_rows *= p.red_dim[d];
	/* |0| and 0 * 0 are harmless to L1 and L2; the others are filled with what
	 * changes nothing. */
	for (int row = 0; row < n_rows; row++) {
		global const real *q = x + row_offset(row, last, p.red_dim, p.red_stride);
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
		st(p.op == R_L2 ? sqrt(y) : y * p.scale, o, r);
}
