/* cell.c - see cell.h; LSTMCell, GRUCell and RNNCell, and recurrent weights rounded to bf16. */
#include "kernel/dense/cell.h"
#include "kernel/vec.h"
#include "kernel/gemm/vnni_gemm.h"
#include "op/slice.h"

#include <string.h>

static void activate(enum op_activation act, float clip, float *x, int64_t n)
{
	static const enum op_kind kinds[] = {
		[ACT_SIGMOID] = OP_SIGMOID, [ACT_TANH] = OP_TANH, [ACT_RELU] = OP_RELU};
	struct unary_args limits = {.a = -clip, .b = clip};
	if (clip > 0)
		vec_unary(OP_CLAMP, &limits, x, x, n);
	vec_unary(kinds[act], &limits, x, x, n);
}

static void lstm_row(const struct cell *s, const float *rec, float *g, float *h, float *c)
{
	int64_t n = s->hidden;
	float *f = g, *i = g + n, *z = g + 2 * n, *o = g + 3 * n;
	vec_axpy(1, rec, g, 4 * n);
	activate(s->a->act[0], s->a->clip, f, 2 * n);
	activate(s->a->act[1], s->a->clip, z, n);
	activate(s->a->act[0], s->a->clip, o, n);
	for (int64_t j = 0; j < n; j++)
		h[j] = c[j] = f[j] * c[j] + i[j] * z[j];
	activate(s->a->act[2], 0, h, n);
	vec_binary(OP_MULTIPLY, h, 1, o, 1, h, n);
}

static void lstm_step(const struct cell *s, const struct cell_rows *r)
{
	int64_t n = s->hidden;
	cpu_affine(s->ctx, &s->r, r->h, NULL, r->n, r->rec, s->room);
	for (int64_t b = 0; b < r->n; b++)
		if (!r->resting || !r->resting[b])
			lstm_row(s, r->rec + b * 4 * n, r->g + b * 4 * n, r->h + b * n,
				 r->c + b * n);
}

/* g: z, r, and what the input brings to the last gate; last: what the state brings to it. */
static void gru_row(const struct cell *s, float *last, float *g, float *h)
{
	int64_t n = s->hidden;
	float *z = g, *t = g + 2 * n;
	if (s->a->linear_before_reset) {
		vec_axpy(1, s->b + 3 * n, last, n);
		vec_binary(OP_MULTIPLY, last, 1, g + n, 1, last, n);
	}
	vec_axpy(1, last, t, n);
	activate(s->a->act[1], s->a->clip, t, n);
	for (int64_t j = 0; j < n; j++)
		h[j] = (1 - z[j]) * t[j] + z[j] * h[j];
}

static void gru_step(const struct cell *s, const struct cell_rows *r)
{
	bool before = s->a->linear_before_reset;
	int64_t n = s->hidden, pitch = before ? 3 * n : 2 * n;
	float *kept = r->rec + r->n * pitch, *last = before ? r->rec + 2 * n : kept + r->n * n;
	cpu_affine(s->ctx, &s->r, r->h, NULL, r->n, r->rec, s->room);
	for (int64_t b = 0; b < r->n; b++) {
		float *g = r->g + b * 3 * n;
		vec_axpy(1, r->rec + b * pitch, g, 2 * n);
		activate(s->a->act[0], s->a->clip, g, 2 * n);
		if (!before)
			vec_binary(OP_MULTIPLY, g + n, 1, r->h + b * n, 1, kept + b * n, n);
	}
	if (!before)
		cpu_affine(s->ctx, &s->last, kept, NULL, r->n, last, s->room);
	for (int64_t b = 0; b < r->n; b++)
		if (!r->resting || !r->resting[b])
			gru_row(s, last + b * (before ? pitch : n), r->g + b * 3 * n, r->h + b * n);
}

static void rnn_step(const struct cell *s, const struct cell_rows *r)
{
	int64_t n = s->hidden;
	cpu_affine(s->ctx, &s->r, r->h, NULL, r->n, r->rec, s->room);
	for (int64_t b = 0; b < r->n; b++) {
		float *g = r->g + b * n;
		if (r->resting && r->resting[b])
			continue;
		vec_axpy(1, r->rec + b * n, g, n);
		activate(s->a->act[0], s->a->clip, g, n);
		memcpy(r->h + b * n, g, (size_t)n * sizeof *g);
	}
}

void cell_step(const struct cell *s, const struct cell_rows *r)
{
	if (s->kind == OP_LSTM_CELL)
		lstm_step(s, r);
	else if (s->kind == OP_GRU_CELL)
		gru_step(s, r);
	else
		rnn_step(s, r);
}

static bool any_nonzero(const struct tensor *t)
{
	for (int64_t i = 0; i < tensor_elements(t); i++)
		if (tensor_real(t, i) != 0)
			return true;
	return false;
}

/* ---- weights rounded to bf16 ---- */

/* Of each direction; last: NULL where r has the rows of all gates. */
struct rounded_cells {
	struct cpu_pack *w[2], *r[2], *last[2];
};

static void rounded_free(void *p)
{
	struct rounded_cells *m = p;
	for (int d = 0; d < 2; d++) {
		cpu_pack_drop(m->w[d]);
		cpu_pack_drop(m->r[d]);
		cpu_pack_drop(m->last[d]);
	}
	mem_free(m);
}

static void fill_pairs(void *arg, void *data)
{
	const struct tensor *b = arg;
	pairs_pack_b(data, b->data, b->dim[1], b->dim[0], true);
}

/* LAYOUT_PAIRS is beside those of qpack.c. */
enum { LAYOUT_PAIRS = 1 << 18 };

static struct cpu_pack *pack_pairs(struct tensor *b, struct cpu_ctx *c)
{
	uint64_t layout[6] = {OP_MATMUL | LAYOUT_PAIRS, (uint64_t)b->dim[0], (uint64_t)b->dim[1]};
	uint64_t bytes = (uint64_t)pairs_b_elements(b->dim[1], b->dim[0]) * sizeof(uint16_t);
	return cpu_pack_get(c->packs, b->data, layout, bytes, fill_pairs, b);
}

/* What weights have become, in w. */
static void take_pack(struct affine_weights *w, const struct cpu_pack *p)
{
	if (p && p->layout[0] & LAYOUT_PAIRS)
		w->pairs = p->data;
	else
		w->rounded = p ? qpack_panels(p) : NULL;
}

/* Rows first .. first + n - 1 of t as (rows, cols), for products with so many vectors; 0: unknown. */
static struct cpu_pack *pack_rows(const struct tensor *t, int64_t first, int64_t n, int64_t cols,
				  int64_t vectors, struct cpu_ctx *c)
{
	struct tensor part = {.elem = EL_F32, .rank = 2, .dim = {n, cols}};
	part.data = (float *)t->data + first * cols;
	return c->bf16_products && pairs_there() && vectors >= PAIRS_M
		       ? pack_pairs(&part, c)
		       : qpack_rounded(&part, true, c);
}

int prepare_recurrent(const struct op *op, const struct tensor *in, const struct tensor *out,
		      struct cpu_ctx *c, struct cpu_prep **prep, struct err *e)
{
	bool sequence = op->kind == OP_LSTM_SEQUENCE || op->kind == OP_GRU_SEQUENCE ||
			op->kind == OP_RNN_SEQUENCE;
	bool lstm = op->kind == OP_LSTM_SEQUENCE || op->kind == OP_LSTM_CELL;
	bool gru = op->kind == OP_GRU_SEQUENCE || op->kind == OP_GRU_CELL;
	int first = 2 + lstm + sequence, directions = sequence && op->a.cell.bidirectional ? 2 : 1;
	const struct tensor *w = &in[first], *r = &in[first + 1];
	int64_t h = op->a.cell.hidden, gates = lstm ? 4 : gru ? 3 : 1, rows = gates * h;
	(void)out;
	if (!c->bf16_weights || !w->data || !r->data || w->elem != EL_F32 || r->elem != EL_F32 ||
	    tensor_elements(w) == 0 || tensor_elements(r) != directions * rows * h)
		return 0;
	int64_t x = w->dim[w->rank - 1],
		split = gru && !op->a.cell.linear_before_reset ? 2 * h : rows;
	if (tensor_elements(w) != directions * rows * x)
		return 0;
	struct rounded_cells *m = MEM_NEW(struct rounded_cells);
	int64_t batch = tensor_is_static(&in[0]) ? in[0].dim[0] : 0;
	int64_t all = sequence ? batch * in[0].dim[1] : batch;
	uint64_t bytes = 0;
	for (int d = 0; d < directions; d++) {
		m->w[d] = pack_rows(w, d * rows, rows, x, all, c);
		m->r[d] = pack_rows(r, d * rows, split, h, batch, c);
		if (split < rows)
			m->last[d] = pack_rows(r, d * rows + split, rows - split, h, batch, c);
		if (!m->w[d] || !m->r[d] || (split < rows && !m->last[d]))
			goto no_memory;
		bytes += m->w[d]->bytes + m->r[d]->bytes + (m->last[d] ? m->last[d]->bytes : 0);
	}
	*prep = MEM_NEW(struct cpu_prep);
	(*prep)->more = m;
	(*prep)->more_bytes = bytes;
	(*prep)->more_free = rounded_free;
	(*prep)->owns = 3u << first;
	return 0;
no_memory:
	rounded_free(m);
	return cpu_no_memory(e);
}

int64_t cell_room_floats(const struct cell *s, int64_t many, int64_t rows)
{
	int64_t all = cpu_affine_floats(s->ctx, &s->w, many);
	int64_t each = cpu_affine_floats(s->ctx, &s->r, rows);
	return all > each ? all : each;
}

/* ---- running ---- */

int cell_init(struct cell *s, const struct kernel_call *k, enum op_kind kind, int first, int64_t d,
	      int64_t directions, struct err *e)
{
	const struct op *op = k->op;
	int64_t n = op->a.cell.hidden, in = k->in[0].dim[k->in[0].rank - 1];
	int64_t gates = kind == OP_LSTM_CELL ? 4 : kind == OP_GRU_CELL ? 3 : 1;
	int64_t b_rows = kind == OP_GRU_CELL && op->a.cell.linear_before_reset ? 4 : gates;
	if (tensor_elements(&k->in[first]) != directions * gates * n * in ||
	    tensor_elements(&k->in[first + 1]) != directions * gates * n * n ||
	    tensor_elements(&k->in[first + 2]) != directions * b_rows * n)
		return err_set(e, ST_INPUT, "weights of %s do not fit", op_info(op->kind)->type);
	if (op_has_input(op, k->in, first + 3) && any_nonzero(&k->in[first + 3]))
		return err_set(e, ST_INPUT, "%s with peepholes is not supported",
			       op_info(op->kind)->type);
	*s = (struct cell){.kind = kind,
			   .a = &op->a.cell,
			   .in = in,
			   .hidden = n,
			   .gates = gates,
			   .b = (const float *)k->in[first + 2].data + d * b_rows * n,
			   .ctx = k->ctx};
	bool split = kind == OP_GRU_CELL && !s->a->linear_before_reset;
	s->w = (struct affine_weights){.rows = gates * n, .n = in};
	s->r = (struct affine_weights){.rows = split ? 2 * n : gates * n, .n = n};
	s->last = (struct affine_weights){.rows = gates * n - s->r.rows, .n = n};
	if (cpu_prep_owns(k->prep, first)) {
		const struct rounded_cells *m = k->prep->more;
		take_pack(&s->w, m->w[d]);
		take_pack(&s->r, m->r[d]);
		take_pack(&s->last, m->last[d]);
		return 0;
	}
	s->w.f32 = (const float *)k->in[first].data + d * gates * n * in;
	s->r.f32 = (const float *)k->in[first + 1].data + d * gates * n * n;
	s->last.f32 = s->r.f32 + s->r.rows * n;
	return 0;
}

int run_cell(const struct kernel_call *k, struct err *e)
{
	enum op_kind kind = k->op->kind;
	bool lstm = kind == OP_LSTM_CELL;
	struct cell s = {.kind = kind};
	if (cell_init(&s, k, kind, lstm ? 3 : 2, 0, 1, e))
		return -1;
	int64_t n = s.hidden, batch = k->in[0].dim[0];
	int64_t floats = cell_lines((s.gates + MAX_GATES) * batch * n);
	float *g =
		cpu_slot_scratch(k->ctx, SLOT_EXTRA,
				 (size_t)(floats + cell_room_floats(&s, batch, batch)) * sizeof *g);
	if (!g)
		return cpu_no_memory(e);
	s.room = g + floats;
	struct cell_rows r = {.n = batch,
			      .g = g,
			      .h = k->out[0].data,
			      .c = lstm ? k->out[1].data : NULL,
			      .rec = g + s.gates * batch * n};
	memcpy(r.h, k->in[1].data, (size_t)(batch * n) * sizeof *r.h);
	if (lstm)
		memcpy(r.c, k->in[2].data, (size_t)(batch * n) * sizeof *r.c);
	cpu_affine(k->ctx, &s.w, k->in[0].data, s.b, batch, g, s.room);
	cell_step(&s, &r);
	return 0;
}
