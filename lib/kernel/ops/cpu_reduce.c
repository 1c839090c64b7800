/* cpu_reduce.c - reductions over a set of axes.
 *
 * The input is seen as rows of merged dims, alternately kept and reduced.  An output element
 * is computed by one thread, in one order. */
#include "kernel/cpu_impl.h"
#include "kernel/cpu_vec.h"
#include "op/slice.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { GRAIN = 16384 };

struct reduce_run {
	enum op_kind kind;
	const struct tensor *in, *out;
	struct dim_split d;
	int n_tasks;
};

int64_t cpu_offset(int64_t i, int n, const int64_t *dim, const int64_t *stride)
{
	int64_t at = 0;
	for (int d = n - 1; d >= 0; d--) {
		at += i % dim[d] * stride[d];
		i /= dim[d];
	}
	return at;
}

static void push_dim(int *n, int64_t *dim, int64_t *stride, int64_t size, int64_t step)
{
	if (*n && stride[*n - 1] == size * step) {
		dim[*n - 1] *= size;
		stride[*n - 1] = step;
		return;
	}
	dim[*n] = size;
	stride[(*n)++] = step;
}

void cpu_split_dims(const struct tensor *t, uint32_t reduced_axes, struct dim_split *s)
{
	int64_t stride[TENSOR_DIMS], step = 1;
	*s = (struct dim_split){.n = 1, .count = 1};
	for (uint32_t i = t->rank; i-- > 0; step *= t->dim[i])
		stride[i] = step;
	for (uint32_t i = 0; i < t->rank; i++) {
		bool reduced = reduced_axes >> i & 1;
		*(reduced ? &s->count : &s->n) *= t->dim[i];
		if (t->dim[i] == 1)
			continue;
		if (reduced)
			push_dim(&s->n_red, s->red, s->red_stride, t->dim[i], stride[i]);
		else
			push_dim(&s->n_keep, s->keep, s->keep_stride, t->dim[i], stride[i]);
	}
}

static int64_t kept_offset(const struct reduce_run *r, int64_t o)
{
	return cpu_offset(o, r->d.n_keep, r->d.keep, r->d.keep_stride);
}

static int64_t reduced_offset(const struct reduce_run *r, int64_t j)
{
	return cpu_offset(j, r->d.n_red, r->d.red, r->d.red_stride);
}

/* ---- one accumulator, any type ---- */

static double start_real(enum op_kind kind)
{
	switch (kind) {
	case OP_REDUCE_MAX: return -INFINITY;
	case OP_REDUCE_MIN: return INFINITY;
	/* clang-format off */
	case OP_REDUCE_PROD: case OP_REDUCE_LOGICAL_AND: return 1;
	/* clang-format on */
	default: return 0;
	}
}

static double step_real(enum op_kind kind, double s, double v)
{
	switch (kind) {
	case OP_REDUCE_MAX: return v > s ? v : s;
	case OP_REDUCE_MIN: return v < s ? v : s;
	case OP_REDUCE_PROD: return s * v;
	case OP_REDUCE_L1: return s + fabs(v);
	case OP_REDUCE_L2: return s + v * v;
	case OP_REDUCE_LOGICAL_AND: return s != 0 && v != 0;
	case OP_REDUCE_LOGICAL_OR: return s != 0 || v != 0;
	default: return s + v;
	}
}

static double end_real(enum op_kind kind, double s, int64_t n)
{
	return kind == OP_REDUCE_MEAN && n ? s / (double)n : kind == OP_REDUCE_L2 ? sqrt(s) : s;
}

/* Signed or not, the order of the integers is that of x ^ flip. */
static int64_t start_int(enum op_kind kind, bool is_unsigned)
{
	int64_t flip = is_unsigned ? INT64_MIN : 0;
	switch (kind) {
	case OP_REDUCE_MAX: return INT64_MIN ^ flip;
	case OP_REDUCE_MIN: return INT64_MAX ^ flip;
	default: return kind == OP_REDUCE_PROD || kind == OP_REDUCE_LOGICAL_AND;
	}
}

static int64_t step_int(enum op_kind kind, bool is_unsigned, int64_t s, int64_t v)
{
	int64_t flip = is_unsigned ? INT64_MIN : 0;
	switch (kind) {
	case OP_REDUCE_MAX: return (v ^ flip) > (s ^ flip) ? v : s;
	case OP_REDUCE_MIN: return (v ^ flip) < (s ^ flip) ? v : s;
	case OP_REDUCE_PROD: return (int64_t)((uint64_t)s * (uint64_t)v);
	case OP_REDUCE_L1:
		v = v < 0 && !is_unsigned ? (int64_t)(0 - (uint64_t)v) : v;
		return (int64_t)((uint64_t)s + (uint64_t)v);
	case OP_REDUCE_L2: return (int64_t)((uint64_t)s + (uint64_t)v * (uint64_t)v);
	case OP_REDUCE_LOGICAL_AND: return s && v;
	case OP_REDUCE_LOGICAL_OR: return s || v;
	default: return (int64_t)((uint64_t)s + (uint64_t)v);
	}
}

static void reduce_any(const struct reduce_run *r, int64_t o)
{
	int64_t base = kept_offset(r, o);
	if (elem_is_real(r->in->elem)) {
		double s = start_real(r->kind);
		for (int64_t j = 0; j < r->d.count; j++)
			s = step_real(r->kind, s, tensor_real(r->in, base + reduced_offset(r, j)));
		if (!r->d.count && isinf(s)) /* of nothing: the least or greatest number */
			s = copysign(r->in->elem == EL_F64 ? DBL_MAX : (double)FLT_MAX, s);
		tensor_set_real(r->out, o, end_real(r->kind, s, r->d.count));
		return;
	}
	bool is_unsigned = r->in->elem == EL_U64;
	int64_t s = start_int(r->kind, is_unsigned);
	for (int64_t j = 0; j < r->d.count; j++)
		s = step_int(r->kind, is_unsigned, s,
			     tensor_int(r->in, base + reduced_offset(r, j)));
	if (r->kind == OP_REDUCE_MEAN && r->d.count)
		s = is_unsigned ? (int64_t)((uint64_t)s / (uint64_t)r->d.count) : s / r->d.count;
	if (r->kind == OP_REDUCE_L2)
		s = (int64_t)sqrt(is_unsigned ? (double)(uint64_t)s : (double)s);
	tensor_set_int(r->out, o, s);
}

/* ---- f32 ---- */

/* A contiguous run; kinds with a vector form. */
static float run_f32(enum op_kind kind, const float *x, int64_t n)
{
	switch (kind) {
	case OP_REDUCE_MAX: return vec_max(x, n);
	case OP_REDUCE_MIN: return vec_min(x, n);
	case OP_REDUCE_L2: return vec_sum_squares(x, 0, n);
	default: return vec_sum(x, n);
	}
}

static bool has_vector(enum op_kind kind)
{
	return kind == OP_REDUCE_MAX || kind == OP_REDUCE_MIN || kind == OP_REDUCE_L2 ||
	       kind == OP_REDUCE_SUM || kind == OP_REDUCE_MEAN;
}

/* The innermost dim is reduced: runs of it are contiguous. */
static void reduce_inner(const struct reduce_run *r, int64_t o)
{
	const float *x = (const float *)r->in->data + kept_offset(r, o);
	int64_t run = r->d.red[r->d.n_red - 1], n_runs = r->d.count / run;
	double s = start_real(r->kind);
	enum op_kind join = r->kind == OP_REDUCE_L2 ? OP_REDUCE_SUM : r->kind;
	for (int64_t j = 0; j < n_runs; j++)
		s = step_real(join, s,
			      (double)run_f32(
				      r->kind,
				      x + cpu_offset(j, r->d.n_red - 1, r->d.red, r->d.red_stride),
				      run));
	((float *)r->out->data)[o] = (float)end_real(r->kind, s, r->d.count);
}

/* The innermost dim is kept: rows of it are accumulated into the output. */
static void reduce_outer(const struct reduce_run *r, int64_t row)
{
	int64_t n = r->d.keep[r->d.n_keep - 1];
	float *y = (float *)r->out->data + row * n;
	const float *x = (const float *)r->in->data +
			 cpu_offset(row, r->d.n_keep - 1, r->d.keep, r->d.keep_stride);
	static const enum op_kind joins[] = {OP_ADD, OP_MAXIMUM, OP_MINIMUM};
	enum op_kind join = joins[r->kind == OP_REDUCE_MAX ? 1 : r->kind == OP_REDUCE_MIN ? 2 : 0];
	memcpy(y, x, (size_t)n * sizeof *y);
	for (int64_t j = 1; j < r->d.count; j++)
		vec_binary(join, y, 1, x + reduced_offset(r, j), 1, y, n);
	if (r->kind == OP_REDUCE_MEAN)
		for (int64_t i = 0; i < n; i++)
			y[i] /= (float)r->d.count;
}

static void reduce_task(void *arg, int task, int thread)
{
	const struct reduce_run *r = arg;
	int64_t lo, hi;
	(void)thread;
	bool vector = r->in->elem == EL_F32 && has_vector(r->kind) && r->d.count > 0;
	bool inner = vector && r->d.n_red && r->d.red_stride[r->d.n_red - 1] == 1;
	bool outer = vector && !inner && r->d.n_red && r->kind != OP_REDUCE_L2 && r->d.n_keep &&
		     r->d.keep_stride[r->d.n_keep - 1] == 1 && r->d.keep[r->d.n_keep - 1] >= 8;
	int64_t n = outer ? r->d.n / r->d.keep[r->d.n_keep - 1] : r->d.n;
	cpu_range(n, r->n_tasks, task, &lo, &hi);
	for (int64_t o = lo; o < hi; o++) {
		if (inner)
			reduce_inner(r, o);
		else if (outer)
			reduce_outer(r, o);
		else
			reduce_any(r, o);
	}
}

int run_reduce(const struct kernel_call *k, struct err *e)
{
	struct reduce_run r = {.kind = k->op->kind, .in = &k->in[0], .out = &k->out[0]};
	uint32_t axes;
	if (op_axes(&k->in[1], r.in->rank, &axes, e))
		return -1;
	cpu_split_dims(r.in, axes, &r.d);
	r.n_tasks = cpu_tasks(r.d.n * (r.d.count ? r.d.count : 1), GRAIN);
	if (r.n_tasks > r.d.n)
		r.n_tasks = (int)r.d.n;
	cpu_parallel(k->ctx, r.n_tasks, reduce_task, &r);
	return 0;
}
