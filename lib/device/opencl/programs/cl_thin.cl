/* cl_thin.cl - products with a few rows of A (at most 4, on a CPU 10) and packed weights B: bound by
 * reading B, which goes straight from memory to registers, as f32 or f16.
 *
 * A work-group has NR columns of C, all rows. */

/* m rows of C from registers to memory, through the chain. */
#define PUT(r, get) do { \
	struct sources all, s; \
	fv x[CV]; \
	sources_of(&all, p.at, p0, p1, p2, p3, z); \
	s = row_of(&all, p.at, r); \
	ROW x[v] = get; \
	chain_apply(x, &p.chain, &s, n0 + j, p.n - n0 - j); \
	ROW store(x[v], c + (r) * p.n + n0 + j + v * VW, p.n - n0 - j - v * VW); \
} while (0)

#if LS == 1
/* R rows and V vectors of C into ct, with loads of B by `ldb`; rows beyond m repeat the last
 * one. */
#define PRODUCT(R, V, T, ldb) do { \
	global const float *row[R]; \
	UNROLL for (int r = 0; r < R; r++) \
		row[r] = a + min(r, p.m - 1) * p.ars; \
	for (int j = 0; j < NV; j += V) { \
		global const T *bp = (global const T *)b + (size_t)n0 * p.k + j * VW; \
		fv acc[R][V]; \
		UNROLL for (int r = 0; r < R; r++) \
			UNROLL for (int v = 0; v < V; v++) \
				acc[r][v] = (fv)(0.0f); \
		for (int k = 0; k < p.k; k++) { \
			fv bv[V]; \
			UNROLL for (int v = 0; v < V; v++) \
				bv[v] = ldb(0, bp + k * NR + v * VW); \
			UNROLL for (int r = 0; r < R; r++) \
				UNROLL for (int v = 0; v < V; v++) \
					acc[r][v] += (fv)(row[r][k * p.acs]) * bv[v]; \
		} \
		UNROLL for (int r = 0; r < R; r++) \
			UNROLL for (int v = 0; v < V; v++) \
				VSTORE(acc[r][v], 0, ct + r * NR + (j + v) * VW); \
	} \
} while (0)
#define PRODUCT_ANY(T, ldb) do { \
	if (p.m == 1) \
		PRODUCT(1, NV, T, ldb); \
	else \
		PRODUCT(10, 2, T, ldb); \
} while (0)

KERNEL_LOCAL(GEMM_LS, thin, (local float ct[10 * NR]), (local float *ct), (ct),
	(global const float *restrict a, global const float *restrict b, global float *c,
	global const float *p0, global const float *p1, global const float *p2,
	global const float *p3, const struct gemm_args p), (a, b, c, p0, p1, p2, p3, p))
{
	int n0 = group.x * NR, z = group.z, at = row_offset(z, p.n_batch, p.batch,
									    p.bs);
	a += row_offset(z, p.n_batch, p.batch, p.as);
	b = p.b_half ? (global const float *)((global const half *)b + at) : b + at;
	c += (size_t)z * p.m * p.n;
	if (p.b_half)
		PRODUCT_ANY(half, VLOAD_HALF);
	else
		PRODUCT_ANY(float, VLOAD);
	PLAIN for (int m = 0, j = 0; m < p.m; m++)
		PUT(m, VLOAD(0, ct + m * NR + v * VW));
}

#else

/* Of the GEMM_LS work-items, NR / 4 have four columns each, and that for parts of k, which are
 * summed up in local memory. */
#define THIN 4
#define COLUMNS (NR / 4)
#define PARTS (GEMM_LS / COLUMNS)

KERNEL_LOCAL(GEMM_LS, thin, (local float4 sum[GEMM_LS]), (local float4 *sum), (sum),
	(global const real *restrict a, global const real *restrict b, global real *c,
	global const real *p0, global const real *p1, global const real *p2,
	global const real *p3, const struct gemm_args p), (a, b, c, p0, p1, p2, p3, p))
{
	int l = LOCAL, j = l % COLUMNS * 4, n0 = group.x * NR;
	int z = group.z, at = row_offset(z, p.n_batch, p.batch, p.bs) + n0 * p.k + j;
	float4 acc[THIN];
	a += row_offset(z, p.n_batch, p.batch, p.as);
	c += (size_t)z * p.m * p.n;
	UNROLL for (int r = 0; r < THIN; r++)
		acc[r] = (float4)(0.0f);
	for (int k = l / COLUMNS; k < p.k; k += PARTS) {
		float4 w = p.b_half ? vload_half4(0, (global const half *)b + at + k * NR)
			: vld(b + at + k * NR);
		UNROLL for (int r = 0; r < THIN; r++)
			if (r < p.m)
				acc[r] += ld(a, r * p.ars + k * p.acs) * w;
	}
	UNROLL for (int r = 0; r < THIN; r++) {
		if (r >= p.m)
			break;
		barrier(CLK_LOCAL_MEM_FENCE);
		sum[l] = acc[r];
		for (int s = PARTS / 2; s > 0; s /= 2) {
			barrier(CLK_LOCAL_MEM_FENCE);
			if (l < s * COLUMNS)
				sum[l] += sum[l + s * COLUMNS];
		}
		if (l < COLUMNS)
			PUT(r, sum[l]);
	}
}
#endif
