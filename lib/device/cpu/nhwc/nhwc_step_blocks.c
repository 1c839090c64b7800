/* nhwc_step_blocks.c - DepthToSpace and SpaceToDepth of images in NHWC, of what lies in the same form before and after: one copy.
 *
 *	(n, h, w, by bx c)  <->  (n, h by, w bx, c)		blocks first
 *	(n, h, w, c by bx)  <->  (n, h by, w bx, c)		depth first
 *
 * and likewise of three spatial dims. */
#include "device/cpu/nhwc/nhwc_step.h"

struct blocks_step {
	struct cpu_ctx *ctx;
	uint32_t x_in, n;
	int64_t dim[COPY_DIMS],
		stride[COPY_DIMS]; /* (n) of the output in its order; in elements of the input */
};

static void put(struct blocks_step *m, int64_t dim, int64_t stride)
{
	m->dim[m->n] = dim;
	m->stride[m->n++] = stride;
}

static int blocks_init(void *x, const struct step_how *how, const struct step_spec *s,
		       struct mem_form *want, struct err *e)
{
	struct blocks_step *m = x;
	const struct step_node *n = &s->node[0];
	const struct tensor *t = n->in[0].tensor, *y = &n->out[0];
	(void)e;
	if (!nhwc_reads_image(s) || !fits_nhwc(y) || t->rank < 4 || t->rank != y->rank)
		return 0;
	bool to_space = n->op->kind == OP_DEPTH_TO_SPACE, depth_first = n->op->a.block.depth_first;
	const struct tensor *deep = to_space ? t : y; /* with blocks among its channels */
	uint32_t rank = t->rank;
	int64_t c = to_space ? y->dim[1] : t->dim[1], b = n->op->a.block.block,
		blocks = deep->dim[1] / c;
	int64_t pixel[TENSOR_DIMS], block[TENSOR_DIMS], p = t->dim[1], k = depth_first ? 1 : c;
	for (uint32_t d = rank; d-- > 2; p *= t->dim[d], k *= b) {
		pixel[d] = p; /* a step along dim d of the input */
		block[d] = k; /* a step along dim d of a block, in channels */
	}
	put(m, t->dim[0], p);
	for (uint32_t d = 2; d < rank; d++) {
		put(m, deep->dim[d], to_space ? pixel[d] : pixel[d] * b);
		if (to_space)
			put(m, b, block[d]);
	}
	if (!to_space && depth_first)
		put(m, c, 1);
	for (uint32_t d = 2; d < rank && !to_space; d++)
		put(m, b, pixel[d]);
	if (to_space || !depth_first)
		put(m, c, to_space && depth_first ? blocks : 1);
	want[0] = nhwc_form_of(how, n, 0);
	m->ctx = how->ctx;
	m->x_in = n->in[0].index;
	return want[0].nhwc;
}

static bool blocks_wants(const void *x, struct devmem *const *in, struct devmem *const *out,
			 const struct mem_form *want)
{
	const struct blocks_step *m = x;
	return out[0]->private && form_same(&in[m->x_in]->form, &want[0]);
}

static int blocks_run(void *x, const struct step_io *io, struct err *e)
{
	const struct blocks_step *m = x;
	const struct nhwc_tensor from = nhwc_in(io, m->x_in), to = nhwc_out(io, 0);
	int64_t size = form_size(to.form.elem), stride[COPY_DIMS];
	(void)e;
	for (uint32_t d = 0; d < m->n; d++)
		stride[d] = m->stride[d] * size;
	cpu_copy_strided(m->ctx, (size_t)size, m->n, m->dim, stride, from.data, to.data);
	return 0;
}

static const enum op_kind blocks[] = {OP_DEPTH_TO_SPACE, OP_SPACE_TO_DEPTH, OP_COUNT};
const struct step_kind nhwc_blocks_kind = {
	.name = "blocks of pixels in NHWC",
	.nhwc = true,
	.size = sizeof(struct blocks_step),
	.begins = blocks,
	.reads = nhwc_as_output,
	.init = blocks_init,
	.wants = blocks_wants,
	.run = blocks_run,
};
