/* cell_sequence.c - LSTMSequence, GRUSequence and RNNSequence.
 *
 * Blocks of batch rows take their steps together, so that R is read once for all of them; what the input brings to
 * the steps is one product for some steps.  Directions and blocks know nothing of each other. */
#include "kernel/dense/cell.h"
#include "op/slice.h"

#include <stdatomic.h>
#include <string.h>

enum {
	CHUNK = 1 << 18, /* floats that the input brings to some steps, of all batch rows */
	MOST_ROWS = 256  /* of a block */
};

struct sequence_run {
	const struct kernel_call *k;
	enum op_kind kind; /* of the cell */
	int lengths;       /* the input that has them */
	int64_t batch, steps, directions;
	int64_t blocks, chunk; /* of a direction; steps */
	int64_t floats;        /* of a task */
	struct cell cell[2];   /* of each direction */
	atomic_bool failed;
};

/* What a task has in its scratch. */
struct block {
	int64_t first, rows; /* of the batch */
	float *x;            /* (chunk, rows, in) inputs, step by step */
	float *g;            /* (chunk, rows, gates h) what they bring */
	float *h, *c, *rec;
	bool *resting;
};

static int64_t block_rows(const struct sequence_run *r)
{
	return (r->batch + r->blocks - 1) / r->blocks;
}

static int64_t block_floats(const struct sequence_run *r)
{
	const struct cell *s = &r->cell[0];
	int64_t rows = block_rows(r), n = s->hidden;
	return cell_lines(r->chunk * rows * s->in) + cell_lines(r->chunk * rows * s->gates * n) +
	       cell_lines((2 + MAX_GATES) * rows * n) + cell_lines(rows) +
	       cell_room_floats(s, r->chunk * rows, rows);
}

static struct block block_at(const struct sequence_run *r, int64_t number, struct cell *s, float *p)
{
	int64_t rows = block_rows(r), n = s->hidden;
	struct block b = {.first = number * rows, .rows = rows, .x = p};
	b.g = b.x + cell_lines(r->chunk * rows * s->in);
	b.rec = b.g + cell_lines(r->chunk * rows * s->gates * n);
	b.h = b.rec + MAX_GATES * rows * n;
	b.c = b.h + rows * n;
	b.resting = (bool *)(b.rec + cell_lines((2 + MAX_GATES) * rows * n));
	s->room = b.rec + cell_lines((2 + MAX_GATES) * rows * n) + cell_lines(rows);
	if (b.first + b.rows > r->batch)
		b.rows = r->batch - b.first;
	return b;
}

static int64_t valid_steps(const struct sequence_run *r, int64_t b)
{
	int64_t length = tensor_int(&r->k->in[r->lengths], b);
	return length < 0 ? 0 : length > r->steps ? r->steps : length;
}

/* Where step i of batch row b lies; rows whose steps are over have any. */
static int64_t place_of_step(const struct sequence_run *r, bool reverse, int64_t b, int64_t i)
{
	int64_t length = valid_steps(r, b);
	return i >= length ? 0 : reverse ? length - 1 - i : i;
}

/* States of direction d: from the outputs, where they begin, or back. */
static void move_states(const struct sequence_run *r, const struct block *b, int64_t d, bool back)
{
	int64_t n = r->cell[0].hidden;
	for (int out = 1; out <= (r->kind == OP_LSTM_CELL ? 2 : 1); out++)
		for (int64_t i = 0; i < b->rows; i++) {
			float *here = (out == 1 ? b->h : b->c) + i * n;
			float *there = (float *)r->k->out[out].data +
				       ((b->first + i) * r->directions + d) * n;
			memcpy(back ? there : here, back ? here : there, (size_t)n * sizeof *here);
		}
}

/* Steps i0 .. i1 - 1 of a block in direction d. */
static void run_steps(const struct sequence_run *r, const struct cell *s, const struct block *b,
		      int64_t d, int64_t i0, int64_t i1)
{
	int64_t n = s->hidden, all = s->gates * n;
	bool reverse = d == 1 || s->a->reverse;
	const float *x = r->k->in[0].data;
	float *to = b->x;
	for (int64_t i = i0; i < i1; i++)
		for (int64_t y = b->first; y < b->first + b->rows; y++, to += s->in)
			memcpy(to, x + (y * r->steps + place_of_step(r, reverse, y, i)) * s->in,
			       (size_t)s->in * sizeof *to);
	cpu_affine(s->ctx, &s->w, b->x, s->b, (i1 - i0) * b->rows, b->g, s->room);
	struct cell_rows at = {.n = b->rows, .g = b->g, .h = b->h, .c = b->c, .rec = b->rec};
	at.resting = b->resting;
	for (int64_t i = i0; i < i1; i++, at.g += b->rows * all) {
		for (int64_t y = 0; y < b->rows; y++)
			b->resting[y] = i >= valid_steps(r, b->first + y);
		cell_step(s, &at);
		for (int64_t y = 0; y < b->rows; y++) {
			int64_t row = b->first + y, t = place_of_step(r, reverse, row, i);
			float *out = (float *)r->k->out[0].data +
				     ((row * r->directions + d) * r->steps + t) * n;
			if (!b->resting[y])
				memcpy(out, b->h + y * n, (size_t)n * sizeof *out);
		}
	}
}

/* Outputs behind the last valid step are zero. */
static void clear_rest(const struct sequence_run *r, const struct block *b, int64_t d)
{
	int64_t n = r->cell[0].hidden;
	for (int64_t row = b->first; row < b->first + b->rows; row++) {
		int64_t length = valid_steps(r, row);
		memset((float *)r->k->out[0].data +
			       ((row * r->directions + d) * r->steps + length) * n,
		       0, (size_t)((r->steps - length) * n) * sizeof(float));
	}
}

/* One block in one direction. */
static void sequence_task(void *arg, int task, int thread)
{
	struct sequence_run *r = arg;
	int64_t d = task / r->blocks;
	struct cell s = r->cell[d];
	float *p = cpu_thread_scratch(r->k->ctx, thread, (size_t)r->floats * sizeof *p);
	if (!p) {
		r->failed = true;
		return;
	}
	struct block b = block_at(r, task % r->blocks, &s, p);
	if (b.rows <= 0)
		return;
	move_states(r, &b, d, false);
	for (int64_t i = 0; i < r->steps; i += r->chunk)
		run_steps(r, &s, &b, d, i, i + r->chunk < r->steps ? i + r->chunk : r->steps);
	move_states(r, &b, d, true);
	clear_rest(r, &b, d);
}

/* How many blocks of batch rows a direction has; 1 where all threads take each product together. */
static int64_t blocks_of(const struct sequence_run *r, int64_t threads, bool *apart)
{
	int64_t each = threads % r->directions == 0 ? threads / r->directions : threads;
	int64_t least = (r->batch + MOST_ROWS - 1) / MOST_ROWS;
	*apart = threads > 1 && (r->batch % each == 0 || r->batch >= 4 * each);
	if (!*apart || each < least)
		each = least;
	return each > 0 ? each : 1;
}

/* Room for w, which is used again and again, packed; counted in *floats, or from `to` on if that is not NULL. */
static void pack(struct affine_weights *w, int64_t *floats, float *to)
{
	if (w->rounded || w->pairs || w->rows == 0)
		return;
	if (to)
		cpu_affine_pack(w, to + *floats);
	*floats += cpu_affine_packed_floats(w);
}

/* The order of sums depends on the number of rows in all blocks together, so that threads do not change it. */
static void choose_order(struct affine_weights *w, int64_t rows)
{
	w->order = rows >= AFFINE_MANY ? ORDER_OF_MANY : w->rounded ? ORDER_OF_ONE : ORDER_OF_CALL;
}

/* Weights of products of many rows that are used more than once are packed once. */
static int pack_weights(struct sequence_run *r, struct err *e)
{
	bool again = r->blocks > 1 || r->chunk < r->steps;
	float *to = NULL;
	for (int pass = 0; pass < 2; pass++) {
		int64_t floats = 0;
		for (int64_t d = 0; d < r->directions; d++) {
			struct cell *s = &r->cell[d];
			choose_order(&s->w, r->batch * r->steps);
			choose_order(&s->r, r->batch);
			choose_order(&s->last, r->batch);
			if (s->w.order == ORDER_OF_MANY && again)
				pack(&s->w, &floats, to);
			if (s->r.order == ORDER_OF_MANY) {
				pack(&s->r, &floats, to);
				pack(&s->last, &floats, to);
			}
		}
		if (pass == 0 && floats > 0) {
			to = cpu_slot_scratch(r->k->ctx, SLOT_EXTRA, (size_t)floats * sizeof *to);
			if (!to)
				return cpu_no_memory(e);
		}
	}
	return 0;
}

int run_sequence(const struct kernel_call *k, struct err *e)
{
	const struct op *op = k->op;
	bool lstm = op->kind == OP_LSTM_SEQUENCE, apart;
	struct sequence_run r = {.k = k,
				 .kind = lstm                          ? OP_LSTM_CELL
					 : op->kind == OP_GRU_SEQUENCE ? OP_GRU_CELL
								       : OP_RNN_CELL,
				 .lengths = lstm ? 3 : 2,
				 .batch = k->in[0].dim[0],
				 .steps = k->in[0].dim[1],
				 .directions = op->a.cell.bidirectional ? 2 : 1};
	size_t state = (size_t)(r.batch * r.directions * op->a.cell.hidden) * sizeof(float);
	r.blocks = blocks_of(&r, k->ctx->n_threads, &apart);
	memcpy(k->out[1].data, k->in[1].data, state);
	if (lstm)
		memcpy(k->out[2].data, k->in[2].data, state);
	for (int64_t d = 0; d < r.directions; d++) {
		if (cell_init(&r.cell[d], k, r.kind, r.lengths + 1, d, r.directions, e))
			return -1;
		if (apart)
			r.cell[d].ctx = NULL;
	}
	int64_t each = r.batch * r.cell[0].gates * r.cell[0].hidden;
	r.chunk = each > 0 && each < CHUNK ? CHUNK / each : 1;
	r.chunk = r.chunk < r.steps ? r.chunk : r.steps > 0 ? r.steps : 1;
	if (pack_weights(&r, e))
		return -1;
	r.floats = block_floats(&r);
	int tasks = (int)(r.directions * r.blocks);
	if (apart)
		cpu_parallel(k->ctx, tasks, sequence_task, &r);
	for (int i = 0; i < tasks && !apart; i++)
		sequence_task(&r, i, 0);
	return r.failed ? cpu_no_memory(e) : 0;
}
