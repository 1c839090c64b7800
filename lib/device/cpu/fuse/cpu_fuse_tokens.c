/* cpu_fuse_tokens.c - a depthwise convolution between the transpositions that lead from tokens to planes and
 * back, computed on the tokens as they lie (kernel/conv/depthwise_tokens.h). */
#include "device/cpu/fuse/cpu_fuse_plan.h"
#include "kernel/conv/depthwise_tokens.h"
#include "op/slice.h"

struct fuse_tokens {
	struct window g;
	struct cpu_prep *prep; /* the weights */
	float *bias;           /* NULL: none */
	uint32_t input;
	bool planes; /* no transposition behind it */
	struct cpu_ctx *ctx;
};

/* Does n move dim `from` to `to`, and nothing else, in a tensor whose other dims stay in order? */
static bool moves_dim(const struct step_node *n, uint32_t rank, uint32_t from, uint32_t to)
{
	return n->op->kind == OP_TRANSPOSE && n->n_in == 2 && n->in[1].from == FROM_CONST &&
	       n->in[1].tensor->data && n->in[0].tensor->rank == rank &&
	       op_moves_dim(n->in[1].tensor, rank, from, to);
}

static bool reads(const struct step_arg *a, uint32_t node)
{
	return a->from == FROM_NODE && a->index == node && a->port == 0;
}

/* Tensors with the same images and channels, whatever their pixels' dims are. */
static bool same_planes(const struct tensor *a, const struct tensor *b)
{
	return a->rank >= 3 && b->rank >= 3 && a->dim[0] == b->dim[0] && a->dim[1] == b->dim[1] &&
	       tensor_elements(a) == tensor_elements(b);
}

static bool is_static_f32(const struct tensor *t)
{
	return t && t->elem == EL_F32 && tensor_is_static(t) && tensor_elements(t) > 0;
}

static bool is_depthwise(const struct step_node *n, const struct step_node *turn)
{
	struct window g;
	if (n->op->kind != OP_GROUP_CONVOLUTION || n->n_in < 2 || !reads(&n->in[0], 0) ||
	    n->in[1].from != FROM_CONST || n->in[1].tensor->quant)
		return false;
	const struct tensor *x = n->in[0].tensor, *w = n->in[1].tensor;
	if (!is_static_f32(x) || !is_static_f32(&n->out[0]) || x->rank != 4 ||
	    !same_planes(&turn->out[0], x) ||
	    (w->elem != EL_F32 && w->elem != EL_F16 && w->elem != EL_BF16))
		return false;
	cpu_window_init(&g, n->op, x, w, &n->out[0]);
	return cpu_tokens_fit(&g);
}

/* The argument of n, which adds a constant a channel to node 1; NULL: it does something else. */
static const struct tensor *find_bias(const struct step_node *n, const struct tensor *planes)
{
	if (n->op->kind != OP_ADD || n->op->a.broadcast.bcast == BCAST_PDPD)
		return NULL;
	int i = reads(&n->in[0], 1) ? 1 : 0;
	const struct tensor *t = n->in[i].tensor;
	if (!reads(&n->in[1 - i], 1) || n->in[i].from != FROM_CONST || !is_static_f32(t) ||
	    !tensor_same_shape(n->in[1 - i].tensor, planes) || t->rank > 4 || t->rank < 3 ||
	    tensor_elements(t) != planes->dim[1] || t->dim[t->rank - 3] != planes->dim[1])
		return NULL;
	return t;
}

uint32_t fuse_tokens_match(const struct step_spec *s)
{
	const struct step_node *n = s->node;
	if (s->n_nodes < 2 || n[0].op->kind != OP_TRANSPOSE || n[0].in[0].from != FROM_INPUT ||
	    !is_static_f32(n[0].in[0].tensor) || !is_static_f32(&n[0].out[0]))
		return 0;
	uint32_t rank = n[0].out[0].rank;
	if (rank < 3 || !moves_dim(&n[0], rank, rank - 1, 1) || !is_depthwise(&n[1], &n[0]))
		return 0;
	uint32_t back = s->n_nodes > 2 && find_bias(&n[2], &n[1].out[0]) ? 3 : 2;
	if (back >= s->n_nodes || n[back].op->kind != OP_TRANSPOSE ||
	    !reads(&n[back].in[0], back - 1) || !is_static_f32(&n[back].out[0]))
		return 2;
	const struct tensor *x = n[back].in[0].tensor;
	bool returns = x->rank >= 3 && moves_dim(&n[back], x->rank, 1, x->rank - 1) &&
		       same_planes(&n[1].out[0], x);
	return returns ? back + 1 : 2;
}

struct filling {
	const struct tensor *w;
	int64_t channels, taps;
};

static void fill(void *arg, void *data)
{
	const struct filling *f = arg;
	cpu_tokens_pack(data, f->w->elem, f->w->data, f->channels, f->taps);
}

int fuse_tokens_new(const struct step_spec *s, struct cpu_ctx *ctx, struct fuse_tokens **out,
		    struct err *e)
{
	const struct step_node *n = s->node;
	const struct tensor *w = n[1].in[1].tensor, *bias;
	struct fuse_tokens *t = MEM_NEW(struct fuse_tokens);
	uint32_t length = fuse_tokens_match(s);
	cpu_window_init(&t->g, n[1].op, n[1].in[0].tensor, w, &n[1].out[0]);
	t->ctx = ctx;
	t->input = n[0].in[0].index;
	t->planes = length == 2;
	if (length == 4 && (bias = find_bias(&n[2], &n[1].out[0])))
		t->bias = mem_copy(bias->data, (size_t)t->g.groups, sizeof *t->bias);
	struct filling f = {w, t->g.groups, t->g.taps};
	uint64_t layout[6] = {OP_GROUP_CONVOLUTION, w->elem, (uint64_t)f.channels,
			      (uint64_t)f.taps};
	t->prep = MEM_NEW(struct cpu_prep);
	t->prep->pack = cpu_pack_get(ctx->packs, w->data, layout,
				     (uint64_t)(f.channels * f.taps) * sizeof(float), fill, &f);
	*out = t;
	return t->prep->pack ? 0 : cpu_no_memory(e);
}

void fuse_tokens_free(struct fuse_tokens *t)
{
	if (!t)
		return;
	cpu_prep_free(t->prep);
	mem_free(t->bias);
	mem_free(t);
}

const struct cpu_prep *fuse_tokens_prep(const struct fuse_tokens *t)
{
	return t->prep;
}

int fuse_tokens_run(const struct fuse_tokens *t, void *const *in, void *out,
		    const struct epilogue *post, struct err *e)
{
	const struct tokens_call c = {.g = &t->g,
				      .x = in[t->input],
				      .weights = t->prep->pack->data,
				      .bias = t->bias,
				      .y = out,
				      .planes = t->planes,
				      .post = post,
				      .ctx = t->ctx};
	return cpu_tokens_run(&c, e);
}
