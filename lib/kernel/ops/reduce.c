/* reduce.c - reductions over a set of axes.
 *
 * The input is seen as rows of merged dims, alternately kept and reduced.  An output element
 * is computed in one order, whatever the number of threads: by one of them, or in pieces of one
 * size that are joined in their order. */
#include "kernel/kernel_impl.h"
#include "kernel/vec.h"
#include "op/slice.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { GRAIN = 16384, PIECE = 32768, ROWS = 16, SHORT_ROW = 256 };

enum reduce_way {
	WAY_ANY,   /* each output for itself, any type */
	WAY_INNER, /* f32, the innermost dim is reduced */
	WAY_ROWS,  /* f32, short rows one behind the other */
	WAY_OUTER, /* f32, the innermost dim is kept: rows of it are joined */
	WAY_PIECES /* f32, few outputs of one long run each */
};

struct reduce_run {
	enum op_kind kind;
	const struct tensor *in, *out;
	enum elem of; /* what the graph says that they are: in and out may be converted */
	bool open;    /* the graph leaves the shape of out open */
	struct dim_split d;
	enum reduce_way way;
	int64_t cuts; /* OUTER: pieces of a row, PIECES: of an output */
	double *piece;
	int64_t n; /* what is shared out */
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
	if (r->d.n_keep == 1)
		return o * r->d.keep_stride[0];
	return cpu_offset(o, r->d.n_keep, r->d.keep, r->d.keep_stride);
}

static int64_t reduced_offset(const struct reduce_run *r, int64_t j)
{
	return cpu_offset(j, r->d.n_red, r->d.red, r->d.red_stride);
}

/* Length of the innermost reduced dim, and the offset of its j-th run. */
static int64_t run_length(const struct reduce_run *r)
{
	return r->d.n_red ? r->d.red[r->d.n_red - 1] : 1;
}

static int64_t run_offset(const struct reduce_run *r, int64_t j)
{
	return r->d.n_red ? cpu_offset(j, r->d.n_red - 1, r->d.red, r->d.red_stride) : 0;
}

/* ---- one accumulator, any type ---- */

static double start_real(enum op_kind kind)
{
	switch (kind) {
	case OP_REDUCE_MAX: return -INFINITY;
	case OP_REDUCE_MIN: return INFINITY;
	/* clang-format off */
	case OP_REDUCE_PROD: case OP_REDUCE_LOGICAL_AND: return 1;
	case OP_REDUCE_SUM: case OP_REDUCE_MEAN: case OP_REDUCE_L1: case OP_REDUCE_L2:
	case OP_REDUCE_LOGICAL_OR:
		/* clang-format on */
		return 0;
	default: MISSED(kind); return 0;
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
	/* clang-format off */
	case OP_REDUCE_SUM: case OP_REDUCE_MEAN: return s + v;
	/* clang-format on */
	default: MISSED(kind); return s;
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
	default: /* as real numbers */ return (int64_t)start_real(kind);
	}
}

/* The least (ReduceMax) or greatest number of a type of integers: what is made of nothing. */
static int64_t limit_int(enum op_kind kind, enum elem t)
{
	unsigned bits = elem_bits(t);
	bool max = kind == OP_REDUCE_MAX;
	switch (t) {
	/* clang-format off */
	case EL_U8: case EL_U16: case EL_U32: case EL_U64:
		/* clang-format on */
		return max ? 0 : (int64_t)(UINT64_MAX >> (64 - bits));
	default: /* signed */
		return max ? -(int64_t)(INT64_MAX >> (64 - bits)) - 1 : INT64_MAX >> (64 - bits);
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
	/* clang-format off */
	case OP_REDUCE_SUM: case OP_REDUCE_MEAN: return (int64_t)((uint64_t)s + (uint64_t)v);
	/* clang-format on */
	default: MISSED(kind); return s;
	}
}

/* One run of a dim, from s on.  The step is the same function as elsewhere; a constant kind lets the
 * compiler make a loop of it. */
#define RUN(T, A, step) \
	do { \
		const T *x = (const T *)r->in->data + at; \
		for (int64_t i = 0; i < n; i++) { \
			A v = (A)x[i * stride]; \
			s = (step); \
		} \
		return s; \
	} while (0)
#define KIND_OF(T, A, kind_, step) \
	case kind_: \
		RUN(T, A, step(kind_, s, v));
#define KINDS(T, A, step) \
	switch (r->kind) { \
		KIND_OF(T, A, OP_REDUCE_MAX, step) \
		KIND_OF(T, A, OP_REDUCE_MIN, step) \
		KIND_OF(T, A, OP_REDUCE_PROD, step) \
		KIND_OF(T, A, OP_REDUCE_L1, step) \
		KIND_OF(T, A, OP_REDUCE_L2, step) \
		KIND_OF(T, A, OP_REDUCE_LOGICAL_AND, step) \
		KIND_OF(T, A, OP_REDUCE_LOGICAL_OR, step) \
		KIND_OF(T, A, OP_REDUCE_SUM, step) \
		KIND_OF(T, A, OP_REDUCE_MEAN, step) \
	default: MISSED(r->kind); return s; \
	}
#define STEP_SIGNED(kind, s, v) step_int(kind, false, s, v)
#define STEP_UNSIGNED(kind, s, v) step_int(kind, true, s, v)

static double run_real(const struct reduce_run *r, int64_t at, int64_t stride, int64_t n, double s)
{
	if (r->in->elem == EL_F32)
		KINDS(float, double, step_real)
	else
		KINDS(double, double, step_real)
}

/* One run of booleans that lie together: a loop without a chain. */
static int64_t run_booleans(bool all, const uint8_t *x, int64_t n, int64_t s)
{
	uint8_t any = 0, every = 1;
	for (int64_t i = 0; i < n; i++) {
		any |= x[i];
		every &= x[i] != 0;
	}
	return all ? s && every : s || any;
}

static int64_t run_int(const struct reduce_run *r, int64_t at, int64_t stride, int64_t n, int64_t s)
{
	bool all = r->kind == OP_REDUCE_LOGICAL_AND;
	if (r->in->elem == EL_BOOLEAN && stride == 1 && (all || r->kind == OP_REDUCE_LOGICAL_OR))
		return run_booleans(all, (const uint8_t *)r->in->data + at, n, s);
	switch (r->in->elem) {
	case EL_BOOLEAN: KINDS(uint8_t, int64_t, STEP_SIGNED)
	case EL_I32: KINDS(int32_t, int64_t, STEP_SIGNED)
	case EL_U64: KINDS(int64_t, int64_t, STEP_UNSIGNED)
	case EL_I64: KINDS(int64_t, int64_t, STEP_SIGNED)
	default: MISSED(r->in->elem); return s;
	}
}

static void reduce_any(const struct reduce_run *r, int64_t o)
{
	int64_t base = kept_offset(r, o), n = run_length(r), n_runs = n ? r->d.count / n : 0,
		stride = r->d.n_red ? r->d.red_stride[r->d.n_red - 1] : 1;
	if (elem_is_real(r->in->elem)) {
		double s = start_real(r->kind);
		for (int64_t j = 0; j < n_runs; j++)
			s = run_real(r, base + run_offset(r, j), stride, n, s);
		/* Of nothing: the least or greatest number, or infinity where the graph leaves the shape open, as
		 * in OpenVINO. */
		if (!r->d.count && isinf(s) && !r->open)
			s = copysign(r->in->elem == EL_F64 ? DBL_MAX : (double)FLT_MAX, s);
		tensor_set_real(r->out, o, end_real(r->kind, s, r->d.count));
		return;
	}
	bool is_unsigned = r->in->elem == EL_U64;
	int64_t s = start_int(r->kind, is_unsigned);
	for (int64_t j = 0; j < n_runs; j++)
		s = run_int(r, base + run_offset(r, j), stride, n, s);
	if (r->kind == OP_REDUCE_MEAN && r->d.count)
		s = is_unsigned ? (int64_t)((uint64_t)s / (uint64_t)r->d.count) : s / r->d.count;
	if (r->kind == OP_REDUCE_L2)
		s = (int64_t)sqrt(is_unsigned ? (double)(uint64_t)s : (double)s);
	if (!r->d.count && (r->kind == OP_REDUCE_MAX || r->kind == OP_REDUCE_MIN))
		s = limit_int(r->kind, r->of);
	tensor_set_int(r->out, o, s);
}

/* ---- f32 ---- */

/* A contiguous run; L2 without the root. */
static float run_f32(enum op_kind kind, const float *x, int64_t n)
{
	switch (kind) {
	case OP_REDUCE_MAX: return vec_max(x, n);
	case OP_REDUCE_MIN: return vec_min(x, n);
	case OP_REDUCE_L1: return vec_sum_sizes(x, n);
	case OP_REDUCE_L2: return vec_sum_squares(x, 0, n);
	case OP_REDUCE_PROD: return vec_product(x, n);
	/* clang-format off */
	case OP_REDUCE_SUM: case OP_REDUCE_MEAN: return vec_sum(x, n);
	/* clang-format on */
	default: MISSED(kind); return 0;
	}
}

/* Joins what run_f32 gives. */
static double join_runs(enum op_kind kind, double s, double v)
{
	return step_real(kind == OP_REDUCE_L2 || kind == OP_REDUCE_L1 ? OP_REDUCE_SUM : kind, s, v);
}

static void reduce_inner(const struct reduce_run *r, int64_t o)
{
	const float *x = (const float *)r->in->data + kept_offset(r, o);
	int64_t run = run_length(r), n_runs = r->d.count / run;
	double s = start_real(r->kind);
	for (int64_t j = 0; j < n_runs; j++)
		s = join_runs(r->kind, s, (double)run_f32(r->kind, x + run_offset(r, j), run));
	((float *)r->out->data)[o] = (float)end_real(r->kind, s, r->d.count);
}

/* ROWS rows, or those that are left. */
static void reduce_rows(const struct reduce_run *r, int64_t i)
{
	int64_t o = i * ROWS, n = r->d.count, rows = r->d.n - o < ROWS ? r->d.n - o : ROWS;
	float *y = (float *)r->out->data + o;
	vec_reduce_rows(r->kind, (const float *)r->in->data + o * n, n, n, (int)rows, y);
	for (int64_t j = 0; j < rows && r->kind == OP_REDUCE_L2; j++)
		y[j] = sqrtf(y[j]);
	for (int64_t j = 0; j < rows && r->kind == OP_REDUCE_MEAN; j++)
		y[j] /= (float)n;
}

/* A piece of a row of kept elements. */
static void reduce_outer(const struct reduce_run *r, int64_t piece)
{
	int64_t n = r->d.keep[r->d.n_keep - 1], row = piece / r->cuts, lo, hi;
	cpu_range(n, (int)r->cuts, (int)(piece % r->cuts), &lo, &hi);
	float *y = (float *)r->out->data + row * n + lo, start = (float)start_real(r->kind);
	const float *x = (const float *)r->in->data + lo +
			 cpu_offset(row, r->d.n_keep - 1, r->d.keep, r->d.keep_stride);
	for (int64_t i = 0; i < hi - lo; i++)
		y[i] = start;
	for (int64_t j = 0; j < r->d.count; j++)
		vec_join(r->kind, x + reduced_offset(r, j), y, hi - lo);
	if (r->kind == OP_REDUCE_MEAN)
		for (int64_t i = 0; i < hi - lo; i++)
			y[i] /= (float)r->d.count;
	if (r->kind == OP_REDUCE_L2)
		for (int64_t i = 0; i < hi - lo; i++)
			y[i] = sqrtf(y[i]);
}

static void reduce_piece(const struct reduce_run *r, int64_t piece)
{
	int64_t o = piece / r->cuts, lo = piece % r->cuts * PIECE, run = run_length(r),
		n = run - lo < PIECE ? run - lo : PIECE;
	r->piece[piece] =
		(double)run_f32(r->kind, (const float *)r->in->data + kept_offset(r, o) + lo, n);
}

static void join_pieces(const struct reduce_run *r)
{
	for (int64_t o = 0; o < r->d.n; o++) {
		double s = start_real(r->kind);
		for (int64_t i = 0; i < r->cuts; i++)
			s = join_runs(r->kind, s, r->piece[o * r->cuts + i]);
		((float *)r->out->data)[o] = (float)end_real(r->kind, s, r->d.count);
	}
}

static void reduce_task(void *arg, int task, int thread)
{
	static void (*const ways[])(const struct reduce_run *,
				    int64_t) = {[WAY_ANY] = reduce_any,
						[WAY_INNER] = reduce_inner,
						[WAY_ROWS] = reduce_rows,
						[WAY_OUTER] = reduce_outer,
						[WAY_PIECES] = reduce_piece};
	const struct reduce_run *r = arg;
	int64_t lo, hi;
	(void)thread;
	cpu_range(r->n, r->n_tasks, task, &lo, &hi);
	for (int64_t i = lo; i < hi; i++)
		ways[r->way](r, i);
}

static void choose_way(struct reduce_run *r)
{
	const struct dim_split *d = &r->d;
	r->way = WAY_ANY;
	r->n = d->n;
	r->cuts = 1;
	if (r->in->elem != EL_F32 || d->count == 0 || r->kind == OP_REDUCE_LOGICAL_AND ||
	    r->kind == OP_REDUCE_LOGICAL_OR)
		return;
	if (d->n_red && d->red_stride[d->n_red - 1] == 1) {
		bool pieces = d->n_red == 1 && d->n < 16 && d->count >= 2 * PIECE;
		r->way = pieces ? WAY_PIECES : WAY_INNER;
		r->cuts = pieces ? (d->count + PIECE - 1) / PIECE : 1;
		r->n = d->n * r->cuts;
		if (d->n_red == 1 && d->n_keep == 1 && d->count <= SHORT_ROW && d->n >= ROWS) {
			r->way = WAY_ROWS;
			r->n = (d->n + ROWS - 1) / ROWS;
		}
	} else if (d->n_keep && d->keep_stride[d->n_keep - 1] == 1 && d->keep[d->n_keep - 1] >= 8) {
		int64_t row = d->keep[d->n_keep - 1];
		r->way = WAY_OUTER;
		r->cuts = row * d->count < 2 * GRAIN ? 1 : (row + 511) / 512;
		r->n = d->n / row * r->cuts;
	}
}

static bool open_output(const struct op *op)
{
	struct tensor t;
	return op->g && op->v < op->g->n &&
	       (!tensor_describe(op->g, op->g->out_ptr[op->v], &t) || !tensor_is_static(&t));
}

int run_reduce(const struct kernel_call *k, struct err *e)
{
	struct reduce_run r = {.kind = k->op->kind,
			       .in = &k->in[0],
			       .out = &k->out[0],
			       .of = cpu_graph_elem(k),
			       .open = open_output(k->op)};
	uint32_t axes;
	if (op_axes(&k->in[1], r.in->rank, &axes, e))
		return -1;
	cpu_split_dims(r.in, axes, &r.d);
	choose_way(&r);
	if (r.way == WAY_PIECES &&
	    !(r.piece = cpu_slot_scratch(k->ctx, SLOT_EXTRA, (size_t)r.n * sizeof *r.piece)))
		return cpu_no_memory(e);
	r.n_tasks = cpu_tasks(r.d.n * (r.d.count ? r.d.count : 1), GRAIN);
	if (r.n_tasks > r.n)
		r.n_tasks = (int)r.n;
	cpu_parallel(k->ctx, r.n_tasks, reduce_task, &r);
	if (r.way == WAY_PIECES)
		join_pieces(&r);
	return 0;
}
