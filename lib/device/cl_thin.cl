/* cl_thin.cl - products with few rows of A and packed weights B: bound by
 * reading B, which goes straight from memory to registers, as f32 or f16.
 *
 * A work-group has NR columns of C, all rows. */

#if LS == 1
/* R rows of C from row m0 on into ct, with loads of B by `ldb`. */
#define THIN(R, T, ldb) do { \
	global const T *bp = (global const T *)b + (size_t)n0 * p.k; \
	global const float *ap = a + m0 * p.ars; \
	fv acc[R][NV]; \
	UNROLL for (int r = 0; r < R; r++) \
		UNROLL for (int v = 0; v < NV; v++) \
			acc[r][v] = (fv)(0.0f); \
	for (int k = 0; k < p.k; k++) { \
		fv bv[NV]; \
		UNROLL for (int v = 0; v < NV; v++) \
			bv[v] = ldb(0, bp + k * NR + v * VW); \
		UNROLL for (int r = 0; r < R; r++) \
			UNROLL for (int v = 0; v < NV; v++) \
				acc[r][v] += (fv)(ap[r * p.ars + k * p.acs]) * bv[v]; \
	} \
	UNROLL for (int r = 0; r < R; r++) \
		UNROLL for (int v = 0; v < NV; v++) \
			VSTORE(acc[r][v], 0, ct + r * NR + v * VW); \
} while (0)

kernel GROUP(GEMM_LS) void thin(global const float *restrict a, global const float *restrict b,
	global float *restrict c, const struct gemm_args p)
{
	local float ct[4 * NR];
	int n0 = get_group_id(0) * NR, z = get_group_id(2), at = row_offset(z, p.n_batch, p.batch,
									    p.bs);
	a += row_offset(z, p.n_batch, p.batch, p.as);
	b = p.b_half ? (global const float *)((global const half *)b + at) : b + at;
	c += (size_t)z * p.m * p.n;
	for (int m0 = 0, rows; m0 < p.m; m0 += rows) {
		rows = p.m - m0 >= 4 ? 4 : 1;
		if (p.b_half) {
			if (rows == 4)
				THIN(4, half, VLOAD_HALF);
			else
				THIN(1, half, VLOAD_HALF);
		} else {
			if (rows == 4)
				THIN(4, float, VLOAD);
			else
				THIN(1, float, VLOAD);
		}
		for (int r = 0; r < rows; r++)
			for (int j = 0; j < min(NR, p.n - n0); j++)
				c[(m0 + r) * p.n + n0 + j] = ct[r * NR + j];
	}
}

#else

/* GEMM_LS work-items are NR columns times GEMM_LS / NR parts of k, which are summed up in
 * local memory. */
kernel GROUP(GEMM_LS) void thin(global const float *restrict a, global const float *restrict b,
	global float *restrict c, const struct gemm_args p)
{
	local float part[GEMM_LS];
	int l = get_local_id(0), j = l % NR, n0 = get_group_id(0) * NR, z = get_group_id(2);
	int at = row_offset(z, p.n_batch, p.batch, p.bs) + n0 * p.k + j;
	a += row_offset(z, p.n_batch, p.batch, p.as);
	c += (size_t)z * p.m * p.n;
	for (int m = 0; m < p.m; m++) {
		float s = 0.0f;
		for (int k = l / NR; k < p.k; k += GEMM_LS / NR)
			s += a[m * p.ars + k * p.acs] * (p.b_half
				? vload_half(at + k * NR, (global const half *)b) : b[at + k * NR]);
		barrier(CLK_LOCAL_MEM_FENCE);
		part[l] = s;
		barrier(CLK_LOCAL_MEM_FENCE);
		if (l < NR && n0 + j < p.n) {
			for (int i = NR; i < GEMM_LS; i += NR)
				s += part[l + i];
			c[m * p.n + n0 + j] = s;
		}
	}
}
#endif
