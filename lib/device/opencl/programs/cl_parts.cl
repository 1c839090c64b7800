/* cl_parts.cl - the loop over parts of products, and the kernel, of tiles; behind cl_tile.cl and cl_mma.cl, once for
 * each size of tile.
 *
 * Of them are, for a part of KB products, which is SIZE_A and SIZE_B cells of local memory: take_*, WIDE
 * elements from global memory into registers, put_*, these into local memory (image: a convolution's), and
 * part_product. */

/* The sums of products k_begin to k_end - 1; mem: two parts of A and B. */
INLINE void NAME(multiply)(float4 acc[SUM_ROWS][SUM_COLUMNS], global const real *a, global const real *b,
	local cell *mem, int m0, int n0, int k_begin, int k_end, enum form fa, enum form fb,
	const struct gemm_args *p)
{
	int l = get_local_id(0);
	struct tap tap[FETCH], step = {0, 0, 0};
	columns y0, x0;
	if (fb == IMAGE) {
		columns n = n0 + NAME(columns_of)(l), oh = n / p->ow;
		y0 = n < p->n ? oh * p->sh - p->ph : -(1 << 20);
		x0 = (n - oh * p->ow) * p->sw - p->pw;
		UNROLL for (int f = 0; f < FETCH; f++)
			tap[f] = tap_of(k_begin + (l + f * ITEMS) / LANES, p);
		step = tap_of(KB, p);
	}
	for (int k0 = k_begin - KB, now = 0; k0 < k_end; k0 += KB, now ^= 1) {
		/* the part after this one; the first turn only fetches */
		int k1 = k0 + KB;
		fetched na[FETCH], nb[FETCH];
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
		if (k0 >= k_begin) {
			local const cell *from = mem + (now ^ 1) * (SIZE_A + SIZE_B);
			NAME(part_product)(acc, from, from + SIZE_A, fa, fb);
		}
		if (k1 < k_end)
			UNROLL for (int f = 0; f < FETCH; f++) {
				int i = l + f * ITEMS;
				local cell *to = mem + now * (SIZE_A + SIZE_B);
				NAME(put_a)(na[f], i, k1, k_end, fa, p, to);
				if (fb == IMAGE)
					NAME(put_image)(nb[f], i, to + SIZE_A);
				else
					NAME(put_b)(nb[f], i, k1, k_end, fb, p, to + SIZE_A);
			}
		barrier(CLK_LOCAL_MEM_FENCE);
	}
}

kernel GROUP(256) void PRODUCT(global const real *restrict a, global const real *restrict b,
	global real *c, global const real *p0, global const real *p1, global const real *p2,
	global const real *p3, global float *parts, const struct gemm_args p)
{
	local cell mem[2 * (SIZE_A + SIZE_B)];
	int zs = get_group_id(2), split = zs % p.splits, z = zs / p.splits;
	int k_begin = split * p.k_chunk, k_end = min(k_begin + p.k_chunk, p.k);
	int n0 = get_group_id(0) * TILE, m0 = get_group_id(1) * TILE;
	float4 acc[SUM_ROWS][SUM_COLUMNS];
	a = AT(a, 0);
	b = AT(b, 1);
	c = AT(c, 2);
	int az = row_offset(z, p.n_batch, p.batch, p.as), bz = row_offset(z, p.n_batch, p.batch, p.bs);
	a = p.a_packed ? PACKED_A(a, az) : a + az + m0 * p.ars;
	b = p.b_mode == B_PACKED ? PACKED_B(b, bz, &p) : b + bz;
	c += (size_t)z * p.m * p.n;
	if (p.b_mode == B_STRIDED)
		b += n0 * p.bcs;
	UNROLL for (int i = 0; i < SUM_ROWS; i++)
		UNROLL for (int v = 0; v < SUM_COLUMNS; v++)
			acc[i][v] = (float4)(0.0f);
	enum form fa = form_a(&p, is_aligned(a, p.ars, p.acs), WIDE);
	enum form fb = form_b(&p, is_aligned(b, p.brs, p.bcs));
#define MULTIPLY(x, y) NAME(multiply)(acc, a, b, mem, m0, n0, k_begin, k_end, x, y, &p)
#ifdef ONE_LOOP
	MULTIPLY(fa, fb);
#else
	if (fa == PACKED && fb == IMAGE)
		MULTIPLY(PACKED, IMAGE);
	else if (fa == PACKED && fb == VECTORS)
		MULTIPLY(PACKED, VECTORS);
	else if (fa == VECTORS && fb == PACKED)
		MULTIPLY(VECTORS, PACKED);
#ifndef BF16
	else if (fa == VECTORS && fb == PACKED_HALF)
		MULTIPLY(VECTORS, PACKED_HALF);
#endif
	else if (fb == IMAGE)
		MULTIPLY(ANY, IMAGE);
	else
		MULTIPLY(ANY, ANY);
#endif
#undef MULTIPLY
#ifdef WARPS_HAVE_SUMS
	float4 sum[RM][HV];
	NAME(share_sums)(acc, sum, (local float *)mem);
#else
#define sum acc
#endif
	NAME(tile_end)(sum, c, AT(p0, 3), AT(p1, 4), AT(p2, 5), AT(p3, 6), AT(parts, 7), z, split, m0, n0,
		(local int *)mem, &p);
}

#ifndef WARPS_HAVE_SUMS
#undef sum
#endif
#undef PRODUCT
#undef FETCH
#undef KB
#undef WIDE
#undef LANES
#undef SUM_ROWS
#undef SUM_COLUMNS
#undef SIZE_A
#undef SIZE_B
#undef WM
#undef WN
#undef PITCH_A
#undef PITCH_B
