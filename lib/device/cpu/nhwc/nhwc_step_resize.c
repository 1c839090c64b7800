/* nhwc_step_resize.c - Interpolate of the two spatial dims of images in NHWC. */
#include "device/cpu/nhwc/nhwc_step.h"
#include "kernel/nhwc/nhwc_kernels.h"

struct resize_step {
	struct cpu_ctx *ctx;
	uint32_t x_in;
	struct nhwc_resize resize;
};

static int resize_init(void *x, const struct step_how *how, const struct step_spec *s,
		       struct mem_form *want, struct err *e)
{
	enum { INPUTS = 4 };
	struct resize_step *m = x;
	struct nhwc_resize *p = &m->resize;
	const struct step_node *n = &s->node[0];
	const struct op_resize *a = &n->op->a.resize;
	const struct tensor *t = n->in[0].tensor, *y = &n->out[0];
	struct tensor in[INPUTS] = {{0}};
	double scale[TENSOR_DIMS];
	if (!nhwc_reads_image(s) || !fits_nhwc(y) || t->rank != 4 || t->dim[0] != y->dim[0] ||
	    t->dim[1] != y->dim[1] || resize_wide(a) || !nhwc_constants(n, in, INPUTS))
		return 0;
	for (int d = 0; d < 4; d++)
		if (a->pad_begin[d] || a->pad_end[d])
			return 0;
	if (resize_scales(n->op, in, n->out, scale, e) < 0) {
		err_clear(e);
		return 0;
	}
	if (scale[0] != 1 || scale[1] != 1)
		return 0;
	want[0] = nhwc_form_of(how, n, 0);
	m->ctx = how->ctx;
	m->x_in = n->in[0].index;
	p->in_shape = form_shape_of(t);
	p->shape = form_shape_of(y);
	for (int d = 0; d < 2; d++) {
		p->in[d] = t->dim[2 + d];
		p->out[d] = y->dim[2 + d];
		p->tap[d] = MEM_NEWN(struct resize_tap, (size_t)p->out[d]);
		for (int64_t o = 0; o < p->out[d]; o++)
			p->tap[d][o] = resize_tap(a, o, scale[2 + d], p->in[d], p->out[d]);
	}
	return want[0].nhwc;
}

static void resize_release(void *x)
{
	struct resize_step *m = x;
	mem_free(m->resize.tap[0]);
	mem_free(m->resize.tap[1]);
}

static int resize_run(void *x, const struct step_io *io, struct err *e)
{
	const struct resize_step *m = x;
	const struct nhwc_tensor from = nhwc_in(io, m->x_in), to = nhwc_out(io, 0);
	return nhwc_resize(&m->resize, m->ctx, &from, &to, e);
}

static const enum op_kind resizes[] = {OP_INTERPOLATE, OP_COUNT};
const struct step_kind nhwc_resize_kind = {
	.name = "Interpolate in NHWC",
	.nhwc = true,
	.size = sizeof(struct resize_step),
	.begins = resizes,
	.reads = nhwc_as_output,
	.group = nhwc_group_as_output,
	.init = resize_init,
	.release = resize_release,
	.wants = nhwc_where_private,
	.run = resize_run,
};
