/* resize.c - Interpolate-1, -4 and -11: axis after axis, each output position a weighted
 * sum of input positions.  The dims in front of the first resized one are shared out: a task resizes
 * its part of them along all axes, which stays in its caches. */
#include "kernel/kernel_impl.h"
#include "kernel/vec.h"
#include "op/resize_taps.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* One axis: output position o is the sum of weight[t * m + o] times position at[t * m + o], t < taps.
 * (outer, n, inner) -> (outer, m, inner), outer counted within one slab. */
struct resize_pass {
	int64_t outer, n, m, inner;
	int taps;
	int32_t *at;
	float *weight;
};

struct resize_run {
	int n_passes;
	struct resize_pass pass[TENSOR_DIMS];
	bool bytes, negative; /* between passes are integers of 8 bits, as in Pillow's images */
	int64_t slabs, from, to, most; /* floats of a slab: of the input, output, between passes */
	const float *x;
	float *y;
	struct cpu_ctx *ctx;
	int n_tasks;
	atomic_bool failed;
};

/* y (dim) = x within zeros. */
static void pad_zero(const struct op_resize *r, const struct tensor *in, const int64_t *dim,
		     float *y)
{
	const float *x = in->data;
	int64_t n = tensor_elements(in), at[TENSOR_DIMS] = {0}, all = 1;
	for (uint32_t d = 0; d < in->rank; d++)
		all *= dim[d];
	memset(y, 0, (size_t)all * sizeof *y);
	for (int64_t i = 0; i < n; i++) {
		int64_t to = 0;
		for (uint32_t d = 0; d < in->rank; d++)
			to = to * dim[d] + at[d] + r->pad_begin[d];
		y[to] = x[i];
		for (uint32_t d = in->rank; d-- > 0 && ++at[d] == in->dim[d];)
			at[d] = 0;
	}
}

/* The taps of axis d, in `at` and `weight` (taps, m); span: n floats. */
static void find_taps(const struct op_resize *r, struct resize_pass *p, double scale, float *span)
{
	for (int64_t o = 0; o < p->m; o++) {
		struct resize_tap tap = {.n = 0};
		int64_t first = 0, n = resize_wide(r)
					       ? resize_span(r, o, scale, p->n, &first, span)
					       : (tap = resize_tap(r, o, scale, p->n, p->m)).n;
		for (int t = 0; t < p->taps; t++) {
			bool there = t < n;
			p->at[t * p->m + o] =
				!there ? -1 : (int32_t)(resize_wide(r) ? first + t : tap.at[t]);
			p->weight[t * p->m + o] = !there           ? 0
						  : resize_wide(r) ? span[t]
								   : tap.weight[t];
		}
	}
}

static int most_taps(const struct op_resize *r, const struct resize_pass *p, double scale,
		     float *span)
{
	int64_t most = 1, first;
	for (int64_t o = 0; o < p->m; o++) {
		int64_t n = resize_wide(r) ? resize_span(r, o, scale, p->n, &first, span)
					   : resize_tap(r, o, scale, p->n, p->m).n;
		most = n > most ? n : most;
	}
	return (int)most;
}

/* Rows of `inner` elements: each the sum of a few. */
static void resize_rows(const struct resize_pass *p, const float *x, float *y)
{
	enum { FEW = 8 };
	for (int64_t i = 0; i < p->outer; i++)
		for (int64_t o = 0; o < p->m; o++) {
			const float *row[FEW];
			float weight[FEW], *to = y + (i * p->m + o) * p->inner;
			int n = 0;
			bool added = false;
			for (int t = 0; t < p->taps; t++) {
				int32_t at = p->at[t * p->m + o];
				if (at >= 0) {
					row[n] = x + (i * p->n + at) * p->inner;
					weight[n++] = p->weight[t * p->m + o];
				}
				if (n == 0 || (n < FEW && t + 1 < p->taps))
					continue;
				if (!added && n == 1 && weight[0] == 1)
					memcpy(to, row[0], (size_t)p->inner * sizeof *to);
				else if (!added)
					vec_mix(row, weight, n, to, p->inner);
				else
					for (int j = 0; j < n; j++)
						vec_axpy(weight[j], row[j], to, p->inner);
				added = true;
				n = 0;
			}
		}
}

/* As integers of 8 bits: rounded and limited. */
static void round_bytes(bool negative, float *x, int64_t n)
{
	const float lo = negative ? INT8_MIN : 0, hi = negative ? INT8_MAX : UINT8_MAX;
	for (int64_t i = 0; i < n; i++) {
		float v = nearbyintf(x[i]);
		x[i] = v < lo ? lo : v > hi ? hi : v;
	}
}

/* A slab through all axes; between: 2 * most floats. */
static void resize_slab(const struct resize_run *r, const float *x, float *y, float *between)
{
	for (int i = 0; i < r->n_passes; i++) {
		const struct resize_pass *p = &r->pass[i];
		float *to = i + 1 == r->n_passes ? y : between + (i & 1) * r->most;
		if (p->inner > 1)
			resize_rows(p, x, to);
		else
			for (int64_t o = 0; o < p->outer; o++)
				vec_gather_sum(x + o * p->n, p->at, p->weight, p->taps, p->m,
					       to + o * p->m, p->m);
		if (r->bytes)
			round_bytes(r->negative, to, p->outer * p->m * p->inner);
		x = to;
	}
}

static void resize_task(void *arg, int task, int thread)
{
	struct resize_run *r = arg;
	int64_t lo, hi;
	float *between =
		cpu_thread_scratch(r->ctx, thread, (size_t)(2 * r->most + 1) * sizeof *between);
	if (!between) {
		r->failed = true;
		return;
	}
	cpu_range(r->slabs, r->n_tasks, task, &lo, &hi);
	for (int64_t i = lo; i < hi; i++)
		resize_slab(r, r->x + i * r->from, r->y + i * r->to, between);
}

/* Which axes in which order: those that shrink from the first on, then those that grow from the last
 * on, so that the passes between are short; where these round, from the last on, as OpenVINO. */
static int order_axes(bool rounds, const struct tensor *out, const int64_t *dim,
		      const double *scale, int *axis)
{
	int n = 0;
	for (int d = (int)out->rank; rounds && d-- > 0;)
		if (out->dim[d] != dim[d] || scale[d] != 1)
			axis[n++] = d;
	if (rounds)
		return n;
	for (int d = 0; d < (int)out->rank; d++)
		if (out->dim[d] < dim[d] || (out->dim[d] == dim[d] && scale[d] != 1))
			axis[n++] = d;
	for (int d = (int)out->rank; d-- > 0;)
		if (out->dim[d] > dim[d])
			axis[n++] = d;
	return n;
}

/* The passes and their tables; dim: of the padded input. */
static int make_passes(struct resize_run *r, const struct kernel_call *k, int64_t *dim,
		       const double *scale, const int *axis, struct err *e)
{
	const struct op_resize *a = &k->op->a.resize;
	const struct tensor *out = &k->out[0];
	int first = TENSOR_DIMS;
	int64_t tables = 0, longest = 1;
	double bound = 1;
	for (int i = 0; i < r->n_passes; i++)
		first = axis[i] < first ? axis[i] : first;
	r->slabs = r->from = r->to = 1;
	for (int d = 0; d < (int)out->rank; d++) {
		*(d < first ? &r->slabs : &r->from) *= dim[d];
		r->to *= d < first ? 1 : out->dim[d];
		bound *= (double)(dim[d] > out->dim[d] ? dim[d] : out->dim[d]);
		longest = dim[d] > longest ? dim[d] : longest;
	}
	float *span = cpu_thread_scratch(k->ctx, 0, (size_t)longest * sizeof *span);
	if (bound >= 0x1p40 || longest > INT32_MAX || !span)
		return cpu_no_memory(e);
	for (int i = 0; i < r->n_passes; i++) {
		struct resize_pass *p = &r->pass[i];
		*p = (struct resize_pass){
			.outer = 1, .n = dim[axis[i]], .m = out->dim[axis[i]], .inner = 1};
		for (int d = first; d < (int)out->rank; d++)
			*(d < axis[i] ? &p->outer : &p->inner) *= d == axis[i] ? 1 : dim[d];
		p->taps = most_taps(a, p, scale[axis[i]], span);
		tables += 2 * p->taps * p->m;
		dim[axis[i]] = p->m;
		int64_t all = p->outer * p->m * p->inner;
		r->most = i + 1 < r->n_passes && all > r->most ? all : r->most;
	}
	char *table = cpu_slot_scratch(k->ctx, SLOT_WHOLE, (size_t)tables * sizeof(float));
	if (!table)
		return cpu_no_memory(e);
	for (int i = 0; i < r->n_passes; i++) {
		struct resize_pass *p = &r->pass[i];
		size_t bytes = (size_t)(p->taps * p->m) * sizeof(float);
		p->at = (int32_t *)(void *)table;
		p->weight = (float *)(void *)(table + bytes);
		table += 2 * bytes;
		find_taps(a, p, scale[axis[i]], span);
	}
	return 0;
}

int run_resize(const struct kernel_call *k, struct err *e)
{
	const struct op_resize *a = &k->op->a.resize;
	const struct tensor *in = &k->in[0], *out = &k->out[0];
	struct resize_run r = {.x = in->data, .y = out->data, .ctx = k->ctx};
	double scale[TENSOR_DIMS], all = 1;
	int64_t dim[TENSOR_DIMS], n = 1;
	int axis[TENSOR_DIMS];
	bool padded = false;
	if (resize_scales(k->op, k->in, k->out, scale, e))
		return -1;
	for (uint32_t d = 0; d < in->rank; d++) {
		dim[d] = in->dim[d] + a->pad_begin[d] + a->pad_end[d];
		padded |= dim[d] != in->dim[d];
		all *= (double)dim[d];
		n = all < 0x1p40 ? n * dim[d] : n;
	}
	enum elem elem = cpu_graph_elem(k);
	r.negative = elem == EL_I8;
	r.bytes = resize_wide(a) && (elem == EL_U8 || elem == EL_I8);
	r.n_passes = order_axes(r.bytes, out, dim, scale, axis);
	if (r.n_passes == 0 && !padded)
		return run_copy(k, e);
	if (padded) {
		float *y = all >= 0x1p40 ? NULL
			   : r.n_passes == 0
				   ? out->data
				   : cpu_slot_scratch(k->ctx, SLOT_EXTRA, (size_t)n * sizeof *y);
		if (!y)
			return cpu_no_memory(e);
		pad_zero(a, in, dim, y);
		r.x = y;
	}
	if (r.n_passes == 0)
		return 0;
	if (make_passes(&r, k, dim, scale, axis, e) < 0)
		return -1;
	r.n_tasks = cpu_tasks(r.slabs * (r.from + r.to), 8192);
	if (r.n_tasks > r.slabs)
		r.n_tasks = (int)r.slabs;
	cpu_parallel(k->ctx, r.n_tasks, resize_task, &r);
	return r.failed ? cpu_no_memory(e) : 0;
}
