/* cl_mma.cl - matrix products, and convolutions as products, in bf16 on the matrix units of an NVIDIA GPU (from
 * compute capability 8.0 on): both operands are rounded to bf16, sums are f32.
 *
 * A work-group of 256 items computes a tile of C, TILE rows by TILE columns.  KB products at a time, A and B go
 * through local memory as bf16, which is there twice: while one part is multiplied, the next is on its way in
 * registers.  A lies there by rows, whose products are contiguous, and B by products, whose columns are; rows
 * have 8 elements more, so that eight of them are in different banks.
 *
 * What is f32 in memory is rounded on its way to local memory; item l fetches eight elements number l % 256 of a
 * part, FETCH times.  Packed operands are bf16 in memory: A as (ceil(k / 32), m, 32), B as (ceil(n / 64), k, 64),
 * padded with zeros.
 *
 * The eight warps of a group have parts of WM by WN of the tile, two below each other.  The instructions are PTX
 * (ldmatrix, mma.sync m16n8k16), which OpenCL C has no name for.  BF16_PLAIN, for tests: the same sums by each item
 * itself, on any device. */

#define PRODUCT NAME(mma)
#define KB (4096 / TILE)
#define FETCH 2
#define WM (TILE / 2)
#define WN (TILE / 4)
#define SUM_ROWS (WM / 16)    /* 16 by 8 sums of a warp are one instruction's: SUM_ROWS by SUM_COLUMNS */
#define SUM_COLUMNS (WN / 8)
#define WIDE 8
#define LANES (TILE / WIDE)
#define PITCH_A (KB + 8)
#define PITCH_B (TILE + 8)
#define SIZE_A (TILE * PITCH_A / 8) /* in vectors of eight elements */
#define SIZE_B (KB * PITCH_B / 8)

#ifndef MMA
#define MMA
#define PITCH_C 68            /* of 64 by 64 sums on their way through local memory, as large as parts */
#define WARPS_HAVE_SUMS
typedef uint4 cell;
typedef float8 fetched;
typedef int8 columns;
#define PACKED_A(a, at) ((global const float *)((global const ushort *)(a) + (at)))
#define PACKED_B(b, at, q) PACKED_A(b, at)
#ifndef BF16_PLAIN
/* x and y as bf16, x in the lower half. */
uint pair_of(float x, float y)
{
	uint r;
	__asm__("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x));
	return r;
}

/* Four matrices of 8 by 8 elements, a row at the address that each item has. */
INLINE uint4 fragments(uint at)
{
	uint a, b, c, d;
	__asm__ volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		: "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at) : "memory");
	return (uint4)(a, b, c, d);
}

INLINE uint4 fragments_transposed(uint at)
{
	uint a, b, c, d;
	__asm__ volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
		: "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at) : "memory");
	return (uint4)(a, b, c, d);
}

/* c + a b: 16 by 8 sums of 16 products. */
INLINE float4 product_of(float4 c, uint4 a, uint2 b)
{
	float x = c.x, y = c.y, z = c.z, w = c.w;
	__asm__("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
		"{%8, %9}, {%0, %1, %2, %3};"
		: "+f"(x), "+f"(y), "+f"(z), "+f"(w)
		: "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));
	return (float4)(x, y, z, w);
}
#else
uint pair_of(float x, float y)
{
	return to_bf16(x) | (uint)to_bf16(y) << 16;
}

float of_bf16(local const ushort *x)
{
	return as_float((uint)*x << 16);
}
#endif

uint4 eight_of(float8 x)
{
	return (uint4)(pair_of(x.s0, x.s1), pair_of(x.s2, x.s3), pair_of(x.s4, x.s5), pair_of(x.s6, x.s7));
}

/* Eight elements x[i * s], none from n on. */
float8 eight(global const float *x, int s, int n)
{
	float8 t = (float8)(0.0f);
	t.s0 = n > 0 ? x[0] : 0.0f;
	t.s1 = n > 1 ? x[s] : 0.0f;
	t.s2 = n > 2 ? x[2 * s] : 0.0f;
	t.s3 = n > 3 ? x[3 * s] : 0.0f;
	t.s4 = n > 4 ? x[4 * s] : 0.0f;
	t.s5 = n > 5 ? x[5 * s] : 0.0f;
	t.s6 = n > 6 ? x[6 * s] : 0.0f;
	t.s7 = n > 7 ? x[7 * s] : 0.0f;
	return t;
}
#endif

/* ---- A: products k to k + 7 of row r ---- */

/* Neighbouring items are beside each other in memory: along the products, or along the rows. */
int2 NAME(place_a)(int i, bool along)
{
	return along ? (int2)(i / (KB / 8), i % (KB / 8) * 8) : (int2)(i % TILE, i / TILE * 8);
}

INLINE float8 NAME(take_a)(global const float *a, int i, int m0, int k0, int end, enum form form,
	const struct gemm_args *q)
{
	bool along = form != ANY || q->a_packed || q->acs == 1;
	int2 at = NAME(place_a)(i, along);
	int m = min(m0 + at.x, q->m - 1), k = k0 + at.y;
	float8 t = (float8)(0.0f);
	if (form == PACKED || (form == ANY && q->a_packed)) {
		k = min(k, (q->k - 1) / 8 * 8);
		t.lo = as_float4(*(global const uint4 *)((global const ushort *)a
			+ ((size_t)(k / 32) * q->m + m) * 32 + k % 32));
	} else if (form == VECTORS) {
		global const float4 *x = (global const float4 *)(a + (m - m0) * q->ars + min(k, q->k - 8));
		t.lo = x[0];
		t.hi = x[1];
	} else {
		t = eight(a + (m - m0) * q->ars + k * q->acs, q->acs, end - k);
	}
	return t;
}

INLINE void NAME(put_a)(float8 x, int i, int k0, int end, enum form form, const struct gemm_args *q, local uint4 *part)
{
	local ushort *to = (local ushort *)part;
	bool along = form != ANY || q->a_packed || q->acs == 1;
	int2 at = NAME(place_a)(i, along);
	uint4 y = form == PACKED || (form == ANY && q->a_packed) ? as_uint4(x.lo) : eight_of(x);
	*(local uint4 *)(to + at.x * PITCH_A + at.y) = k0 + at.y < end ? y : (uint4)(0);
}

/* ---- B: columns n to n + 7 of product k; where products are contiguous, products k to k + 7 of column n ---- */

int2 NAME(place_b)(int i, bool along)
{
	return along ? (int2)(i / (KB / 8), i % (KB / 8) * 8) : (int2)(i % LANES * 8, i / LANES);
}

INLINE float8 NAME(take_b)(global const float *b, int i, int n0, int k0, int end, enum form form,
	const struct gemm_args *q)
{
	bool packed = form == PACKED || (form == ANY && q->b_mode == B_PACKED);
	bool along = form == ANY && !packed && q->brs == 1;
	int2 at = NAME(place_b)(i, along);
	int n = n0 + at.x, k = k0 + at.y;
	float8 t = (float8)(0.0f);
	if (packed) {
		n = min(n, (q->n - 1) / 8 * 8);
		t.lo = as_float4(*(global const uint4 *)((global const ushort *)b
			+ ((size_t)(n / 64) * q->k + min(k, q->k - 1)) * 64 + n % 64));
	} else if (form == VECTORS) {
		global const float *x = b + min(k, q->k - 1) * q->brs - n0;
		t.lo = *(global const float4 *)(x + min(n, q->n - 4));
		t.hi = *(global const float4 *)(x + min(n + 4, q->n - 4));
	} else if (along) {
		t = eight(b + at.x * q->bcs + k, 1, n < q->n ? end - k : 0);
	} else {
		t = eight(b + at.x * q->bcs + k * q->brs, q->bcs, k < end ? q->n - n : 0);
	}
	return t;
}

INLINE void NAME(put_b)(float8 x, int i, int k0, int end, enum form form, const struct gemm_args *q, local uint4 *part)
{
	local ushort *to = (local ushort *)part;
	bool packed = form == PACKED || (form == ANY && q->b_mode == B_PACKED);
	bool along = form == ANY && !packed && q->brs == 1;
	int2 at = NAME(place_b)(i, along);
	uint4 y = packed ? as_uint4(x.lo) : eight_of(x);
	if (along) {
		local ushort *t = to + at.y * PITCH_B + at.x;
		ushort8 z = as_ushort8(y);
		t[0] = z.s0;
		t[PITCH_B] = z.s1;
		t[2 * PITCH_B] = z.s2;
		t[3 * PITCH_B] = z.s3;
		t[4 * PITCH_B] = z.s4;
		t[5 * PITCH_B] = z.s5;
		t[6 * PITCH_B] = z.s6;
		t[7 * PITCH_B] = z.s7;
	} else {
		*(local uint4 *)(to + at.y * PITCH_B + at.x) = k0 + at.y < end ? y : (uint4)(0);
	}
}

/* Of an image an item has pairs of columns, TILE / 4 from pair to pair. */
INLINE int8 NAME(columns_of)(int l)
{
	return l % LANES * 2 + (int8)(0, 1, 0, 1, 0, 1, 0, 1) + (int8)(0, 0, 1, 1, 2, 2, 3, 3) * (TILE / 4);
}

INLINE float8 NAME(take_image)(global const float *restrict x, const struct gemm_args *q, bool any, struct tap tap,
	int8 y0, int8 x0)
{
	int8 y = y0 + tap.y * q->dh, w = x0 + tap.x * q->dw;
	int8 at = (tap.c * q->h + y) * q->w + w;
	int8 in = y >= 0 && y < q->h && w >= 0 && w < q->w;
	float8 r;
	r.s0 = any && in.s0 ? x[at.s0] : 0.0f;
	r.s1 = any && in.s1 ? x[at.s1] : 0.0f;
	r.s2 = any && in.s2 ? x[at.s2] : 0.0f;
	r.s3 = any && in.s3 ? x[at.s3] : 0.0f;
	r.s4 = any && in.s4 ? x[at.s4] : 0.0f;
	r.s5 = any && in.s5 ? x[at.s5] : 0.0f;
	r.s6 = any && in.s6 ? x[at.s6] : 0.0f;
	r.s7 = any && in.s7 ? x[at.s7] : 0.0f;
	return r;
}

INLINE void NAME(put_image)(float8 x, int i, local uint4 *part)
{
	local uint *t = (local uint *)((local ushort *)part + i / LANES * PITCH_B) + i % LANES;
	uint4 y = eight_of(x);
	t[0] = y.x;
	t[LANES] = y.y;
	t[2 * LANES] = y.z;
	t[3 * LANES] = y.w;
}

/* ---- products ---- */

/* KB products of this warp's part.  Item i of a warp has of each 16 by 8 sums (i / 4, i % 4 * 2), the next in the row,
 * and the two eight rows below. */
INLINE void NAME(part_product)(float4 acc[SUM_ROWS][SUM_COLUMNS], local const uint4 *part_a, local const uint4 *part_b,
	enum form fa, enum form fb)
{
	local const ushort *a = (local const ushort *)part_a, *b = (local const ushort *)part_b;
	int i = get_local_id(0) % 32, warp = get_local_id(0) / 32;
#ifdef BF16_PLAIN
	a += (warp % 2 * WM + i / 4) * PITCH_A;
	b += warp / 2 * WN + i % 4 * 2;
	for (int k = 0; k < KB; k++)
		UNROLL for (int u = 0; u < SUM_ROWS; u++) {
			float a0 = of_bf16(a + u * 16 * PITCH_A + k), a8 = of_bf16(a + (u * 16 + 8) * PITCH_A + k);
			UNROLL for (int v = 0; v < SUM_COLUMNS; v++) {
				float b0 = of_bf16(b + k * PITCH_B + v * 8), b1 = of_bf16(b + k * PITCH_B + v * 8 + 1);
				acc[u][v] += (float4)(a0 * b0, a0 * b1, a8 * b0, a8 * b1);
			}
		}
#else
	uint from_a = (uint)(size_t)(a + (warp % 2 * WM + i % 16) * PITCH_A + i / 16 * 8);
	uint from_b = (uint)(size_t)(b + i % 16 * PITCH_B + warp / 2 * WN + i / 16 * 8);
	UNROLL for (int k = 0; k < KB; k += 16) {
		uint4 fb[SUM_COLUMNS / 2];
		UNROLL for (int v = 0; v < SUM_COLUMNS / 2; v++)
			fb[v] = fragments_transposed(from_b + 2 * (k * PITCH_B + v * 16));
		UNROLL for (int u = 0; u < SUM_ROWS; u++) {
			uint4 fa = fragments(from_a + 2 * (u * 16 * PITCH_A + k));
			UNROLL for (int v = 0; v < SUM_COLUMNS / 2; v++) {
				acc[u][2 * v] = product_of(acc[u][2 * v], fa, fb[v].xy);
				acc[u][2 * v + 1] = product_of(acc[u][2 * v + 1], fa, fb[v].zw);
			}
		}
	}
#endif
}

/* From what warps have to what items have in cl_tiles.cl, through local memory. */
INLINE void NAME(share_sums)(float4 acc[SUM_ROWS][SUM_COLUMNS], float4 sum[RM][HV], local float *c)
{
	int l = get_local_id(0), i = l % 32, warp = l / 32, m = warp % 2 * WM, n = warp / 2 * WN;
	local float *mine = c + (m % 64 + i / 4) * PITCH_C + n % 64 + i % 4 * 2;
	UNROLL for (int j = 0; j < HV; j++)
		UNROLL for (int h = 0; h < HV; h++) {
			if (m / 64 == j && n / 64 == h)
				UNROLL for (int u = 0; u < SUM_ROWS; u++)
					UNROLL for (int v = 0; v < SUM_COLUMNS; v++) {
						local float *t = mine + u * 16 * PITCH_C + v * 8;
						*(local float2 *)t = acc[u][v].xy;
						*(local float2 *)(t + 8 * PITCH_C) = acc[u][v].zw;
					}
			barrier(CLK_LOCAL_MEM_FENCE);
			UNROLL for (int r = 0; r < 4; r++)
				sum[j * 4 + r][h] = *(local float4 *)(c + (l / 16 * 4 + r) * PITCH_C + l % 16 * 4);
			barrier(CLK_LOCAL_MEM_FENCE);
		}
}
