/* cpu_recurrent.c - LSTM, GRU and RNN: one step of a cell, and sequences of steps.
 *
 * Weights are W (d, gates h, i), R (d, gates h, h), B (d, rows h); gates in OpenVINO's order: LSTM
 * f i c o, GRU z r h.  Source: OpenVINO's operator specifications (LSTMCell-4, GRUCell-3,
 * RNNCell-1). */
#include "kernel/cpu_impl.h"
#include "kernel/cpu_vec.h"
#include "kernel/dense/cpu_dots.h"
#include "op/slice.h"

#include <string.h>

enum { MAX_GATES = 4 };

struct cell {
	enum op_kind kind; /* OP_LSTM_CELL, OP_GRU_CELL or OP_RNN_CELL */
	const struct op_cell *a;
	int64_t in, hidden, gates;
	const float *w, *r, *b;
	struct cpu_ctx *ctx; /* NULL: this thread alone */
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

/* y[t][j] = w_j x_t + b_j for rows j of w (rows, n) and x (steps, n); b may be NULL.  A task has some
 * rows: weights are read once for several steps. */
struct affine {
	const float *w, *x, *b;
	int64_t rows, n, steps;
	float *y;
	int n_tasks;
};

enum { GRAIN = 1 << 16, TOGETHER = 8 };

/* Of rows j and on, `left` at most, for steps t and on; first: it is the rows' first use. */
static void some_dots(const struct affine *a, int64_t j, int64_t left, int64_t t, bool first)
{
	int rows = left < DOTS_ROWS ? (int)left : DOTS_ROWS;
	int steps = a->steps - t < DOTS_STEPS ? (int)(a->steps - t) : DOTS_STEPS;
	float *y = a->y + t * a->rows + j;
	cpu_dots(a->w + j * a->n, rows, first, a->x + t * a->n, steps, a->n, y, a->rows);
	for (int i = 0; i < steps && a->b; i++)
		for (int k = 0; k < rows; k++)
			y[i * a->rows + k] += a->b[j + k];
}

static void affine_task(void *arg, int task, int thread)
{
	const struct affine *a = arg;
	int64_t lo, hi;
	(void)thread;
	cpu_range(a->rows, a->n_tasks, task, &lo, &hi);
	for (int64_t t0 = 0; t0 < a->steps; t0 += TOGETHER)
		for (int64_t j = lo; j < hi; j += DOTS_ROWS)
			for (int64_t t = t0; t < a->steps && t < t0 + TOGETHER; t += DOTS_STEPS)
				some_dots(a, j, hi - j, t, t == t0);
}

static void affine(struct cpu_ctx *ctx, const float *w, const float *x, const float *b,
		   int64_t rows, int64_t n, int64_t steps, float *y)
{
	int threads = ctx ? ctx->n_threads : 1, wanted = cpu_tasks(rows * n * steps, GRAIN);
	struct affine a = {w, x, b, rows, n, steps, y, 1};
	/* As many for each thread: three tasks would take two as long as four. */
	if (threads > 1 && wanted > 1)
		a.n_tasks = wanted < 4 * threads ? (wanted + threads - 1) / threads * threads
						 : 4 * threads;
	if (a.n_tasks > rows)
		a.n_tasks = (int)rows;
	if (a.n_tasks > 1)
		cpu_parallel(ctx, a.n_tasks, affine_task, &a);
	else
		affine_task(&a, 0, 0);
}

/* One step from g, the part of the input for all gates (W x + B): new h, and c, in place.
 * rec: MAX_GATES h floats of scratch. */
static void lstm_step(const struct cell *s, float *g, float *h, float *c, float *rec)
{
	int64_t n = s->hidden;
	float *f = g, *i = g + n, *z = g + 2 * n, *o = g + 3 * n;
	affine(s->ctx, s->r, h, NULL, 4 * n, n, 1, rec);
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
	affine(s->ctx, s->r, h, NULL, before ? 3 * n : 2 * n, n, 1, rec);
	vec_axpy(1, rec, g, 2 * n);
	activate(s->a->act[0], s->a->clip, g, 2 * n);
	if (before) {
		vec_axpy(1, s->b + 3 * n, last, n);
		vec_binary(OP_MULTIPLY, last, 1, r, 1, last, n);
	} else {
		vec_binary(OP_MULTIPLY, r, 1, h, 1, r, n);
		affine(s->ctx, s->r + 2 * n * n, r, NULL, n, n, 1, last);
	}
	vec_axpy(1, last, t, n);
	activate(s->a->act[1], s->a->clip, t, n);
	for (int64_t j = 0; j < n; j++)
		h[j] = (1 - z[j]) * t[j] + z[j] * h[j];
}

static void rnn_step(const struct cell *s, float *g, float *h, float *rec)
{
	int64_t n = s->hidden;
	affine(s->ctx, s->r, h, NULL, n, n, 1, rec);
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
	*s = (struct cell){kind,
			   &op->a.cell,
			   in,
			   n,
			   gates,
			   (const float *)k->in[first].data + d * gates * n * in,
			   (const float *)k->in[first + 1].data + d * gates * n * n,
			   (const float *)k->in[first + 2].data + d * b_rows * n,
			   k->ctx};
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
	float *g = cpu_slot_scratch(k->ctx, SLOT_EXTRA,
				    (size_t)((s.gates * batch + MAX_GATES) * n) * sizeof *g);
	if (!g)
		return cpu_no_memory(e);
	float *h = k->out[0].data, *c = lstm ? k->out[1].data : NULL;
	memcpy(h, k->in[1].data, (size_t)(batch * n) * sizeof *h);
	if (lstm)
		memcpy(c, k->in[2].data, (size_t)(batch * n) * sizeof *c);
	affine(k->ctx, s.w, k->in[0].data, s.b, s.gates * n, s.in, batch, g);
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
	affine(s->ctx, s->w, x, s->b, s->gates * n, s->in, length, g);
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
	int64_t batch, steps, directions, floats;
	struct cell cell[2]; /* of each direction */
	bool failed;
};

/* One direction of one batch row. */
static void sequence_task(void *arg, int task, int thread)
{
	struct sequence_run *r = arg;
	const struct kernel_call *k = r->k;
	const struct cell *s = &r->cell[task / r->batch];
	int64_t d = task / r->batch, b = task % r->batch, n = s->hidden, steps = r->steps;
	int64_t at = b * r->directions + d, length = tensor_int(&k->in[r->lengths], b);
	float *g = s->ctx ? cpu_slot_scratch(k->ctx, SLOT_EXTRA, (size_t)r->floats * sizeof *g)
			  : cpu_thread_scratch(k->ctx, thread, (size_t)r->floats * sizeof *g);
	if (!g) {
		r->failed = true;
		return;
	}
	length = length < 0 ? 0 : length > steps ? steps : length;
	run_steps(s, (const float *)k->in[0].data + b * steps * s->in, steps, length,
		  d == 1 || s->a->reverse, (float *)k->out[0].data + at * steps * n,
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
	if (apart)
		cpu_parallel(k->ctx, (int)parts, sequence_task, &r);
	for (int64_t i = 0; i < parts && !apart; i++)
		sequence_task(&r, (int)i, 0);
	return r.failed ? cpu_no_memory(e) : 0;
}
