/* cl_lower_cube.c - launches of windows in three dimensions: pooling, and what a convolution's
 * product takes in (the image unfolded into temporary memory). */
#include "device/opencl/cl_lowering.h"

static struct cube_args cube_of(const struct window *g)
{
	struct cube_args a = {0};
	for (int d = 0; d < 3; d++) {
		a.in[d] = (int)g->in[d];
		a.out[d] = (int)g->out[d];
		a.k[d] = (int)g->kernel[d];
		a.s[d] = (int)g->stride[d];
		a.d[d] = (int)g->dilation[d];
		a.p[d] = (int)g->pad[d];
	}
	return a;
}

int cl_lower_unfold(struct cl_lowering *p, const struct window *g)
{
	struct cube_args a = cube_of(g);
	int64_t rows = p->in[0].dim[0] * p->in[0].dim[1] * g->taps * g->out[0] * g->out[1];
	if (rows * a.out[2] >= INT32_MAX - (1 << 20))
		return cl_lower_refuse(p, "a convolution that is too large for the kernels");
	int temp = cl_lower_temp(p, (size_t)(rows * a.out[2]) * sizeof(float));
	struct cl_launch *l = cl_lower_launch(p, K_unfold);
	l->args.cube = a;
	cl_lower_buf(l, REF_IN, 0);
	cl_lower_buf(l, REF_TEMP, temp);
	l->groups[0] = cl_rows_share(p->s, rows, a.out[2], &l->args.cube.r);
	return temp;
}

int cl_lower_pool_cube(struct cl_lowering *p, enum window_op op, const struct window *g)
{
	struct cube_args a = cube_of(g);
	struct cl_launch *l = cl_lower_launch(p, K_pool_cube);
	a.op = (int)op;
	l->args.cube = a;
	cl_lower_buf(l, REF_IN, 0);
	cl_lower_buf(l, REF_OUT, 0);
	l->groups[0] =
		cl_rows_share(p->s, p->out[0].dim[0] * p->out[0].dim[1] * a.out[0] * a.out[1],
			      a.out[2], &l->args.cube.r);
	return 0;
}
