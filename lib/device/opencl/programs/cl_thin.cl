/* cl_thin.cl - products with a few rows of A (at most 4, on a CPU 10) and packed weights B: bound by
 * reading B, which goes straight from memory to registers, as f32, f16 or bf16 (BF16).
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

KERNEL_LOCAL(GEMM_LS, thin, 1, (local float ct[10 * NR]), (local float *ct), (ct), 9,
	(global const float *restrict a, global const float *restrict b, global float *c,
	global const float *p0, global const float *p1, global const float *p2,
	global const float *p3, global float *parts, const struct gemm_args p),
	(a, b, c, p0, p1, p2, p3, parts, p))
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
 * summed up in local memory.  With splits, groups share k out, too, as in cl_tile.cl. */
#define THIN 4
#define COLUMNS (NR / 4)
#define PARTS (GEMM_LS / COLUMNS)
#define AT_ONCE 4 /* loads under way */

/* What is multiplied. */
#ifdef BF16
#define rounded(x) as_float((uint)to_bf16(x) << 16)
#else
#define rounded(x) (x)
#endif

/* Four of B's columns, place `at`. */
float4 weights(global const real *b, bool is_half, int at)
{
#ifdef BF16
	return as_float4(convert_uint4(*(global const ushort4 *)((global const ushort *)b + at)) << 16);
#endif
#ifndef HALF
	if (!is_half)
		return *(global const float4 *)(b + at);
#endif
	return is_half ? vload_half4(0, (global const half *)b + at) : vld(b + at);
}

KERNEL_LOCAL(GEMM_LS, thin, 1, (local float4 sum[GEMM_LS]), (local float4 *sum), (sum), 9,
	(global const real *restrict a, global const real *restrict b, global real *c,
	global const real *p0, global const real *p1, global const real *p2,
	global const real *p3, global float *parts, const struct gemm_args p),
	(a, b, c, p0, p1, p2, p3, parts, p))
{
	int l = LOCAL, j = l % COLUMNS * 4, n0 = group.x * NR;
	int split = group.z % p.splits, z = group.z / p.splits;
	int end = min((split + 1) * p.k_chunk, p.k);
	int at = row_offset(z, p.n_batch, p.batch, p.bs) + n0 * p.k + j;
	float4 acc[THIN];
	a += row_offset(z, p.n_batch, p.batch, p.as);
	c += (size_t)z * p.m * p.n;
	UNROLL for (int r = 0; r < THIN; r++)
		acc[r] = (float4)(0.0f);
	for (int k0 = split * p.k_chunk + l / COLUMNS; k0 < end; k0 += PARTS * AT_ONCE) {
		float4 w[AT_ONCE];
		UNROLL for (int i = 0; i < AT_ONCE; i++)
			w[i] = weights(b, p.b_half, at + min(k0 + i * PARTS, end - 1) * NR);
		UNROLL for (int i = 0; i < AT_ONCE; i++)
			if (k0 + i * PARTS < end)
				UNROLL for (int r = 0; r < THIN; r++)
					if (r < p.m)
						acc[r] += rounded(ld(a, r * p.ars + (k0 + i * PARTS) * p.acs))
							* w[i];
	}
#if COUNTS
	int pitch = (p.n + 3) / 4, part = p.m * pitch;
	global float4 *to = parts_of(parts) + (size_t)z * p.splits * part + (n0 + j) / 4;
#endif
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
		if (l < COLUMNS && p.splits == 1)
			PUT(r, sum[l]);
#if COUNTS
		else if (l < COLUMNS && n0 + j < p.n)
			to[(size_t)split * part + r * pitch] = sum[l];
#endif
	}
#if COUNTS
	if (p.splits == 1)
		return;
	/* the last group adds the parts up, each item four columns */
	if (!is_last(parts, z * group.n + group.x, p.splits, (local int *)sum) || l >= COLUMNS ||
	    n0 + j >= p.n)
		return;
	PLAIN for (int r = 0; r < p.m; r++) {
		float4 whole = (float4)(0.0f);
		for (int s = 0; s < p.splits; s++)
			whole += to[(size_t)s * part + r * pitch];
		PUT(r, whole);
	}
#endif
}
#endif
