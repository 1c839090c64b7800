/* conv.c - Convolution and GroupConvolution as products with packed operands:
 * weights (cout, cin * taps), packed once; patches of the input (cin * taps, pixels), packed
 * tile by tile so that they stay in cache.  Row k of the patches is a run of the input itself
 * for 1x1 kernels; lanes of it (lanes.h), or a run of its phase planes (phase.h), with a gap
 * behind each row of pixels, for others with two spatial dims; or of the padded volume
 * (volume.h).  Depthwise convolutions go to depthwise.c. */
#include "kernel/conv/conv.h"
#include "kernel/conv/conv_tasks.h"
#include "kernel/conv/lanes.h"
#include "kernel/gemm/gemm.h"
#include "kernel/conv/phase.h"
#include "kernel/gemm/block_epilogue.h"
#include "kernel/conv/volume.h"
#include "kernel/vec.h"

#include <stdatomic.h>
#include <string.h>

enum {
	FEW_PANELS = 3, /* of weights: packing the patches does not pay */
	FEW_TAPS = 25,  /* reading every other pixel for each does not cost more than phases */
	SPLIT_GRAIN = 1 << 15 /* floats of phases that one task fills */
};

enum patches {
	PATCH_DIRECT,  /* 1x1: rows of patches are planes of the input */
	PATCH_SHIFTED, /* output as wide as the input, stride 1: shifted planes, and
				      * bits that say which pixels the padding hides */
	PATCH_HALVES,  /* stride 2 across: every other pixel, and such bits */
	PATCH_PHASES,  /* phase planes, or the input itself without stride and padding */
	PATCH_VOLUME   /* anything else: the input within its padding (volume.h) */
};

struct conv_run {
	struct window g;
	enum patches patches;
	struct phases p; /* PATCH_PHASES */
	struct volume v; /* PATCH_VOLUME */
	int64_t *offset; /* (taps) likewise: of each tap in the phases; PATCH_SHIFTED,
				      * PATCH_HALVES: of each tap from the pixel */
	const float *x;
	float *y;
	const float *planes; /* of one image, `step` floats apart: the input's, or phases */
	int64_t step;
	float *phases;       /* or volumes; NULL: none */
	const void *weights; /* packed, group after group */
	bool half;
	int64_t k; /* cin * taps */
	int64_t image;
	int64_t n; /* pixels of a plane */
	struct cut cut;
	int n_splits; /* tasks that fill the phases */
	struct cpu_post post;
	struct cpu_ctx *ctx;
	atomic_bool failed;
};

/* A tile of pixels, rows m0 .. m1 - 1 of the weights of one group. */
struct tile {
	int64_t group, n0, n, m0, m1;
	int64_t k0, kc;        /* the part of the sums that is computed now */
	const float *in_place; /* row k0 of the patches at n0, where they need no packing */
	const char *weights;   /* of the group */
	float *y;              /* of the group */
	float *panel, *b;      /* scratch: one panel of weights; packed patches */
	uint32_t *bits; /* PATCH_HALVES: (taps, pieces); PATCH_SHIFTED: words (taps, tile / 16) */
	struct gemm_piece *piece; /* PATCH_HALVES, PATCH_PHASES: of the tile's pixels */
	int n_pieces;
};

/* ---- packing patches ---- */

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
	int64_t c = group * g->cin + k0 / g->taps, tap = k0 % g->taps;
	const float *plane = r->planes + c * r->step;
	for (int64_t k = 0; k < kc; k++) {
		run[k] = plane + (r->offset ? r->offset[tap] : 0);
		if (++tap == g->taps) {
			tap = 0;
			plane += r->step;
		}
	}
}

/* Pixels n0 .. n0 + n - 1 as pieces of the rows of a plane; at most n / width + 2. */
static int find_pieces(const struct conv_run *r, int64_t n0, int64_t n, struct gemm_piece *piece)
{
	int64_t width = r->g.out[2], y = n0 / width, x = n0 % width;
	int count = 0;
	for (int64_t at = 0; at < n; x = 0, y++) {
		int64_t run = width - x < n - at ? width - x : n - at;
		int64_t from = r->patches == PATCH_VOLUME ? cpu_volume_row(&r->v, &r->g, y)
							  : y * r->p.pitch;
		piece[count++] = (struct gemm_piece){from + x, at, run};
		at += run;
	}
	return count;
}

/* Rows k0 .. of the patches of the tile's group at its pixels from `first` on, packed. */
static void pack_patches(const struct conv_run *r, const struct tile *t, int64_t first)
{
	const float *run[GEMM_K];
	float *dst = t->b + first * t->kc;
	int64_t n0 = t->n0 + first, n = t->n - first;
	find_runs(r, t->group, t->k0, t->kc, run);
	if (r->patches == PATCH_PHASES || r->patches == PATCH_VOLUME)
		gemm_gather_pieces(run, t->kc, n, t->n_pieces, t->piece, dst);
	else if (r->patches == PATCH_SHIFTED)
		gemm_gather_shifted(run, t->kc, n0, n, (const uint16_t *)t->bits, t->k0 % r->g.taps,
				    r->g.taps, r->cut.tile / 16, dst);
	else if (r->patches == PATCH_HALVES)
		gemm_gather_halves(run, t->kc, n, t->n_pieces, t->piece, t->bits, t->k0 % r->g.taps,
				   r->g.taps, dst);
	else
		gemm_gather_panels(run, t->kc, n0, n, dst);
}

/* ---- one tile ---- */

static const void *weight_panel(const struct conv_run *r, const struct tile *t, int64_t m)
{
	return t->weights +
	       (size_t)(m * r->k + t->k0 * GEMM_M) * (r->half ? sizeof(uint16_t) : sizeof(float));
}

/* Rows m .. of one panel of weights. */
static void conv_panel(const struct conv_run *r, const struct tile *t, int64_t m)
{
	int64_t plane = r->g.out_plane;
	bool thin = t->n <= GEMM_N && gemm_is_thin((int)t->n);
	struct gemm_block b = {.mr = t->m1 - m < GEMM_M ? (int)(t->m1 - m) : GEMM_M,
			       .kc = t->kc,
			       .a = weight_panel(r, t, m),
			       .a_half = r->half && thin,
			       .ldc = plane,
			       .add = t->k0 > 0};
	b.ahead = b.a;
	if (m + GEMM_M < t->m1) {
		b.ahead = weight_panel(r, t, m + GEMM_M);
		b.ahead_step = GEMM_M * (r->half ? sizeof(uint16_t) : sizeof(float));
	}
	if (r->half && !thin) {
		vec_from_half(b.a, t->panel, t->kc * GEMM_M);
		b.a = t->panel;
	}
	int64_t row = (r->image * r->g.groups + t->group) * r->g.cout + m, done = 0;
	bool last = t->k0 + t->kc == r->k;
	struct cpu_post_rows post = {.post.residual = NULL};
	if (last)
		b.post = cpu_post_rows(&r->post, row, b.mr, t->n0, &post);
	for (int64_t j = 0; j < t->n; j += GEMM_N) {
		b.nr = t->n - j < GEMM_N ? (int)(t->n - j) : GEMM_N;
		bool in_place = t->in_place && b.nr == GEMM_N;
		b.b = in_place ? t->in_place + j : t->b + j * t->kc;
		b.ldb = in_place ? r->g.in_plane : GEMM_N;
		b.c = t->y + m * plane + t->n0 + j;
		gemm_multiply(&b);
		if (post.post.residual)
			post.post.residual += GEMM_N;
		if (post.post.more)
			post.post.more += GEMM_N;
		b.ahead_step = 0;
		if (last && (j + b.nr == t->n || j + b.nr - done >= EPI_BLOCK)) {
			cpu_post_tile(&r->post, t->y + m * plane + t->n0 + done, plane, row, b.mr,
				      t->n0 + done, j + b.nr - done);
			done = j + b.nr;
		}
	}
}

static void conv_tile(const struct conv_run *r, struct tile *t)
{
	const struct window *g = &r->g;
	bool in_place = r->patches == PATCH_DIRECT && t->m1 - t->m0 <= FEW_PANELS * GEMM_M;
	int64_t whole = in_place ? t->n / GEMM_N * GEMM_N : 0;
	if (r->patches == PATCH_SHIFTED)
		cpu_lanes_shifted(g, t->n0, t->n, r->cut.tile / 16, (uint16_t *)t->bits);
	if (r->patches == PATCH_HALVES)
		t->n_pieces = cpu_lanes_halves(g, t->n0, t->n, t->piece, t->bits);
	if (r->patches == PATCH_PHASES || r->patches == PATCH_VOLUME)
		t->n_pieces = find_pieces(r, t->n0, t->n, t->piece);
	for (t->k0 = 0; t->k0 < r->k; t->k0 += r->cut.kc) {
		t->kc = r->k - t->k0 < r->cut.kc ? r->k - t->k0 : r->cut.kc;
		if (whole < t->n)
			pack_patches(r, t, whole);
		t->in_place =
			in_place ? r->x +
					   ((r->image * g->groups + t->group) * g->cin + t->k0) *
						   g->in_plane +
					   t->n0
				 : NULL;
		for (int64_t m = t->m0; m < t->m1; m += GEMM_M)
			conv_panel(r, t, m);
	}
}

/* Tasks of one image: (group, part of the rows, tile). */
static void conv_task(void *arg, int task, int thread)
{
	struct conv_run *r = arg;
	const struct window *g = &r->g;
	int64_t i = task, tile = i % r->cut.n_tiles, part = i / r->cut.n_tiles % r->cut.m_parts, p0,
		p1;
	struct tile t = {.group = i / r->cut.n_tiles / r->cut.m_parts, .n0 = tile * r->cut.tile};
	cpu_range((g->cout + GEMM_M - 1) / GEMM_M, (int)r->cut.m_parts, (int)part, &p0, &p1);
	t.m0 = p0 * GEMM_M;
	t.m1 = p1 * GEMM_M < g->cout ? p1 * GEMM_M : g->cout;
	t.n = r->n - t.n0 < r->cut.tile ? r->n - t.n0 : r->cut.tile;
	t.weights = (const char *)r->weights + (size_t)(t.group * gemm_a_elements(g->cout, r->k)) *
						       (r->half ? sizeof(uint16_t) : sizeof(float));
	t.y = r->y + (r->image * g->groups + t.group) * g->cout * g->out_plane;
	size_t floats = (size_t)(GEMM_K * GEMM_M + r->cut.kc * r->cut.tile);
	size_t pieces = (size_t)(r->cut.tile / 16 + r->cut.tile / g->out[2] + 3);
	size_t words = (size_t)g->taps * pieces;
	t.panel = cpu_thread_scratch(r->ctx, thread,
				     floats * sizeof(float) + pieces * sizeof *t.piece +
					     words * sizeof *t.bits);
	if (!t.panel) {
		r->failed = true;
		return;
	}
	t.b = t.panel + GEMM_K * GEMM_M;
	t.piece = (struct gemm_piece *)(void *)(t.panel + floats);
	t.bits = (uint32_t *)(void *)(t.piece + pieces);
	conv_tile(r, &t);
}

static void split_task(void *arg, int task, int thread)
{
	struct conv_run *r = arg;
	int64_t planes = r->g.groups * r->g.cin, lo, hi;
	(void)thread;
	cpu_range(planes, r->n_splits, task, &lo, &hi);
	for (int64_t i = lo; i < hi; i++) {
		const float *x = r->x + (r->image * planes + i) * r->g.in_plane;
		if (r->patches == PATCH_VOLUME)
			cpu_volume_fill(&r->v, &r->g, x, r->phases + i * r->step);
		else
			cpu_phases_fill(&r->p, &r->g, x, 0, r->phases + i * r->step);
	}
}

static bool has_padding(const struct window *g)
{
	int64_t y = (g->kernel[1] - 1) * g->dilation[1], x = (g->kernel[2] - 1) * g->dilation[2];
	return g->pad[1] || g->pad[2] || g->out[1] + y > g->in[1] || g->out[2] + x > g->in[2];
}

static enum patches choose_patches(const struct window *g)
{
	if (is_pointwise(g))
		return PATCH_DIRECT;
	if (!cpu_phases_fit(g))
		return PATCH_VOLUME;
	if (g->stride[1] == 1 && g->stride[2] == 1 && g->out[2] == g->in[2] && has_padding(g) &&
	    gemm_gathers_shifted())
		return PATCH_SHIFTED;
	if (g->stride[2] == 2 && g->taps <= FEW_TAPS && gemm_gathers_shifted())
		return PATCH_HALVES;
	return PATCH_PHASES;
}

/* What the patches are gathered from: tables and room for one image. */
static int plan_patches(struct conv_run *r, struct err *e)
{
	const struct window *g = &r->g;
	bool phases = false;
	r->patches = choose_patches(g);
	r->step = g->in_plane;
	if (r->patches == PATCH_DIRECT)
		return 0;
	if (r->patches == PATCH_PHASES) {
		phases = g->stride[1] > 1 || g->stride[2] > 1 || has_padding(g);
		cpu_phases_init(&r->p, g);
		if (!phases)
			r->p.pitch = g->in[2];
	}
	int64_t plane = r->p.plane;
	if (r->patches == PATCH_VOLUME) {
		phases = true;
		cpu_volume_init(&r->v, g);
		plane = r->v.plane;
	}
	size_t floats = phases ? (size_t)(g->groups * g->cin * plane + PHASE_SLACK) : 0;
	r->offset =
		cpu_slot_scratch(r->ctx, SLOT_WHOLE,
				 floats * sizeof *r->phases + (size_t)g->taps * sizeof *r->offset);
	if (!r->offset)
		return cpu_no_memory(e);
	if (phases) {
		r->phases = (float *)(void *)(r->offset + g->taps);
		r->step = plane;
	}
	for (int64_t t = 0; t < g->taps; t++)
		r->offset[t] = r->patches == PATCH_VOLUME ? cpu_volume_offset(&r->v, g, t)
			       : phases                   ? cpu_phase_offset(&r->p, g, t)
							  : cpu_lanes_offset(g, t);
	return 0;
}

static int conv_images(struct conv_run *r, struct err *e)
{
	const struct window *g = &r->g;
	int64_t planes = g->groups * g->cin;
	r->n = g->out_plane;
	if (plan_patches(r, e) < 0)
		return -1;
	r->cut = cpu_cut(g->groups, g->cout, r->k, r->n, r->ctx->n_threads);
	int n_tasks = (int)(g->groups * r->cut.n_tiles * r->cut.m_parts);
	r->n_splits = cpu_tasks(planes * r->step, SPLIT_GRAIN);
	r->n_splits = r->n_splits > planes ? (int)planes : r->n_splits;
	for (r->image = 0; r->image < g->batch; r->image++) {
		r->planes = r->phases ? r->phases : r->x + r->image * planes * g->in_plane;
		if (r->phases)
			cpu_parallel(r->ctx, r->n_splits, split_task, r);
		cpu_parallel(r->ctx, n_tasks, conv_task, r);
	}
	return r->failed ? cpu_no_memory(e) : 0;
}

/* post: over (images * channels, pixels of a plane); may be NULL. */
static int run_planes(const struct kernel_call *k, const struct epilogue *post, struct err *e)
{
	struct conv_run r = {.x = k->in[0].data, .y = k->out[0].data, .ctx = k->ctx};
	bool packed = cpu_prep_owns(k->prep, 1);
	int64_t cropped[3];
	cpu_window_init(&r.g, k->op, &k->in[0], &k->in[1], &k->out[0]);
	cpu_window_fold(&r.g);
	if (packed && !cpu_is_depthwise(&r.g))
		cpu_window_crop(&r.g, cropped); /* as the weights */
	cpu_post_init(&r.post, post, false);
	r.k = r.g.cin * r.g.taps;
	if (!packed && k->in[1].elem != EL_F32)
		return err_set(e, ST_INPUT, "%s weights that were not prepared",
			       elem_name(k->in[1].elem));
	if (r.k == 0) {
		memset(r.y, 0, (size_t)tensor_bytes(&k->out[0]));
		if (post)
			cpu_epilogue_run(k->ctx, post, r.y);
		return 0;
	}
	if (cpu_is_depthwise(&r.g))
		return cpu_depthwise(k->ctx, &r.g, r.x,
				     packed ? k->prep->pack->data : k->in[1].data, r.y, &r.post, e);
	if (packed && k->prep->pack->layout[1] > CONV_WINOGRAD)
		return cpu_winograd(k->ctx, &r.g, (int)(k->prep->pack->layout[1] - CONV_WINOGRAD),
				    r.x, k->prep->pack->data, r.y, &r.post, e);
	if (packed && k->prep->pack->layout[1] == CONV_SEEN)
		return cpu_conv_seen(k->ctx, &r.g, r.x, k->prep->pack->data, r.y, &r.post, e);
	if (packed) {
		r.weights = k->prep->pack->data;
		r.half = k->prep->pack->layout[2] == EL_F16;
	} else {
		int m = cpu_winograd_choose_computed(&r.g);
		const float *w = cpu_conv_pack(k->ctx, &k->in[1], &r.g, m);
		if (!w)
			return cpu_no_memory(e);
		if (m)
			return cpu_winograd(k->ctx, &r.g, m, r.x, w, r.y, &r.post, e);
		r.weights = w;
	}
	return conv_images(&r, e);
}

int run_conv(const struct kernel_call *k, struct err *e)
{
	const struct cpu_pack *w = cpu_prep_owns(k->prep, 1) ? k->prep->pack : NULL;
	struct window g;
	cpu_window_init(&g, k->op, &k->in[0], &k->in[1], &k->out[0]);
	if (w && w->layout[1] == CONV_WHOLE)
		return cpu_conv_whole(k->ctx, &g, k->in[0].data, w->data, w->layout[2] == EL_F16,
				      k->out[0].data, k->post, e);
	if (g.out_plane > 1)
		return run_planes(k, k->post, e);
	if (run_planes(k, NULL, e) < 0)
		return -1;
	if (k->post)
		cpu_epilogue_run(k->ctx, k->post, k->out[0].data);
	return 0;
}
