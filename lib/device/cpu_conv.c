/* cpu_conv.c - Convolution and GroupConvolution as products with packed operands:
 * weights (cout, cin * taps), packed once; patches of the input (cin * taps, pixels), packed tile by
 * tile so that they stay in cache.  Depthwise convolutions go to cpu_depthwise.c, transposed
 * ones are scattered here. */
#include "device/cpu_conv.h"
#include "device/cpu_gemm.h"
#include "device/cpu_vec.h"

#include <string.h>

enum { TILE_FLOATS = 1 << 17 };  /* of packed patches */

struct conv_run {
	struct window g;
	const float *x;
	float *y;
	const void *weights;         /* packed, group after group */
	bool half;
	int64_t k;                   /* cin * taps */
	int64_t tile, n_tiles;       /* pixels of a tile, a multiple of GEMM_N; tiles of a plane */
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
		gemm_pack_a((char *)data + (size_t)(i * gemm_a_elements(f->cout, f->k)) * pack_size(f->w->elem),
			    f->w->elem, (const char *)f->w->data + (size_t)(i * f->cout * f->k) *
			    cpu_elem_size(f->w->elem), f->cout, f->k, f->k, 1);
}

/* Depthwise weights are only converted to f32. */
static void fill_flat(void *arg, void *data)
{
	const struct fill *f = arg;
	cpu_convert(EL_F32, data, f->w->elem, f->w->data, f->groups * f->cout * f->k);
}

static bool is_depthwise(const struct window *g)
{
	return g->groups > 1 && g->cin == 1 && g->in[0] == 1 && g->kernel[0] == 1;
}

int prepare_conv(const struct op *op, const struct tensor *in, const struct tensor *out, struct cpu_ctx *c,
		 struct cpu_prep **prep, struct err *e)
{
	const struct tensor *w = &in[1];
	struct window g;
	if (!w->data || tensor_elements(w) == 0 ||
	    (w->elem != EL_F32 && w->elem != EL_F16 && w->elem != EL_BF16))
		return 0;
	cpu_window_init(&g, op, &in[0], w, &out[0]);
	struct fill f = {w, g.groups, g.cout, g.cin * g.taps};
	bool flat = is_depthwise(&g);
	uint64_t layout[6] = {OP_CONVOLUTION, flat, w->elem, (uint64_t)f.groups, (uint64_t)f.cout, (uint64_t)f.k};
	uint64_t bytes = flat ? (uint64_t)(f.groups * f.cout * f.k) * sizeof(float)
			      : (uint64_t)(f.groups * gemm_a_elements(f.cout, f.k)) * pack_size(w->elem);
	struct cpu_pack *pack = cpu_pack_get(c->packs, w->data, layout, bytes, flat ? fill_flat : fill_weights, &f);
	if (!pack)
		return err_set(e, ST_RUNTIME, "out of memory for packed weights");
	*prep = MEM_NEW(struct cpu_prep);
	(*prep)->pack = pack;
	(*prep)->owns = 1u << 1;
	return 0;
}

/* ---- packing patches ---- */

/* Pixels ox = a .. b - 1 of an output row through one tap: dst[ox - a]. */
static void patch_row(const struct window *g, const float *row, int64_t kx, int64_t a, int64_t b, float *dst)
{
	int64_t lo, hi, shift = kx * g->dilation[2] - g->pad[2], s = g->stride[2];
	cpu_window_range(g, 2, kx, &lo, &hi);
	lo = lo < a ? a : lo > b ? b : lo;
	hi = hi < lo ? lo : hi > b ? b : hi;
	if (!row)
		lo = hi = a;
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
static void patch_pixels(const struct window *g, const float *plane, int64_t tap, int64_t n0, int64_t n1, float *dst)
{
	int64_t kx = tap % g->kernel[2], ky = tap / g->kernel[2] % g->kernel[1];
	int64_t kz = tap / g->kernel[2] / g->kernel[1];
	while (n0 < n1) {
		int64_t ox = n0 % g->out[2], oy = n0 / g->out[2] % g->out[1], oz = n0 / g->out[2] / g->out[1];
		int64_t run = g->out[2] - ox < n1 - n0 ? g->out[2] - ox : n1 - n0;
		int64_t iy = oy * g->stride[1] + ky * g->dilation[1] - g->pad[1];
		int64_t iz = oz * g->stride[0] + kz * g->dilation[0] - g->pad[0];
		bool inside = iy >= 0 && iy < g->in[1] && iz >= 0 && iz < g->in[0];
		patch_row(g, inside ? plane + (iz * g->in[1] + iy) * g->in[2] : NULL, kx, ox, ox + run, dst);
		n0 += run;
		dst += run;
	}
}

/* One row of packed B: n values into panels that are kc rows apart. */
static void row_to_panels(const float *row, int64_t n, float *dst, int64_t kc)
{
	for (; n >= GEMM_N; n -= GEMM_N, row += GEMM_N, dst += kc * GEMM_N)
		memcpy(dst, row, GEMM_N * sizeof *dst);
	if (n > 0) {
		memcpy(dst, row, (size_t)n * sizeof *dst);
		memset(dst + n, 0, (size_t)(GEMM_N - n) * sizeof *dst);
	}
}

static bool is_pointwise(const struct window *g)
{
	for (int d = 0; d < 3; d++)
		if (g->kernel[d] != 1 || g->stride[d] != 1 || g->pad[d] || g->in[d] != g->out[d])
			return false;
	return true;
}

/* Rows k0 .. k0 + kc - 1 of the patches of pixels n0 .. n0 + n - 1, packed; x: the group's planes. */
static void pack_patches(const struct conv_run *r, const float *x, int64_t k0, int64_t kc, int64_t n0, int64_t n,
			 float *dst, float *row)
{
	const struct window *g = &r->g;
	bool pointwise = is_pointwise(g);
	for (int64_t k = k0; k < k0 + kc; k++, dst += GEMM_N) {
		const float *plane = x + k / g->taps * g->in_plane;
		if (!pointwise)
			patch_pixels(g, plane, k % g->taps, n0, n0 + n, row);
		row_to_panels(pointwise ? plane + n0 : row, n, dst, kc);
	}
}

/* ---- one tile of pixels, rows m0 .. m1 - 1 of the weights of one group ---- */

static void conv_tile(const struct conv_run *r, const float *x, const void *weights, float *y, int64_t n0,
		      int64_t m0, int64_t m1, float *scratch)
{
	const struct window *g = &r->g;
	int64_t n = g->out_plane - n0 < r->tile ? g->out_plane - n0 : r->tile;
	float *panel = scratch, *row = panel + GEMM_K * GEMM_M, *b = row + r->tile;
	for (int64_t k0 = 0; k0 < r->k; k0 += GEMM_K) {
		int64_t kc = r->k - k0 < GEMM_K ? r->k - k0 : GEMM_K;
		pack_patches(r, x, k0, kc, n0, n, b, row);
		for (int64_t m = m0; m < m1; m += GEMM_M) {
			int rows = m1 - m < GEMM_M ? (int)(m1 - m) : GEMM_M;
			const float *a = (const float *)weights + m * r->k + k0 * GEMM_M;
			if (r->half) {
				vec_from_half((const uint16_t *)weights + m * r->k + k0 * GEMM_M, panel, kc * GEMM_M);
				a = panel;
			}
			for (int64_t j = 0; j < n; j += GEMM_N)
				gemm_tile(rows, n - j < GEMM_N ? (int)(n - j) : GEMM_N, kc, a, b + j * kc, false,
					  y + m * g->out_plane + n0 + j, g->out_plane, k0 > 0);
		}
	}
}

/* Tasks: (image, group, part of the rows, tile). */
static void conv_task(void *arg, int task, int thread)
{
	struct conv_run *r = arg;
	const struct window *g = &r->g;
	int64_t t = task, tile = t % r->n_tiles, part = t / r->n_tiles % r->m_parts;
	int64_t plane = t / r->n_tiles / r->m_parts, group = plane % g->groups;
	int64_t panels = (g->cout + GEMM_M - 1) / GEMM_M, p0, p1;
	size_t floats = (size_t)(GEMM_K * GEMM_M + r->tile + (r->k < GEMM_K ? r->k : GEMM_K) * r->tile);
	float *scratch = cpu_thread_scratch(r->ctx, thread, floats * sizeof *scratch);
	if (!scratch) {
		r->failed = true;
		return;
	}
	cpu_range(panels, (int)r->m_parts, (int)part, &p0, &p1);
	const char *weights = (const char *)r->weights + (size_t)(group * gemm_a_elements(g->cout, r->k)) *
			      (r->half ? sizeof(uint16_t) : sizeof(float));
	conv_tile(r, r->x + plane * g->cin * g->in_plane, weights, r->y + plane * g->cout * g->out_plane,
		  tile * r->tile, p0 * GEMM_M, p1 * GEMM_M < g->cout ? p1 * GEMM_M : g->cout, scratch);
}

/* Tiles of pixels, and parts of rows when there are too few tiles for the threads. */
static int plan_tiles(struct conv_run *r)
{
	const struct window *g = &r->g;
	int64_t kc = r->k < GEMM_K ? r->k : GEMM_K, planes = g->batch * g->groups, threads = r->ctx->n_threads;
	int64_t n = (g->out_plane + GEMM_N - 1) / GEMM_N * GEMM_N;
	r->tile = TILE_FLOATS / kc / GEMM_N * GEMM_N;
	if (r->tile > 2048)
		r->tile = 2048;
	if (r->tile > n)
		r->tile = n;
	r->n_tiles = (n + r->tile - 1) / r->tile;
	while (threads > 1 && r->n_tiles * planes < 2 * threads && r->tile > 4 * GEMM_N) {
		r->tile = (r->tile / 2 + GEMM_N - 1) / GEMM_N * GEMM_N;
		r->n_tiles = (n + r->tile - 1) / r->tile;
	}
	int64_t panels = (g->cout + GEMM_M - 1) / GEMM_M;
	r->m_parts = 1;
	while (r->n_tiles * planes * r->m_parts < threads && r->m_parts * 4 <= panels)
		r->m_parts *= 2;
	return (int)(planes * r->n_tiles * r->m_parts);
}

int run_conv(const struct kernel_call *k, struct err *e)
{
	struct conv_run r = {.x = k->in[0].data, .y = k->out[0].data, .ctx = k->ctx};
	bool packed = cpu_prep_owns(k->prep, 1);
	cpu_window_init(&r.g, k->op, &k->in[0], &k->in[1], &k->out[0]);
	r.k = r.g.cin * r.g.taps;
	if (!packed && k->in[1].elem != EL_F32)
		return err_set(e, ST_INPUT, "%s weights that were not prepared", elem_name(k->in[1].elem));
	if (r.k == 0) {
		memset(r.y, 0, (size_t)tensor_bytes(&k->out[0]));
		return 0;
	}
	if (is_depthwise(&r.g))
		return cpu_depthwise(k->ctx, &r.g, r.x, packed ? k->prep->pack->data : k->in[1].data, r.y, e);
	if (packed) {
		r.weights = k->prep->pack->data;
		r.half = k->prep->pack->layout[2] == EL_F16;
	} else {
		struct fill f = {&k->in[1], r.g.groups, r.g.cout, r.k};
		void *p = cpu_slot_scratch(k->ctx, SLOT_WHOLE, (size_t)(f.groups * gemm_a_elements(f.cout, f.k)) *
					   sizeof(float));
		if (!p)
			return cpu_no_memory(e);
		fill_weights(&f, p);
		r.weights = p;
	}
	cpu_parallel(k->ctx, plan_tiles(&r), conv_task, &r);
	return r.failed ? cpu_no_memory(e) : 0;
}

/* ---- transposed convolution: every output channel gathers from all inputs of its group ---- */

struct backprop_run {
	struct window g;             /* of the forward convolution: in and out exchanged */
	const float *x, *w;
	float *y;
};

static void backprop_channel(void *arg, int task, int thread)
{
	const struct backprop_run *r = arg;
	const struct window *g = &r->g;      /* in: the result's plane; out: the data's plane */
	int64_t c = task % g->cin, plane = task / g->cin, group = plane % g->groups;
	float *y = r->y + (int64_t)task * g->in_plane;
	(void)thread;
	memset(y, 0, (size_t)g->in_plane * sizeof *y);
	for (int64_t o = 0; o < g->cout; o++) {
		const float *x = r->x + (plane * g->cout + o) * g->out_plane;
		const float *w = r->w + ((group * g->cout + o) * g->cin + c) * g->taps;
		for (int64_t t = 0; t < g->taps; t++) {
			int64_t lo[3], hi[3], tap[3] = {t / g->kernel[2] / g->kernel[1], t / g->kernel[2] % g->kernel[1],
						       t % g->kernel[2]};
			for (int d = 0; d < 3; d++)
				cpu_window_range(g, d, tap[d], &lo[d], &hi[d]);
			for (int64_t z = lo[0]; z < hi[0]; z++)
				for (int64_t yy = lo[1]; yy < hi[1]; yy++) {
					int64_t iz = z * g->stride[0] + tap[0] * g->dilation[0] - g->pad[0];
					int64_t iy = yy * g->stride[1] + tap[1] * g->dilation[1] - g->pad[1];
					float *to = y + (iz * g->in[1] + iy) * g->in[2] + tap[2] * g->dilation[2] - g->pad[2];
					const float *from = x + (z * g->out[1] + yy) * g->out[2];
					for (int64_t xx = lo[2]; xx < hi[2]; xx++)
						to[xx * g->stride[2]] += w[t] * from[xx];
				}
		}
	}
}

int run_conv_backprop(const struct kernel_call *k, struct err *e)
{
	const struct op_window *a = &k->op->a.window;
	struct backprop_run r = {.x = k->in[0].data, .w = k->in[1].data, .y = k->out[0].data};
	int64_t begin[OP_MAX_SPATIAL], end[OP_MAX_SPATIAL];
	int n = (int)k->in[0].rank - 2;
	bool sized = k->op->n_in > 2;
	(void)e;
	op_backprop_pads(a, n, k->in[0].dim + 2, k->in[1].dim + 2 + a->grouped, sized ? k->out[0].dim + 2 : NULL,
			 begin, end);
	cpu_window_init(&r.g, k->op, &k->out[0], &k->in[1], &k->in[0]);
	for (int i = 0; i < n; i++)
		r.g.pad[3 - n + i] = begin[i];
	cpu_parallel(k->ctx, (int)(r.g.batch * r.g.groups * r.g.cin), backprop_channel, &r);
	return 0;
}
