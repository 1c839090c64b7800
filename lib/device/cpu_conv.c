/* cpu_conv.c - Convolution and GroupConvolution as products with packed operands:
 * weights (cout, cin * taps), packed once; patches of the input (cin * taps, positions), packed
 * tile by tile so that they stay in cache.  Row k of the patches is a contiguous run: of the input
 * itself for 1x1 kernels, of its phase planes (cpu_phase.h) for others with two spatial dims; with
 * three it is put together row by row.  Depthwise convolutions go to cpu_depthwise.c. */
#include "device/cpu_conv.h"
#include "device/cpu_gemm.h"
#include "device/cpu_phase.h"
#include "device/cpu_vec.h"

#include <string.h>

enum { TILE_FLOATS = 1 << 17, MAX_TILE = 2048 };     /* of packed patches; positions */

enum patches { PATCH_DIRECT, PATCH_PHASES, PATCH_ROWS };

struct conv_run {
	struct window g;
	enum patches patches;
	struct phases p;             /* PATCH_PHASES */
	int64_t *offset;             /* (taps) likewise: of each tap in the phases */
	const float *x;
	float *y;
	float *phases;               /* of all input planes of one image */
	const void *weights;         /* packed, group after group */
	bool half;
	int64_t k;                   /* cin * taps */
	int64_t image;
	int64_t n;                   /* positions of a plane: pixels, or the span of the phases */
	int64_t tile, n_tiles; /* positions of a tile, a multiple of GEMM_N; tiles of a plane */
	int64_t m_parts;             /* parts into which the rows of weights are cut */
	struct cpu_ctx *ctx;
	bool failed;
};

/* ---- packed weights ---- */

struct fill { const struct tensor *w; int64_t groups, cout, k; };

static size_t pack_size(enum elem elem)
{
	return elem == EL_F16 ? sizeof(uint16_t) : sizeof(float);
}

static void fill_weights(void *arg, void *data)
{
	const struct fill *f = arg;
	for (int64_t i = 0; i < f->groups; i++)
		gemm_pack_a((char *)data + (size_t)(i * gemm_a_elements(f->cout, f->k)) *
						   pack_size(f->w->elem),
			    f->w->elem,
			    (const char *)f->w->data +
				    (size_t)(i * f->cout * f->k) * cpu_elem_size(f->w->elem),
			    f->cout, f->k, f->k, 1);
}

/* Depthwise weights are only converted to f32. */
static void fill_flat(void *arg, void *data)
{
	const struct fill *f = arg;
	cpu_convert(EL_F32, data, f->w->elem, f->w->data, f->groups * f->cout * f->k);
}

int prepare_conv(const struct op *op, const struct tensor *in, const struct tensor *out,
		 struct cpu_ctx *c, struct cpu_prep **prep, struct err *e)
{
	const struct tensor *w = &in[1];
	struct window g;
	if (!w->data || tensor_elements(w) == 0 ||
	    (w->elem != EL_F32 && w->elem != EL_F16 && w->elem != EL_BF16))
		return 0;
	cpu_window_init(&g, op, &in[0], w, &out[0]);
	struct fill f = {w, g.groups, g.cout, g.cin * g.taps};
	bool flat = cpu_is_depthwise(&g);
	uint64_t layout[6] = {OP_CONVOLUTION, flat, w->elem, (uint64_t)f.groups,
			      (uint64_t)f.cout, (uint64_t)f.k};
	uint64_t bytes = flat ? (uint64_t)(f.groups * f.cout * f.k) * sizeof(float)
			      : (uint64_t)(f.groups * gemm_a_elements(f.cout, f.k)) *
					 pack_size(w->elem);
	struct cpu_pack *pack = cpu_pack_get(c->packs, w->data, layout, bytes,
					     flat ? fill_flat : fill_weights, &f);
	if (!pack)
		return err_set(e, ST_RUNTIME, "out of memory for packed weights");
	*prep = MEM_NEW(struct cpu_prep);
	(*prep)->pack = pack;
	(*prep)->owns = 1u << 1;
	return 0;
}

/* ---- packing patches ---- */

/* Pixels ox = a .. b - 1 of an output row through one tap: dst[ox - a]. */
static void patch_row(const struct window *g, const float *row, int64_t kx, int64_t a, int64_t b,
		      float *dst)
{
	int64_t lo, hi, shift = kx * g->dilation[2] - g->pad[2], s = g->stride[2];
	if (!row) {
		memset(dst, 0, (size_t)(b - a) * sizeof *dst);
		return;
	}
	cpu_window_range(g, 2, kx, &lo, &hi);
	lo = lo < a ? a : lo > b ? b : lo;
	hi = hi < lo ? lo : hi > b ? b : hi;
	for (int64_t o = a; o < lo; o++)
		dst[o - a] = 0;
	if (s == 1)
		memcpy(dst + (lo - a), row + lo + shift, (size_t)(hi - lo) * sizeof *dst);
	else
		for (int64_t o = lo; o < hi; o++)
			dst[o - a] = row[o * s + shift];
	for (int64_t o = hi; o < b; o++)
		dst[o - a] = 0;
}

/* Pixels n0 .. n1 - 1 of the output plane through one tap of one input plane. */
static void patch_pixels(const struct window *g, const float *plane, int64_t tap, int64_t n0,
			 int64_t n1, float *dst)
{
	int64_t kx = tap % g->kernel[2], ky = tap / g->kernel[2] % g->kernel[1];
	int64_t kz = tap / g->kernel[2] / g->kernel[1];
	while (n0 < n1) {
		int64_t ox = n0 % g->out[2], oy = n0 / g->out[2] % g->out[1],
			oz = n0 / g->out[2] / g->out[1];
		int64_t run = g->out[2] - ox < n1 - n0 ? g->out[2] - ox : n1 - n0;
		int64_t iy = oy * g->stride[1] + ky * g->dilation[1] - g->pad[1];
		int64_t iz = oz * g->stride[0] + kz * g->dilation[0] - g->pad[0];
		bool inside = iy >= 0 && iy < g->in[1] && iz >= 0 && iz < g->in[0];
		patch_row(g, inside ? plane + (iz * g->in[1] + iy) * g->in[2] : NULL, kx, ox,
			  ox + run, dst);
		n0 += run;
		dst += run;
	}
}

static bool is_pointwise(const struct window *g)
{
	for (int d = 0; d < 3; d++)
		if (g->kernel[d] != 1 || g->stride[d] != 1 || g->pad[d] || g->in[d] != g->out[d])
			return false;
	return true;
}

/* Where rows k0 .. k0 + kc - 1 of the patches of a group begin. */
static void find_runs(const struct conv_run *r, int64_t group, int64_t k0, int64_t kc,
		      const float **run)
{
	const struct window *g = &r->g;
	bool phases = r->patches == PATCH_PHASES;
	int64_t step = phases ? r->p.plane : g->in_plane, c = k0 / g->taps, tap = k0 % g->taps;
	const float *plane = phases ? r->phases + group * g->cin * step
				    : r->x + (r->image * g->groups + group) * g->cin * step;
	plane += c * step;
	for (int64_t k = 0; k < kc; k++) {
		run[k] = plane + (phases ? r->offset[tap] : 0);
		if (++tap == g->taps) {
			tap = 0;
			plane += step;
		}
	}
}

/* Rows k0 .. k0 + kc - 1 of the patches of group `group` at positions n0 .. n0 + n - 1, packed. */
static void pack_patches(const struct conv_run *r, int64_t group, int64_t k0, int64_t kc,
			 int64_t n0, int64_t n, float *dst)
{
	const float *run[GEMM_K];
	find_runs(r, group, k0, kc, run);
	for (int64_t j = 0; j < n; j += GEMM_N, dst += kc * GEMM_N) {
		int width = n - j < GEMM_N ? (int)(n - j) : GEMM_N;
		if (r->patches != PATCH_ROWS) {
			gemm_gather_panel(run, kc, n0 + j, width, dst);
			continue;
		}
		for (int64_t k = 0; k < kc; k++) {
			patch_pixels(&r->g, run[k], (k0 + k) % r->g.taps, n0 + j, n0 + j + width,
				     dst + k * GEMM_N);
			for (int i = width; i < GEMM_N; i++)
				dst[k * GEMM_N + i] = 0;
		}
	}
}

/* Positions n0 .. n0 + n - 1 of a channel, packed in src, to the pixels of its plane. */
static void scatter_pixels(const struct conv_run *r, const float *src, int64_t n0, int64_t n,
			   float *plane)
{
	int64_t pitch = r->p.pitch, width = r->g.out[2];
	for (int64_t i = 0; i < n;) {
		int64_t y = (n0 + i) / pitch, x = (n0 + i) % pitch,
			run = pitch - x < n - i ? pitch - x : n - i;
		int64_t use = x >= width ? 0 : width - x < run ? width - x : run;
		memcpy(plane + y * width + x, src + i, (size_t)use * sizeof *plane);
		i += run;
	}
}

/* ---- one tile of positions, rows m0 .. m1 - 1 of the weights of one group ---- */

struct tile_scratch { float *panel, *b, *c; };

/* Columns of C: straight to the output where positions are pixels, else through scratch. */
static void conv_tile(const struct conv_run *r, int64_t group, int64_t n0, int64_t m0, int64_t m1,
		      const struct tile_scratch *s)
{
	const struct window *g = &r->g;
	size_t size = r->half ? sizeof(uint16_t) : sizeof(float);
	const char *weights = (const char *)r->weights +
			      (size_t)(group * gemm_a_elements(g->cout, r->k)) * size;
	float *y = r->y + (r->image * g->groups + group) * g->cout * g->out_plane;
	int64_t n = r->n - n0 < r->tile ? r->n - n0 : r->tile;
	bool direct = r->patches != PATCH_PHASES || r->p.pitch == g->out[2];
	float *c = direct ? y + m0 * g->out_plane + n0 : s->c;
	int64_t ldc = direct ? g->out_plane : r->tile;
	for (int64_t k0 = 0; k0 < r->k; k0 += GEMM_K) {
		int64_t kc = r->k - k0 < GEMM_K ? r->k - k0 : GEMM_K;
		pack_patches(r, group, k0, kc, n0, n, s->b);
		for (int64_t m = m0; m < m1; m += GEMM_M) {
			int rows = m1 - m < GEMM_M ? (int)(m1 - m) : GEMM_M;
			const void *a = weights + (size_t)(m * r->k + k0 * GEMM_M) * size;
			if (r->half) {
				vec_from_half(a, s->panel, kc * GEMM_M);
				a = s->panel;
			}
			for (int64_t j = 0; j < n; j += GEMM_N)
				gemm_tile(rows, n - j < GEMM_N ? (int)(n - j) : GEMM_N, kc, a,
					  s->b + j * kc, false, c + (m - m0) * ldc + j, ldc,
					  k0 > 0);
		}
	}
	for (int64_t m = m0; m < m1 && !direct; m++)
		scatter_pixels(r, c + (m - m0) * ldc, n0, n, y + m * g->out_plane);
}

/* Tasks of one image: (group, part of the rows, tile). */
static void conv_task(void *arg, int task, int thread)
{
	struct conv_run *r = arg;
	const struct window *g = &r->g;
	int64_t t = task, tile = t % r->n_tiles, part = t / r->n_tiles % r->m_parts,
		group = t / r->n_tiles / r->m_parts;
	int64_t kc = r->k < GEMM_K ? r->k : GEMM_K, p0, p1;
	cpu_range((g->cout + GEMM_M - 1) / GEMM_M, (int)r->m_parts, (int)part, &p0, &p1);
	int64_t m0 = p0 * GEMM_M, m1 = p1 * GEMM_M < g->cout ? p1 * GEMM_M : g->cout;
	size_t floats = (size_t)(GEMM_K * GEMM_M + kc * r->tile + (m1 - m0) * r->tile);
	struct tile_scratch s;
	s.panel = cpu_thread_scratch(r->ctx, thread, floats * sizeof(float));
	if (!s.panel) {
		r->failed = true;
		return;
	}
	s.b = s.panel + GEMM_K * GEMM_M;
	s.c = s.b + kc * r->tile;
	conv_tile(r, group, tile * r->tile, m0, m1, &s);
}

static void split_task(void *arg, int task, int thread)
{
	struct conv_run *r = arg;
	int64_t planes = r->g.groups * r->g.cin;
	(void)thread;
	cpu_phases_split(&r->p, &r->g, r->x + (r->image * planes + task) * r->g.in_plane,
			 r->phases + task * r->p.plane);
}

/* Tiles of positions, and parts of rows when there are too few tiles for the threads. */
static int plan_tiles(struct conv_run *r)
{
	const struct window *g = &r->g;
	int64_t kc = r->k < GEMM_K ? r->k : GEMM_K, threads = r->ctx->n_threads;
	int64_t n = (r->n + GEMM_N - 1) / GEMM_N * GEMM_N, panels = (g->cout + GEMM_M - 1) / GEMM_M;
	r->tile = TILE_FLOATS / kc / GEMM_N * GEMM_N;
	if (r->tile > MAX_TILE)
		r->tile = MAX_TILE;
	if (r->tile > n)
		r->tile = n;
	r->n_tiles = (n + r->tile - 1) / r->tile;
	while (threads > 1 && r->n_tiles * g->groups < 2 * threads && r->tile > 4 * GEMM_N) {
		r->tile = (r->tile / 2 + GEMM_N - 1) / GEMM_N * GEMM_N;
		r->n_tiles = (n + r->tile - 1) / r->tile;
	}
	r->m_parts = 1;
	while (r->n_tiles * g->groups * r->m_parts < threads && r->m_parts * 4 <= panels)
		r->m_parts *= 2;
	return (int)(g->groups * r->n_tiles * r->m_parts);
}

static int conv_images(struct conv_run *r, struct err *e)
{
	const struct window *g = &r->g;
	int64_t planes = g->groups * g->cin;
	r->patches = is_pointwise(g) ? PATCH_DIRECT : cpu_phases_fit(g) ? PATCH_PHASES : PATCH_ROWS;
	r->n = g->out_plane;
	if (r->patches == PATCH_PHASES) {
		cpu_phases_init(&r->p, g);
		r->n = r->p.span;
		r->offset = cpu_slot_scratch(r->ctx, SLOT_WHOLE,
					     (size_t)(planes * r->p.plane + PHASE_SLACK) *
							     sizeof *r->phases +
						     (size_t)g->taps * sizeof *r->offset);
		if (!r->offset)
			return cpu_no_memory(e);
		r->phases = (float *)(void *)(r->offset + g->taps);
		for (int64_t t = 0; t < g->taps; t++)
			r->offset[t] = cpu_phase_offset(&r->p, g, t);
		cpu_phases_clear(&r->p, planes, 0, r->phases);
	}
	int n_tasks = plan_tiles(r);
	for (r->image = 0; r->image < g->batch; r->image++) {
		if (r->patches == PATCH_PHASES)
			cpu_parallel(r->ctx, (int)planes, split_task, r);
		cpu_parallel(r->ctx, n_tasks, conv_task, r);
	}
	return r->failed ? cpu_no_memory(e) : 0;
}

int run_conv(const struct kernel_call *k, struct err *e)
{
	struct conv_run r = {.x = k->in[0].data, .y = k->out[0].data, .ctx = k->ctx};
	bool packed = cpu_prep_owns(k->prep, 1);
	cpu_window_init(&r.g, k->op, &k->in[0], &k->in[1], &k->out[0]);
	r.k = r.g.cin * r.g.taps;
	if (!packed && k->in[1].elem != EL_F32)
		return err_set(e, ST_INPUT, "%s weights that were not prepared",
			       elem_name(k->in[1].elem));
	if (r.k == 0) {
		memset(r.y, 0, (size_t)tensor_bytes(&k->out[0]));
		return 0;
	}
	if (cpu_is_depthwise(&r.g))
		return cpu_depthwise(k->ctx, &r.g, r.x,
				     packed ? k->prep->pack->data : k->in[1].data, r.y, e);
	if (packed) {
		r.weights = k->prep->pack->data;
		r.half = k->prep->pack->layout[2] == EL_F16;
	} else {
		struct fill f = {&k->in[1], r.g.groups, r.g.cout, r.k};
		void *p = cpu_slot_scratch(k->ctx, SLOT_EXTRA,
					   (size_t)(f.groups * gemm_a_elements(f.cout, f.k)) *
						   sizeof(float));
		if (!p)
			return cpu_no_memory(e);
		fill_weights(&f, p);
		r.weights = p;
	}
	return conv_images(&r, e);
}
