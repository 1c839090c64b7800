/* pooling.c - MaxPool, AvgPool and adaptive average pooling, one plane at a time: down the rows of a
 * window and then across, or by vectors of pixels (taps.h); with three spatial dims the planes of a window are joined before, as maxima
 * and sums may be.  Windows that do not fit there: output row by output row. */
#include "kernel/conv/taps.h"
#include "kernel/transpose.h"
#include "kernel/vec.h"
#include "kernel/kernel_impl.h"
#include "kernel/window.h"

#include <float.h>
#include <stdatomic.h>
#include <string.h>

#define LEVEL_FILE "kernel/conv/pooling_loops.h"
#include "kernel/isa_dispatch.h"

enum { LINES_FLOATS = 4096, SLACK = 32 }; /* SLACK: floats that vectors read behind a row */

enum { GRAIN = 1 << 15, MAX_TAPS = 64, FEW_TAPS = 16, FEW_PIXELS = 32, LANES = 128 };

struct pool_run {
	struct window g, flat; /* flat: of one joined plane */
	bool max, exclude_pad;
	const float *x;
	float *y;
	bool lines;            /* down, then across */
	int64_t pitch, n_rows; /* then: floats of a line, lines at once */
	struct taps taps;
	float one[MAX_TAPS], *counts;
	int n_tasks;
	struct cpu_ctx *ctx;
	atomic_bool failed;
};

/* Elements of the window at output position o that count along dim d. */
static int64_t window_count(const struct window *g, int d, int64_t o, bool exclude_pad)
{
	int64_t n = 0;
	for (int64_t t = 0; t < g->kernel[d]; t++) {
		int64_t at = o * g->stride[d] + t * g->dilation[d] - g->pad[d];
		n += !exclude_pad || (at >= 0 && at < g->in[d]);
	}
	return n;
}

/* A row of the result: the rows of its windows are joined, then what they have beside each other.  joined: (in[2]) */
static void pool_row(const struct pool_run *r, const float *x, float *y, int64_t oz, int64_t oy,
		     float *joined)
{
	const struct window *g = &r->g;
	enum op_kind join = r->max ? OP_REDUCE_MAX : OP_REDUCE_SUM;
	int64_t n = 0;
	for (int64_t t = 0; t < g->kernel[0] * g->kernel[1]; t++) {
		int64_t iy = oy * g->stride[1] + t % g->kernel[1] * g->dilation[1] - g->pad[1];
		int64_t iz = oz * g->stride[0] + t / g->kernel[1] * g->dilation[0] - g->pad[0];
		const float *row = x + (iz * g->in[1] + iy) * g->in[2];
		if (iy < 0 || iy >= g->in[1] || iz < 0 || iz >= g->in[0])
			continue;
		if (n++ == 0) /* a maximum begins below all: NaN does not count */
			vec_fill(r->max ? -FLT_MAX : 0, joined, g->in[2]);
		vec_join(join, row, joined, g->in[2]);
	}
	for (int64_t i = 0; i < g->out[2]; i++)
		y[i] = r->max ? -FLT_MAX : 0;
	for (int64_t t = 0; t < g->kernel[2] && n > 0; t++) {
		int64_t lo, hi;
		cpu_window_range(g, 2, t, &lo, &hi);
		vec_join_strided(r->max,
				 joined + lo * g->stride[2] + t * g->dilation[2] - g->pad[2],
				 g->stride[2], y + lo, hi - lo);
	}
	if (r->max)
		return;
	float planes = (float)window_count(g, 0, oz, r->exclude_pad);
	vec_binary(OP_DIVIDE, y, 1, r->counts + oy * g->out[2], 1, y, g->out[2]);
	if (planes != 1) /* a window without elements has no mean */
		vec_binary(OP_DIVIDE, y, 1, &planes, 0, y, g->out[2]);
}

/* One window, that sees all of a plane. */
static bool sees_all(const struct window *g)
{
	bool all = g->out_plane == 1;
	for (int d = 0; d < 3; d++)
		all = all && g->dilation[d] == 1 && g->pad[d] >= 0 &&
		      g->kernel[d] - g->pad[d] >= g->in[d];
	return all;
}

static void whole_task(void *arg, int task, int thread)
{
	enum { ROWS = 16 };
	const struct pool_run *r = arg;
	const struct window *g = &r->g;
	const float least = -FLT_MAX;
	int64_t lo, hi;
	float n = 1;
	(void)thread;
	for (int d = 0; d < 3; d++)
		n *= (float)window_count(g, d, 0, r->exclude_pad);
	cpu_range(g->batch * g->cin, r->n_tasks, task, &lo, &hi);
	for (int64_t p = lo; p < hi; p += ROWS)
		vec_reduce_rows(r->max ? OP_REDUCE_MAX : OP_REDUCE_SUM, r->x + p * g->in_plane,
				g->in_plane, g->in_plane, hi - p < ROWS ? (int)(hi - p) : ROWS,
				r->y + p);
	if (hi > lo) /* a maximum is at least -FLT_MAX, as in other ways */
		vec_binary(r->max ? OP_MAXIMUM : OP_DIVIDE, r->y + lo, 1, r->max ? &least : &n, 0,
			   r->y + lo, hi - lo);
}

/* Sizes of the windows of a joined plane. */
static void count_windows(const struct pool_run *r, float *counts)
{
	const struct window *g = &r->flat;
	for (int64_t i = 0; i < g->out[1]; i++) {
		int64_t rows = window_count(g, 1, i, r->exclude_pad);
		for (int64_t j = 0; j < g->out[2]; j++) {
			int64_t n = rows * window_count(g, 2, j, r->exclude_pad);
			*counts++ = (float)n;
		}
	}
}

/* ---- one plane, `flat` ---- */

/* Where padding is no matter of the input, and strides are usual. */
static bool by_lines(const struct window *g)
{
	/* With masks, windows in place are as fast. */
	return cpu_level < 4 && cpu_phases_fit(g) && g->stride[2] <= 2 && g->dilation[1] == 1 &&
	       g->dilation[2] == 1 && g->pad[1] >= 0 && g->pad[2] >= 0 && g->pad_end[2] >= 0;
}

static size_t plane_scratch(const struct pool_run *r)
{
	return r->lines ? (size_t)(r->pitch * r->n_rows) * sizeof(float)
			: cpu_taps_scratch(&r->taps);
}

static void scratch_init(const struct pool_run *r, float *scratch)
{
	for (int64_t i = 0; r->lines && i < r->pitch * r->n_rows; i++)
		scratch[i] = r->max ? -FLT_MAX : 0;
}

/* Plane p of x, one of lo .. hi - 1 that are done in turn, without the division by planes. */
static void pool_plane(const struct pool_run *r, const float *x, int64_t lo, int64_t p, int64_t hi,
		       float *scratch, float *y)
{
	const struct window *g = &r->flat;
	if (r->lines) {
		x += p * g->in_plane;
		for (int64_t i = 0; i < g->out[1]; i += r->n_rows) {
			int64_t n = g->out[1] - i < r->n_rows ? g->out[1] - i : r->n_rows;
			LEVEL_CALL(pool_lines, r->max, g, x, i, n, scratch, r->pitch);
			LEVEL_CALL(pool_across, r->max, g, scratch, r->pitch, i, n, r->counts, y);
		}
		return;
	}
	x = cpu_taps_source(&r->taps, x, lo, p, hi, scratch);
	cpu_taps_run(&r->taps, x, r->one, y, NULL);
	if (!r->max)
		vec_binary(OP_DIVIDE, y, 1, r->counts, 1, y, g->out_plane);
}

static void planes_task(void *arg, int task, int thread)
{
	struct pool_run *r = arg;
	const struct window *g = &r->g;
	int64_t lo, hi;
	float *scratch = cpu_thread_scratch(r->ctx, thread, plane_scratch(r));
	if (!scratch) {
		r->failed = true;
		return;
	}
	scratch_init(r, scratch);
	cpu_range(g->batch * g->cin, r->n_tasks, task, &lo, &hi);
	for (int64_t p = lo; p < hi; p++)
		pool_plane(r, r->x, lo, p, hi, scratch, r->y + p * g->out_plane);
}

/* Output plane oz of one channel: what its windows have in each plane of x, joined.  The plane itself
 * where there is one alone, else in `joined`. */
static const float *join_planes(const struct pool_run *r, const float *x, int64_t oz, float *joined)
{
	const struct window *g = &r->g;
	const float *first = NULL;
	int64_t area = r->flat.in_plane, n = 0;
	for (int64_t t = 0; t < g->kernel[0]; t++) {
		int64_t iz = oz * g->stride[0] + t * g->dilation[0] - g->pad[0];
		const float *plane = x + iz * area;
		if (iz < 0 || iz >= g->in[0])
			continue;
		if (n++ == 0) {
			first = plane;
			continue;
		}
		vec_binary(r->max ? OP_MAXIMUM : OP_ADD, plane, 1, n == 2 ? first : joined, 1,
			   joined, area);
	}
	if (n == 1)
		return first;
	for (int64_t i = 0; i < area && n == 0; i++)
		joined[i] = r->max ? -FLT_MAX : 0;
	return joined;
}

/* Three spatial dims: tasks share out the planes of the result. */
static void deep_task(void *arg, int task, int thread)
{
	struct pool_run *r = arg;
	int64_t lo, hi, depth = r->g.out[0], area = r->flat.out_plane,
			room = (r->flat.in_plane + 63) / 16 * 16;
	float *joined = cpu_thread_scratch(r->ctx, thread,
					   (size_t)room * sizeof *joined + plane_scratch(r));
	if (!joined) {
		r->failed = true;
		return;
	}
	scratch_init(r, joined + room);
	cpu_range(r->g.batch * r->g.cin * depth, r->n_tasks, task, &lo, &hi);
	for (int64_t p = lo; p < hi; p++) {
		float *y = r->y + p * area;
		const float *x =
			join_planes(r, r->x + p / depth * r->g.in_plane, p % depth, joined);
		pool_plane(r, x, 0, 0, 1, joined + room, y);
		if (r->max)
			continue;
		float planes = (float)window_count(&r->g, 0, p % depth, r->exclude_pad);
		vec_binary(OP_DIVIDE, y, 1, &planes, 0, y, area);
	}
}

static void rows_task(void *arg, int task, int thread)
{
	struct pool_run *r = arg;
	const struct window *g = &r->g;
	int64_t lo, hi;
	float *joined = cpu_thread_scratch(r->ctx, thread, (size_t)g->in[2] * sizeof *joined);
	if (!joined) {
		r->failed = true;
		return;
	}
	cpu_range(g->batch * g->cin, r->n_tasks, task, &lo, &hi);
	for (int64_t p = lo; p < hi; p++)
		for (int64_t o = 0; o < g->out[0] * g->out[1]; o++)
			pool_row(r, r->x + p * g->in_plane, r->y + p * g->out_plane + o * g->out[2],
				 o / g->out[1], o % g->out[1], joined);
}

/* ---- planes of few pixels: several side by side, one in each lane ---- */

/* What windows at output (z, y, x) see, joined; side: (in_plane, LANES), y: (LANES) */
static void join_lanes(const struct pool_run *r, const float *side, const int64_t o[3], int64_t n,
		       float *y)
{
	const struct window *g = &r->g;
	vec_fill(r->max ? -FLT_MAX : 0, y, n);
	for (int64_t t = 0; t < g->taps; t++) {
		const int64_t tap[3] = {t / g->kernel[2] / g->kernel[1],
					t / g->kernel[2] % g->kernel[1], t % g->kernel[2]};
		int64_t at = 0;
		bool inside = true;
		for (int d = 0; d < 3; d++) {
			int64_t i = o[d] * g->stride[d] + tap[d] * g->dilation[d] - g->pad[d];
			inside = inside && i >= 0 && i < g->in[d];
			at = at * g->in[d] + i;
		}
		if (inside)
			vec_join(r->max ? OP_REDUCE_MAX : OP_REDUCE_SUM, side + at * LANES, y, n);
	}
	float count = 1;
	for (int d = 0; d < 3; d++)
		count *= (float)window_count(g, d, o[d], r->exclude_pad);
	if (!r->max)
		vec_binary(OP_DIVIDE, y, 1, &count, 0, y, n);
}

static void lanes_task(void *arg, int task, int thread)
{
	struct pool_run *r = arg;
	const struct window *g = &r->g;
	int64_t lo, hi, n;
	float *side = cpu_thread_scratch(
		r->ctx, thread, (size_t)((g->in_plane + g->out_plane) * LANES) * sizeof *side);
	if (!side) {
		r->failed = true;
		return;
	}
	float *sums = side + g->in_plane * LANES;
	cpu_range(g->batch * g->cin, r->n_tasks, task, &lo, &hi);
	for (int64_t p = lo; p < hi; p += n) {
		n = hi - p < LANES ? hi - p : LANES;
		cpu_turn(r->x + p * g->in_plane, g->in_plane, n, g->in_plane, side, LANES);
		for (int64_t o = 0; o < g->out_plane; o++)
			join_lanes(r, side,
				   (const int64_t[3]){o / g->out[2] / g->out[1],
						      o / g->out[2] % g->out[1], o % g->out[2]},
				   n, sums + o * LANES);
		cpu_turn(sums, LANES, g->out_plane, n, r->y + p * g->out_plane, g->out_plane);
	}
}

/* MaxPool-8: the flat position of each maximum, the first of equals, counted from dim `axis` of the
 * input on. */
static void max_indices(const struct pool_run *r, const struct tensor *in,
			const struct tensor *indices, int axis)
{
	const struct window *g = &r->g;
	int64_t n_out = g->out_plane, per_base = g->in_plane;
	int64_t base_planes = axis <= 0 ? g->batch * g->cin : axis == 1 ? g->cin : 1;
	for (int64_t p = 0; p < g->batch * g->cin; p++)
		for (int64_t o = 0; o < n_out; o++) {
			int64_t at[3] = {o / g->out[2] / g->out[1], o / g->out[2] % g->out[1],
					 o % g->out[2]},
				best = -1;
			const float *x = (const float *)in->data + p * g->in_plane;
			for (int64_t t = 0; t < g->taps; t++) {
				int64_t tap[3] = {t / g->kernel[2] / g->kernel[1],
						  t / g->kernel[2] % g->kernel[1],
						  t % g->kernel[2]},
					i = 0;
				bool inside = true;
				for (int d = 0; d < 3; d++) {
					int64_t q = at[d] * g->stride[d] + tap[d] * g->dilation[d] -
						    g->pad[d];
					inside = inside && q >= 0 && q < g->in[d];
					i = i * g->in[d] + q;
				}
				if (inside && (best < 0 || x[i] > x[best]))
					best = i;
			}
			tensor_set_int(indices, p * n_out + o,
				       (best < 0 ? 0 : best) + p % base_planes * per_base);
		}
}

static bool has_padding(const struct window *g)
{
	return g->pad[0] || g->pad[1] || g->pad[2] || g->pad_end[0] || g->pad_end[1] ||
	       g->pad_end[2];
}

/* The window of one plane, all of its depth joined. */
static struct window flat_window(const struct window *g)
{
	struct window w = *g;
	w.in[0] = w.out[0] = w.kernel[0] = w.stride[0] = w.dilation[0] = 1;
	w.pad[0] = w.pad_end[0] = 0;
	w.in_plane = w.in[1] * w.in[2];
	w.out_plane = w.out[1] * w.out[2];
	w.taps = w.kernel[1] * w.kernel[2];
	return w;
}

int run_pool(const struct kernel_call *k, struct err *e)
{
	struct pool_run r = {.max = k->op->kind == OP_MAX_POOL,
			     .exclude_pad = k->op->a.window.exclude_pad,
			     .x = k->in[0].data,
			     .y = k->out[0].data,
			     .ctx = k->ctx};
	cpu_window_init(&r.g, k->op, &k->in[0], NULL, &k->out[0]);
	/* OpenVINO's plugin counts elements behind the input (rounding up) only beside explicit
	 * padding. */
	r.exclude_pad = r.exclude_pad || !has_padding(&r.g);
	r.flat = flat_window(&r.g);
	r.lines = by_lines(&r.flat);
	bool by_taps = !r.lines && cpu_phases_fit(&r.flat) && r.flat.taps <= MAX_TAPS;
	/* Large windows side by side: each pixel is read once. */
	bool whole = sees_all(&r.g), apart = r.flat.taps >= FEW_TAPS &&
					     r.flat.stride[1] >= r.flat.kernel[1] &&
					     r.flat.stride[2] >= r.flat.kernel[2];
	/* Of planes of few pixels enough to fill the lanes. */
	bool lanes = !whole && r.g.in_plane <= FEW_PIXELS && r.g.out_plane <= FEW_PIXELS &&
		     r.g.batch * r.g.cin >= LANES / 4;
	by_taps = by_taps && !whole && !apart && !lanes;
	bool planar = !lanes && (r.lines || by_taps), deep = !cpu_phases_fit(&r.g);
	int64_t planes = r.g.batch * r.g.cin * (planar && deep ? r.g.out[0] : 1);
	if (by_taps && cpu_taps_init(&r.taps, &r.flat, r.max, k->ctx, e) < 0)
		return -1;
	for (int64_t t = 0; by_taps && t < r.flat.taps; t++)
		r.one[t] = 1;
	int64_t width = r.flat.pad[2] + r.flat.in[2],
		reach = (r.flat.out[2] - 1) * r.flat.stride[2] + r.flat.kernel[2];
	r.pitch = (width > reach ? width : reach) + SLACK;
	r.n_rows = r.pitch < LINES_FLOATS ? LINES_FLOATS / r.pitch : 1;
	if (!whole && !lanes && !r.max) {
		r.counts = cpu_slot_scratch(k->ctx, SLOT_EXTRA,
					    (size_t)(r.flat.out_plane + SLACK) * sizeof *r.counts);
		if (!r.counts)
			return cpu_no_memory(e);
		count_windows(&r, r.counts);
	}
	r.n_tasks = cpu_tasks(r.g.batch * r.g.cin * r.g.out_plane * r.g.taps, GRAIN);
	if (r.n_tasks > planes)
		r.n_tasks = (int)planes;
	cpu_parallel(k->ctx, r.n_tasks,
		     whole     ? whole_task
		     : lanes   ? lanes_task
		     : !planar ? rows_task
		     : deep    ? deep_task
			       : planes_task,
		     &r);
	if (k->op->n_out > 1 && k->out[1].data && cpu_output_used(k->op, 1))
		max_indices(&r, &k->in[0], &k->out[1],
			    op_axis(k->op->a.window.axis, k->in[0].rank));
	return r.failed ? cpu_no_memory(e) : 0;
}

/* ---- adaptive: window i of n covers floor(i in / n) .. ceil((i + 1) in / n) - 1 ---- */

struct adaptive_run {
	int64_t planes, in[3], out[3];
	const float *x;
	float *y;
	int n_tasks;
};

static void adaptive_plane(const struct adaptive_run *r, int64_t plane)
{
	int64_t n_out = r->out[0] * r->out[1] * r->out[2], n_in = r->in[0] * r->in[1] * r->in[2];
	const float *x = r->x + plane * n_in;
	if (n_out == 1) {
		r->y[plane] = vec_sum(x, n_in) / (float)n_in;
		return;
	}
	if (r->in[0] == r->out[0] && r->in[1] == r->out[1] && r->in[2] == r->out[2]) {
		memcpy(r->y + plane * n_out, x, (size_t)n_in * sizeof *x);
		return;
	}
	for (int64_t i = 0; i < n_out; i++) {
		int64_t at[3] = {i / r->out[2] / r->out[1], i / r->out[2] % r->out[1],
				 i % r->out[2]},
			lo[3], hi[3];
		double sum = 0;
		for (int d = 0; d < 3; d++) {
			lo[d] = at[d] * r->in[d] / r->out[d];
			hi[d] = ((at[d] + 1) * r->in[d] + r->out[d] - 1) / r->out[d];
		}
		for (int64_t z = lo[0]; z < hi[0]; z++)
			for (int64_t y = lo[1]; y < hi[1]; y++)
				sum += (double)vec_sum(x + (z * r->in[1] + y) * r->in[2] + lo[2],
						       hi[2] - lo[2]);
		r->y[plane * n_out + i] = (float)(sum / (double)((hi[0] - lo[0]) * (hi[1] - lo[1]) *
								 (hi[2] - lo[2])));
	}
}

static void adaptive_task(void *arg, int task, int thread)
{
	const struct adaptive_run *r = arg;
	int64_t lo, hi;
	(void)thread;
	cpu_range(r->planes, r->n_tasks, task, &lo, &hi);
	for (int64_t plane = lo; plane < hi; plane++)
		adaptive_plane(r, plane);
}

int run_adaptive_pool(const struct kernel_call *k, struct err *e)
{
	struct adaptive_run r = {.planes = k->in[0].dim[0] * k->in[0].dim[1],
				 .x = k->in[0].data,
				 .y = k->out[0].data};
	int n = (int)k->in[0].rank - 2;
	(void)e;
	for (int i = 0; i < 3; i++) {
		int d = i - (3 - n);
		r.in[i] = d < 0 ? 1 : k->in[0].dim[2 + d];
		r.out[i] = d < 0 ? 1 : k->out[0].dim[2 + d];
	}
	int64_t all = tensor_elements(&k->in[0]) + tensor_elements(&k->out[0]);
	r.n_tasks = cpu_tasks(all, GRAIN);
	if (r.n_tasks > r.planes)
		r.n_tasks = (int)r.planes;
	cpu_parallel(k->ctx, r.n_tasks, adaptive_task, &r);
	return 0;
}

struct adaptive_max_run {
	const struct kernel_call *k;
	int64_t planes, in[3], size[3];
	int n_tasks;
};

/* The greatest of each part and where in its plane it is. */
static void adaptive_max_task(void *arg, int task, int thread)
{
	const struct adaptive_max_run *r = arg;
	const struct kernel_call *k = r->k;
	const int64_t *in = r->in, *size = r->size;
	int64_t plane = in[0] * in[1] * in[2], n_out = size[0] * size[1] * size[2], first, end;
	(void)thread;
	cpu_range(r->planes, r->n_tasks, task, &first, &end);
	for (int64_t i = first * n_out; i < end * n_out; i++) {
		int64_t at[3] = {i % n_out / size[2] / size[1], i % n_out / size[2] % size[1],
				 i % size[2]},
			lo[3], hi[3];
		for (int d = 0; d < 3; d++) {
			lo[d] = at[d] * in[d] / size[d];
			hi[d] = ((at[d] + 1) * in[d] + size[d] - 1) / size[d];
		}
		const float *part = (const float *)k->in[0].data + i / n_out * plane;
		int64_t best = (lo[0] * in[1] + lo[1]) * in[2] + lo[2];
		for (int64_t z = lo[0]; z < hi[0]; z++)
			for (int64_t y = lo[1]; y < hi[1]; y++)
				for (int64_t p = (z * in[1] + y) * in[2] + lo[2];
				     p < (z * in[1] + y) * in[2] + hi[2]; p++)
					if (part[p] > part[best])
						best = p;
		((float *)k->out[0].data)[i] = part[best];
		if (k->op->n_out > 1 && k->out[1].data)
			tensor_set_int(&k->out[1], i, best);
	}
}

int run_adaptive_max_pool(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0], *out = &k->out[0];
	struct adaptive_max_run r = {.k = k, .planes = x->dim[0] * x->dim[1]};
	int n = (int)x->rank - 2;
	(void)e;
	for (int i = 0; i < 3; i++) {
		int d = i - (3 - n);
		r.in[i] = d < 0 ? 1 : x->dim[2 + d];
		r.size[i] = d < 0 ? 1 : out->dim[2 + d];
	}
	r.n_tasks = cpu_tasks(tensor_elements(x), GRAIN);
	r.n_tasks = r.n_tasks < r.planes ? r.n_tasks : (int)r.planes;
	cpu_parallel(k->ctx, r.n_tasks, adaptive_max_task, &r);
	return 0;
}
