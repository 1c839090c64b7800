/* cl_lower_window.c - launches of pooling and depthwise convolution: a window
 * that slides over planes, in tiles that fit into local memory. */
#include "device/opencl/cl_lowering.h"

/* The most rows of outputs whose inputs fit, for tiles tw columns wide; 0 when not even one. */
static int fit_rows(const struct cl_shape *h, struct window_args *a, int tw)
{
	int lanes = (tw + h->vw - 1) / h->vw * h->vw;
	int64_t strip = lanes + ((int64_t)(a->kw - 1) * a->dw) / a->sw;
	int64_t pitch = strip * a->sw, room = h->window_local / pitch;
	int64_t see = (int64_t)(a->kh - 1) * a->dh + 1;
	if (room < see)
		return 0;
	int64_t th = (room - see) / a->sh + 1;
	if (th > h->window_out / tw)
		th = h->window_out / tw;
	a->tw = tw;
	a->th = (int)(th < a->oh ? th : a->oh);
	a->pitch = (int)pitch;
	a->rows = (int)((a->th - 1) * a->sh + see);
	return a->th;
}

/* Tiles as wide as the plane if a few rows fit, otherwise narrower. */
static int choose_tile(struct cl_lowering *p, struct window_args *a)
{
	int tw = a->ow > 0 ? a->ow : 1;
	while (!fit_rows(&p->s->shape, a, tw)) {
		if (tw == 1)
			return cl_lower_refuse(p, "a window of %d x %d is too large for the kernel",
					       a->kh, a->kw);
		tw = (tw + 1) / 2;
	}
	a->tiles_h = (a->oh + a->th - 1) / a->th;
	a->tiles_w = (a->ow + a->tw - 1) / a->tw;
	return 0;
}

/* Launch over all planes of input 0, of a window in two dimensions. */
static int lower_window(struct cl_lowering *p, enum window_op op, const struct window *g,
			int weights)
{
	const struct tensor *x = &p->in[0];
	struct cl_launch *l = cl_lower_launch(p, K_window);
	struct window_args *a = &l->args.window;
	*a = (struct window_args){.planes = (int)(x->dim[0] * x->dim[1]),
				  .channels = (int)x->dim[1],
				  .h = (int)g->in[1],
				  .w = (int)g->in[2],
				  .oh = (int)g->out[1],
				  .ow = (int)g->out[2],
				  .kh = (int)g->kernel[1],
				  .kw = (int)g->kernel[2],
				  .sh = (int)g->stride[1],
				  .sw = (int)g->stride[2],
				  .ph = (int)g->pad[1],
				  .pw = (int)g->pad[2],
				  .dh = (int)g->dilation[1],
				  .dw = (int)g->dilation[2],
				  .op = (int)op};
	if (choose_tile(p, a))
		return -1;
	cl_lower_buf(l, REF_IN, 0);
	cl_lower_buf(l, REF_IN, weights);
	cl_lower_buf(l, REF_OUT, 0);
	l->groups[0] = (size_t)a->planes * (size_t)a->tiles_h * (size_t)a->tiles_w;
	return cl_chain_fill(p, l, &a->chain, a->at);
}

int cl_lower_depthwise(struct cl_lowering *p, const struct window *g)
{
	return lower_window(p, W_DEPTHWISE, g, 1);
}

int cl_lower_pool(struct cl_lowering *p)
{
	const struct op *op = p->op;
	int n = (int)p->in[0].rank - 2;
	struct window g;
	if (p->in[0].elem != EL_F32 || n < 1 || n > 3)
		return cl_lower_refuse(p, "%s of %s in %d dimensions is not supported",
				       op_info(op->kind)->type, elem_name(p->in[0].elem), n);
	if (op->n_out > 1 && p->wanted[1])
		return cl_lower_refuse(p, "no OpenCL kernel for the indices of MaxPool");
	cpu_window_init(&g, op, &p->in[0], NULL, &p->out[0]);
	/* As in OpenVINO's plugin: padding counts, also that of rounding up, where any is given. */
	bool padded = false;
	for (int i = 0; i < 3; i++)
		padded |= g.pad[i] != 0 || g.pad_end[i] != 0;
	enum window_op w = op->a.window.exclude_pad || !padded ? W_AVG : W_AVG_ALL;
	if (op->kind == OP_MAX_POOL)
		w = W_MAX;
	return n == 3 ? cl_lower_pool_cube(p, w, &g) : lower_window(p, w, &g, 0);
}
