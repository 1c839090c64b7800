/* cl_gemm.cl - matrix products, and convolutions as products.
 *
 * A work-group computes a tile of C that is NR columns wide.  It brings tiles
 * of A and B into local memory, in the packed form of gemm_args, from wherever
 * they are: packed before, strided, or an image seen through a window; then it
 * multiplies them out of registers.
 *
 * On a CPU (LS = 1) the work-item goes down its m_chunk rows, MR at a time,
 * with NV vectors per row in registers, KC products at a time.  On a GPU
 * (LS = 256) a tile is MR = 64 by NR = 64, and each work-item has 4 by 4. */

/* at[k][r] = A[m0 + r][k0 + k], r < MR */
void fetch_a(global const float *restrict a, const struct gemm_args *p, int m0, int k0, int kc,
	local float *at)
{
	int l = get_local_id(0);
	if (p->a_packed) {
		a += (size_t)m0 * p->k + (size_t)k0 * MR;
		for (int i = l; i < kc * MR; i += GEMM_LS)
			at[i] = a[i];
#if LS == 1
	} else if (p->acs == 1) {
		for (int r = 0; r < MR; r++) {
			global const float *row = a + (m0 + r) * p->ars + k0;
			PLAIN for (int k = 0; k < kc; k++)
				at[k * MR + r] = m0 + r < p->m ? row[k] : 0.0f;
		}
#else
	} else if (p->acs == 1) {
		for (int i = l; i < kc * MR; i += GEMM_LS) {
			int r = i / kc, k = i - r * kc;
			at[k * MR + r] = m0 + r < p->m ? a[(m0 + r) * p->ars + k0 + k] : 0.0f;
		}
#endif
	} else {
		PLAIN for (int i = l; i < kc * MR; i += GEMM_LS) {
			int k = i / MR, r = i % MR;
			at[i] = m0 + r < p->m ? a[(m0 + r) * p->ars + (k0 + k) * p->acs] : 0.0f;
		}
	}
}

/* bt[k][j] = B[k0 + k][n0 + j], j < NR */
void fetch_b(global const float *restrict b, const struct gemm_args *p, int n0, int k0, int kc,
	local float *bt)
{
	int l = get_local_id(0);
	if (p->b_mode == B_PACKED && p->b_half) {
		global const half *h = (global const half *)b + (size_t)n0 * p->k + (size_t)k0 * NR;
#if LS == 1
		for (int i = 0; i < kc * NR; i += VW)
			VSTORE(VLOAD_HALF(0, h + i), 0, bt + i);
#else
		for (int i = l; i < kc * NR; i += GEMM_LS)
			bt[i] = vload_half(i, h);
#endif
	} else if (p->b_mode == B_PACKED) {
		b += (size_t)n0 * p->k + (size_t)k0 * NR;
#if LS == 1
		for (int i = 0; i < kc * NR; i += VW)
			VSTORE(VLOAD(0, b + i), 0, bt + i);
#else
		for (int i = l; i < kc * NR; i += GEMM_LS)
			bt[i] = b[i];
#endif
	} else if (p->brs == 1) {
		PLAIN for (int i = l; i < kc * NR; i += GEMM_LS) {
			int j = i / kc, k = i - j * kc;
			bt[k * NR + j] = n0 + j < p->n ? b[k0 + k + (n0 + j) * p->bcs] : 0.0f;
		}
	} else {
#if LS == 1
		if (p->bcs == 1 && n0 + NR <= p->n) {
			for (int k = 0; k < kc; k++)
				for (int j = 0; j < NR; j += VW)
					VSTORE(VLOAD(0, b + (k0 + k) * p->brs + n0 + j), 0,
						bt + k * NR + j);
			return;
		}
#endif
		PLAIN for (int i = l; i < kc * NR; i += GEMM_LS) {
			int k = i / NR, j = i % NR;
			bt[i] = n0 + j < p->n ? b[(k0 + k) * p->brs + (n0 + j) * p->bcs] : 0.0f;
		}
	}
}

#if LS == 1
/* VW columns of the image row that begins at x[at], from column x0 on; zero outside. */
fv image_row(global const float *restrict x, int at, int x0, const struct gemm_args *q)
{
	float t[VW];
	if (x0 >= 0 && x0 + VW <= q->w)
		return VLOAD(0, x + at + x0);
	if (at + x0 >= 0 && at + x0 + VW <= q->size) {
		iv c = x0 + IOTA;
		return select((fv)(0.0f), VLOAD(0, x + at + x0), c >= 0 && c < q->w);
	}
	PLAIN for (int j = 0; j < VW; j++)
		t[j] = (uint)(x0 + j) < (uint)q->w ? x[at + x0 + j] : 0.0f;
	return VLOAD(0, t);
}

/* The same for an image: column n = (oh, ow), row k = (channel, kh, kw). */
void fetch_image(global const float *restrict x, const struct gemm_args *q,
	int n0, int k0, int kc, local float *bt)
{
	int base[NR], y0[NR], x0[NR];
	for (int j = 0; j < NR; j++) {
		int n = n0 + j, oh = n / q->ow;
		y0[j] = n < q->n ? oh * q->sh - q->ph : -(1 << 20);
		x0[j] = (n - oh * q->ow) * q->sw - q->pw;
		base[j] = y0[j] * q->w + x0[j];
	}
	for (int k = 0; k < kc; k++) {
		int t = (k0 + k) / q->kw, dx = (k0 + k - t * q->kw) * q->dw;
		int c = t / q->kh, dy = (t - c * q->kh) * q->dh;
		int plane = c * q->h * q->w, off = plane + dy * q->w + dx;
		local float *row = bt + k * NR;
		if (q->sw == 1 && q->ow >= VW) {
			/* runs of columns in one image row; a later run overwrites the
			 * excess of the one before */
			for (int j = 0; j < NR; ) {
				int y = y0[j] + dy, len = q->ow - (x0[j] + q->pw);
				for (int v = 0; v < len && j + v < NR; v += VW) {
					fv a = (fv)(0.0f);
					if ((uint)y < (uint)q->h)
						a = image_row(x, plane + y * q->w, x0[j] + dx + v,
							      q);
					VSTORE(a, 0, row + j + v);
				}
				j += len;
			}
		} else {
			for (int j = 0; j < NR; j++) {
				bool in = (uint)(y0[j] + dy) < (uint)q->h
					&& (uint)(x0[j] + dx) < (uint)q->w;
				float a = x[in ? base[j] + off : 0];
				row[j] = in ? a : 0.0f;
			}
		}
	}
}

/* C's tile = or += acc; at the edge of C by way of local memory. */
INLINE void put_tile(fv acc[MR][NV], local float *ct, global float *c, const struct gemm_args *p,
		     int m0, int n0, bool first)
{
	c += m0 * p->n + n0;
	if (m0 + MR <= p->m && n0 + NR <= p->n) {
		UNROLL for (int r = 0; r < MR; r++)
			UNROLL for (int v = 0; v < NV; v++) {
				global float *q = c + r * p->n + v * VW;
				VSTORE(first ? acc[r][v] : acc[r][v] + VLOAD(0, q), 0, q);
			}
		return;
	}
	/* a tile at the edge of C, by way of local memory */
	UNROLL for (int r = 0; r < MR; r++)
		UNROLL for (int v = 0; v < NV; v++)
			VSTORE(acc[r][v], 0, ct + r * NR + v * VW);
	PLAIN for (int r = 0; r < min(MR, p->m - m0); r++) {
		local const float *t = ct + r * NR;
		global float *q = c + r * p->n;
		int n = min(NR, p->n - n0), j = 0;
		PLAIN for (; j + VW <= n; j += VW)
			VSTORE(first ? VLOAD(0, t + j) : VLOAD(0, t + j) + VLOAD(0, q + j), 0,
			       q + j);
		PLAIN for (; j < n; j++)
			q[j] = first ? t[j] : q[j] + t[j];
	}
}

/* Multiply at (kc,MR)' by bt (kc,NR), from the address space `from`, and put the tile. */
#define MULTIPLY(name, from) \
void name(from const float *at, local const float *bt, local float *ct, int kc, global float *c, \
	const struct gemm_args *p, int m0, int n0, bool first) \
{ \
	fv acc[MR][NV]; \
	UNROLL for (int r = 0; r < MR; r++) \
		UNROLL for (int v = 0; v < NV; v++) \
			acc[r][v] = (fv)(0.0f); \
	for (int k = 0; k < kc; k++) { \
		fv bv[NV]; \
		UNROLL for (int v = 0; v < NV; v++) \
			bv[v] = VLOAD(0, bt + k * NR + v * VW); \
		UNROLL for (int r = 0; r < MR; r++) \
			UNROLL for (int v = 0; v < NV; v++) \
				acc[r][v] += (fv)(at[k * MR + r]) * bv[v]; \
	} \
	put_tile(acc, ct, c, p, m0, n0, first); \
}

MULTIPLY(multiply_local, local)
MULTIPLY(multiply_global, global)

kernel GROUP(GEMM_LS) void gemm(global const float *restrict a, global const float *restrict b,
	global float *restrict c, const struct gemm_args p)
{
	local float at[KC * MR], bt[KC * NR + VW], ct[MR * NR];
	int n0 = get_group_id(0) * NR, m_begin = get_group_id(1) * p.m_chunk, z = get_group_id(2);
	int m_end = min(m_begin + p.m_chunk, p.m);
	a += row_offset(z, p.n_batch, p.batch, p.as);
	if (p.b_half)
		b = (global const float *)((global const half *)b
			+ row_offset(z, p.n_batch, p.batch, p.bs));
	else
		b += row_offset(z, p.n_batch, p.batch, p.bs);
	c += (size_t)z * p.m * p.n;
	for (int k0 = 0; k0 < p.k; k0 += KC) {
		int kc = min(KC, p.k - k0);
		if (p.b_mode == B_IMAGE)
			fetch_image(b, &p, n0, k0, kc, bt);
		else
			fetch_b(b, &p, n0, k0, kc, bt);
		for (int m0 = m_begin; m0 < m_end; m0 += MR) {
			if (p.a_packed) {
				multiply_global(a + (size_t)m0 * p.k + (size_t)k0 * MR, bt, ct, kc,
						c, &p, m0, n0, k0 == 0);
			} else {
				fetch_a(a, &p, m0, k0, kc, at);
				multiply_local(at, bt, ct, kc, c, &p, m0, n0, k0 == 0);
			}
		}
	}
}

#else

void fetch_image(global const float *restrict x, const struct gemm_args *q,
	int n0, int k0, int kc, local float *bt)
{
	for (int i = get_local_id(0); i < kc * NR; i += GEMM_LS) {
		int k = k0 + i / NR, n = n0 + i % NR, oh = n / q->ow, t = k / q->kw, ch = t / q->kh;
		int y = oh * q->sh - q->ph + (t - ch * q->kh) * q->dh;
		int w = (n - oh * q->ow) * q->sw - q->pw + (k - t * q->kw) * q->dw;
		bool in = n < q->n && (uint)y < (uint)q->h && (uint)w < (uint)q->w;
		bt[i] = in ? x[(ch * q->h + y) * q->w + w] : 0.0f;
	}
}

/* Work-item (tx, ty) of 16 x 16 has rows ty + 16 i and columns tx + 16 j. */
kernel GROUP(GEMM_LS) void gemm(global const float *restrict a, global const float *restrict b,
	global float *restrict c, const struct gemm_args p)
{
	local float at[KC * MR], bt[KC * NR];
	int tx = get_local_id(0) % 16, ty = get_local_id(0) / 16, z = get_group_id(2);
	int n0 = get_group_id(0) * NR, m0 = get_group_id(1) * MR;
	float acc[4][4] = {{0.0f}};
	a += row_offset(z, p.n_batch, p.batch, p.as);
	if (p.b_half)
		b = (global const float *)((global const half *)b
			+ row_offset(z, p.n_batch, p.batch, p.bs));
	else
		b += row_offset(z, p.n_batch, p.batch, p.bs);
	c += (size_t)z * p.m * p.n;
	for (int k0 = 0; k0 < p.k; k0 += KC) {
		int kc = min(KC, p.k - k0);
		barrier(CLK_LOCAL_MEM_FENCE);
		fetch_a(a, &p, m0, k0, kc, at);
		if (p.b_mode == B_IMAGE)
			fetch_image(b, &p, n0, k0, kc, bt);
		else
			fetch_b(b, &p, n0, k0, kc, bt);
		barrier(CLK_LOCAL_MEM_FENCE);
		for (int k = 0; k < kc; k++)
			for (int i = 0; i < 4; i++)
				for (int j = 0; j < 4; j++)
					acc[i][j] += at[k * MR + ty + 16 * i]
						* bt[k * NR + tx + 16 * j];
	}
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++) {
			int m = m0 + ty + 16 * i, n = n0 + tx + 16 * j;
			if (m < p.m && n < p.n)
				c[m * p.n + n] = acc[i][j];
		}
}
#endif
