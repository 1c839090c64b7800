/* cl_gemm.cl - matrix products, and convolutions as products, on a CPU: one
 * work-item with wide vectors (LS = 1) computes the rows of a chunk of C (at most MC), NR
 * columns wide.  KC products at a time it brings a panel of B into local memory, from
 * wherever it is: packed as f16, strided, or an image seen through the window.
 * Then it goes down its rows, MR at a time, with up to NV vectors of each in
 * registers; rows of A are read where they are.  Sums that are not complete yet wait
 * in local memory.  cl_tile.cl is the same for GPUs. */

/* VW elements of the image row that begins at x[at], from column x0 on, sw apart (1 or 2);
 * zero outside. */
fv image_row(global const float *restrict x, int at, int x0, const struct gemm_args *q)
{
	int sw = q->sw, end = x0 + (VW - 1) * sw;
	if (at + x0 >= 0 && at + x0 + VW * sw <= q->size) {
		fv a = VLOAD(0, x + at + x0);
		if (sw == 2)
			a = (fv)(a.even, VLOAD(0, x + at + x0 + VW).even);
		if (x0 >= 0 && end < q->w)
			return a;
		/* negative columns are large unsigned ones */
		uv c = CAT(as_uint, VW)(x0 + IOTA * sw);
		return select((fv)(0.0f), a, c < (uv)((uint)q->w));
	}
	float t[VW];
	PLAIN for (int j = 0; j < VW; j++)
		t[j] = (uint)(x0 + j * sw) < (uint)q->w ? x[at + x0 + j * sw] : 0.0f;
	return VLOAD(0, t);
}

/* bt[k][j] = B[k0 + k][n0 + j], j < n, of an image: column (oh, ow), row (channel, kh, kw).
 * Columns that lie in one row of the output are a run. */
void fetch_image(global const float *restrict x, const struct gemm_args *q,
	int n0, int n, int k0, int kc, local float *bt)
{
	int first[NR + 1], y0[NR], x0[NR], runs = 0;
	for (int j = 0; j < n; j += first[runs] - j) {
		int oh = (n0 + j) / q->ow, ow = n0 + j - oh * q->ow;
		y0[runs] = oh * q->sh - q->ph;
		x0[runs] = ow * q->sw - q->pw;
		first[runs++] = j;
		first[runs] = min(j + q->ow - ow, n);
	}
	int kx = k0 % q->kw, ky = k0 / q->kw % q->kh, plane = k0 / (q->kw * q->kh) * q->h * q->w;
	for (int k = 0; k < kc; k++) {
		int dx = kx * q->dw, dy = ky * q->dh;
		local float *row = bt + k * NR;
		for (int i = 0; i < runs; i++) {
			int y = y0[i] + dy, at = plane + y * q->w;
			bool in = (uint)y < (uint)q->h;
			if (q->sw <= 2) {
				/* a later run overwrites the excess of the one before */
				for (int j = first[i], b = x0[i] + dx; j < first[i + 1];
				     j += VW, b += VW * q->sw)
					VSTORE(in ? image_row(x, at, b, q) : (fv)(0.0f), 0, row + j);
				continue;
			}
			PLAIN for (int j = first[i], b = x0[i] + dx; j < first[i + 1];
				   j++, b += q->sw)
				row[j] = in && (uint)b < (uint)q->w ? x[at + b] : 0.0f;
		}
		if (++kx == q->kw) {
			kx = 0;
			if (++ky == q->kh) {
				ky = 0;
				plane += q->h * q->w;
			}
		}
	}
}

/* The same for a matrix that is packed as f16, or strided. */
void fetch_matrix(global const float *restrict b, const struct gemm_args *p, int n0, int n,
	int k0, int kc, local float *bt)
{
	if (p->b_mode == B_PACKED) {
		global const half *h = (global const half *)b + (size_t)n0 * p->k + (size_t)k0 * NR;
		for (int i = 0; i < kc * NR; i += VW)
			VSTORE(VLOAD_HALF(0, h + i), 0, bt + i);
	} else if (p->bcs == 1) {
		for (int k = 0; k < kc; k++) {
			int at = (k0 + k) * p->brs + n0;
			for (int j = 0; j < n; j += VW)
				VSTORE(load(b + at, 1, j, min(VW, p->size - at - j)), 0,
				       bt + k * NR + j);
		}
	} else {
		PLAIN for (int j = 0; j < n; j++) {
			global const float *col = b + k0 * p->brs + (n0 + j) * p->bcs;
			PLAIN for (int k = 0; k < kc; k++)
				bt[k * NR + j] = col[k * p->brs];
		}
	}
}

/* ct[r][j] (+)= sum over k of a[r][k] * b[k][j], r < MR, j < V * VW: a[r][k] is
 * a[r * ra + k * ka]; rows from `rows` on repeat the last one. */
#define PRODUCT(name, V, from) \
void name(global const float *a, int ra, int ka, int rows, from const float *b, int kc, \
	bool first, local float *ct) \
{ \
	fv acc[MR][V]; \
	global const float *row[MR]; \
	UNROLL for (int r = 0; r < MR; r++) { \
		row[r] = a + min(r, rows - 1) * ra; \
		UNROLL for (int v = 0; v < V; v++) \
			acc[r][v] = first ? (fv)(0.0f) : VLOAD(0, ct + r * NR + v * VW); \
	} \
	for (int k = 0; k < kc; k++) { \
		fv bv[V]; \
		UNROLL for (int v = 0; v < V; v++) \
			bv[v] = VLOAD(0, b + k * NR + v * VW); \
		UNROLL for (int r = 0; r < MR; r++) \
			UNROLL for (int v = 0; v < V; v++) \
				acc[r][v] += (fv)(row[r][k * ka]) * bv[v]; \
	} \
	UNROLL for (int r = 0; r < MR; r++) \
		UNROLL for (int v = 0; v < V; v++) \
			VSTORE(acc[r][v], 0, ct + r * NR + v * VW); \
}

PRODUCT(product_2_local, 2, local)
PRODUCT(product_2_global, 2, global)
#if NV == 4
PRODUCT(product_4_local, 4, local)
PRODUCT(product_4_global, 4, global)
#define PRODUCT_ANY(from, nv, args) do { \
	if ((nv) > 2) product_4_##from args; \
	else product_2_##from args; \
} while (0)
#else
#define PRODUCT_ANY(from, nv, args) do { \
	if ((nv) > 0) product_2_##from args; \
} while (0)
#endif

/* Ask for what the chain will read in rows m to m + rows - 1, so that it is there after the
 * product. */
INLINE void touch(const struct sources *s, const struct gemm_args *p, int m, int rows, int n0, int n)
{
	EACH_OPERAND {
		if (s->s[j] != 1 || p->at[j].sm < 16)
			continue;
		PLAIN for (int r = 0; r < rows; r++)
			PLAIN for (int i = 0; i < n; i += 16)
				(void)*(volatile global const float *)(s->p[j]
					+ (size_t)(m + r) * p->at[j].sm + n0 + i);
	}
}

/* Row m of the panel, complete in t, through the chain to c[0 .. n - 1]. */
INLINE void put_row(local const float *t, global float *c, int n, const struct gemm_args *p,
	const struct sources *s, int n0, int m)
{
	fv x[CV];
	ROW x[v] = VLOAD(0, t + v * VW);
	if (p->chain.n) {
		struct sources row = row_of(s, p->at, m);
		chain_apply(x, &p->chain, &row, n0, n);
	}
	if (n == NR)
		ROW VSTORE(x[v], 0, c + v * VW);
	else
		PLAIN ROW store(x[v], c + v * VW, n - v * VW);
}

KERNEL_LOCAL(GEMM_LS, gemm, 2, (local float bt[KC * NR + VW], ct[MC * NR]),
	(local float *bt, local float *ct), (bt, ct), 8,
	(global const float *restrict a, global const float *restrict b, global float *c,
	global const float *p0, global const float *p1, global const float *p2,
	global const float *p3, const struct gemm_args p), (a, b, c, p0, p1, p2, p3, p))
{
	int n0 = group.x * NR, n = min(NR, p.n - n0), nv = (n + VW - 1) / VW;
	int z = group.z, m_begin = group.y * p.m_chunk;
	int m_end = min(m_begin + p.m_chunk, p.m), bz = row_offset(z, p.n_batch, p.batch, p.bs);
	int ra = p.a_packed ? 1 : p.ars, ka = p.a_packed ? MR : p.acs;
	bool direct = p.b_mode == B_PACKED && !p.b_half;
	struct sources s;
	a += row_offset(z, p.n_batch, p.batch, p.as);
	b = p.b_half ? (global const float *)((global const half *)b + bz) : b + bz;
	c += (size_t)z * p.m * p.n + n0;
	sources_of(&s, p.at, p0, p1, p2, p3, z);
	for (int k0 = 0; k0 < p.k; k0 += KC) {
		int kc = min(KC, p.k - k0);
		bool first = k0 == 0, last = k0 + kc == p.k;
		global const float *panel = b + (size_t)n0 * p.k + (size_t)k0 * NR;
		if (p.b_mode == B_IMAGE)
			fetch_image(b, &p, n0, n, k0, kc, bt);
		else if (!direct)
			fetch_matrix(b, &p, n0, n, k0, kc, bt);
		for (int m0 = m_begin; m0 < m_end; m0 += MR) {
			int rows = min(MR, p.m - m0);
			local float *t = ct + (m0 - m_begin) * NR;
			global const float *am = a + (p.a_packed
				? (size_t)m0 * p.k + (size_t)k0 * MR : (size_t)m0 * ra + (size_t)k0 * ka);
			if (last && p.chain.n)
				touch(&s, &p, m0, rows, n0, n);
			if (direct)
				PRODUCT_ANY(global, nv, (am, ra, ka, rows, panel, kc, first, t));
			else
				PRODUCT_ANY(local, nv, (am, ra, ka, rows, bt, kc, first, t));
			PLAIN for (int r = 0; last && r < rows; r++)
				put_row(t + r * NR, c + (size_t)(m0 + r) * p.n, n, &p, &s, n0,
					m0 + r);
		}
	}
}
