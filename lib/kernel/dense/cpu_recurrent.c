/* cpu_recurrent.c - LSTM, GRU and RNN: one step of a cell, and sequences of steps.
 *
 * Weights are W (d, gates h, i), R (d, gates h, h), B (d, rows h); gates in OpenVINO's order: LSTM
 * f i c o, GRU z r h.  Source: OpenVINO's operator specifications (LSTMCell-4, GRUCell-3,
 * RNNCell-1). */
#include "kernel/cpu_vec.h"
#include "kernel/dense/cpu_affine.h"
#include "op/slice.h"

#include <stdatomic.h>
#include <string.h>

enum { MAX_GATES = 4 };

struct cell {
	enum op_kind kind; /* OP_LSTM_CELL, OP_GRU_CELL or OP_RNN_CELL */
	const struct op_cell *a;
	int64_t in, hidden, gates;
	struct affine_weights w, r;
	struct affine_weights last; /* of r, the last gate's where it comes behind the others' */
	const float *b;
	struct cpu_ctx *ctx; /* NULL: this thread alone */
	float *room;         /* cpu_affine's */
};

static void activate(enum op_activation act, float clip, float *x, int64_t n)
{
	static const enum op_kind kinds[] = {
		[ACT_SIGMOID] = OP_SIGMOID, [ACT_TANH] = OP_TANH, [ACT_RELU] = OP_RELU};
	struct unary_args limits = {.a = -clip, .b = clip};
	if (clip > 0)
		vec_unary(OP_CLAMP, &limits, x, x, n);
	vec_unary(kinds[act], &limits, x, x, n);
}

/* One step from g, the part of the input for all gates (W x + B): new h, and c, in place.
 * rec: MAX_GATES h floats of scratch. */
static void lstm_step(const struct cell *s, float *g, float *h, float *c, float *rec)
{
	int64_t n = s->hidden;
	float *f = g, *i = g + n, *z = g + 2 * n, *o = g + 3 * n;
	cpu_affine(s->ctx, &s->r, h, NULL, 4 * n, n, 1, rec, s->room);
	vec_axpy(1, rec, g, 4 * n);
	activate(s->a->act[0], s->a->clip, f, 2 * n);
	activate(s->a->act[1], s->a->clip, z, n);
	activate(s->a->act[0], s->a->clip, o, n);
	for (int64_t j = 0; j < n; j++)
		h[j] = c[j] = f[j] * c[j] + i[j] * z[j];
	activate(s->a->act[2], 0, h, n);
	vec_binary(OP_MULTIPLY, h, 1, o, 1, h, n);
}

static void gru_step(const struct cell *s, float *g, float *h, float *rec)
{
	int64_t n = s->hidden;
	float *z = g, *r = g + n, *t = g + 2 * n, *last = rec + 2 * n;
	bool before = s->a->linear_before_reset;
	cpu_affine(s->ctx, &s->r, h, NULL, before ? 3 * n : 2 * n, n, 1, rec, s->room);
	vec_axpy(1, rec, g, 2 * n);
	activate(s->a->act[0], s->a->clip, g, 2 * n);
	if (before) {
		vec_axpy(1, s->b + 3 * n, last, n);
		vec_binary(OP_MULTIPLY, last, 1, r, 1, last, n);
	} else {
		vec_binary(OP_MULTIPLY, r, 1, h, 1, r, n);
		cpu_affine(s->ctx, &s->last, r, NULL, n, n, 1, last, s->room);
	}
	vec_axpy(1, last, t, n);
	activate(s->a->act[1], s->a->clip, t, n);
	for (int64_t j = 0; j < n; j++)
		h[j] = (1 - z[j]) * t[j] + z[j] * h[j];
}

static void rnn_step(const struct cell *s, float *g, float *h, float *rec)
{
	int64_t n = s->hidden;
	cpu_affine(s->ctx, &s->r, h, NULL, n, n, 1, rec, s->room);
	vec_axpy(1, rec, g, n);
	activate(s->a->act[0], s->a->clip, g, n);
	memcpy(h, g, (size_t)n * sizeof *h);
}

static void step(const struct cell *s, float *g, float *h, float *c, float *rec)
{
	if (s->kind == OP_LSTM_CELL)
		lstm_step(s, g, h, c, rec);
	else if (s->kind == OP_GRU_CELL)
		gru_step(s, g, h, rec);
	else
		rnn_step(s, g, h, rec);
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

/* Rows first .. first + n - 1 of t as (rows, cols). */
static struct cpu_pack *pack_rows(const struct tensor *t, int64_t first, int64_t n, int64_t cols,
				  struct cpu_ctx *c)
{
	struct tensor part = {.elem = EL_F32, .rank = 2, .dim = {n, cols}};
	part.data = (float *)t->data + first * cols;
	return qpack_rounded(&part, true, c);
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
	uint64_t bytes = 0;
	for (int d = 0; d < directions; d++) {
		m->w[d] = pack_rows(w, d * rows, rows, x, c);
		m->r[d] = pack_rows(r, d * rows, split, h, c);
		if (split < rows)
			m->last[d] = pack_rows(r, d * rows + split, rows - split, h, c);
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

/* Floats of room for cpu_affine behind `floats` others, which grow to whole lines. */
static int64_t with_room(const struct cell *s, int64_t steps, int64_t *floats)
{
	int64_t all = cpu_affine_floats(s->ctx, &s->w, steps, s->in);
	int64_t each = cpu_affine_floats(s->ctx, &s->r, 1, s->hidden);
	*floats = (*floats + 15) / 16 * 16;
	return *floats + (all > each ? all : each);
}

/* ---- running ---- */

/* Describe direction d of the cell; `first` is the input number of W. */
static int cell_init(struct cell *s, const struct kernel_call *k, enum op_kind kind, int first,
		     int64_t d, int64_t directions, struct err *e)
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
	if (cpu_prep_owns(k->prep, first)) {
		const struct rounded_cells *m = k->prep->more;
		s->w.rounded = qpack_panels(m->w[d]);
		s->r.rounded = qpack_panels(m->r[d]);
		s->last.rounded = m->last[d] ? qpack_panels(m->last[d]) : NULL;
		return 0;
	}
	s->w.f32 = (const float *)k->in[first].data + d * gates * n * in;
	s->r.f32 = (const float *)k->in[first + 1].data + d * gates * n * n;
	s->last.f32 = s->r.f32 + (gates - 1) * n * n;
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
	int64_t floats = (s.gates * batch + MAX_GATES) * n, all = with_room(&s, batch, &floats);
	float *g = cpu_slot_scratch(k->ctx, SLOT_EXTRA, (size_t)all * sizeof *g);
	if (!g)
		return cpu_no_memory(e);
	s.room = g + floats;
	float *h = k->out[0].data, *c = lstm ? k->out[1].data : NULL;
	memcpy(h, k->in[1].data, (size_t)(batch * n) * sizeof *h);
	if (lstm)
		memcpy(c, k->in[2].data, (size_t)(batch * n) * sizeof *c);
	cpu_affine(k->ctx, &s.w, k->in[0].data, s.b, s.gates * n, s.in, batch, g, s.room);
	for (int64_t b = 0; b < batch; b++)
		step(&s, g + b * s.gates * n, h + b * n, lstm ? c + b * n : NULL,
		     g + batch * s.gates * n);
	return 0;
}

/* One direction of one batch row over its valid steps; outputs behind them are zero.  What the inputs
 * bring to all steps goes to g (steps, gates h) first; rec: MAX_GATES h floats. */
static void run_steps(const struct cell *s, const float *x, int64_t steps, int64_t length,
		      bool reverse, float *y, float *h, float *c, float *g, float *rec)
{
	int64_t n = s->hidden;
	memset(y, 0, (size_t)(steps * n) * sizeof *y);
	cpu_affine(s->ctx, &s->w, x, s->b, s->gates * n, s->in, length, g, s->room);
	for (int64_t i = 0; i < length; i++) {
		int64_t t = reverse ? length - 1 - i : i;
		step(s, g + t * s->gates * n, h, c, rec);
		memcpy(y + t * n, h, (size_t)n * sizeof *y);
	}
}

struct sequence_run {
	const struct kernel_call *k;
	enum op_kind kind; /* of the cell */
	int lengths;       /* the input that has them */
	int64_t batch, steps, directions;
	int64_t floats, all; /* of a task, without room for cpu_affine and with it */
	struct cell cell[2]; /* of each direction */
	atomic_bool failed;
};

/* One direction of one batch row. */
static void sequence_task(void *arg, int task, int thread)
{
	struct sequence_run *r = arg;
	const struct kernel_call *k = r->k;
	struct cell s = r->cell[task / r->batch];
	int64_t d = task / r->batch, b = task % r->batch, n = s.hidden, steps = r->steps;
	int64_t at = b * r->directions + d, length = tensor_int(&k->in[r->lengths], b);
	float *g = s.ctx ? cpu_slot_scratch(k->ctx, SLOT_EXTRA, (size_t)r->all * sizeof *g)
			 : cpu_thread_scratch(k->ctx, thread, (size_t)r->all * sizeof *g);
	if (!g) {
		r->failed = true;
		return;
	}
	s.room = g + r->floats;
	length = length < 0 ? 0 : length > steps ? steps : length;
	run_steps(&s, (const float *)k->in[0].data + b * steps * s.in, steps, length,
		  d == 1 || s.a->reverse, (float *)k->out[0].data + at * steps * n,
		  (float *)k->out[1].data + at * n,
		  r->kind == OP_LSTM_CELL ? (float *)k->out[2].data + at * n : NULL, g,
		  g + MAX_GATES * steps * n);
}

int run_sequence(const struct kernel_call *k, struct err *e)
{
	const struct op *op = k->op;
	bool lstm = op->kind == OP_LSTM_SEQUENCE;
	struct sequence_run r = {.k = k,
				 .kind = lstm                          ? OP_LSTM_CELL
					 : op->kind == OP_GRU_SEQUENCE ? OP_GRU_CELL
								       : OP_RNN_CELL,
				 .lengths = lstm ? 3 : 2,
				 .batch = k->in[0].dim[0],
				 .steps = k->in[0].dim[1],
				 .directions = op->a.cell.bidirectional ? 2 : 1};
	int64_t n = op->a.cell.hidden, parts = r.batch * r.directions, threads = k->ctx->n_threads;
	/* Directions and batch rows know nothing of each other.  Where they are enough for all
	 * threads, no thread waits for another at every step. */
	bool apart = threads > 1 && parts > 0 && (parts % threads == 0 || parts >= 4 * threads);
	r.floats = MAX_GATES * (r.steps + 1) * n;
	size_t state = (size_t)(parts * n) * sizeof(float);
	memcpy(k->out[1].data, k->in[1].data, state);
	if (lstm)
		memcpy(k->out[2].data, k->in[2].data, state);
	for (int64_t d = 0; d < r.directions; d++) {
		if (cell_init(&r.cell[d], k, r.kind, r.lengths + 1, d, r.directions, e))
			return -1;
		if (apart)
			r.cell[d].ctx = NULL;
	}
	r.all = with_room(&r.cell[0], r.steps, &r.floats);
	if (apart)
		cpu_parallel(k->ctx, (int)parts, sequence_task, &r);
	for (int64_t i = 0; i < parts && !apart; i++)
		sequence_task(&r, (int)i, 0);
	return r.failed ? cpu_no_memory(e) : 0;
}
