/* binconv.c - BinaryConvolution (opset1): data and weights are signs, 1 for plus, 0 for minus,
 * so that a product counts the pairs that agree less those that do not (xnor-popcount).  As in
 * OpenVINO's CPU plugin the bits of weights count from the low end of a byte, unlike those of other
 * u1 constants, and padding is minus or plus by its sign, nothing when it is 0. */
#include "kernel/kernel_impl.h"

struct binary_run {
	const struct tensor *x, *w, *y;
	const struct op_window *a;
	int64_t begin[OP_MAX_SPATIAL];
};

/* Weight i, unpacked from the high end of each byte. */
static bool weight(const struct binary_run *r, int64_t i)
{
	int64_t low = i ^ 7;
	return ((const float *)r->w->data)[low < tensor_elements(r->w) ? low : i] > 0;
}

/* Agreement of one channel's plane with its taps (from number `first` on) at output position
 * (oy, ox). */
static float agreement(const struct binary_run *r, const float *x, int64_t first, int64_t oy,
		       int64_t ox)
{
	int64_t kh = r->w->dim[2], kw = r->w->dim[3];
	float sum = 0;
	for (int64_t t = 0; t < kh * kw; t++) {
		int64_t i = oy * r->a->stride[0] - r->begin[0] + t / kw * r->a->dilation[0];
		int64_t j = ox * r->a->stride[1] - r->begin[1] + t % kw * r->a->dilation[1];
		bool inside = i >= 0 && i < r->x->dim[2] && j >= 0 && j < r->x->dim[3];
		float v = inside ? x[i * r->x->dim[3] + j] : r->a->pad_value;
		if (inside || v != 0)
			sum += (v > 0) == weight(r, first + t) ? 1 : -1;
	}
	return sum;
}

/* One output channel of one image. */
static void plane_task(void *arg, int task, int thread)
{
	const struct binary_run *r = arg;
	int64_t outs = r->y->dim[1], channels = r->x->dim[1], area = r->x->dim[2] * r->x->dim[3];
	int64_t b = task / outs, o = task % outs, taps = r->w->dim[2] * r->w->dim[3];
	int64_t plane = r->y->dim[2] * r->y->dim[3];
	float *y = (float *)r->y->data + task * plane;
	(void)thread;
	for (int64_t p = 0; p < plane; p++) {
		y[p] = 0;
		for (int64_t c = 0; c < channels; c++)
			y[p] += agreement(r, (const float *)r->x->data + (b * channels + c) * area,
					  (o * channels + c) * taps, p / r->y->dim[3],
					  p % r->y->dim[3]);
	}
}

/* X (n, c, h, w), weights (o, c, kh, kw) -> (n, o, oh, ow). */
int run_binary_conv(const struct kernel_call *k, struct err *e)
{
	struct binary_run r = {
		.x = &k->in[0], .w = &k->in[1], .y = &k->out[0], .a = &k->op->a.window};
	int64_t end[OP_MAX_SPATIAL], tasks = r.y->dim[0] * r.y->dim[1];
	if (r.x->rank != 4 || tasks > INT32_MAX)
		return err_set(e, ST_INPUT, "BinaryConvolution of this shape is not supported");
	op_window_pads(r.a, 2, r.x->dim + 2, r.w->dim + 2, r.begin, end);
	cpu_parallel(k->ctx, (int)tasks, plane_task, &r);
	return 0;
}
