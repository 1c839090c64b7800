/* nhwc_step_mean.c - ReduceMean of the channels of each pixel of an image in NHWC; its output is plain. */
#include "device/cpu/nhwc/nhwc_step.h"
#include "kernel/nhwc/nhwc_kernels.h"
#include "op/slice.h"

struct mean_step {
	struct cpu_ctx *ctx;
	uint32_t x_in; /* the input with the data */
	struct form_shape shape;
};

static bool is_mean_of_channels(const struct tensor *axes, uint32_t rank)
{
	struct err e = ERR_INIT;
	uint32_t set;
	return (rank == 4 || rank == 5) && op_axes(axes, rank, &set, &e) >= 0 && set == 2;
}

static enum wish mean_reads(const struct cpu_graph *graph, uint32_t v, uint32_t i)
{
	struct tensor axes;
	return cpu_graph_ints(graph, graph_source(graph->g, v, 1), &axes) &&
			       is_mean_of_channels(
				       &axes, graph->g->out_rank[graph_slot_output(graph->g, i)])
		       ? WISH_NHWC
		       : WISH_ANY;
}

static int mean_init(void *x, const struct step_how *how, const struct step_spec *s,
		     struct mem_form *want, struct err *e)
{
	struct mean_step *m = x;
	const struct step_node *n = &s->node[0];
	(void)want, (void)e; /* one channel lies the same in any form */
	if (!nhwc_reads_image(s) || n->out[0].elem != EL_F32 || n->in[1].from != FROM_CONST ||
	    !n->in[1].tensor->data || !is_mean_of_channels(n->in[1].tensor, n->in[0].tensor->rank))
		return 0;
	m->ctx = how->ctx;
	m->x_in = n->in[0].index;
	m->shape = form_shape_of(n->in[0].tensor);
	return 1;
}

static bool mean_wants(const void *x, struct devmem *const *in, struct devmem *const *out,
		       const struct mem_form *want)
{
	const struct mean_step *m = x;
	(void)out, (void)want;
	return !form_is_plain(&in[m->x_in]->form);
}

static int mean_run(void *x, const struct step_io *io, struct err *e)
{
	const struct mean_step *m = x;
	const struct nhwc_tensor from = nhwc_in(io, m->x_in);
	return nhwc_mean(&m->shape, m->ctx, &from, io->plain_out[0], e);
}

static const enum op_kind means[] = {OP_REDUCE_MEAN, OP_COUNT};
const struct step_kind nhwc_mean_kind = {
	.name = "mean over channels in NHWC",
	.nhwc = true,
	.size = sizeof(struct mean_step),
	.begins = means,
	.reads = mean_reads,
	.init = mean_init,
	.wants = mean_wants,
	.run = mean_run,
};
