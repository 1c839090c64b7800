/* cl_thin.cl - products with a few rows of A (at most 16, on a CPU 10) and packed weights B: bound by
 * reading B, which goes straight from memory to registers, as f32, f16 or bf16 (BF16).
 *
 * On a CPU a work-group has NR columns of C, all rows. */

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

/* A work-group has COLUMNS columns of C, four of which an item has, all rows, and a part of k.  Parts are summed up in
 * local memory.  With splits, groups share k out, too, as in cl_tile.cl. */
#define COLUMNS 16
#define LANES (COLUMNS / 4)
#define PARTS (GEMM_LS / LANES)
#define ROWS 4   /* that are summed up at once */
#define MOST 16  /* rows */

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

/* The items' sums of n rows, at most ROWS, into whole (n, LANES); sum: (ROWS, GEMM_LS).  An item adds up FOLD parts,
 * then one of each row and lane what these gave. */
#define FOLD (PARTS / (GEMM_LS / ROWS / LANES))
INLINE void add_up(const float4 *acc, int n, local float4 *sum, local float4 *whole)
{
	int l = LOCAL, r = l / (GEMM_LS / ROWS), i = l % (GEMM_LS / ROWS) / LANES, lane = l % LANES;
	float4 t = (float4)(0.0f);
	UNROLL for (int u = 0; u < n; u++)
		sum[u * GEMM_LS + l] = acc[u];
	SYNC;
	if (r < n)
		UNROLL for (int u = 0; u < FOLD; u++)
			t += sum[r * GEMM_LS + (i * FOLD + u) * LANES + lane];
	SYNC;
	sum[l] = t;
	SYNC;
	if (l < n * LANES) {
		t = (float4)(0.0f);
		UNROLL for (int u = 0; u < PARTS / FOLD; u++)
			t += sum[l / LANES * (GEMM_LS / ROWS) + u * LANES + lane];
		whole[l] = t;
	}
	SYNC;
}

/* R rows, those beyond m as the last one, N loads under way; none of them behind a condition. */
#define SUMS(R, N) do { \
	float4 acc[R]; \
	int from[R]; \
	UNROLL for (int r = 0; r < R; r++) { \
		acc[r] = (float4)(0.0f); \
		from[r] = min(r, p.m - 1) * p.ars; \
	} \
	for (int k0 = split * p.k_chunk + l / LANES; k0 < end; k0 += PARTS * N) { \
		float4 w[N]; \
		UNROLL for (int i = 0; i < N; i++) \
			w[i] = weights(b, p.b_half, at + min(k0 + i * PARTS, end - 1) * NR); \
		UNROLL for (int i = 0; i < N; i++) { \
			int k = min(k0 + i * PARTS, end - 1); \
			w[i] = k0 + i * PARTS < end ? w[i] : (float4)(0.0f); \
			UNROLL for (int r = 0; r < R; r++) { \
				float x = rounded(ld(a, from[r] + k * p.acs)); \
				acc[r] += (k0 + i * PARTS < end ? x : 0.0f) * w[i]; \
			} \
		} \
	} \
	UNROLL for (int r = 0; r < R; r += ROWS) \
		add_up(acc + r, min(R - r, ROWS), sum, whole + r * LANES); \
} while (0)

KERNEL_LOCAL(GEMM_LS, thin, 2, (local float4 sum[ROWS * GEMM_LS], whole[MOST * LANES]),
	(local float4 *sum, local float4 *whole), (sum, whole), 9,
	(global const real *restrict a, global const real *restrict b, global real *c,
	global const real *p0, global const real *p1, global const real *p2,
	global const real *p3, global float *parts, const struct gemm_args p),
	(a, b, c, p0, p1, p2, p3, parts, p))
{
	int l = LOCAL, j = l % LANES * 4, n0 = group.x * COLUMNS, row = l / LANES;
	int split = group.z % p.splits, z = group.z / p.splits;
	int end = min((split + 1) * p.k_chunk, p.k);
	int at = row_offset(z, p.n_batch, p.batch, p.bs) + n0 / NR * NR * p.k + n0 % NR + j;
	a += row_offset(z, p.n_batch, p.batch, p.as);
	c += (size_t)z * p.m * p.n;
	if (p.m == 1)
		SUMS(1, 8);
	else if (p.m <= 4)
		SUMS(4, 8);
	else if (p.m <= 10)
		SUMS(10, 4);
	else
		SUMS(MOST, 2);
	bool mine = row < p.m && n0 + j < p.n;
	if (p.splits == 1) {
		if (mine)
			PUT(row, whole[l]);
		return;
	}
#if COUNTS
	int pitch = (p.n + 3) / 4, part = p.m * pitch;
	global float4 *to = parts_of(parts) + (size_t)z * p.splits * part + row * pitch + (n0 + j) / 4;
	if (mine)
		to[(size_t)split * part] = whole[l];
	/* the last group adds the parts up */
	if (!is_last(parts, z * group.n + group.x, p.splits, (local int *)sum) || !mine)
		return;
	float4 t = (float4)(0.0f);
	for (int s = 0; s < p.splits; s++)
		t += to[(size_t)s * part];
	PUT(row, t);
#endif
}
#endif
