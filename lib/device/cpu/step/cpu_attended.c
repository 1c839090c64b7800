/* cpu_attended.c - attention of several nodes as one step.
 *
 * Either ScaledDotProductAttention of queries, keys and values that moves (cpu_moves.h) cut out of products, and perhaps a Transpose that
 * joins the heads again: rows are read and written where they are, nothing is copied.  Or what a network spells out:
 *
 *   MatMul (queries, keys), Multiply or Divide by a factor, up to two Adds, SoftMax over the keys, MatMul (values)
 *
 * with views between, as windows and position biases are written down (Swin Transformer, LeViT, BoTNet).  Scores never are in
 * memory (kernel/dense/attention.h).  A row whose scores are all minus infinity gives 0, as the operator does, where SoftMax
 * alone makes NaN of it. */
#include "device/cpu/step/cpu_moves.h"

#include <math.h>

#include "kernel/dense/attention.h"
#include "op/slice.h"
#include "op/value.h"

/* Widths of queries and values up to which keys and values of a block stay in the first-level cache. */
enum { MOST_WIDTH = 256 };

/* Where the numbers of an operand are: in the step's input, or in a constant. */
struct source {
	const void *data; /* NULL: input `index` */
	uint32_t index;
	int64_t offset; /* floats from there */
};

struct attended_step {
	struct cpu_ctx *ctx;
	struct attention a; /* as far as the nodes are read; without addresses */
	struct source of_q, of_key, of_v, of_scales, of_mask[ATTENTION_MASKS];
	const struct tensor *
		factor; /* a constant by which scores are multiplied or, divides, divided; NULL: none */
	bool divides;
	int64_t n, l, len; /* matrices, rows, columns of the scores */
	bool scaled;       /* by numbers of each matrix */
	bool weighed;      /* the SoftMax has been */
	int64_t truths;    /* of a mask, which are no numbers yet; 0: none */
};

static bool is_f32(const struct tensor *t)
{
	return t && !t->quant && t->elem == EL_F32 && tensor_is_static(t) && tensor_elements(t) > 0;
}

static bool find_source(const struct step_arg *a, struct source *s)
{
	*s = (struct source){.index = a->index};
	if (a->from == FROM_CONST)
		s->data = a->tensor->data;
	return is_f32(a->tensor) && (a->from == FROM_INPUT || a->from == FROM_CONST);
}

static struct tensor leading(const struct tensor *t)
{
	struct tensor x = *t;
	x.rank -= 2;
	return x;
}

/* Does node v read the scores as its argument i, and what it makes has their size? */
static bool reads_scores(const struct attended_step *m, const struct step_spec *s, uint32_t v,
			 uint32_t i)
{
	const struct step_arg *a = &s->node[v].in[i];
	const struct tensor *t = a->tensor;
	return a->from == FROM_NODE && a->index == v - 1 && a->port == 0 && is_f32(t) &&
	       t->rank >= 2 && t->dim[t->rank - 1] == m->len && t->dim[t->rank - 2] == m->l &&
	       tensor_elements(t) == m->n * m->l * m->len;
}

/* Queries and keys. */
static bool begin(struct attended_step *m, const struct step_node *n)
{
	const struct tensor *out = &n->out[0];
	if (n->op->kind != OP_MATMUL || n->op->a.matmul.transpose_a || n->n_in != 2 ||
	    n->in[0].from != FROM_INPUT || n->in[1].from != FROM_INPUT ||
	    !find_source(&n->in[0], &m->of_q) || !find_source(&n->in[1], &m->of_key) ||
	    !is_f32(out) || out->rank < 2 || n->in[0].tensor->rank < 2 || n->in[1].tensor->rank < 2)
		return false;
	m->l = out->dim[out->rank - 2];
	m->len = out->dim[out->rank - 1];
	m->n = tensor_elements(out) / m->l / m->len;
	m->a.turned = !n->op->a.matmul.transpose_b;
	m->a.q = attention_rows_of(n->in[0].tensor);
	m->a.key = attention_rows_of(n->in[1].tensor);
	m->a.batch = leading(out);
	m->a.scale = 1;
	return m->a.q.cols <= MOST_WIDTH &&
	       m->a.q.cols == (m->a.turned ? m->a.key.rows : m->a.key.cols);
}

/* Numbers at `in` that meet the scores in this shape: their last two dims into rows and cols, each 1 or the scores' own. */
static bool meets_scores(const struct attended_step *m, const struct tensor *scores,
			 const struct tensor *in, struct attention_stack *x, int64_t *rows,
			 int64_t *cols)
{
	struct tensor both = {.elem = EL_F32};
	if (!op_broadcast(scores, in, &both) || !tensor_same_shape(scores, &both))
		return false;
	*cols = in->rank > 0 ? in->dim[in->rank - 1] : 1;
	*rows = in->rank > 1 ? in->dim[in->rank - 2] : 1;
	*x = (struct attention_stack){.over = leading(scores), .batch = *in};
	x->batch.rank = in->rank > 2 ? in->rank - 2 : 0;
	return (*rows == 1 || *rows == m->l) && (*cols == 1 || *cols == m->len);
}

/* A factor of all scores, or one of each matrix. */
static bool multiply(struct attended_step *m, const struct step_node *n, const struct step_arg *by)
{
	struct source at;
	int64_t rows, cols;
	if (m->a.n_masks > 0 || m->factor || m->scaled || !find_source(by, &at))
		return false;
	if (by->from == FROM_CONST && tensor_elements(by->tensor) == 1) {
		m->factor = by->tensor;
		m->divides = n->op->kind == OP_DIVIDE;
		return true;
	}
	m->of_scales = at;
	m->scaled = true;
	return n->op->kind == OP_MULTIPLY &&
	       meets_scores(m, &n->out[0], by->tensor, &m->a.scales, &rows, &cols) && rows == 1 &&
	       cols == 1;
}

static bool add(struct attended_step *m, const struct step_node *n, const struct step_arg *by)
{
	struct attention_mask *mask = &m->a.mask[m->a.n_masks];
	return m->a.n_masks < ATTENTION_MASKS && find_source(by, &m->of_mask[m->a.n_masks++]) &&
	       meets_scores(m, &n->out[0], by->tensor, &mask->at, &mask->rows, &mask->cols);
}

static bool mix(struct attended_step *m, const struct step_node *n)
{
	const struct tensor *out = &n->out[0];
	if (n->op->a.matmul.transpose_a || n->op->a.matmul.transpose_b || !is_f32(out) ||
	    !find_source(&n->in[1], &m->of_v) || n->in[1].tensor->rank < 2)
		return false;
	m->a.v = attention_rows_of(n->in[1].tensor);
	m->a.y = attention_rows_of(out);
	m->a.v_batch = leading(out);
	return m->a.v.rows == m->len && m->a.v.cols <= MOST_WIDTH &&
	       tensor_elements(out) == m->n * m->l * m->a.v.cols;
}

/* Node v, which reads the scores; *last: it ends them. */
static bool take(struct attended_step *m, const struct step_spec *s, uint32_t v, bool *last)
{
	const struct step_node *n = &s->node[v];
	enum op_kind kind = n->op->kind;
	if (n->n_out != 1 || !is_f32(&n->out[0]))
		return false;
	if (kind == OP_MATMUL) {
		*last = true;
		return m->weighed && n->n_in == 2 && reads_scores(m, s, v, 0) && mix(m, n);
	}
	if (m->weighed || tensor_elements(&n->out[0]) != m->n * m->l * m->len)
		return false;
	if (kind == OP_SOFTMAX) {
		m->weighed = true;
		return reads_scores(m, s, v, 0) &&
		       op_axis(n->op->a.axis.axis, n->out[0].rank) == (int)n->out[0].rank - 1;
	}
	if (n->n_in != 2 || n->op->a.broadcast.bcast == BCAST_PDPD)
		return false;
	uint32_t i = kind != OP_DIVIDE && !reads_scores(m, s, v, 0);
	if (!reads_scores(m, s, v, i) || !tensor_same_shape(n->in[i].tensor, &n->out[0]))
		return false;
	if (kind == OP_MULTIPLY || kind == OP_DIVIDE)
		return multiply(m, n, &n->in[1 - i]);
	return kind == OP_ADD && add(m, n, &n->in[1 - i]);
}

static enum group_answer read_nodes(struct attended_step *m, const struct step_spec *s)
{
	bool last = false;
	*m = (struct attended_step){0};
	if (s->n_out != 1 || s->out[0].node != s->n_nodes - 1 || !begin(m, &s->node[0]))
		return GROUP_OTHER;
	for (uint32_t v = 1; v < s->n_nodes; v++)
		if (last || !take(m, s, v, &last))
			return GROUP_OTHER;
	return last ? GROUP_YES : GROUP_WITH_MORE;
}

/* ---- the operator between moves ---- */

/* Rows that lie as x says; false: their elements are apart. */
static bool rows_seen(const struct moves_seen *x, struct attention_rows *rows, struct source *of)
{
	if (x->rank < 2 || x->rank > TENSOR_DIMS || x->stride[x->rank - 1] != 1 ||
	    x->stride[x->rank - 2] < x->dim[x->rank - 1])
		return false;
	*of = (struct source){.index = x->input, .offset = x->offset};
	*rows = (struct attention_rows){.rows = x->dim[x->rank - 2],
					.cols = x->dim[x->rank - 1],
					.ld = x->stride[x->rank - 2],
					.batch = {.elem = EL_F32, .rank = x->rank - 2}};
	for (uint32_t d = 0; d + 2 < x->rank; d++) {
		rows->batch.dim[d] = x->dim[d];
		rows->step[d] = x->stride[d];
	}
	return true;
}

/* Queries, keys or values, from moves or from the step's input. */
static bool take_rows(const struct moves_seeing *v, const struct step_arg *a,
		      struct attention_rows *rows, struct source *of, uint32_t *moved)
{
	struct moves_seen x;
	if (!is_f32(a->tensor) || a->tensor->rank < 2)
		return false;
	if (a->from == FROM_NODE) {
		++*moved;
		return moves_see_argument(v, a, &x) && rows_seen(&x, rows, of);
	}
	*rows = attention_rows_of(a->tensor);
	return find_source(a, of);
}

/* The mask, if any. */
static bool take_mask(struct attended_step *m, const struct step_node *n)
{
	struct attention_mask *mask = &m->a.mask[0];
	if (n->n_in <= 3 || n->in[3].from == FROM_NONE || n->in[3].tensor->rank < 2)
		return true;
	const struct step_arg *a = &n->in[3];
	const struct tensor *t = a->tensor;
	struct tensor scores = n->out[0];
	scores.dim[scores.rank - 1] = m->len;
	if ((a->from != FROM_INPUT && a->from != FROM_CONST) || t->quant || !tensor_is_static(t) ||
	    (t->elem != EL_F32 && t->elem != EL_BOOLEAN) ||
	    !meets_scores(m, &scores, t, &mask->at, &mask->rows, &mask->cols))
		return false;
	m->of_mask[0] = (struct source){.index = a->index};
	if (a->from == FROM_CONST)
		m->of_mask[0].data = t->data;
	mask->boolean = t->elem == EL_BOOLEAN;
	m->truths = mask->boolean ? tensor_elements(t) : 0;
	m->a.n_masks = !m->a.causal;
	return true;
}

static bool take_scale(struct attended_step *m, const struct step_node *n)
{
	m->a.scale = 1 / sqrtf((float)m->a.q.cols);
	if (n->n_in <= 4 || n->in[4].from == FROM_NONE)
		return true;
	m->factor = n->in[4].tensor;
	return n->in[4].from == FROM_CONST && tensor_elements(m->factor) == 1;
}

/* A Transpose of the result, which is written so at once. */
static bool turn_result(struct attended_step *m, const struct step_node *n,
			const struct tensor *from, uint32_t node)
{
	int64_t perm[TENSOR_DIMS], stride[TENSOR_DIMS] = {0}, step = 1;
	struct err e = ERR_INIT;
	uint32_t rank = from->rank;
	bool fits = n->op->kind == OP_TRANSPOSE && n->n_in == 2 && n->n_out == 1 &&
		    n->in[0].from == FROM_NODE && n->in[0].index == node &&
		    tensor_same_shape(n->in[0].tensor, from) && n->in[1].from == FROM_CONST &&
		    n->in[1].tensor->data && op_permutation(from, n->in[1].tensor, perm, &e) == 0;
	err_clear(&e);
	if (!fits || perm[rank - 1] != (int64_t)rank - 1)
		return false;
	for (uint32_t d = rank; d-- > 0; step *= from->dim[perm[d]])
		stride[perm[d]] = step;
	m->a.y.ld = stride[rank - 2];
	for (uint32_t d = 0; d + 2 < rank; d++)
		m->a.y.step[d] = stride[d];
	return true;
}

/* Moves, ScaledDotProductAttention, perhaps a Transpose. */
static bool read_operator(struct attended_step *m, const struct step_spec *s)
{
	struct moves_seeing v = {.s = s};
	uint32_t at = 0, moved = 0;
	*m = (struct attended_step){0};
	while (at < s->n_nodes && s->node[at].op->kind != OP_ATTENTION)
		if (at == MOVES_NODES || !moves_see_node(&v, at++))
			return false;
	if (at == s->n_nodes || s->n_nodes > at + 2 || s->n_out != 1 ||
	    s->out[0].node != s->n_nodes - 1)
		return false;
	const struct step_node *n = &s->node[at];
	const struct tensor *out = &n->out[0];
	if (n->n_in < 3 || n->n_out != 1 || !is_f32(out) || out->rank < 2 ||
	    (n->n_in > 5 && n->in[5].from != FROM_NONE) ||
	    !take_rows(&v, &n->in[0], &m->a.q, &m->of_q, &moved) ||
	    !take_rows(&v, &n->in[1], &m->a.key, &m->of_key, &moved) ||
	    !take_rows(&v, &n->in[2], &m->a.v, &m->of_v, &moved))
		return false;
	m->l = m->a.q.rows;
	m->len = m->a.key.rows;
	m->a.causal = n->op->a.attention.causal;
	m->a.batch = m->a.v_batch = leading(out);
	m->a.y = attention_rows_of(out);
	if (m->a.y.rows != m->l || m->a.y.cols != m->a.v.cols || m->a.v.rows != m->len ||
	    m->a.key.cols != m->a.q.cols || !take_mask(m, n) || !take_scale(m, n))
		return false;
	if (s->n_nodes == at + 2)
		return turn_result(m, &s->node[at + 1], out, at);
	return moved > 0;
}

static enum group_answer read_any(struct attended_step *m, const struct step_spec *s,
				  const struct cpu_ctx *ctx)
{
	if (read_operator(m, s))
		return GROUP_YES;
	enum group_answer answer = read_nodes(m, s);
	return answer != GROUP_OTHER && !attention_pays(&m->a, ctx) ? GROUP_OTHER : answer;
}

/* ---- the step ---- */

static enum group_answer attended_group(const struct step_how *how, const struct step_spec *s)
{
	struct attended_step m;
	/* Products of integers are found node by node. */
	return how->group.codes ? GROUP_OTHER : read_any(&m, s, how->ctx);
}

static int attended_init(void *x, const struct step_how *how, const struct step_spec *s,
			 struct mem_form *want, struct err *e)
{
	struct attended_step *m = x;
	(void)want, (void)e;
	if (how->group.codes || read_any(m, s, how->ctx) != GROUP_YES)
		return 0;
	m->ctx = how->ctx;
	if (m->factor)
		m->a.scale = (float)tensor_real(m->factor, 0);
	if (m->factor && m->divides)
		m->a.scale = 1 / m->a.scale;
	return 1;
}

static float *address(const struct source *s, void *const *in)
{
	return (float *)(uintptr_t)(s->data ? s->data : in[s->index]) + s->offset;
}

/* Truth values as numbers, which the masks of the kernels are. */
static int convert_truths(const struct attended_step *m, struct attention_mask *mask, struct err *e)
{
	float *to = cpu_slot_scratch(m->ctx, SLOT_CONVERT, (size_t)m->truths * sizeof *to);
	if (!to)
		return cpu_no_memory(e);
	cpu_convert(EL_F32, to, EL_BOOLEAN, mask->at.data, m->truths);
	mask->at.data = to;
	return 0;
}

static int attended_run(void *x, const struct step_io *io, struct err *e)
{
	const struct attended_step *m = x;
	void *const *in = io->plain_in;
	struct attention a = m->a;
	a.q.data = address(&m->of_q, in);
	a.key.data = address(&m->of_key, in);
	a.v.data = address(&m->of_v, in);
	a.y.data = io->plain_out[0];
	if (m->scaled)
		a.scales.data = address(&m->of_scales, in);
	for (int i = 0; i < a.n_masks; i++)
		a.mask[i].at.data = address(&m->of_mask[i], in);
	if (m->truths > 0 && a.n_masks > 0 && convert_truths(m, &a.mask[0], e) < 0)
		return -1;
	return attention_run(&a, m->ctx, e);
}

const struct step_kind attended_kind = {
	.name = "attention",
	.size = sizeof(struct attended_step),
	.plain = true,
	.group = attended_group,
	.init = attended_init,
	.run = attended_run,
};
