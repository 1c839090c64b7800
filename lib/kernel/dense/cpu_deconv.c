/* cpu_deconv.c - ConvolutionBackpropData and GroupConvolutionBackpropData: each output channel
 * gathers from all input channels of its group. */
#include "kernel/cpu_window.h"

#include <string.h>

struct backprop_run {
	struct window g; /* of the forward convolution: in and out exchanged */
	const float *x, *w;
	float *y;
};

static void backprop_channel(void *arg, int task, int thread)
{
	const struct backprop_run *r = arg;
	const struct window *g = &r->g; /* in: the result's plane; out: the data's plane */
	int64_t c = task % g->cin, plane = task / g->cin, group = plane % g->groups;
	float *y = r->y + (int64_t)task * g->in_plane;
	(void)thread;
	memset(y, 0, (size_t)g->in_plane * sizeof *y);
	for (int64_t o = 0; o < g->cout; o++) {
		const float *x = r->x + (plane * g->cout + o) * g->out_plane;
		const float *w = r->w + ((group * g->cout + o) * g->cin + c) * g->taps;
		for (int64_t t = 0; t < g->taps; t++) {
			int64_t lo[3], hi[3],
				tap[3] = {t / g->kernel[2] / g->kernel[1],
					  t / g->kernel[2] % g->kernel[1], t % g->kernel[2]};
			for (int d = 0; d < 3; d++)
				cpu_window_range(g, d, tap[d], &lo[d], &hi[d]);
			for (int64_t z = lo[0]; z < hi[0]; z++)
				for (int64_t yy = lo[1]; yy < hi[1]; yy++) {
					int64_t iz = z * g->stride[0] + tap[0] * g->dilation[0] -
						     g->pad[0];
					int64_t iy = yy * g->stride[1] + tap[1] * g->dilation[1] -
						     g->pad[1];
					float *to = y + (iz * g->in[1] + iy) * g->in[2] +
						    tap[2] * g->dilation[2] - g->pad[2];
					const float *from = x + (z * g->out[1] + yy) * g->out[2];
					for (int64_t xx = lo[2]; xx < hi[2]; xx++)
						to[xx * g->stride[2]] += w[t] * from[xx];
				}
		}
	}
}

int run_conv_backprop(const struct kernel_call *k, struct err *e)
{
	const struct op_window *a = &k->op->a.window;
	struct backprop_run r = {.x = k->in[0].data, .w = k->in[1].data, .y = k->out[0].data};
	int64_t begin[OP_MAX_SPATIAL], end[OP_MAX_SPATIAL];
	int n = (int)k->in[0].rank - 2;
	bool sized = k->op->n_in > 2;
	(void)e;
	op_backprop_pads(a, n, k->in[0].dim + 2, k->in[1].dim + 2 + a->grouped,
			 sized ? k->out[0].dim + 2 : NULL, begin, end);
	cpu_window_init(&r.g, k->op, &k->out[0], &k->in[1], &k->in[0]);
	for (int i = 0; i < n; i++)
		r.g.pad[3 - n + i] = begin[i];
	cpu_parallel(k->ctx, (int)(r.g.batch * r.g.groups * r.g.cin), backprop_channel, &r);
	return 0;
}
