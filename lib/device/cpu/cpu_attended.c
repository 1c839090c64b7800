/* cpu_attended.c - see cpu_attended.h. */
#include "device/cpu/cpu_attended.h"

#include "base/mem.h"
#include "kernel/dense/cpu_attention.h"
#include "op/value.h"

/* Widths of queries and values up to which keys and values of a block stay in the first-level cache. */
enum { MOST_WIDTH = 256 };

/* Where the numbers of an operand are: in the step's input, or in a constant. */
struct source {
	const void *data; /* NULL: input `index` */
	uint32_t index;
};

struct attended {
	struct cpu_ctx *ctx;
	struct attention a;      /* as far as the nodes are read; without addresses */
	struct tensor q, key, v; /* that a refers to */
	struct source of_q, of_key, of_v, of_scales, of_mask[ATTENTION_MASKS];
	const struct tensor *
		factor; /* a constant by which scores are multiplied or, divides, divided; NULL: none */
	bool divides;
	int64_t n, l, len; /* matrices, rows, columns of the scores */
	bool scaled;       /* by numbers of each matrix */
	bool weighed;      /* the SoftMax has been */
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
static bool reads_scores(const struct attended *m, const struct step_spec *s, uint32_t v,
			 uint32_t i)
{
	const struct step_arg *a = &s->node[v].in[i];
	const struct tensor *t = a->tensor;
	return a->from == FROM_NODE && a->index == v - 1 && a->port == 0 && is_f32(t) &&
	       t->rank >= 2 && t->dim[t->rank - 1] == m->len && t->dim[t->rank - 2] == m->l &&
	       tensor_elements(t) == m->n * m->l * m->len;
}

/* Queries and keys. */
static bool begin(struct attended *m, const struct step_node *n)
{
	const struct tensor *out = &n->out[0];
	if (n->op->kind != OP_MATMUL || n->op->a.matmul.transpose_a || n->n_in != 2 ||
	    !find_source(&n->in[0], &m->of_q) || !find_source(&n->in[1], &m->of_key) ||
	    !is_f32(out) || out->rank < 2 || n->in[0].tensor->rank < 2 || n->in[1].tensor->rank < 2)
		return false;
	m->q = *n->in[0].tensor;
	m->key = *n->in[1].tensor;
	m->l = out->dim[out->rank - 2];
	m->len = out->dim[out->rank - 1];
	m->n = tensor_elements(out) / m->l / m->len;
	m->a.turned = !n->op->a.matmul.transpose_b;
	m->a.q = operand_of(&m->q, false, true);
	m->a.key = operand_of(&m->key, m->a.turned, false);
	m->a.batch = leading(out);
	m->a.scale = 1;
	return m->a.q.cols <= MOST_WIDTH && m->a.q.cols == m->a.key.cols;
}

/* Numbers at `in` that meet the scores of node n: their last two dims into rows and cols, each 1 or the scores' own. */
static bool meets_scores(const struct attended *m, const struct step_node *n,
			 const struct tensor *in, struct attention_stack *x, int64_t *rows,
			 int64_t *cols)
{
	struct tensor both = {.elem = EL_F32};
	if (!op_broadcast(&n->out[0], in, &both) || !tensor_same_shape(&n->out[0], &both))
		return false;
	*cols = in->rank > 0 ? in->dim[in->rank - 1] : 1;
	*rows = in->rank > 1 ? in->dim[in->rank - 2] : 1;
	*x = (struct attention_stack){.over = leading(&n->out[0]), .batch = *in};
	x->batch.rank = in->rank > 2 ? in->rank - 2 : 0;
	return (*rows == 1 || *rows == m->l) && (*cols == 1 || *cols == m->len);
}

/* A factor of all scores, or one of each matrix. */
static bool multiply(struct attended *m, const struct step_node *n, const struct step_arg *by)
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
	       meets_scores(m, n, by->tensor, &m->a.scales, &rows, &cols) && rows == 1 && cols == 1;
}

static bool add(struct attended *m, const struct step_node *n, const struct step_arg *by)
{
	struct attention_mask *mask = &m->a.mask[m->a.n_masks];
	return m->a.n_masks < ATTENTION_MASKS && find_source(by, &m->of_mask[m->a.n_masks++]) &&
	       meets_scores(m, n, by->tensor, &mask->at, &mask->rows, &mask->cols);
}

static bool mix(struct attended *m, const struct step_node *n)
{
	const struct tensor *out = &n->out[0];
	if (n->op->a.matmul.transpose_a || n->op->a.matmul.transpose_b || !is_f32(out) ||
	    !find_source(&n->in[1], &m->of_v) || n->in[1].tensor->rank < 2)
		return false;
	m->v = *n->in[1].tensor;
	m->a.v = operand_of(&m->v, false, false);
	m->a.v_batch = leading(out);
	return m->a.v.rows == m->len && m->a.v.cols <= MOST_WIDTH &&
	       tensor_elements(out) == m->n * m->l * m->a.v.cols;
}

/* Node v, which reads the scores; *last: it ends them. */
static bool take(struct attended *m, const struct step_spec *s, uint32_t v, bool *last)
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

static enum fuse_answer read_nodes(struct attended *m, const struct step_spec *s)
{
	bool last = false;
	*m = (struct attended){0};
	if (s->n_out != 1 || s->out[0].node != s->n_nodes - 1 || !begin(m, &s->node[0]))
		return FUSE_NO;
	for (uint32_t v = 1; v < s->n_nodes; v++)
		if (last || !take(m, s, v, &last))
			return FUSE_NO;
	return last ? FUSE_YES : FUSE_WITH_MORE;
}

enum fuse_answer attended_fits(const struct step_spec *s, const struct cpu_ctx *ctx)
{
	struct attended m;
	enum fuse_answer answer = read_nodes(&m, s);
	return answer != FUSE_NO && !attention_pays(ctx, m.l) ? FUSE_NO : answer;
}

/* ---- the step ---- */

struct attended *attended_new(const struct step_spec *s, struct cpu_ctx *ctx)
{
	struct attended *m = MEM_NEW(struct attended);
	if (read_nodes(m, s) != FUSE_YES) {
		mem_free(m);
		return NULL;
	}
	m->ctx = ctx;
	m->a.q.t = &m->q;
	m->a.key.t = &m->key;
	m->a.v.t = &m->v;
	if (m->factor)
		m->a.scale = (float)tensor_real(m->factor, 0);
	if (m->factor && m->divides)
		m->a.scale = 1 / m->a.scale;
	return m;
}

void attended_free(struct attended *m)
{
	mem_free(m);
}

uint64_t attended_bytes(const struct attended *m)
{
	return sizeof *m;
}

static const void *address(const struct source *s, void *const *in)
{
	return s->data ? s->data : in[s->index];
}

int attended_run(struct attended *m, void *const *in, void *out, struct err *e)
{
	struct attention *a = &m->a;
	m->q.data = (void *)(uintptr_t)address(&m->of_q, in);
	m->key.data = (void *)(uintptr_t)address(&m->of_key, in);
	m->v.data = (void *)(uintptr_t)address(&m->of_v, in);
	if (m->scaled)
		a->scales.data = address(&m->of_scales, in);
	for (int i = 0; i < a->n_masks; i++)
		a->mask[i].at.data = address(&m->of_mask[i], in);
	a->y = out;
	return attention_run(a, m->ctx, e);
}
