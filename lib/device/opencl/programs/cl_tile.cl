/* cl_tile.cl - matrix products, and convolutions as products, on a GPU.
 *
 * A work-group of 256 items computes a tile of C, TILE rows by TILE columns, each item
 * RM rows by RM columns in registers.  KB products at a time, tiles of A and B go
 * through local memory, which is there twice: while one part is multiplied, the next
 * is on its way in registers (4 elements of A and of B per item).
 *
 * This text is compiled twice: tiles of 128 (RM 8, KB 8), and of 64 (RM 4, KB 16)
 * where large ones would leave units without work. */

#if TILE == 128
#define NAME(x) x##_128
#else
#define NAME(x) x##_64
#endif
#define RM (TILE / 16)
#define KB (1024 / TILE)
#define LANES (TILE / 4)
#define HV (RM / 4)          /* vectors of four rows, and of four columns, of an item */

#ifndef MUL
#define MUL
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

/* Four elements x[i * s], none from n on. */
float4 four(global const real *x, int s, int n)
{
	if (s == 1 && n >= 4)
		return vld(x);
	float4 t = (float4)(0.0f);
	t.x = n > 0 ? ld(x, 0) : 0.0f;
	t.y = n > 1 ? ld(x, s) : 0.0f;
	t.z = n > 2 ? ld(x, 2 * s) : 0.0f;
	t.w = n > 3 ? ld(x, 3 * s) : 0.0f;
	return t;
}
#endif

/* Four elements of a matrix X whose rows are tile rows and whose columns are products: along the
 * products where they are contiguous (`along`), else along the rows. */
float4 NAME(take)(global const real *x, bool along, int rs, int cs, int rows, int cols)
{
	int l = get_local_id(0), r, k;
	if (along) {
		r = l / (KB / 4);
		k = l % (KB / 4) * 4;
		return four(x + r * rs + k * cs, cs, r < rows ? cols - k : 0);
	}
	k = l / LANES;
	r = l % LANES * 4;
	return four(x + r * rs + k * cs, rs, k < cols ? rows - r : 0);
}

/* The same of a packed matrix, (rows / 64, depth, 64), of reals or of f16; from row r0 and
 * product k0 on. */
float4 NAME(take_packed)(global const real *x, bool is_half, int depth, int r0, int rows, int k0)
{
	int l = get_local_id(0), k = k0 + l / LANES, r = l % LANES * 4;
	size_t at = (size_t)(r0 + r / 64 * 64) * depth + k * 64 + r % 64;
	if (k >= depth || r / 64 * 64 >= rows)
		return (float4)(0.0f);
	return is_half ? vload_half4(0, (global const half *)x + at) : vld(x + at);
}

void NAME(put)(float4 x, bool along, local mul *t)
{
	int l = get_local_id(0);
	mulv y = to_mul(x);
	if (along) {
		int r = l / (KB / 4), k = l % (KB / 4) * 4;
		t[k * TILE + r] = y.x;
		t[(k + 1) * TILE + r] = y.y;
		t[(k + 2) * TILE + r] = y.z;
		t[(k + 3) * TILE + r] = y.w;
	} else {
		vstore4(y, 0, t + l * 4);
	}
}

/* Columns l % LANES + LANES * i, i < 4, of product k0 + l / LANES of an image. */
float4 NAME(take_image)(global const real *restrict x, const struct gemm_args *q, int k0,
	int4 y0, int4 x0)
{
	int k = k0 + (int)get_local_id(0) / LANES, t = k / q->kw, c = t / q->kh;
	int4 y = y0 + (t - c * q->kh) * q->dh, w = x0 + (k - t * q->kw) * q->dw;
	int4 at = (c * q->h + y) * q->w + w;
	int4 in = k < q->k && y >= 0 && y < q->h && w >= 0 && w < q->w;
	float4 r;
	r.x = in.x ? ld(x, at.x) : 0.0f;
	r.y = in.y ? ld(x, at.y) : 0.0f;
	r.z = in.z ? ld(x, at.z) : 0.0f;
	r.w = in.w ? ld(x, at.w) : 0.0f;
	return r;
}

void NAME(put_image)(float4 x, local mul *t)
{
	int l = get_local_id(0);
	mulv y = to_mul(x);
	t += l / LANES * TILE + l % LANES;
	t[0] = y.x;
	t[LANES] = y.y;
	t[2 * LANES] = y.z;
	t[3 * LANES] = y.w;
}

kernel GROUP(256) void NAME(tile)(global const real *restrict a, global const real *restrict b,
	global real *c, global const real *p0, global const real *p1, global const real *p2,
	global const real *p3, const struct gemm_args p)
{
	local mul at[2][KB * TILE], bt[2][KB * TILE];
	int l = get_local_id(0), tx = l % 16, ty = l / 16, z = get_group_id(2);
	int n0 = get_group_id(0) * TILE, m0 = get_group_id(1) * TILE;
	int rows = p.m - m0, cols = p.n - n0;
	bool along_a = !p.a_packed && p.acs == 1, along_b = p.b_mode == B_STRIDED && p.brs == 1;
	float4 acc[RM][HV];
	a += row_offset(z, p.n_batch, p.batch, p.as);
	int bz = row_offset(z, p.n_batch, p.batch, p.bs);
	b = p.b_half ? (global const real *)((global const half *)b + bz) : b + bz;
	c += (size_t)z * p.m * p.n;
	if (!p.a_packed)
		a += m0 * p.ars;
	if (p.b_mode == B_STRIDED)
		b += n0 * p.bcs;
	int4 n4 = n0 + l % LANES + (int4)(0, 1, 2, 3) * LANES, oh = n4 / p.ow;
	int4 y0 = n4 < p.n ? oh * p.sh - p.ph : -(1 << 20), x0 = (n4 - oh * p.ow) * p.sw - p.pw;
	UNROLL for (int i = 0; i < RM; i++)
		UNROLL for (int v = 0; v < HV; v++)
			acc[i][v] = (float4)(0.0f);
	for (int k0 = -KB, now = 0; k0 < p.k; k0 += KB, now ^= 1) {
		/* the part after this one; the first turn only fetches */
		int k1 = k0 + KB, left = p.k - k1;
		float4 na, nb;
		if (left > 0) {
			na = p.a_packed ? NAME(take_packed)(a, false, p.k, m0, rows, k1)
				: NAME(take)(a + k1 * p.acs, along_a, p.ars, p.acs, rows, left);
			nb = p.b_mode == B_IMAGE ? NAME(take_image)(b, &p, k1, y0, x0)
				: p.b_mode == B_PACKED
				? NAME(take_packed)(b, p.b_half, p.k, n0, cols, k1)
				: NAME(take)(b + k1 * p.brs, along_b, p.bcs, p.brs, cols, left);
		}
		if (k0 >= 0) {
			local const mul *ar = at[now ^ 1] + ty * 4, *br = bt[now ^ 1] + tx * 4;
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
				mul ak[RM];
				mulv bk[HV];
				UNROLL for (int v = 0; v < HV; v++) {
					vstore4(vload4(0, ar + k * TILE + v * 64), v, ak);
					bk[v] = vload4(0, br + k * TILE + v * 64);
				}
				UNROLL for (int i = 0; i < RM; i++)
					UNROLL for (int v = 0; v < HV; v++)
						part[i][v] += ak[i] * bk[v];
			}
#if defined(HALF) && defined(cl_khr_fp16)
			UNROLL for (int i = 0; i < RM; i++)
				UNROLL for (int v = 0; v < HV; v++)
					acc[i][v] += convert_float4(part[i][v]);
#else
#undef part
#endif
		}
		if (left > 0) {
			NAME(put)(na, along_a, at[now]);
			if (p.b_mode == B_IMAGE)
				NAME(put_image)(nb, bt[now]);
			else
				NAME(put)(nb, along_b, bt[now]);
		}
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	struct sources all;
	sources_of(&all, p.at, p0, p1, p2, p3, z);
	/* not unrolled, in spite of the registers: the chain is long */
	PLAIN for (int i = 0; i < RM; i++)
		PLAIN for (int v = 0; v < HV; v++) {
			int m = m0 + i / 4 * 64 + ty * 4 + i % 4, n = n0 + v * 64 + tx * 4;
			struct sources s = row_of(&all, p.at, m);
			if (m >= p.m || n >= p.n)
				continue;
			chain_apply(&acc[i][v], &p.chain, &s, n, p.n - n);
			store(acc[i][v], c + (size_t)m * p.n + n, p.n - n);
		}
}

#undef NAME
#undef RM
#undef KB
#undef LANES
#undef HV
