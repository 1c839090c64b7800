/* lrn.c - LRN and GRN: elements over the size of their neighbours among the channels. */
#include "kernel/kernel_impl.h"
#include "kernel/vec.h"
#include "op/slice.h"

#include <math.h>

/* clang-format off */
#ifdef __clang__
#define IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define IVDEP _Pragma("GCC ivdep")
#endif
/* clang-format on */
#define LEVEL_FILE "kernel/ops/lrn_loops.h"
#include "kernel/isa_dispatch.h"

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
			LEVEL_CALL(lrn_sums, x + from * plane, plane, to - from + 1, scale, bias,
				   sum, n);
			if (power == -0.75f) { /* what nearly all networks have */
				LEVEL_CALL(lrn_quotients, x + c * plane, sum, y + c * plane, n);
				continue;
			}
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
