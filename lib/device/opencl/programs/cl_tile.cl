/* cl_tile.cl - matrix products, and convolutions as products, on a GPU.
 *
 * A work-group of 256 items computes a tile of C, TILE rows by TILE columns, each item
 * RM rows by RM columns in registers.  KB products at a time, tiles of A and B go
 * through local memory, which is there twice: while one part is multiplied, the next
 * is on its way in registers (FETCH times 4 elements of A and of B per item; with one, resnet50's small
 * convolutions wait for memory most of the time).  Vector number l of a part is fetched by item l % 256.
 *
 * Where there are fewer tiles than the device can work on at once, the products are shared out,
 * too (split-K): group z of batch z / splits sums those from k_chunk * (z % splits) on into
 * `parts`, and the last group of a tile adds them up, in order, so that results are the same every time.
 *
 * Local memory is declared and read as vectors, and global memory where it is aligned: vload4 may be
 * four loads, as it asks for the alignment of an element alone.
 *
 * This text is compiled twice: tiles of 128 (RM 8, KB 8), and of 64 (RM 4, KB 32)
 * where large ones would leave units without work. */

#if TILE == 128
#define NAME(x) x##_128
#else
#define NAME(x) x##_64
#endif
#if TILE == 128 || defined(HALF) /* HALF: sums of one part are in f16 */
#define FETCH 1
#else
#define FETCH 2
#endif
#define RM (TILE / 16)
#define KB (1024 * FETCH / TILE)
#define LANES (TILE / 4)
#define HV (RM / 4)          /* vectors of four rows, and of four columns, of an item */
#define AHEAD (16 / (RM * HV)) /* parts of sums that are read at once */

#ifndef MUL
#define MUL
#define ITEMS 256
#if defined(HALF) && defined(cl_khr_fp16)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef half mul;
typedef half4 mulv;
#define to_mul convert_half4
#else
typedef float mul;
typedef float4 mulv;
#define to_mul convert_float4
#endif

/* Four elements x[i * s], none from n on; `aligned`: with s == 1 they lie at a multiple of their size.
 * One by one otherwise: a compiler makes one of two vector loads that differ in alignment alone, the
 * slower. */
float4 four(global const real *x, int s, int n, bool aligned)
{
#ifdef HALF
	if (s == 1 && n >= 4)
		return vld(x);
#else
	if (aligned && s == 1 && n >= 4)
		return *(global const float4 *)x;
#endif
	float4 t = (float4)(0.0f);
	t.x = n > 0 ? ld(x, 0) : 0.0f;
	t.y = n > 1 ? ld(x, s) : 0.0f;
	t.z = n > 2 ? ld(x, 2 * s) : 0.0f;
	t.w = n > 3 ? ld(x, 3 * s) : 0.0f;
	return t;
}

/* Do all vectors of a matrix with these strides, one of which is 1, lie at multiples of their size? */
bool is_aligned(global const real *x, int rs, int cs)
{
	return ((size_t)x & 15) == 0 && ((rs == 1 ? cs : rs) & 3) == 0;
}

/* Where the column of an image is read for one product: channel, row and column of the window. */
struct tap {
	int c, y, x;
};

struct tap tap_of(int k, const struct gemm_args *q)
{
	int t = k / q->kw, c = t / q->kh;
	return (struct tap){c, t - c * q->kh, k - t * q->kw};
}

/* t, `step` products on. */
struct tap tap_after(struct tap t, struct tap step, const struct gemm_args *q)
{
	t.x += step.x;
	t.y += step.y + (t.x >= q->kw);
	t.x -= t.x >= q->kw ? q->kw : 0;
	t.c += step.c + (t.y >= q->kh);
	t.y -= t.y >= q->kh ? q->kh : 0;
	return t;
}
#endif

/* Four elements of a matrix X whose rows are tile rows and whose columns are products: along the
 * products where they are contiguous (`along`), else along the rows. */
float4 NAME(take)(global const real *x, int l, bool along, int rs, int cs, int rows, int cols,
	bool aligned)
{
	int r, k;
	if (along) {
		r = l / (KB / 4);
		k = l % (KB / 4) * 4;
		return four(x + r * rs + k * cs, cs, r < rows ? cols - k : 0, aligned);
	}
	k = l / LANES;
	r = l % LANES * 4;
	return four(x + r * rs + k * cs, rs, k < cols ? rows - r : 0, aligned);
}

/* The same of a packed matrix, (rows / 64, depth, 64), of reals or of f16; from row r0 and
 * product k0 on. */
float4 NAME(take_packed)(global const real *x, int l, bool is_half, int depth, int r0, int rows, int k0,
	int end)
{
	int k = k0 + l / LANES, r = l % LANES * 4;
	size_t at = (size_t)(r0 + r / 64 * 64) * depth + k * 64 + r % 64;
	if (k >= end || r / 64 * 64 >= rows)
		return (float4)(0.0f);
	return is_half ? vload_half4(0, (global const half *)x + at) : four(x + at, 1, 4, true);
}

void NAME(put)(float4 x, int l, bool along, local mulv *to)
{
	mulv y = to_mul(x);
	if (along) {
		int r = l / (KB / 4), k = l % (KB / 4) * 4;
		local mul *t = (local mul *)to;
		t[k * TILE + r] = y.x;
		t[(k + 1) * TILE + r] = y.y;
		t[(k + 2) * TILE + r] = y.z;
		t[(k + 3) * TILE + r] = y.w;
	} else {
		to[l] = y;
	}
}

/* Columns l % LANES + LANES * i, i < 4, of an image for the product `tap`; none unless k < end. */
float4 NAME(take_image)(global const real *restrict x, const struct gemm_args *q, bool any,
	struct tap tap, int4 y0, int4 x0)
{
	int4 y = y0 + tap.y * q->dh, w = x0 + tap.x * q->dw;
	int4 at = (tap.c * q->h + y) * q->w + w;
	int4 in = y >= 0 && y < q->h && w >= 0 && w < q->w;
	float4 r;
	r.x = any && in.x ? ld(x, at.x) : 0.0f;
	r.y = any && in.y ? ld(x, at.y) : 0.0f;
	r.z = any && in.z ? ld(x, at.z) : 0.0f;
	r.w = any && in.w ? ld(x, at.w) : 0.0f;
	return r;
}

void NAME(put_image)(float4 x, int l, local mulv *to)
{
	local mul *t = (local mul *)to + l / LANES * TILE + l % LANES;
	mulv y = to_mul(x);
	t[0] = y.x;
	t[LANES] = y.y;
	t[2 * LANES] = y.z;
	t[3 * LANES] = y.w;
}

kernel GROUP(256) void NAME(tile)(global const real *restrict a, global const real *restrict b,
	global real *c, global const real *p0, global const real *p1, global const real *p2,
	global const real *p3, global float *parts, const struct gemm_args p)
{
	local mulv at[2][KB * TILE / 4], bt[2][KB * TILE / 4];
	int l = get_local_id(0), tx = l % 16, ty = l / 16;
	int split = get_group_id(2) % p.splits, z = get_group_id(2) / p.splits;
	int k_begin = split * p.k_chunk, k_end = min(k_begin + p.k_chunk, p.k);
	int n0 = get_group_id(0) * TILE, m0 = get_group_id(1) * TILE;
	int rows = p.m - m0, cols = p.n - n0;
	bool along_a = !p.a_packed && p.acs == 1, along_b = p.b_mode == B_STRIDED && p.brs == 1;
	float4 acc[RM][HV];
	a = AT(a, 0);
	b = AT(b, 1);
	c = AT(c, 2);
	a += row_offset(z, p.n_batch, p.batch, p.as);
	int bz = row_offset(z, p.n_batch, p.batch, p.bs);
	b = p.b_half ? (global const real *)((global const half *)b + bz) : b + bz;
	c += (size_t)z * p.m * p.n;
	if (!p.a_packed)
		a += m0 * p.ars;
	if (p.b_mode == B_STRIDED)
		b += n0 * p.bcs;
	bool aligned_a = is_aligned(a, p.ars, p.acs), aligned_b = is_aligned(b, p.brs, p.bcs);
	int4 n4 = n0 + l % LANES + (int4)(0, 1, 2, 3) * LANES, oh = n4 / p.ow;
	int4 y0 = n4 < p.n ? oh * p.sh - p.ph : -(1 << 20), x0 = (n4 - oh * p.ow) * p.sw - p.pw;
	struct tap tap[FETCH], step = {0, 0, 0};
	UNROLL for (int f = 0; f < FETCH; f++)
		tap[f] = step;
	if (p.b_mode == B_IMAGE) {
		UNROLL for (int f = 0; f < FETCH; f++)
			tap[f] = tap_of(k_begin + (l + f * ITEMS) / LANES, &p);
		step = tap_of(KB, &p);
	}
	UNROLL for (int i = 0; i < RM; i++)
		UNROLL for (int v = 0; v < HV; v++)
			acc[i][v] = (float4)(0.0f);
	for (int k0 = k_begin - KB, now = 0; k0 < k_end; k0 += KB, now ^= 1) {
		/* the part after this one; the first turn only fetches */
		int k1 = k0 + KB, left = k_end - k1;
		float4 na[FETCH], nb[FETCH];
		UNROLL for (int f = 0; f < FETCH && left > 0; f++) {
			int i = l + f * ITEMS;
			na[f] = p.a_packed ? NAME(take_packed)(a, i, false, p.k, m0, rows, k1, k_end)
				: NAME(take)(a + k1 * p.acs, i, along_a, p.ars, p.acs, rows, left,
					aligned_a);
			if (p.b_mode == B_IMAGE) {
				nb[f] = NAME(take_image)(b, &p, i / LANES < left, tap[f], y0, x0);
				tap[f] = tap_after(tap[f], step, &p);
			} else {
				nb[f] = p.b_mode == B_PACKED
					? NAME(take_packed)(b, i, p.b_half, p.k, n0, cols, k1, k_end)
					: NAME(take)(b + k1 * p.brs, i, along_b, p.bcs, p.brs, cols, left,
						aligned_b);
			}
		}
		if (k0 >= k_begin) {
			local const mulv *ar = at[now ^ 1] + ty, *br = bt[now ^ 1] + tx;
#if defined(HALF) && defined(cl_khr_fp16)
			/* in f16 over one part, in f32 over all */
			half4 part[RM][HV];
			UNROLL for (int i = 0; i < RM; i++)
				UNROLL for (int v = 0; v < HV; v++)
					part[i][v] = (half4)(0.0h);
#else
#define part acc
#endif
			UNROLL for (int k = 0; k < KB; k++) {
				mulv ak[HV], bk[HV];
				UNROLL for (int v = 0; v < HV; v++) {
					ak[v] = ar[k * (TILE / 4) + v * 16];
					bk[v] = br[k * (TILE / 4) + v * 16];
				}
				UNROLL for (int u = 0; u < HV; u++)
					UNROLL for (int v = 0; v < HV; v++) {
						part[u * 4][v] += ak[u].x * bk[v];
						part[u * 4 + 1][v] += ak[u].y * bk[v];
						part[u * 4 + 2][v] += ak[u].z * bk[v];
						part[u * 4 + 3][v] += ak[u].w * bk[v];
					}
			}
#if defined(HALF) && defined(cl_khr_fp16)
			UNROLL for (int i = 0; i < RM; i++)
				UNROLL for (int v = 0; v < HV; v++)
					acc[i][v] += convert_float4(part[i][v]);
#else
#undef part
#endif
		}
		UNROLL for (int f = 0; f < FETCH && left > 0; f++) {
			NAME(put)(na[f], l + f * ITEMS, along_a, at[now]);
			if (p.b_mode == B_IMAGE)
				NAME(put_image)(nb[f], l + f * ITEMS, bt[now]);
			else
				NAME(put)(nb[f], l + f * ITEMS, along_b, bt[now]);
		}
		barrier(CLK_LOCAL_MEM_FENCE);
	}
#if COUNTS
	if (p.splits > 1) {
		int tile = (z * get_num_groups(1) + get_group_id(1)) * get_num_groups(0)
			+ get_group_id(0);
		int pitch = (p.n + 3) / 4, part = p.m * pitch;
		global float4 *to = parts_of(AT(parts, 7)) + (size_t)z * p.splits * part;
		UNROLL for (int i = 0; i < RM; i++)
			UNROLL for (int v = 0; v < HV; v++) {
				int m = m0 + i / 4 * 64 + ty * 4 + i % 4, n = n0 + v * 64 + tx * 4;
				if (m < p.m && n < p.n)
					to[(size_t)split * part + m * pitch + n / 4] = acc[i][v];
			}
		if (!is_last(AT(parts, 7), tile, p.splits, (local int *)at))
			return;
		UNROLL for (int i = 0; i < RM; i++)
			UNROLL for (int v = 0; v < HV; v++)
				acc[i][v] = (float4)(0.0f);
		for (int j = 0; j < p.splits; j += AHEAD) {
			float4 t[AHEAD][RM][HV];
			UNROLL for (int u = 0; u < AHEAD; u++)
				UNROLL for (int i = 0; i < RM; i++)
					UNROLL for (int v = 0; v < HV; v++) {
						int m = m0 + i / 4 * 64 + ty * 4 + i % 4, n = n0 + v * 64 + tx * 4;
						t[u][i][v] = (float4)(0.0f);
						if (j + u < p.splits && m < p.m && n < p.n)
							t[u][i][v] = to[(size_t)(j + u) * part + m * pitch + n / 4];
					}
			UNROLL for (int u = 0; u < AHEAD; u++)
				UNROLL for (int i = 0; i < RM; i++)
					UNROLL for (int v = 0; v < HV; v++)
						acc[i][v] += t[u][i][v];
		}
	}
#endif
	struct sources all;
	sources_of(&all, p.at, AT(p0, 3), AT(p1, 4), AT(p2, 5), AT(p3, 6), z);
	/* the chain is long: a loop over a copy, so that the sums above stay in registers */
	float4 sum[RM / 4 * HV][4];
	UNROLL for (int i = 0; i < RM; i++)
		UNROLL for (int v = 0; v < HV; v++)
			sum[i / 4 * HV + v][i % 4] = acc[i][v];
	PLAIN for (int j = 0; j < RM / 4 * HV; j++) {
		int m = m0 + j / HV * 64 + ty * 4, n = n0 + j % HV * 64 + tx * 4;
		if (m >= p.m || n >= p.n)
			continue;
		struct sources s = row_of(&all, p.at, m);
		s.rows = min(4, p.m - m);
		chain_apply(sum[j], &p.chain, &s, n, p.n - n);
		UNROLL for (int r = 0; r < 4; r++)
			if (r < s.rows)
				store(sum[j][r], c + (size_t)(m + r) * p.n + n, p.n - n);
	}
}

#undef NAME
#undef FETCH
#undef RM
#undef KB
#undef LANES
#undef HV
#undef AHEAD
