/* cl_tile.cl - matrix products, and convolutions as products, on a GPU.
 *
 * A work-group of 256 items computes a tile of C, TILE rows by TILE columns, each item
 * RM rows by RM columns in registers.  KB products at a time, tiles of A and B go
 * through local memory, which is there twice: while one part is multiplied, the next
 * is on its way in registers (FETCH times 4 elements of A and of B per item; with one, resnet50's small
 * convolutions wait for memory most of the time).  Vector number l of a part is fetched by item l % 256.
 *
 * Where there are fewer tiles than the device can work on at once, the products are shared out,
 * too (split-K): group z of batch z / splits sums those from k_chunk * (z % splits) on (cl_tiles.cl).
 *
 * Local memory is declared and read as vectors, and global memory where it is aligned: vload4 may be
 * four loads, as it asks for the alignment of an element alone.
 *
 * This text is compiled twice: tiles of 128 (RM 8, KB 8), and of 64 (RM 4, KB 32)
 * where large ones would leave units without work. */

#if TILE == 128 || defined(HALF) /* HALF: sums of one part are in f16 */
#define FETCH 1
#else
#define FETCH 2
#endif
#define KB (1024 * FETCH / TILE)
#define LANES (TILE / 4)
/* Where vector n of product k lies in local memory.  Items that write the same row's vectors along the products,
 * four apart, write to different banks where `spread` is 7; it is 0 where no vectors are along the products. */
#define PLACE(k, n, spread) ((k) * LANES + ((n) ^ ((k) / 4 & (spread))))

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

/* Four elements that are there, at a multiple of their size. */
float4 whole(global const real *x)
{
#ifdef HALF
	return vld(x);
#else
	return *(global const float4 *)x;
#endif
}

/* Four elements x[i * s], none from n on. */
float4 four(global const real *x, int s, int n)
{
	float4 t = (float4)(0.0f);
	t.x = n > 0 ? ld(x, 0) : 0.0f;
	t.y = n > 1 ? ld(x, s) : 0.0f;
	t.z = n > 2 ? ld(x, 2 * s) : 0.0f;
	t.w = n > 3 ? ld(x, 3 * s) : 0.0f;
	return t;
}

/* Is A's vector along the products? */
bool along_a(enum form form, const struct gemm_args *q)
{
	return form == VECTORS || (form == ANY && !q->a_packed && q->acs == 1);
}

bool along_b(enum form form, const struct gemm_args *q)
{
	return form == ANY && q->b_mode == B_STRIDED && q->brs == 1;
}
#endif

/* Vector l of a matrix of tile rows (of A rows, of B columns) and products: which row and product it begins with.
 * Neighbouring items are beside each other in memory: along the products, or along the rows. */
int2 NAME(place)(int l, bool along)
{
	return along ? (int2)(l / (KB / 4), l % (KB / 4) * 4) : (int2)(l % LANES * 4, l / LANES);
}

/* Four elements of a packed matrix, (rows / 64, depth, 64), from row r and product k on; of the last ones beyond
 * them. */
INLINE float4 NAME(take_packed)(global const real *x, bool is_half, int depth, int r, int rows, int k)
{
	r = min(r, (rows - 1) / 4 * 4);
	size_t at = (size_t)(r / 64 * 64) * depth + min(k, depth - 1) * 64 + r % 64;
	return is_half ? vload_half4(0, (global const half *)x + at) : whole(x + at);
}

INLINE float4 NAME(take_a)(global const real *a, int i, int m0, int k0, int end, enum form form,
	const struct gemm_args *q)
{
	bool along = along_a(form, q);
	int2 at = NAME(place)(i, along);
	int m = m0 + at.x, k = k0 + at.y;
	if (form == PACKED || (form == ANY && q->a_packed))
		return NAME(take_packed)(a, false, q->k, m, q->m, k);
	if (form == VECTORS)
		return whole(a + (min(m, q->m - 1) - m0) * q->ars + min(k, q->k - 4));
	if (along)
		return four(a + at.x * q->ars + k, 1, m < q->m ? end - k : 0);
	return four(a + at.x * q->ars + k * q->acs, q->ars, k < end ? q->m - m : 0);
}

INLINE float4 NAME(take_b)(global const real *b, int i, int n0, int k0, int end, enum form form,
	const struct gemm_args *q)
{
	bool along = along_b(form, q), packed = form == ANY && q->b_mode == B_PACKED;
	int2 at = NAME(place)(i, along);
	int n = n0 + at.x, k = k0 + at.y;
	if (form == PACKED || (packed && !q->b_half))
		return NAME(take_packed)(b, false, q->k, n, q->n, k);
	if (form == PACKED_HALF || packed)
		return NAME(take_packed)(b, true, q->k, n, q->n, k);
	if (form == VECTORS)
		return whole(b + min(k, q->k - 1) * q->brs + min(n, q->n - 4) - n0);
	if (along)
		return four(b + at.x * q->bcs + k, 1, n < q->n ? end - k : 0);
	return four(b + at.x * q->bcs + k * q->brs, q->bcs, k < end ? q->n - n : 0);
}

/* Vector i, none of it from product `end` on, into local memory. */
INLINE void NAME(put)(float4 x, int i, int k0, int end, bool along, int spread, local mulv *to)
{
	int2 at = NAME(place)(i, along);
	mulv y = to_mul(x);
	if (along) { /* four() and whole vectors: all of it is there, or nothing */
		local mul *t = (local mul *)(to + PLACE(at.y, at.x / 4, spread)) + at.x % 4;
		y = k0 + at.y < end ? y : (mulv)(0);
		t[0] = y.x;
		t[TILE] = y.y;
		t[2 * TILE] = y.z;
		t[3 * TILE] = y.w;
	} else {
		to[PLACE(at.y, at.x / 4, spread)] = k0 + at.y < end ? y : (mulv)(0);
	}
}

/* Columns l % LANES + LANES * i, i < 4, of an image for the product `tap`; none unless k < end. */
INLINE float4 NAME(take_image)(global const real *restrict x, const struct gemm_args *q, bool any,
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

INLINE void NAME(put_image)(float4 x, int l, local mulv *to)
{
	local mul *t = (local mul *)to + l / LANES * TILE + l % LANES;
	mulv y = to_mul(x);
	t[0] = y.x;
	t[LANES] = y.y;
	t[2 * LANES] = y.z;
	t[3 * LANES] = y.w;
}

/* The products of a part: at and bt (KB, TILE), see PLACE. */
INLINE void NAME(part_product)(float4 acc[RM][HV], local const mulv *at, local const mulv *bt, int spread_a,
	int spread_b)
{
	int ty = get_local_id(0) / 16, tx = get_local_id(0) % 16;
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
			ak[v] = at[PLACE(k, v * 16 + ty, spread_a)];
			bk[v] = bt[PLACE(k, v * 16 + tx, spread_b)];
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

/* The sums of products k_begin to k_end - 1; at and bt: two parts each. */
INLINE void NAME(multiply)(float4 acc[RM][HV], global const real *a, global const real *b, local mulv *at,
	local mulv *bt, int m0, int n0, int k_begin, int k_end, enum form fa, enum form fb,
	const struct gemm_args *p)
{
	int l = get_local_id(0), spread_a = fa == VECTORS || fa == ANY ? 7 : 0, spread_b = fb == ANY ? 7 : 0;
	struct tap tap[FETCH], step = {0, 0, 0};
	int4 y0, x0;
	if (fb == IMAGE) {
		int4 n = n0 + l % LANES + (int4)(0, 1, 2, 3) * LANES, oh = n / p->ow;
		y0 = n < p->n ? oh * p->sh - p->ph : -(1 << 20);
		x0 = (n - oh * p->ow) * p->sw - p->pw;
		UNROLL for (int f = 0; f < FETCH; f++)
			tap[f] = tap_of(k_begin + (l + f * ITEMS) / LANES, p);
		step = tap_of(KB, p);
	}
	for (int k0 = k_begin - KB, now = 0; k0 < k_end; k0 += KB, now ^= 1) {
		/* the part after this one; the first turn only fetches */
		int k1 = k0 + KB;
		float4 na[FETCH], nb[FETCH];
		if (k1 < k_end)
			UNROLL for (int f = 0; f < FETCH; f++) {
				int i = l + f * ITEMS;
				na[f] = NAME(take_a)(a, i, m0, k1, k_end, fa, p);
				if (fb == IMAGE) {
					nb[f] = NAME(take_image)(b, p, k1 + i / LANES < k_end, tap[f], y0, x0);
					tap[f] = tap_after(tap[f], step, p);
				} else {
					nb[f] = NAME(take_b)(b, i, n0, k1, k_end, fb, p);
				}
			}
		if (k0 >= k_begin)
			NAME(part_product)(acc, at + (now ^ 1) * (KB * LANES), bt + (now ^ 1) * (KB * LANES),
				spread_a, spread_b);
		if (k1 < k_end)
			UNROLL for (int f = 0; f < FETCH; f++) {
				int i = l + f * ITEMS;
				NAME(put)(na[f], i, k1, k_end, along_a(fa, p), spread_a, at + now * (KB * LANES));
				if (fb == IMAGE)
					NAME(put_image)(nb[f], i, bt + now * (KB * LANES));
				else
					NAME(put)(nb[f], i, k1, k_end, along_b(fb, p), spread_b,
						bt + now * (KB * LANES));
			}
		barrier(CLK_LOCAL_MEM_FENCE);
	}
}

kernel GROUP(256) void NAME(tile)(global const real *restrict a, global const real *restrict b,
	global real *c, global const real *p0, global const real *p1, global const real *p2,
	global const real *p3, global float *parts, const struct gemm_args p)
{
	local mulv at[2 * KB * LANES], bt[2 * KB * LANES];
	int zs = get_group_id(2), split = zs % p.splits, z = zs / p.splits;
	int k_begin = split * p.k_chunk, k_end = min(k_begin + p.k_chunk, p.k);
	int n0 = get_group_id(0) * TILE, m0 = get_group_id(1) * TILE;
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
	UNROLL for (int i = 0; i < RM; i++)
		UNROLL for (int v = 0; v < HV; v++)
			acc[i][v] = (float4)(0.0f);
	enum form fa = form_a(&p, is_aligned(a, p.ars, p.acs), 4);
	enum form fb = form_b(&p, is_aligned(b, p.brs, p.bcs));
#define MULTIPLY(x, y) NAME(multiply)(acc, a, b, at, bt, m0, n0, k_begin, k_end, x, y, &p)
#ifdef ONE_LOOP
	MULTIPLY(fa, fb);
#else
	if (fa == PACKED && fb == IMAGE)
		MULTIPLY(PACKED, IMAGE);
	else if (fa == PACKED && fb == VECTORS)
		MULTIPLY(PACKED, VECTORS);
	else if (fa == VECTORS && fb == PACKED)
		MULTIPLY(VECTORS, PACKED);
	else if (fa == VECTORS && fb == PACKED_HALF)
		MULTIPLY(VECTORS, PACKED_HALF);
	else if (fb == IMAGE)
		MULTIPLY(ANY, IMAGE);
	else
		MULTIPLY(ANY, ANY);
#endif
#undef MULTIPLY
	NAME(tile_end)(acc, c, AT(p0, 3), AT(p1, 4), AT(p2, 5), AT(p3, 6), AT(parts, 7), z, split, m0, n0,
		(local int *)at, &p);
}

#undef FETCH
#undef KB
#undef LANES
#undef PLACE
