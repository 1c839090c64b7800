/* cl_chain.c - element-wise operators of f32 as chains that kernels apply on the way to
 * memory: which nodes of a step make one, with which operands. */
#include "device/opencl/cl_lowering.h"

#include "op/slice.h"
#include "op/value.h"

/* The line of an operator that chains have; NULL: they do not. */
static const struct cl_operator *row_of(enum op_kind kind)
{
	const struct cl_operator *row = cl_operator(kind);
	return row->flags & CHAIN ? row : NULL;
}

/* Swish may have a factor as its second one. */
static int n_data(const struct step_node *v)
{
	return v->op->kind == OP_SWISH && v->op->n_in == 2 ? 2 : op_n_data(v->op->kind);
}

/* Is it an operator of f32 that chains have, with parameters that are known? */
static bool chain_starts(const struct step_node *v)
{
	const struct cl_operator *row = row_of(v->op->kind);
	if (!row || v->n_out != 1 || v->out[0].elem != EL_F32)
		return false;
	for (int i = 0; i < n_data(v); i++)
		if (v->in[i].from == FROM_NONE || v->in[i].tensor->elem != EL_F32)
			return false;
	return step_inputs_known(v, n_data(v)) && (v->op->kind != OP_SWISH || v->op->n_in < 2 ||
						   tensor_elements(v->in[1].tensor) == 1);
}

/* May a chain follow this node? */
static bool chain_may_follow(const struct step_node *v)
{
	const struct tensor *out = &v->out[0];
	if (out->elem != EL_F32 || !v->n_out)
		return false;
	if (!(cl_operator(v->op->kind)->flags & CL_HEAD))
		return chain_starts(v);
	switch (op_info(v->op->kind)->category) {
	case OPC_POOL: return out->rank < 5 && step_gives_one(v);
	case OPC_MATMUL:
		return v->in[0].from != FROM_NONE && v->in[1].from != FROM_NONE &&
		       v->in[0].tensor->rank > 1 && v->in[1].tensor->rank > 1;
	default: /* other heads */ return true;
	}
}

/* ---- posts ---- */

static struct post *post_add(struct cl_chain *c, int op, int from)
{
	if (c->chain.n == POSTS)
		return NULL;
	struct post *q = &c->chain.post[c->chain.n++];
	*q = (struct post){.op = op, .from = from};
	return q;
}

/* Keep what node j gave, from its post on. */
static bool save(struct cl_chain *c, int j, int n_nodes)
{
	if (c->saved == j)
		return true;
	if (c->saved >= 0 || c->chain.n == POSTS)
		return false;
	for (int i = c->chain.n; i > c->after[j]; i--)
		c->chain.post[i] = c->chain.post[i - 1];
	c->chain.post[c->after[j]] = (struct post){.op = E_SAVE, .from = NO_OPERAND};
	c->chain.n++;
	c->saved = j;
	for (int i = j; i < n_nodes; i++)
		c->after[i]++;
	return true;
}

/* The operand that input i of node v is; its number, or -1. */
static int operand_add(struct cl_chain *c, const struct step_node *v, int node, int i)
{
	struct tensor t;
	if (!op_align(v->op, v->in[0].tensor, i, v->in[i].tensor, &t) ||
	    (tensor_elements(&t) != 1 && t.rank > v->out[0].rank) || c->n_operands == OPERANDS)
		return -1;
	c->operand[c->n_operands] = (struct cl_operand){{REF_IN, i, node}, t};
	return c->n_operands++;
}

/* alpha and beta, and which form of an operator it is. */
static void fill_parameters(const struct step_node *v, struct post *q)
{
	const struct op_act_args p = op_act_args(v->op, v->n_in > 1 ? v->in[1].tensor : NULL,
						 v->n_in > 2 ? v->in[2].tensor : NULL);
	q->alpha = p.a;
	q->beta = p.b;
	if (v->op->kind == OP_ROUND)
		q->op = p.half_away ? E_ROUND_AWAY : E_ROUND_EVEN;
	if (v->op->kind == OP_GELU)
		q->op = p.gelu_tanh ? E_GELU_TANH : E_GELU_ERF;
}

/* x op a constant number needs no operand. */
static bool fold_scalar(struct post *q, enum op_kind kind, int x_at, const struct step_arg *y)
{
	if (y->from != FROM_CONST || !y->tensor->data || tensor_elements(y->tensor) != 1)
		return false;
	float value = (float)tensor_real(y->tensor, 0);
	switch (kind) {
	case OP_ADD:
		q->alpha = 1.0f;
		q->beta = value;
		break;
	case OP_SUBTRACT:
		q->alpha = x_at ? -1.0f : 1.0f;
		q->beta = x_at ? value : -value;
		break;
	case OP_MULTIPLY: q->alpha = value; break;
	default: return false;
	}
	q->op = E_AFFINE;
	return true;
}

/* Post of node `i`, whose value x comes in at port x_at; y_at: the port of its other input, -1
 * when there is none. */
static bool node_post(struct cl_chain *c, const struct step_spec *s, int i, int x_at, int y_at)
{
	const struct step_node *v = &s->node[i];
	const struct cl_operator *row = row_of(v->op->kind);
	const struct step_arg *y = y_at < 0 ? NULL : &v->in[y_at];
	int from = NO_OPERAND;
	struct post folded = {.from = NO_OPERAND};
	if (y && fold_scalar(&folded, v->op->kind, x_at, y)) {
		y = NULL;
	} else if (y && y->from == FROM_NODE) {
		if (!tensor_same_shape(y->tensor, &v->out[0]) || !save(c, (int)y->index, i))
			return false;
		from = SAVED;
	} else if (y && (from = operand_add(c, v, i, y_at)) < 0) {
		return false;
	}
	struct post *q = post_add(c, row->op, from);
	if (!q)
		return false;
	if (folded.op == E_AFFINE) {
		*q = folded;
	} else {
		q->swap = x_at == 1;
		fill_parameters(v, q);
	}
	c->after[i] = c->chain.n;
	return true;
}

/* The first node, when it is element-wise: x is its first input. */
static bool first_post(struct cl_chain *c, const struct step_spec *s)
{
	const struct step_node *v = &s->node[0];
	int n = n_data(v);
	return operand_add(c, v, 0, 0) == 0 && node_post(c, s, 0, 0, n > 1 ? 1 : -1);
}

/* Node i after node i - 1. */
static bool next_post(struct cl_chain *c, const struct step_spec *s, int i)
{
	const struct step_node *v = &s->node[i];
	if (!chain_starts(&s->node[0]) && !(cl_operator(v->op->kind)->flags & POST))
		return false;
	if (!chain_starts(v) || !tensor_same_shape(&v->out[0], &s->node[i - 1].out[0]))
		return false;
	int n = n_data(v), x_at = -1;
	for (int j = n - 1; j >= 0; j--)
		if (v->in[j].from == FROM_NODE && (int)v->in[j].index == i - 1 && !v->in[j].port)
			x_at = j;
	if (x_at < 0 || (v->op->kind == OP_PRELU && x_at) || (v->op->kind == OP_SWISH && x_at) ||
	    !tensor_same_shape(v->in[x_at].tensor, &v->out[0]))
		return false;
	return node_post(c, s, i, x_at, n > 1 ? 1 - x_at : -1);
}

bool cl_chain_build(struct cl_chain *c, const struct step_spec *s)
{
	*c = (struct cl_chain){.saved = -1};
	if (s->n_nodes > POSTS + 1 || s->n_out > s->node[s->n_nodes - 1].n_out)
		return false;
	for (uint32_t i = 0; i < s->n_out; i++)
		if (s->n_nodes > 1 && (s->out[i].node != s->n_nodes - 1 || s->out[i].port))
			return false;
	if (s->n_nodes > 1 && !chain_may_follow(&s->node[0]))
		return false;
	if (chain_starts(&s->node[0]) && !first_post(c, s))
		return false;
	for (uint32_t i = 1; i < s->n_nodes; i++)
		if (!next_post(c, s, (int)i))
			return false;
	return true;
}

/* ---- operands ---- */

int64_t cl_mvn_span(const struct op *op, const struct tensor *in)
{
	uint32_t axes = op->a.norm.across_channels ? ~1u : ~3u;
	struct err ignored = ERR_INIT;
	int64_t n = 1;
	if (op->n_in > 1 && (!in[1].data || op_axes(&in[1], in[0].rank, &axes, &ignored)))
		return 0;
	int d = (int)in[0].rank - 1;
	for (; d >= 0 && (axes >> d & 1 || in[0].dim[d] == 1); d--)
		n *= in[0].dim[d];
	for (; d >= 0; d--)
		if (axes >> d & 1 && in[0].dim[d] != 1)
			return 0;
	return n;
}

/* The n_z, n_m and groups (chain_operands) of a node that a chain may follow. */
static void chain_split(const struct op *op, const struct tensor *in, const struct tensor *out,
			int *n_z, int *n_m, int64_t *groups)
{
	int rank = (int)out->rank;
	*groups = 1;
	*n_m = 1;
	switch (op->kind) {
	case OP_MATMUL:
		/* one matrix B for all: the batch is more rows of A */
		*n_z = in[1].rank == 2 && !op->a.matmul.transpose_a ? 0 : rank - 2;
		*n_m = rank - 1 - *n_z;
		break;
	case OP_MVN: {
		int64_t n = 1, span = cl_mvn_span(op, in);
		*n_m = 0;
		for (*n_z = rank; *n_z > 0 && n < span;)
			n *= out->dim[--*n_z];
		break;
	}
	case OP_GROUP_CONVOLUTION:
		*groups = in[1].dim[0];
		/* fall through */
	case OP_CONVOLUTION:
		*n_z = 1;
		if (*groups == in[0].dim[1] && *groups == out->dim[1]) {
			*n_z = 2; /* depthwise: planes */
			*n_m = 0;
			*groups = 1;
		}
		break;
	default: /* pooling */
		*n_z = 2;
		*n_m = 0;
		break;
	}
}

/* n loops that are one with a stride; false when they are not. */
static bool one_loop(int n, const int64_t *dim, const int64_t *stride, int *out)
{
	int64_t s = 0, next = -1;
	for (int d = n - 1; d >= 0; d--) {
		if (dim[d] == 1)
			continue;
		if (next < 0)
			s = stride[d];
		else if (stride[d] != next)
			return false;
		next = stride[d] * dim[d];
	}
	*out = (int)s;
	return true;
}

/* Batches: loops of which some in the middle count. */
static bool batch_loop(int n, const int64_t *dim, const int64_t *stride, struct operand *at)
{
	int last = n, first = 0;
	int64_t zd = 1, zm = 1;
	while (last > 0 && (stride[last - 1] == 0 || dim[last - 1] == 1))
		zd *= dim[--last];
	while (first < last && (stride[first] == 0 || dim[first] == 1))
		first++;
	for (int d = first; d < last; d++)
		zm *= dim[d];
	at->zd = (int)zd;
	at->zm = (int)zm;
	return one_loop(last - first, dim + first, stride + first, &at->zs);
}

/* As cl_chain_operand, all of them; with groups > 1, dim 1 stands for two: groups, which belong to z, and the rest. */
static bool chain_operands(const struct cl_chain *c, const struct tensor *out, int n_z, int n_m,
			   int64_t groups, struct operand *at)
{
	for (int i = 0; i < OPERANDS; i++) {
		int64_t dim[TENSOR_DIMS + 1], stride[TENSOR_DIMS + 1];
		struct operand o = {.zd = 1, .zm = 1};
		int rank = (int)out->rank, z = n_z;
		if (i < c->n_operands) {
			if (!cl_broadcast_strides(&c->operand[i].t, out, stride))
				return false;
			for (int d = 0; d < rank; d++)
				dim[d] = out->dim[d];
			if (groups > 1) {
				for (int d = rank++; d > 1; d--) {
					dim[d] = dim[d - 1];
					stride[d] = stride[d - 1];
				}
				dim[1] = groups;
				dim[2] /= groups;
				stride[1] = stride[2] * dim[2];
				z++;
			}
			if (!batch_loop(z, dim, stride, &o) ||
			    !one_loop(n_m, dim + z, stride + z, &o.sm) ||
			    !one_loop(rank - z - n_m, dim + z + n_m, stride + z + n_m, &o.sn))
				return false;
		}
		at[i] = o;
	}
	return true;
}

bool cl_chain_operand(const struct tensor *t, const struct tensor *out, int n_z, int n_m,
		      struct operand *at)
{
	struct cl_chain c = {.n_operands = 1, .operand = {{.t = *t}}};
	struct operand all[OPERANDS];
	bool ok = chain_operands(&c, out, n_z, n_m, 1, all);
	*at = all[0];
	return ok;
}

void cl_chain_bufs(const struct cl_chain *c, struct cl_launch *l)
{
	/* an operand that is not there is never read: any buffer will do */
	for (int i = 0; i < OPERANDS; i++)
		l->buf[l->n_buf++] =
			i < c->n_operands ? c->operand[i].ref : (struct cl_ref){REF_OUT, 0, -1};
}

int cl_chain_fill(struct cl_lowering *p, struct cl_launch *l, struct chain *chain,
		  struct operand *at)
{
	int n_z, n_m;
	int64_t groups;
	chain_split(p->op, p->in, &p->out[0], &n_z, &n_m, &groups);
	*chain = p->chain->chain;
	cl_chain_bufs(p->chain, l);
	if (!chain_operands(p->chain, &p->out[0], n_z, n_m, groups, at))
		return cl_lower_refuse(p, "operands that do not follow the loops of %s",
				       op_info(p->op->kind)->type);
	return 0;
}
