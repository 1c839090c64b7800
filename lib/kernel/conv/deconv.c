/* deconv.c - ConvolutionBackpropData and GroupConvolutionBackpropData.  With several input
 * channels a product makes what each of them adds at each tap, and the taps of a result's channel
 * are added where they belong; with few, each result's channel gathers from them. */
#include "kernel/vec.h"
#include "kernel/kernel_impl.h"
#include "kernel/window.h"
#include "kernel/gemm/product.h"

#include <stdatomic.h>
#include <string.h>

struct backprop_run {
	struct window g; /* of the forward convolution: in and out exchanged */
	const float *x, *w;
	float *y;
	/* As a product: */
	const struct used_tap *tap;
	int64_t n_taps;
	const float *packed_w, *packed_x; /* by (group, block of channels), (image, group) */
	int64_t block, n_blocks;          /* channels of the result that a task makes */
	struct cpu_ctx *ctx;
	atomic_bool failed;
};

/* A tap that some result sees: positions of the data that reach results along each dim, and where the first of all would. */
struct used_tap {
	int64_t lo[3], hi[3], index, to;
};

/* Add n values of a tap, from position `first` of the data's plane on, to plane y. */
static void add_tap(const struct window *g, const struct used_tap *t, const float *from,
		    int64_t first, int64_t n, float *y)
{
	const int64_t *lo = t->lo, *hi = t->hi, s = g->stride[2];
	int64_t row = first / g->out[2], last = (first + n - 1) / g->out[2];
	for (; row <= last; row++) {
		int64_t z = row / g->out[1], yy = row % g->out[1], at = row * g->out[2];
		if (z < lo[0] || z >= hi[0] || yy < lo[1] || yy >= hi[1])
			continue;
		int64_t x0 = first > at + lo[2] ? first - at : lo[2],
			x1 = first + n < at + hi[2] ? first + n - at : hi[2];
		float *to =
			y + t->to + (z * g->stride[0] * g->in[1] + yy * g->stride[1]) * g->in[2];
		const float *value = from + at - first;
		if (s == 1)
			for (int64_t xx = x0; xx < x1; xx++)
				to[xx] += value[xx];
		else
			for (int64_t xx = x0; xx < x1; xx++)
				to[xx * s] += value[xx];
	}
}

/* Those of a window, of which there are g->taps at most; how many. */
static int64_t find_used(const struct window *g, struct used_tap *used)
{
	int64_t n = 0;
	for (int64_t i = 0; i < g->taps; i++) {
		struct used_tap t = {.index = i};
		int64_t tap[3] = {i / g->kernel[2] / g->kernel[1], i / g->kernel[2] % g->kernel[1],
				  i % g->kernel[2]};
		bool empty = false;
		for (int d = 0; d < 3; d++) {
			cpu_window_range(g, d, tap[d], &t.lo[d], &t.hi[d]);
			t.to = t.to * g->in[d] + tap[d] * g->dilation[d] - g->pad[d];
			empty = empty || t.lo[d] == t.hi[d];
		}
		if (!empty)
			used[n++] = t;
	}
	return n;
}

/* ---- few channels: each result's channel gathers ---- */

enum { MOST_TABLE = 1 << 20 }; /* taps of all phases; where there are more, products do */

/* The data of a group within zeros, so that no tap asks beyond it, and the taps that reach results
 * (z, y, x) of each phase: i modulo stride along each dim. */
struct gather {
	const struct backprop_run *r;
	int64_t dim[3], before[3], plane, phases;
	int *count; /* (phases) taps */
	int64_t *
		at; /* (phases, cout * taps) where they take from in the data, for result i = phase */
	int64_t *tap; /* likewise: which of a channel's weights */
	struct cpu_ctx *ctx;
	atomic_bool failed;
};

/* Taps of phase i: along dim d from (i + pad - tap dilation) / stride, if that comes out even. */
static void find_taps(struct gather *p, int64_t phase, const int64_t *i)
{
	const struct window *g = &p->r->g;
	int64_t *at = p->at + phase * g->cout * g->taps, *which = p->tap + (at - p->at);
	int n = 0;
	for (int64_t o = 0; o < g->cout; o++)
		for (int64_t t = 0; t < g->taps; t++) {
			int64_t tap[3] = {t / g->kernel[2] / g->kernel[1],
					  t / g->kernel[2] % g->kernel[1], t % g->kernel[2]},
				place = o;
			bool even = true;
			for (int d = 0; d < 3; d++) {
				int64_t from = i[d] + g->pad[d] - tap[d] * g->dilation[d] +
					       p->before[d] * g->stride[d];
				even = even && from % g->stride[d] == 0;
				place = place * p->dim[d] + from / g->stride[d];
			}
			if (!even)
				continue;
			at[n] = place;
			which[n++] = o * g->cin * g->taps + t;
		}
	p->count[phase] = n;
}

static int64_t phases_along(const struct window *g, int d)
{
	return g->stride[d] < g->in[d] ? g->stride[d] : g->in[d];
}

static int64_t phases_of(const struct window *g)
{
	return phases_along(g, 0) * phases_along(g, 1) * phases_along(g, 2);
}

static int gather_init(struct gather *p, const struct backprop_run *r, struct err *e)
{
	const struct window *g = &r->g;
	*p = (struct gather){.r = r, .plane = 1, .phases = phases_of(g), .ctx = r->ctx};
	for (int d = 0; d < 3; d++) {
		int64_t reach = (g->kernel[d] - 1) * g->dilation[d];
		int64_t low = (reach - g->pad[d]) / g->stride[d] + 1;
		int64_t high = (g->in[d] - 1 + g->pad[d]) / g->stride[d] + 1;
		p->before[d] = low > 0 ? low : 0;
		p->dim[d] = p->before[d] + (high > g->out[d] ? high : g->out[d]);
		p->plane *= p->dim[d];
	}
	size_t n = (size_t)(p->phases * g->cout * g->taps);
	p->at = cpu_slot_scratch(r->ctx, SLOT_EXTRA,
				 2 * n * sizeof *p->at + (size_t)p->phases * sizeof *p->count);
	if (!p->at)
		return cpu_no_memory(e);
	p->tap = p->at + n;
	p->count = (int *)(void *)(p->tap + n);
	for (int64_t f = 0; f < p->phases; f++) {
		int64_t x = phases_along(g, 2), y = phases_along(g, 1);
		find_taps(p, f, (int64_t[3]){f / x / y, f / x % y, f % x});
	}
	return 0;
}

static void pad_data(const struct gather *p, const float *x, float *to)
{
	const struct window *g = &p->r->g;
	memset(to, 0, (size_t)(g->cout * p->plane) * sizeof *to);
	for (int64_t o = 0; o < g->cout; o++)
		for (int64_t r = 0; r < g->out[0] * g->out[1]; r++, x += g->out[2]) {
			int64_t z = r / g->out[1] + p->before[0], y = r % g->out[1] + p->before[1];
			memcpy(to + ((o * p->dim[0] + z) * p->dim[1] + y) * p->dim[2] +
				       p->before[2],
			       x, (size_t)g->out[2] * sizeof *x);
		}
}

/* Room of a phase's part of a row. */
static int64_t sums_width(const struct window *g)
{
	return g->in[2] + 2 * GEMM_N;
}

/* The phases of a channel that share their rows, phase `down` of those: each row's phases as sums over
 * runs of the data, then one row.  weight: (phases across, cout * taps), sums: (phases across, width). */
static void gather_rows(const struct gather *p, int64_t down, const float *data, const float *w,
			float *weight, float *sums, float *y)
{
	const struct window *g = &p->r->g;
	const int64_t most = g->cout * g->taps, *s = g->stride, width = sums_width(g);
	const int64_t across = phases_along(g, 2), n_down = phases_along(g, 1);
	const int64_t *at = p->at + down * across * most, *tap = p->tap + (at - p->at);
	const int *count = p->count + down * across;
	for (int64_t f = 0; f < across; f++)
		for (int t = 0; t < count[f]; t++)
			weight[f * most + t] = w[tap[f * most + t]];
	for (int64_t z = down / n_down; z < g->in[0]; z += s[0])
		for (int64_t i = down % n_down; i < g->in[1]; i += s[1]) {
			const float *from = data + (z / s[0] * p->dim[1] + i / s[1]) * p->dim[2];
			for (int64_t f = 0; f < across; f++)
				vec_tap_sums(from, at + f * most, weight + f * most, count[f], 1,
					     sums + f * width, (g->in[2] - f + s[2] - 1) / s[2]);
			vec_interleave(sums, width, across, y + (z * g->in[1] + i) * g->in[2],
				       g->in[2]);
		}
}

/* Task (image, group): its channels share the padded data. */
static void gather_group(void *arg, int task, int thread)
{
	struct gather *p = arg;
	const struct backprop_run *r = p->r;
	const struct window *g = &r->g;
	size_t across = (size_t)phases_along(g, 2), most = across * (size_t)(g->cout * g->taps),
	       width = across * (size_t)sums_width(g),
	       room = (size_t)(g->cout * p->plane + 2 * GEMM_N);
	float *weight = cpu_thread_scratch(p->ctx, thread, (most + width + room) * sizeof *weight);
	if (!weight) {
		p->failed = true;
		return;
	}
	float *sums = weight + most, *data = sums + width;
	memset(data + g->cout * p->plane, 0, 2 * GEMM_N * sizeof *data);
	pad_data(p, r->x + task * g->cout * g->out_plane, data);
	for (int64_t c = 0; c < g->cin; c++)
		for (int64_t f = 0; f < p->phases / (int64_t)across; f++)
			gather_rows(p, f, data,
				    r->w + (task % g->groups * g->cout * g->cin + c) * g->taps,
				    weight, sums, r->y + (task * g->cin + c) * g->in_plane);
}

/* ---- as a product: (channels and taps, cout) times (cout, positions) ---- */

enum { PANELS = 8, ROWS = 8 * GEMM_M }; /* of a piece of the product, which stays in caches */

static int64_t packed_w_floats(const struct backprop_run *r)
{
	return product_a_floats(r->block * r->n_taps, r->g.cout);
}

/* Task (image, group, block of channels): pieces of PANELS panels of positions, added as they come. */
static void backprop_block(void *arg, int task, int thread)
{
	struct backprop_run *r = arg;
	const struct window *g = &r->g;
	int64_t b = task % r->n_blocks, plane = task / r->n_blocks, group = plane % g->groups;
	int64_t c0 = b * r->block, n_c = g->cin - c0 < r->block ? g->cin - c0 : r->block;
	int64_t m = n_c * r->n_taps, panels = product_n_panels(g->out_plane), ld = PANELS * GEMM_N;
	float *sums = cpu_thread_scratch(r->ctx, thread,
					 (size_t)(m * ld + PRODUCT_SCRATCH) * sizeof *sums);
	float *y = r->y + (plane * g->cin + c0) * g->in_plane;
	if (!sums) {
		r->failed = true;
		return;
	}
	memset(y, 0, (size_t)(n_c * g->in_plane) * sizeof *y);
	for (int64_t p0 = 0; p0 < panels; p0 += PANELS) {
		int64_t p1 = panels - p0 < PANELS ? panels : p0 + PANELS, first = p0 * GEMM_N,
			n = p1 * GEMM_N < g->out_plane ? p1 * GEMM_N : g->out_plane;
		struct product p = {
			.m = m,
			.n = n - first,
			.k = g->cout,
			.a = r->packed_w + (group * r->n_blocks + b) * packed_w_floats(r),
			.b = r->packed_x + plane * gemm_b_elements(g->cout, g->out_plane) +
			     first * g->cout,
			.c = sums,
			.ldc = ld};
		product_panels(&p, 0, p1 - p0, sums + m * ld);
		for (int64_t i = 0; i < m; i++)
			add_tap(g, &r->tap[i % r->n_taps], sums + i * ld, first, n - first,
				y + i / r->n_taps * g->in_plane);
	}
}

/* Rows of channels and taps, all their channels of the data in a row. */
static void pack_weights(void *arg, int task, int thread)
{
	struct backprop_run *r = arg;
	const struct window *g = &r->g;
	int64_t group = task / r->n_blocks, b = task % r->n_blocks, c0 = b * r->block,
		n_c = g->cin - c0 < r->block ? g->cin - c0 : r->block, rows = n_c * r->n_taps;
	const float *w = r->w + (group * g->cout * g->cin + c0) * g->taps;
	float *to = (float *)(uintptr_t)r->packed_w + task * packed_w_floats(r);
	if (r->n_taps == g->taps) {
		product_pack_a(to, w, rows, g->cout, 1, g->cin * g->taps);
		return;
	}
	float *used = cpu_thread_scratch(r->ctx, thread, (size_t)(rows * g->cout) * sizeof *used);
	if (!used) {
		r->failed = true;
		return;
	}
	for (int64_t o = 0, at = 0; o < g->cout; o++)
		for (int64_t c = 0; c < n_c; c++)
			for (int64_t t = 0; t < r->n_taps; t++)
				used[at++] = w[(o * g->cin + c) * g->taps + r->tap[t].index];
	product_pack_a(to, used, rows, g->cout, 1, rows);
}

static void pack_data(void *arg, int task, int thread)
{
	struct backprop_run *r = arg;
	const struct window *g = &r->g;
	(void)thread;
	product_pack_b(
		(float *)(uintptr_t)r->packed_x + task * gemm_b_elements(g->cout, g->out_plane),
		r->x + task * g->cout * g->out_plane, g->cout, g->out_plane, g->out_plane, 1);
}

/* Blocks of channels (block 0: as many as suit the threads), and taps in the context's memory. */
static int product_init(struct backprop_run *r, int64_t block, struct err *e)
{
	const struct window *g = &r->g;
	struct used_tap *tap = cpu_slot_scratch(r->ctx, SLOT_EXTRA, (size_t)g->taps * sizeof *tap);
	if (!tap)
		return cpu_no_memory(e);
	r->n_taps = find_used(g, tap);
	r->tap = tap;
	int64_t rows = r->n_taps > 0 ? r->n_taps : 1;
	r->block = block ? block : (ROWS + rows - 1) / rows;
	if (!block && r->block * r->ctx->n_threads > g->cin)
		r->block = (g->cin + r->ctx->n_threads - 1) / r->ctx->n_threads;
	r->n_blocks = (g->cin + r->block - 1) / r->block;
	return 0;
}

static int64_t all_weights(const struct backprop_run *r)
{
	return (r->g.groups * r->n_blocks * packed_w_floats(r) + 15) / 16 * 16;
}

static void fill_weights(void *arg, void *data)
{
	struct backprop_run *r = arg;
	r->packed_w = data;
	cpu_parallel(r->ctx, (int)(r->g.groups * r->n_blocks), pack_weights, r);
}

static int run_as_product(struct backprop_run *r, const struct cpu_pack *pack, struct err *e)
{
	const struct window *g = &r->g;
	if (product_init(r, pack ? (int64_t)pack->layout[1] : 0, e))
		return -1;
	int64_t n_w = pack ? 0 : all_weights(r),
		n_x = g->batch * g->groups * gemm_b_elements(g->cout, g->out_plane);
	float *p = cpu_slot_scratch(r->ctx, SLOT_WHOLE, (size_t)(n_w + n_x) * sizeof *p);
	if (!p)
		return cpu_no_memory(e);
	r->packed_x = p + n_w;
	if (pack)
		r->packed_w = pack->data;
	else
		fill_weights(r, p);
	cpu_parallel(r->ctx, (int)(g->batch * g->groups), pack_data, r);
	cpu_parallel(r->ctx, (int)(g->batch * g->groups * r->n_blocks), backprop_block, r);
	return r->failed ? cpu_no_memory(e) : 0;
}

/* Few channels of the data, fewer where it has few positions, or few of the result and taps. */
static bool gathers(const struct window *g)
{
	return (g->cout < (g->out_plane < 64 ? 4 : 8) || g->cin * g->taps < 4) &&
	       phases_of(g) <= MOST_TABLE / (g->cout * g->taps);
}

int prepare_conv_backprop(const struct op *op, const struct tensor *in, const struct tensor *out,
			  struct cpu_ctx *c, struct cpu_prep **prep, struct err *e)
{
	struct backprop_run r = {.w = in[1].data, .ctx = c};
	if (!in[1].data || in[1].quant || in[1].elem != EL_F32 || !tensor_is_static(&in[0]) ||
	    !out || !tensor_is_static(&out[0]) || tensor_elements(&in[1]) == 0)
		return 0;
	cpu_window_init_transposed(&r.g, op, &in[0], &in[1], &out[0]);
	if (gathers(&r.g))
		return 0;
	if (product_init(&r, 0, e))
		return -1;
	if (r.n_taps == 0)
		return 0;
	uint64_t which = 0;
	for (int64_t t = 0; t < r.n_taps; t++)
		which = which * 1000003 + (uint64_t)r.tap[t].index + 1;
	uint64_t layout[6] = {OP_CONVOLUTION_BACKPROP, (uint64_t)r.block, which,
			      (uint64_t)r.g.taps,      (uint64_t)r.g.cin, (uint64_t)r.g.groups};
	struct cpu_pack *pack =
		cpu_pack_get(c->packs, in[1].data, layout,
			     (uint64_t)all_weights(&r) * sizeof(float), fill_weights, &r);
	if (!pack || r.failed) {
		if (pack)
			cpu_pack_drop(pack);
		return cpu_no_memory(e);
	}
	*prep = MEM_NEW(struct cpu_prep);
	(*prep)->pack = pack;
	(*prep)->owns = 1u << 1;
	return 0;
}

int run_conv_backprop(const struct kernel_call *k, struct err *e)
{
	struct backprop_run r = {
		.x = k->in[0].data, .w = k->in[1].data, .y = k->out[0].data, .ctx = k->ctx};
	cpu_window_init_transposed(&r.g, k->op, &k->in[0], &k->in[1], &k->out[0]);
	if (r.g.cout * r.g.taps == 0) { /* sums of nothing */
		memset(r.y, 0, (size_t)tensor_bytes(&k->out[0]));
		return 0;
	}
	if (!gathers(&r.g))
		return run_as_product(&r, k->prep ? k->prep->pack : NULL, e);
	struct gather p;
	if (gather_init(&p, &r, e) < 0)
		return -1;
	cpu_parallel(k->ctx, (int)(r.g.batch * r.g.groups), gather_group, &p);
	return p.failed ? cpu_no_memory(e) : 0;
}
