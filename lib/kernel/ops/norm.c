/* norm.c - softmax and normalisations: statistics over some dims, then a map. */
#include "kernel/epilogue.h"
#include "kernel/kernel_impl.h"
#include "kernel/transpose.h"
#include "kernel/vec.h"
#include "op/slice.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { GRAIN = 8192, PIECE = 2048, LARGE = 1 << 16, SHORT = 17, BESIDE = 8, NEAR = 1 << 16 };

struct norm_run {
	const struct op *op;
	const struct tensor *in; /* the node's inputs */
	const float *x;
	float *y;
	struct dim_split d;
	uint32_t axes;
	int n_tasks;
	struct cpu_ctx *ctx;
	const struct epilogue *post; /* to be applied group by group, or NULL */
	atomic_bool failed;
};

/* One group of d.count elements, contiguous in x and y (which may be equal). */
typedef void row_fn(const struct norm_run *r, int64_t row, const float *x, float *y);
/* n groups one behind the other. */
typedef void rows_fn(const struct norm_run *r, int64_t row, int64_t n, const float *x, float *y);

/* n groups side by side: element j of group i at j * step + i of x and y (which may be equal). */
struct columns {
	const float *x;
	float *y;
	int64_t step, count, n;
};
enum { COLUMNS = 256 }; /* at most */
typedef void columns_fn(const struct norm_run *r, const struct columns *c);

/* One of the first two does it; columns, where there are some, groups that lie side by side or are short. */
struct row_job {
	struct norm_run *r;
	row_fn *fn;
	rows_fn *many;
	columns_fn *columns;
};

/* Short groups: side by side, and back. */
static void do_short(const struct row_job *job, int64_t n, const float *x, float *y)
{
	float side[SHORT * COLUMNS];
	int64_t count = job->r->d.count, some;
	for (int64_t i = 0; i < n; i += some) {
		some = n - i < COLUMNS ? n - i : COLUMNS;
		cpu_turn(x + i * count, count, some, count, side, COLUMNS);
		job->columns(job->r, &(struct columns){side, side, COLUMNS, count, some});
		cpu_turn(side, COLUMNS, count, some, y + i * count, count);
	}
}

static void do_rows(const struct row_job *job, int64_t row, int64_t n, const float *x, float *y)
{
	int64_t count = job->r->d.count;
	if (job->columns && count < SHORT) {
		do_short(job, n, x, y);
		return;
	}
	if (job->many)
		job->many(job->r, row, n, x, y);
	for (int64_t i = 0; i < n && job->fn; i++)
		job->fn(job->r, row + i, x + i * count, y + i * count);
}

/* Groups whose elements lie side by side are gathered together: whole cache lines are read. */
enum { TOGETHER = 16 };

/* `width` groups from offset base on, one after another in rows; back: from there. */
static void gather_rows(const struct norm_run *r, int64_t base, int64_t width, float *rows,
			bool back)
{
	const struct dim_split *d = &r->d;
	int64_t n = d->count, last = d->n_red - 1;
	if (width == 1 && d->red_stride[last] == 1) {
		for (int64_t j = 0, run = d->red[last]; j < n; j += run) {
			int64_t at = base + cpu_offset(j / run, (int)last, d->red, d->red_stride);
			memcpy(back ? r->y + at : rows + j, back ? rows + j : r->x + at,
			       (size_t)run * sizeof *rows);
		}
		return;
	}
	for (int64_t j = 0; j < n; j++) {
		int64_t at =
			base + (d->n_red == 1 ? j * d->red_stride[0]
					      : cpu_offset(j, d->n_red, d->red, d->red_stride));
		if (back)
			for (int64_t i = 0; i < width; i++)
				r->y[at + i] = rows[i * n + j];
		else
			for (int64_t i = 0; i < width; i++)
				rows[i * n + j] = r->x[at + i];
	}
}

static void gathered_task(struct row_job *job, int64_t lo, int64_t hi, int thread)
{
	struct norm_run *r = job->r;
	const struct dim_split *d = &r->d;
	bool beside = d->n_keep && d->keep_stride[d->n_keep - 1] == 1 && d->count < 1 << 20;
	int64_t most = beside ? TOGETHER : 1, line = d->n_keep ? d->keep[d->n_keep - 1] : 1, width;
	float *rows = cpu_thread_scratch(r->ctx, thread, (size_t)(most * d->count) * sizeof *rows);
	if (!rows) {
		r->failed = true;
		return;
	}
	for (int64_t i = lo; i < hi; i += width) {
		int64_t base = cpu_offset(i, d->n_keep, d->keep, d->keep_stride);
		width = line - i % line < most ? line - i % line : most;
		width = width < hi - i ? width : hi - i;
		gather_rows(r, base, width, rows, false);
		do_rows(job, i, width, rows, rows);
		gather_rows(r, base, width, rows, true);
	}
}

static void rows_task(void *arg, int task, int thread)
{
	struct row_job *job = arg;
	struct norm_run *r = job->r;
	const struct dim_split *d = &r->d;
	int64_t lo, hi;
	cpu_range(d->n, r->n_tasks, task, &lo, &hi);
	if (d->n_red > 1 || (d->n_red == 1 && d->red_stride[0] != 1)) {
		gathered_task(job, lo, hi, thread);
		return;
	}
	int64_t most = d->count > 0 && d->count < PIECE ? PIECE / d->count : 1;
	for (int64_t i0 = lo; i0 < hi; i0 += most) {
		int64_t n = hi - i0 < most ? hi - i0 : most, base = i0 * d->count;
		do_rows(job, i0, n, r->x + base, r->y + base);
		if (r->post)
			cpu_epilogue_span(r->post, r->y + base, base, n * d->count);
	}
}

/* Groups whose elements lie side by side, a few at a time: as many as stay in the second-level cache. */
static void columns_task(void *arg, int task, int thread)
{
	struct row_job *job = arg;
	struct norm_run *r = job->r;
	const struct dim_split *d = &r->d;
	int64_t lo, hi, line = d->keep[d->n_keep - 1], n, most = NEAR / (d->count + 1) / 16 * 16;
	most = most < 16 ? 16 : most < COLUMNS ? most : COLUMNS;
	(void)thread;
	cpu_range(d->n, r->n_tasks, task, &lo, &hi);
	for (int64_t i = lo; i < hi; i += n) {
		int64_t base = cpu_offset(i, d->n_keep, d->keep, d->keep_stride);
		n = line - i % line < hi - i ? line - i % line : hi - i;
		n = n < most ? n : most;
		job->columns(r, &(struct columns){r->x + base, r->y + base,
						  d->n_red ? d->red_stride[0] : 0, d->count, n});
	}
}

/* The job for every group of elements of data that differ in `axes` only. */
static int run_rows(const struct kernel_call *k, const struct tensor *data, uint32_t axes,
		    struct row_job job, struct err *e)
{
	struct norm_run r = {.op = k->op,
			     .in = k->in,
			     .x = data->data,
			     .y = k->out[0].data,
			     .axes = axes,
			     .ctx = k->ctx};
	job.r = &r;
	cpu_split_dims(data, axes, &r.d);
	if (r.d.n_red == 1 && r.d.red_stride[0] == 1)
		r.post = k->post;
	r.n_tasks = cpu_tasks(r.d.n * r.d.count, GRAIN);
	if (r.n_tasks > r.d.n)
		r.n_tasks = (int)r.d.n;
	bool beside = job.columns && r.d.n_red <= 1 && r.d.n_keep &&
		      r.d.keep_stride[r.d.n_keep - 1] == 1 && r.d.keep[r.d.n_keep - 1] >= BESIDE;
	cpu_parallel(k->ctx, r.n_tasks, beside ? columns_task : rows_task, &job);
	if (k->post && !r.post)
		cpu_epilogue_run(k->ctx, k->post, r.y);
	return r.failed ? cpu_no_memory(e) : 0;
}

/* ---- softmax ---- */

static void softmax_row(const struct norm_run *r, int64_t row, const float *x, float *y)
{
	int64_t n = r->d.count;
	(void)row;
	if (r->op->kind == OP_SOFTMAX) {
		vec_softmax(x, y, n);
		return;
	}
	float top = vec_max(x, n);
	float part[512], sum = 0;
	for (int64_t i = 0; i < n; i += 512)
		sum += vec_exp_sum(x + i, top, part, n - i < 512 ? n - i : 512);
	float shift = top + logf(sum);
	vec_binary(OP_SUBTRACT, x, 1, &shift, 0, y, n);
}

static void softmax_columns(const struct norm_run *r, const struct columns *c)
{
	static const struct unary_args none;
	float top[COLUMNS], sum[COLUMNS] = {0}, part[COLUMNS];
	bool log = r->op->kind != OP_SOFTMAX;
	memcpy(top, c->x, (size_t)c->n * sizeof *top);
	for (int64_t j = 1; j < c->count; j++)
		vec_join(OP_REDUCE_MAX, c->x + j * c->step, top, c->n);
	for (int64_t j = 0; j < c->count; j++) {
		float *y = log ? part : c->y + j * c->step;
		vec_binary(OP_SUBTRACT, c->x + j * c->step, 1, top, 1, y, c->n);
		vec_unary(OP_EXP, &none, y, y, c->n);
		vec_binary(OP_ADD, y, 1, sum, 1, sum, c->n);
	}
	if (log) {
		vec_unary(OP_LOG, &none, sum, sum, c->n);
		vec_binary(OP_ADD, top, 1, sum, 1, top, c->n);
	}
	const float one = 1;
	if (!log)
		vec_binary(OP_DIVIDE, &one, 0, sum, 1, sum, c->n);
	for (int64_t j = 0; j < c->count; j++)
		if (log)
			vec_binary(OP_SUBTRACT, c->x + j * c->step, 1, top, 1, c->y + j * c->step,
				   c->n);
		else
			vec_binary(OP_MULTIPLY, c->y + j * c->step, 1, sum, 1, c->y + j * c->step,
				   c->n);
}

int run_softmax(const struct kernel_call *k, struct err *e)
{
	int axis = op_axis(k->op->a.axis.axis, k->in[0].rank);
	if (axis < 0)
		return err_set(e, ST_INPUT, "axis %lld is not there",
			       (long long)k->op->a.axis.axis);
	return run_rows(k, &k->in[0], 1u << axis,
			(struct row_job){.fn = softmax_row, .columns = softmax_columns}, e);
}

/* ---- MVN and GroupNormalization ---- */

struct moments {
	float mean, variance;
};

enum { ROWS = 8 }; /* standardized side by side */

/* What a group is divided by, v being the mean of its squares or their sum: 1, sqrt(v + eps), sqrt(v) + eps,
 * sqrt(max(v, eps)). */
enum root { ROOT_NONE, ROOT_OF_SUM, ROOT_AND, ROOT_OF_LARGER };

static enum root mvn_root(const struct op *op)
{
	return !op->a.norm.normalize_variance ? ROOT_NONE
	       : op->a.norm.eps_inside_sqrt   ? ROOT_OF_SUM
					      : ROOT_AND;
}

#define LEVEL_FILE "kernel/ops/norm_loops.h"
#include "kernel/isa_dispatch.h"

enum { PASS = 512 }; /* elements of a group in one running sum */
static const float zeros[COLUMNS];

/* Sums over each column of what is left of its elements without less[i], or of its square. */
static void sum_columns(const struct columns *c, const float *less, bool square, float *sum)
{
	memset(sum, 0, (size_t)c->n * sizeof *sum);
	for (int64_t j = 0; j < c->count; j += PASS) {
		int64_t rows = c->count - j < PASS ? c->count - j : PASS;
		float part[COLUMNS] = {0};
		LEVEL_CALL(sum_columns, c->x + j * c->step, c->step, rows, less, square, part,
			   c->n);
		vec_binary(OP_ADD, part, 1, sum, 1, sum, c->n);
	}
}

static void scale_columns(const struct columns *c, const float *less, const float *by)
{
	LEVEL_CALL(scale_columns, c->x, c->step, c->count, less, by, zeros, c->y, c->n);
}

static void mvn_columns(const struct norm_run *r, const struct columns *c)
{
	float mean[COLUMNS], by[COLUMNS], each = (float)c->count;
	sum_columns(c, zeros, false, mean);
	vec_binary(OP_DIVIDE, mean, 1, &each, 0, mean, c->n);
	sum_columns(c, mean, true, by);
	LEVEL_CALL(scales, mvn_root(r->op), each, (float)r->op->a.norm.eps, by, c->n);
	scale_columns(c, mean, by);
}

static struct moments find_moments(const float *x, int64_t n)
{
	return LEVEL_CALL(moments, x, n);
}

static void mvn_rows(const struct norm_run *r, int64_t row, int64_t n, const float *x, float *y)
{
	int64_t count = r->d.count, most = count > PIECE ? 1 : ROWS;
	(void)row;
	for (int64_t i = 0; i < n; i += most)
		LEVEL_CALL(standardize, x + i * count, count, (int)(n - i < most ? n - i : most),
			   r->op, y + i * count);
}

int run_mvn(const struct kernel_call *k, struct err *e)
{
	uint32_t axes = 0, rank = k->in[0].rank;
	if (k->op->n_in > 1) {
		if (op_axes(&k->in[1], rank, &axes, e))
			return -1;
	} else {
		/* opset2: the spatial dims, and the channels too when across_channels. */
		axes = ((1u << rank) - 1) & ~(k->op->a.norm.across_channels ? 1u : 3u);
	}
	return run_rows(k, &k->in[0], axes,
			(struct row_job){.many = mvn_rows, .columns = mvn_columns}, e);
}

static void group_norm_row(const struct norm_run *r, int64_t row, const float *x, float *y)
{
	int64_t channels = r->in[0].dim[1], groups = r->op->a.norm.groups, each = channels / groups;
	int64_t plane = each ? r->d.count / each : 0, first = row % groups * each;
	const struct moments m = find_moments(x, r->d.count);
	float scale = 1 / sqrtf(m.variance + (float)r->op->a.norm.eps);
	for (int64_t c = 0; c < each; c++) {
		float gain = scale * (float)tensor_real(&r->in[1], first + c);
		float shift = (float)tensor_real(&r->in[2], first + c) - m.mean * gain;
		vec_scale_shift(x + c * plane, gain, shift, y + c * plane, plane);
	}
}

int run_group_norm(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0];
	int64_t groups = k->op->a.norm.groups;
	if (x->rank < 2 || x->dim[1] % groups || tensor_elements(&k->in[1]) != x->dim[1] ||
	    tensor_elements(&k->in[2]) != x->dim[1])
		return err_set(e, ST_INPUT, "channels do not divide into groups");
	struct tensor grouped = *x; /* (n, g, rest) */
	grouped.rank = 3;
	grouped.dim[1] = groups;
	grouped.dim[2] = tensor_elements(x) / (x->dim[0] * groups);
	return run_rows(k, &grouped, 4, (struct row_job){.fn = group_norm_row}, e);
}

/* ---- other normalisations ---- */

/* Of a group whose squares sum up to this. */
static float l2_scale(const struct norm_run *r, float sum)
{
	float eps = (float)r->op->a.norm.eps;
	sum = r->op->a.norm.eps_inside_sqrt ? sum + eps
	      : sum > eps                   ? sum
					    : eps; /* "add" or "max" */
	return 1 / sqrtf(sum);
}

static void l2_row(const struct norm_run *r, int64_t row, const float *x, float *y)
{
	(void)row;
	vec_scale_shift(x, l2_scale(r, vec_sum_squares(x, 0, r->d.count)), 0, y, r->d.count);
}

static void l2_columns(const struct norm_run *r, const struct columns *c)
{
	float by[COLUMNS];
	sum_columns(c, zeros, true, by);
	LEVEL_CALL(scales, r->op->a.norm.eps_inside_sqrt ? ROOT_OF_SUM : ROOT_OF_LARGER, 1,
		   (float)r->op->a.norm.eps, by, c->n);
	scale_columns(c, zeros, by);
}

/* One large group: sums of its pieces, then their product with the scale. */
struct l2_pieces {
	const struct norm_run *r;
	int64_t row;
	int n_tasks;
	float scale, *sum; /* (n_tasks) */
};

static void l2_sum_task(void *arg, int task, int thread)
{
	const struct l2_pieces *p = arg;
	int64_t lo, hi, first = p->row * p->r->d.count;
	(void)thread;
	cpu_range(p->r->d.count, p->n_tasks, task, &lo, &hi);
	p->sum[task] = vec_sum_squares(p->r->x + first + lo, 0, hi - lo);
}

static void l2_scale_task(void *arg, int task, int thread)
{
	const struct l2_pieces *p = arg;
	int64_t lo, hi, first = p->row * p->r->d.count;
	(void)thread;
	cpu_range(p->r->d.count, p->n_tasks, task, &lo, &hi);
	vec_scale_shift(p->r->x + first + lo, p->scale, 0, p->r->y + first + lo, hi - lo);
}

static int l2_large_rows(const struct norm_run *r, struct err *e)
{
	struct l2_pieces p = {.r = r, .n_tasks = cpu_tasks(r->d.count, GRAIN)};
	p.sum = cpu_slot_scratch(r->ctx, SLOT_EXTRA, (size_t)p.n_tasks * sizeof *p.sum);
	if (!p.sum)
		return cpu_no_memory(e);
	for (; p.row < r->d.n; p.row++) {
		cpu_parallel(r->ctx, p.n_tasks, l2_sum_task, &p);
		p.scale = l2_scale(r, vec_sum(p.sum, p.n_tasks));
		cpu_parallel(r->ctx, p.n_tasks, l2_scale_task, &p);
	}
	return 0;
}

/* Without axes every element is divided by itself. */
static void l2_ones(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] != 0;
}

int run_normalize_l2(const struct kernel_call *k, struct err *e)
{
	uint32_t axes;
	if (op_axes(&k->in[1], k->in[0].rank, &axes, e))
		return -1;
	if (!axes) {
		l2_ones(k->in[0].data, k->out[0].data, tensor_elements(&k->in[0]));
		if (k->post)
			cpu_epilogue_run(k->ctx, k->post, k->out[0].data);
		return 0;
	}
	struct norm_run r = {
		.op = k->op, .x = k->in[0].data, .y = k->out[0].data, .axes = axes, .ctx = k->ctx};
	const struct dim_split *d = &r.d;
	cpu_split_dims(&k->in[0], axes, &r.d);
	if (d->n_red != 1 || d->red_stride[0] != 1 || d->count < LARGE)
		return run_rows(k, &k->in[0], axes,
				(struct row_job){.fn = l2_row, .columns = l2_columns}, e);
	if (l2_large_rows(&r, e))
		return -1;
	if (k->post)
		cpu_epilogue_run(k->ctx, k->post, r.y);
	return 0;
}

static void rms_row(const struct norm_run *r, int64_t row, const float *x, float *y)
{
	int64_t n = r->d.count, m = tensor_elements(&r->in[1]);
	float scale = 1 / sqrtf(vec_sum_squares(x, 0, n) / (float)n + (float)r->op->a.norm.eps);
	const float *gain = r->in[1].data;
	(void)row;
	vec_scale_shift(x, m == 1 ? scale * gain[0] : scale, 0, y, n);
	if (m != 1)
		vec_binary(OP_MULTIPLY, y, 1, gain, 1, y, n);
}

static void rms_columns(const struct norm_run *r, const struct columns *c)
{
	float by[COLUMNS];
	const float *gain = r->in[1].data;
	int64_t m = tensor_elements(&r->in[1]);
	sum_columns(c, zeros, true, by);
	LEVEL_CALL(scales, ROOT_OF_SUM, (float)c->count, (float)r->op->a.norm.eps, by, c->n);
	if (m == 1)
		vec_scale_shift(by, gain[0], 0, by, c->n);
	scale_columns(c, zeros, by);
	for (int64_t j = 0; j < c->count && m != 1; j++)
		vec_scale_shift(c->y + j * c->step, gain[j], 0, c->y + j * c->step, c->n);
}

int run_rms(const struct kernel_call *k, struct err *e)
{
	int64_t m = tensor_elements(&k->in[1]);
	if (k->in[0].rank < 1 || (m != 1 && m != k->in[0].dim[k->in[0].rank - 1]))
		return err_set(e, ST_INPUT, "scale does not fit the last dim");
	return run_rows(k, &k->in[0], 1u << (k->in[0].rank - 1),
			(struct row_job){.fn = rms_row, .columns = rms_columns}, e);
}

static void batch_norm_scale(const struct norm_run *r, int64_t c, float *scale, float *shift)
{
	bool v5 = r->op->version >= 5; /* before: gamma, beta, data, mean, variance */
	const float *gamma = r->in[v5 ? 1 : 0].data, *beta = r->in[v5 ? 2 : 1].data;
	const float *mean = r->in[3].data, *variance = r->in[4].data;
	*scale = gamma[c] / sqrtf(variance[c] + (float)r->op->a.norm.eps);
	*shift = beta[c] - mean[c] * *scale;
}

static void batch_norm_row(const struct norm_run *r, int64_t row, const float *x, float *y)
{
	float scale, shift;
	batch_norm_scale(r, row % r->in[r->op->version >= 5 ? 0 : 2].dim[1], &scale, &shift);
	vec_scale_shift(x, scale, shift, y, r->d.count);
}

/* Planes of few pixels: factors and summands of all elements of an image, which are the same for each. */
struct few_pixels {
	struct norm_run r;
	int64_t image;
	const float *by, *more;
};

static void few_pixels_task(void *arg, int task, int thread)
{
	const struct few_pixels *f = arg;
	const float *x = f->r.x + task * f->image;
	float *y = f->r.y + task * f->image;
	(void)thread;
	for (int64_t i = 0; i < f->image; i += COLUMNS) {
		int64_t n = f->image - i < COLUMNS ? f->image - i : COLUMNS;
		LEVEL_CALL(scale_columns, x + i, 0, 1, zeros, f->by + i, f->more + i, y + i, n);
	}
}

static int run_few_pixels(const struct kernel_call *k, const struct tensor *x, int64_t pixels,
			  struct err *e)
{
	struct few_pixels f = {
		.r = {.op = k->op, .in = k->in, .x = x->data, .y = k->out[0].data, .ctx = k->ctx},
		.image = x->dim[1] * pixels};
	float *by = cpu_slot_scratch(k->ctx, SLOT_EXTRA, (size_t)(2 * f.image) * sizeof *by);
	if (!by)
		return cpu_no_memory(e);
	float *more = by + f.image;
	for (int64_t i = 0; i < f.image; i += pixels) {
		batch_norm_scale(&f.r, i / pixels, &by[i], &more[i]);
		for (int64_t j = 1; j < pixels; j++) {
			by[i + j] = by[i];
			more[i + j] = more[i];
		}
	}
	f.by = by;
	f.more = more;
	cpu_parallel(k->ctx, (int)x->dim[0], few_pixels_task, &f);
	if (k->post)
		cpu_epilogue_run(k->ctx, k->post, f.r.y);
	return 0;
}

int run_batch_norm(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[k->op->version >= 5 ? 0 : 2];
	if (x->rank < 2)
		return err_set(e, ST_INPUT, "data without channels");
	for (int i = 0; i < 5; i++)
		if (&k->in[i] != x && tensor_elements(&k->in[i]) != x->dim[1])
			return err_set(e, ST_INPUT, "input %d has not one value for each channel",
				       i);
	struct tensor planes = *x; /* (n, c, rest) */
	planes.rank = 3;
	planes.dim[2] = tensor_elements(x) / (x->dim[0] * x->dim[1]);
	if (planes.dim[2] < SHORT && x->dim[0] > 1)
		return run_few_pixels(k, x, planes.dim[2], e);
	return run_rows(k, &planes, 4, (struct row_job){.fn = batch_norm_row}, e);
}
