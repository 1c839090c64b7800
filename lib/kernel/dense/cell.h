/* cell.h - one step of an LSTM, a GRU or an RNN for some rows of a batch.
 *
 * Weights are W (d, gates h, i), R (d, gates h, h), B (d, rows h); gates in OpenVINO's order: LSTM
 * f i c o, GRU z r h.  Source: OpenVINO's operator specifications (LSTMCell-4, GRUCell-3,
 * RNNCell-1). */
#ifndef HSDAG_KERNEL_DENSE_CELL_H
#define HSDAG_KERNEL_DENSE_CELL_H

#include "kernel/dense/affine.h"

enum { MAX_GATES = 4 };

struct cell {
	enum op_kind kind; /* OP_LSTM_CELL, OP_GRU_CELL or OP_RNN_CELL */
	const struct op_cell *a;
	int64_t in, hidden, gates;
	struct affine_weights w, r;
	struct affine_weights last; /* rows of R that r lacks: those of GRU's last gate, or none */
	const float *b;
	struct cpu_ctx *ctx; /* NULL: this thread alone */
	float *room;         /* cpu_affine's */
};

/* Batch rows at one step. */
struct cell_rows {
	int64_t n;
	float *g;            /* (n, gates h) what the input brings to all gates, W x + B */
	float *h, *c;        /* (n, h) the state; c: LSTM's */
	float *rec;          /* (n, MAX_GATES h) scratch */
	const bool *resting; /* (n) whose state stays as it is; NULL: none */
};

/* Direction d of the cell of k's operator; `first` is the input number of W. */
int cell_init(struct cell *s, const struct kernel_call *k, enum op_kind kind, int first, int64_t d,
	      int64_t directions, struct err *e) MUST_CHECK;
void cell_step(const struct cell *s, const struct cell_rows *r);

/* Floats of room for the products of a cell: of `many` rows at once for W, of `rows` for R. */
int64_t cell_room_floats(const struct cell *s, int64_t many, int64_t rows);

/* Floats, up to whole lines of the cache. */
static inline int64_t cell_lines(int64_t floats)
{
	return (floats + 15) / 16 * 16;
}

#endif
