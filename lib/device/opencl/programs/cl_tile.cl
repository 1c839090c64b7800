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
#define PRODUCT NAME(tile)
#define KB (1024 * FETCH / TILE)
#define WIDE 4
#define LANES (TILE / WIDE)
#define SUM_ROWS RM
#define SUM_COLUMNS HV
#define SIZE_A (KB * LANES)
#define SIZE_B (KB * LANES)
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
typedef mulv cell;
typedef float4 fetched;
typedef int4 columns;
#define PACKED_A(a, at) ((a) + (at))
#define PACKED_B(b, at, q) ((q)->b_half ? (global const real *)((global const half *)(b) + (at)) : (b) + (at))

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

int spread_a(enum form form)
{
	return form == VECTORS || form == ANY ? 7 : 0;
}

int spread_b(enum form form)
{
	return form == ANY ? 7 : 0;
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

INLINE void NAME(put_a)(float4 x, int i, int k0, int end, enum form form, const struct gemm_args *q, local mulv *to)
{
	NAME(put)(x, i, k0, end, along_a(form, q), spread_a(form), to);
}

INLINE void NAME(put_b)(float4 x, int i, int k0, int end, enum form form, const struct gemm_args *q, local mulv *to)
{
	NAME(put)(x, i, k0, end, along_b(form, q), spread_b(form), to);
}

/* Of an image an item has four columns, LANES apart. */
INLINE int4 NAME(columns_of)(int l)
{
	return l % LANES + (int4)(0, 1, 2, 3) * LANES;
}

/* Those columns for the product `tap`; `any`: is there one? */
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
INLINE void NAME(part_product)(float4 acc[RM][HV], local const mulv *at, local const mulv *bt, enum form fa,
	enum form fb)
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
			ak[v] = at[PLACE(k, v * 16 + ty, spread_a(fa))];
			bk[v] = bt[PLACE(k, v * 16 + tx, spread_b(fb))];
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

#undef PLACE
