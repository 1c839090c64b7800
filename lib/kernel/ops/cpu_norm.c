/* cpu_norm.c - softmax and normalisations: statistics over some dims, then a map. */
#include "kernel/cpu_epilogue.h"
#include "kernel/cpu_impl.h"
#include "kernel/cpu_vec.h"
#include "op/slice.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { GRAIN = 8192 };

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

/* fn(r, row, x, y): one group of d.count elements, contiguous in x and y (which may be equal). */
typedef void row_fn(const struct norm_run *r, int64_t row, const float *x, float *y);

struct row_job {
	struct norm_run *r;
	row_fn *fn;
};

/* Groups whose elements lie side by side are gathered together: whole cache lines are read. */
enum { TOGETHER = 16 };

/* `width` groups from offset base on, one after another in rows; back: from there. */
static void gather_rows(const struct norm_run *r, int64_t base, int64_t width, float *rows,
			bool back)
{
	const struct dim_split *d = &r->d;
	int64_t n = d->count;
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
		for (int64_t w = 0; w < width; w++)
			job->fn(r, i + w, rows + w * d->count, rows + w * d->count);
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
	for (int64_t i = lo; i < hi; i++) {
		int64_t base = cpu_offset(i, d->n_keep, d->keep, d->keep_stride);
		job->fn(r, i, r->x + base, r->y + base);
		if (r->post)
			cpu_epilogue_span(r->post, r->y + base, base, d->count);
	}
}

/* fn for every group of elements of data that differ in `axes` only. */
static int run_rows(const struct kernel_call *k, const struct tensor *data, uint32_t axes,
		    row_fn *fn, struct err *e)
{
	struct norm_run r = {.op = k->op,
			     .in = k->in,
			     .x = data->data,
			     .y = k->out[0].data,
			     .axes = axes,
			     .ctx = k->ctx};
	struct row_job job = {&r, fn};
	cpu_split_dims(data, axes, &r.d);
	if (r.d.n_red == 1 && r.d.red_stride[0] == 1)
		r.post = k->post;
	r.n_tasks = cpu_tasks(r.d.n * r.d.count, GRAIN);
	if (r.n_tasks > r.d.n)
		r.n_tasks = (int)r.d.n;
	cpu_parallel(k->ctx, r.n_tasks, rows_task, &job);
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

int run_softmax(const struct kernel_call *k, struct err *e)
{
	int axis = op_axis(k->op->a.axis.axis, k->in[0].rank);
	if (axis < 0)
		return err_set(e, ST_INPUT, "axis %lld is not there",
			       (long long)k->op->a.axis.axis);
	return run_rows(k, &k->in[0], 1u << axis, softmax_row, e);
}

/* ---- MVN and GroupNormalization ---- */

static void moments(const float *x, int64_t n, float *mean, float *variance)
{
	*mean = vec_sum(x, n) / (float)n;
	*variance = vec_sum_squares(x, *mean, n) / (float)n;
}

static void mvn_row(const struct norm_run *r, int64_t row, const float *x, float *y)
{
	float mean, variance, scale = 1, eps = (float)r->op->a.norm.eps;
	(void)row;
	moments(x, r->d.count, &mean, &variance);
	if (r->op->a.norm.normalize_variance)
		scale = r->op->a.norm.eps_inside_sqrt ? 1 / sqrtf(variance + eps)
						      : 1 / (sqrtf(variance) + eps);
	vec_center_scale(x, mean, scale, y, r->d.count);
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
	return run_rows(k, &k->in[0], axes, mvn_row, e);
}

static void group_norm_row(const struct norm_run *r, int64_t row, const float *x, float *y)
{
	int64_t channels = r->in[0].dim[1], groups = r->op->a.norm.groups, each = channels / groups;
	int64_t plane = each ? r->d.count / each : 0, first = row % groups * each;
	float mean, variance;
	moments(x, r->d.count, &mean, &variance);
	float scale = 1 / sqrtf(variance + (float)r->op->a.norm.eps);
	for (int64_t c = 0; c < each; c++) {
		float gain = scale * (float)tensor_real(&r->in[1], first + c);
		float shift = (float)tensor_real(&r->in[2], first + c) - mean * gain;
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
	return run_rows(k, &grouped, 4, group_norm_row, e);
}

/* ---- other normalisations ---- */

static void l2_row(const struct norm_run *r, int64_t row, const float *x, float *y)
{
	float sum = vec_sum_squares(x, 0, r->d.count), eps = (float)r->op->a.norm.eps;
	(void)row;
	sum = r->op->a.norm.eps_inside_sqrt ? sum + eps
	      : sum > eps                   ? sum
					    : eps; /* "add" or "max" */
	vec_scale_shift(x, 1 / sqrtf(sum), 0, y, r->d.count);
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
	return run_rows(k, &k->in[0], axes, l2_row, e);
}

static void rms_row(const struct norm_run *r, int64_t row, const float *x, float *y)
{
	int64_t n = r->d.count, m = tensor_elements(&r->in[1]);
	float scale = 1 / sqrtf(vec_sum_squares(x, 0, n) / (float)n + (float)r->op->a.norm.eps);
	const float *gain = r->in[1].data;
	(void)row;
	vec_scale_shift(x, scale, 0, y, n);
	vec_binary(OP_MULTIPLY, y, 1, gain, m != 1, y, n);
}

int run_rms(const struct kernel_call *k, struct err *e)
{
	int64_t m = tensor_elements(&k->in[1]);
	if (k->in[0].rank < 1 || (m != 1 && m != k->in[0].dim[k->in[0].rank - 1]))
		return err_set(e, ST_INPUT, "scale does not fit the last dim");
	return run_rows(k, &k->in[0], 1u << (k->in[0].rank - 1), rms_row, e);
}

static void batch_norm_row(const struct norm_run *r, int64_t row, const float *x, float *y)
{
	bool v5 = r->op->version >= 5; /* before: gamma, beta, data, mean, variance */
	int64_t c = row % r->in[v5 ? 0 : 2].dim[1];
	const float *gamma = r->in[v5 ? 1 : 0].data, *beta = r->in[v5 ? 2 : 1].data;
	const float *mean = r->in[3].data, *variance = r->in[4].data;
	float scale = gamma[c] / sqrtf(variance[c] + (float)r->op->a.norm.eps);
	vec_scale_shift(x, scale, beta[c] - mean[c] * scale, y, r->d.count);
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
	return run_rows(k, &planes, 4, batch_norm_row, e);
}

/* ---- LRN ---- */

struct lrn_run {
	const struct op *op;
	const struct tensor *in;
	float *y;
	uint32_t axes;
	int64_t stride[TENSOR_DIMS];
	int n_tasks;
};

/* Sum of squares over the window of one element, axis by axis. */
static double window_squares(const struct lrn_run *r, const int64_t *at, uint32_t axis,
			     int64_t base)
{
	const float *x = r->in->data;
	while (axis < r->in->rank && !(r->axes >> axis & 1))
		axis++;
	if (axis >= r->in->rank)
		return (double)x[base] * (double)x[base];
	int64_t half = (r->op->a.lrn.size - 1) / 2, lo = at[axis] - half, hi = at[axis] + half;
	double sum = 0;
	lo = lo < 0 ? 0 : lo;
	hi = hi >= r->in->dim[axis] ? r->in->dim[axis] - 1 : hi;
	for (int64_t i = lo; i <= hi; i++)
		sum += window_squares(r, at, axis + 1, base + (i - at[axis]) * r->stride[axis]);
	return sum;
}

static void lrn_task(void *arg, int task, int thread)
{
	const struct lrn_run *r = arg;
	const float *x = r->in->data;
	int64_t lo, hi, at[TENSOR_DIMS];
	(void)thread;
	cpu_range(tensor_elements(r->in), r->n_tasks, task, &lo, &hi);
	double scale =
		r->op->a.lrn.alpha / pow((double)r->op->a.lrn.size, __builtin_popcount(r->axes));
	for (int64_t i = lo; i < hi; i++) {
		for (uint32_t d = 0; d < r->in->rank; d++)
			at[d] = i / r->stride[d] % r->in->dim[d];
		double sum = window_squares(r, at, 0, i);
		r->y[i] = (float)((double)x[i] /
				  pow(r->op->a.lrn.bias + scale * sum, r->op->a.lrn.beta));
	}
}

enum { LRN_PIECE = 256 }; /* pixels */

/* Over the channels alone: pieces of an image's planes, squares summed channel by channel. */
static void lrn_channels_task(void *arg, int task, int thread)
{
	const struct lrn_run *r = arg;
	const struct op *op = r->op;
	int64_t channels = r->in->dim[1], plane = r->stride[1], lo, hi,
		half = (op->a.lrn.size - 1) / 2;
	float power = -(float)op->a.lrn.beta, bias = (float)op->a.lrn.bias,
	      scale = (float)(op->a.lrn.alpha / (double)op->a.lrn.size), sum[LRN_PIECE];
	static const struct unary_args none;
	(void)thread;
	cpu_range(r->in->dim[0] * plane, r->n_tasks, task, &lo, &hi);
	for (int64_t i = lo, n; i < hi; i += n) {
		int64_t left = plane - i % plane, first = i / plane * channels * plane + i % plane;
		n = left < LRN_PIECE ? left : LRN_PIECE;
		n = n < hi - i ? n : hi - i;
		const float *x = (const float *)r->in->data + first;
		float *y = r->y + first;
		for (int64_t c = 0; c < channels; c++) {
			int64_t from = c > half ? c - half : 0,
				to = c + half < channels ? c + half : channels - 1;
			memset(sum, 0, (size_t)n * sizeof *sum);
			for (int64_t j = from; j <= to; j++)
				vec_join(OP_REDUCE_L2, x + j * plane, sum, n);
			vec_scale_shift(sum, scale, bias, sum, n);
			vec_unary(OP_LOG, &none, sum, sum, n);
			vec_scale_shift(sum, power, 0, sum, n);
			vec_unary(OP_EXP, &none, sum, sum, n);
			vec_binary(OP_MULTIPLY, sum, 1, x + c * plane, 1, y + c * plane, n);
		}
	}
}

int run_lrn(const struct kernel_call *k, struct err *e)
{
	struct lrn_run r = {.op = k->op, .in = &k->in[0], .y = k->out[0].data};
	int64_t step = 1;
	if (op_axes(&k->in[1], r.in->rank, &r.axes, e))
		return -1;
	if (__builtin_popcount(r.axes) > 1) /* OpenVINO's CPU plugin: never both */
		r.axes &= ~2u;
	for (uint32_t d = r.in->rank; d-- > 0; step *= r.in->dim[d])
		r.stride[d] = step;
	r.n_tasks = cpu_tasks(step, 1024);
	if (r.axes == 2 && r.op->a.lrn.bias > 0 &&
	    r.op->a.lrn.alpha >= 0) { /* a logarithm is there */
		r.n_tasks = cpu_tasks(r.in->dim[0] * r.stride[1], LRN_PIECE);
		cpu_parallel(k->ctx, r.n_tasks, lrn_channels_task, &r);
		return 0;
	}
	cpu_parallel(k->ctx, r.n_tasks, lrn_task, &r);
	return 0;
}

/* GRN: x / sqrt(sum of squares over the channels + bias). */
int run_grn(const struct kernel_call *k, struct err *e)
{
	const struct tensor *t = &k->in[0];
	int64_t channels = t->dim[1], plane = 1;
	const float *x = t->data;
	float *y = k->out[0].data;
	if (t->rank < 2)
		return err_set(e, ST_INPUT, "GRN without a dim of channels");
	for (uint32_t d = 2; d < t->rank; d++)
		plane *= t->dim[d];
	for (int64_t i = 0; i < t->dim[0] * plane; i++) {
		int64_t at = i / plane * channels * plane + i % plane;
		double sum = k->op->a.lrn.bias;
		for (int64_t c = 0; c < channels; c++)
			sum += (double)x[at + c * plane] * (double)x[at + c * plane];
		for (int64_t c = 0; c < channels; c++)
			y[at + c * plane] = (float)((double)x[at + c * plane] / sqrt(sum));
	}
	return 0;
}
