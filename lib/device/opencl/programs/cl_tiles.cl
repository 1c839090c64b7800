/* cl_tiles.cl - what programs share that compute C in tiles: how an image is read as a matrix, and what becomes
 * of a tile's sums.  In front of such programs, which are there twice, with tiles of 128 and of 64.
 *
 * A work-group of 256 items has a tile of C, TILE rows by TILE columns.  In the end item l has RM rows by RM columns
 * of it: of each part of 64 by 64 the rows from l / 16 * 4 on, and the columns from l % 16 * 4 on.
 *
 * Between the loads of a part and their use lies the product of another, so that memory has time.  With branches
 * between loads NVIDIA's GPUs wait for each of them.  So the loop over parts is there once for each of the usual
 * pairs of forms (enum form), without any, and what lies beyond an operand's end is read from its last elements.
 * ONE_LOOP: once for all, for PoCL, which compiles so many loops for minutes.
 *
 * Where products are shared out (split-K), each group puts its sums into `parts`, and the last group of a
 * tile adds them up, in order, so that results are the same every time. */

#ifndef ITEMS
#define ITEMS 256

/* How an operand lies in memory: packed, packed as f16; in vectors along the products (A) or columns (B), all of
 * them aligned and whole; an image; or anything. */
enum form { PACKED, PACKED_HALF, VECTORS, IMAGE, ANY };

/* Do all vectors of a matrix with these strides, one of which is 1, lie at multiples of their size? */
bool is_aligned(global const real *x, int rs, int cs)
{
	return ((size_t)x & 15) == 0 && ((rs == 1 ? cs : rs) & 3) == 0;
}

/* Of A, from where row m0 is; products come in groups of `whole`. */
enum form form_a(const struct gemm_args *q, bool aligned, int whole)
{
	return q->a_packed ? PACKED : q->acs == 1 && aligned && q->k % whole == 0 ? VECTORS : ANY;
}

enum form form_b(const struct gemm_args *q, bool aligned)
{
	if (q->b_mode == B_STRIDED)
		return q->bcs == 1 && aligned && q->n % 4 == 0 ? VECTORS : ANY;
	if (q->b_mode == B_IMAGE)
		return IMAGE;
#ifdef BF16
	return PACKED;
#else
	return q->b_half ? PACKED_HALF : PACKED;
#endif
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

#undef NAME
#undef RM
#undef HV
#undef AHEAD
#if TILE == 128
#define NAME(x) x##_128
#else
#define NAME(x) x##_64
#endif
#define RM (TILE / 16)
#define HV (RM / 4)          /* vectors of four rows, and of four columns, of an item */
#define AHEAD (16 / (RM * HV)) /* parts of sums that are read at once */

/* acc: sums of this group; c: the result of batch z; flag: local memory that all items are done with. */
INLINE void NAME(tile_end)(float4 acc[RM][HV], global real *c, global const real *p0,
	global const real *p1, global const real *p2, global const real *p3, global void *parts, int z,
	int split, int m0, int n0, local int *flag, const struct gemm_args *p)
{
	int l = get_local_id(0), tx = l % 16, ty = l / 16;
#if COUNTS
	if (p->splits > 1) {
		int tile = (z * get_num_groups(1) + get_group_id(1)) * get_num_groups(0)
			+ get_group_id(0);
		int pitch = (p->n + 3) / 4, part = p->m * pitch;
		global float4 *to = parts_of(parts) + (size_t)z * p->splits * part;
		UNROLL for (int i = 0; i < RM; i++)
			UNROLL for (int v = 0; v < HV; v++) {
				int m = m0 + i / 4 * 64 + ty * 4 + i % 4, n = n0 + v * 64 + tx * 4;
				if (m < p->m && n < p->n)
					to[(size_t)split * part + m * pitch + n / 4] = acc[i][v];
			}
		if (!is_last(parts, tile, p->splits, flag))
			return;
		UNROLL for (int i = 0; i < RM; i++)
			UNROLL for (int v = 0; v < HV; v++)
				acc[i][v] = (float4)(0.0f);
		for (int j = 0; j < p->splits; j += AHEAD) {
			float4 t[AHEAD][RM][HV];
			UNROLL for (int u = 0; u < AHEAD; u++)
				UNROLL for (int i = 0; i < RM; i++)
					UNROLL for (int v = 0; v < HV; v++) {
						int m = m0 + i / 4 * 64 + ty * 4 + i % 4, n = n0 + v * 64 + tx * 4;
						t[u][i][v] = (float4)(0.0f);
						if (j + u < p->splits && m < p->m && n < p->n)
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
	sources_of(&all, p->at, p0, p1, p2, p3, z);
	/* the chain is long: a loop over a copy, so that the sums above stay in registers */
	float4 sum[RM / 4 * HV][4];
	UNROLL for (int i = 0; i < RM; i++)
		UNROLL for (int v = 0; v < HV; v++)
			sum[i / 4 * HV + v][i % 4] = acc[i][v];
	PLAIN for (int j = 0; j < RM / 4 * HV; j++) {
		int m = m0 + j / HV * 64 + ty * 4, n = n0 + j % HV * 64 + tx * 4;
		if (m >= p->m || n >= p->n)
			continue;
		struct sources s = row_of(&all, p->at, m);
		s.rows = min(4, p->m - m);
		chain_apply(sum[j], &p->chain, &s, n, p->n - n);
		UNROLL for (int r = 0; r < 4; r++)
			if (r < s.rows)
				store(sum[j][r], c + (size_t)(m + r) * p->n + n, p->n - n);
	}
}
