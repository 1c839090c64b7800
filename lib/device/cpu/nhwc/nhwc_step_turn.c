/* nhwc_step_turn.c - transpositions between tokens, which have channels last, and planes that lie in NHWC: the elements stay where
 * they are, at most their type changes.
 *
 *	tokens (n, p, c) f32  --Transpose-->  (n, c, p), which lies as (n, p, c) in another form, and back */
#include "device/cpu/nhwc/nhwc_step.h"
#include "kernel/nhwc/nhwc_kernels.h"
#include "op/slice.h"

/* Transpose that moves the last dim to dim 1, or back. */
struct turn_step {
	struct cpu_ctx *ctx;
	bool to_planes, to_tokens; /* of rank 3 both: how the input lies decides */
	uint32_t x_in;
	int64_t n; /* elements */
};

/* Does v move dim 1 of images, perhaps seen in other dims, behind all others? */
static bool turns_to_tokens(const struct cpu_graph *graph, uint32_t v)
{
	const struct graph *g = graph->g;
	struct tensor order;
	uint32_t rank = g->out_rank[g->out_ptr[v]], x = graph_source(g, v, 0);
	if (rank < 3 || !cpu_graph_ints(graph, graph_source(g, v, 1), &order) ||
	    !op_moves_dim(&order, rank, 1, rank - 1))
		return false;
	while (x != GRAPH_NONE && cpu_graph_is_view(graph, x))
		x = graph_source(g, x, 0);
	return x != GRAPH_NONE && graph->planes[x];
}

static enum wish turn_reads(const struct cpu_graph *graph, uint32_t v, uint32_t i)
{
	(void)i;
	return turns_to_tokens(graph, v) ? WISH_NHWC : WISH_PLAIN;
}

static enum group_answer turn_group(const struct step_how *how, const struct step_spec *s)
{
	return nhwc_group(how, s, turns_to_tokens(how->graph, s->node[0].v));
}

static int turn_init(void *x, const struct step_how *how, const struct step_spec *s,
		     struct mem_form *want, struct err *e)
{
	struct turn_step *m = x;
	const struct step_node *n = &s->node[0];
	const struct tensor *t = n->in[0].tensor;
	(void)e;
	if (s->n_nodes != 1 || n->n_in != 2 || n->in[0].from != FROM_INPUT ||
	    n->in[1].from != FROM_CONST || !n->in[1].tensor->data || t->elem != EL_F32 ||
	    !tensor_is_static(t) || tensor_elements(t) == 0 || t->rank < 3 || t->rank > 5)
		return 0;
	m->to_planes = op_moves_dim(n->in[1].tensor, t->rank, t->rank - 1, 1) &&
		       n->out[0].dim[1] <= FORM_CHANNELS;
	m->to_tokens = op_moves_dim(n->in[1].tensor, t->rank, 1, t->rank - 1) &&
		       t->dim[1] <= FORM_CHANNELS;
	m->ctx = how->ctx;
	m->x_in = n->in[0].index;
	m->n = tensor_elements(t);
	if (m->to_planes)
		want[0] = nhwc_form_of(how, n, 0);
	return m->to_planes || m->to_tokens;
}

static bool turn_wants(const void *x, struct devmem *const *in, struct devmem *const *out,
		       const struct mem_form *want)
{
	const struct turn_step *m = x;
	const struct mem_form *f = &in[m->x_in]->form;
	return (m->to_planes && form_is_plain(f) && out[0]->private && want[0].nhwc) ||
	       (m->to_tokens && f->nhwc);
}

static int turn_run(void *x, const struct step_io *io, struct err *e)
{
	const struct turn_step *m = x;
	const struct nhwc_tensor from = nhwc_in(io, m->x_in);
	(void)e;
	if (from.form.nhwc) /* planes become tokens */
		io->out[0]->form = (struct mem_form){.elem = EL_F32};
	const struct nhwc_tensor to = nhwc_out(io, 0);
	nhwc_retype(m->ctx, m->n, &from, &to);
	return 0;
}

static const enum op_kind turns[] = {OP_TRANSPOSE, OP_COUNT};
const struct step_kind nhwc_turn_kind = {
	.name = "Transpose of NHWC, in place",
	.nhwc = true,
	.size = sizeof(struct turn_step),
	.begins = turns,
	.reads = turn_reads,
	.group = turn_group,
	.init = turn_init,
	.wants = turn_wants,
	.run = turn_run,
};
