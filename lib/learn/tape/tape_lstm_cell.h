/* tape_lstm_cell.h - the inner loops of a recurrent layer: one LSTM cell for one row, and its derivative.  For
 * tape_lstm.c and tests.
 *
 * Instructions are chosen by the processor, with products that are fused with sums: bits differ between
 * processors, not with the number of rows. */
#ifndef HSDAG_LEARN_TAPE_TAPE_LSTM_CELL_H
#define HSDAG_LEARN_TAPE_TAPE_LSTM_CELL_H

#include <stddef.h>

/* The sums of input, forget, cell and output gate are x + more, both (4,n), more NULL: 0.  gates (4,n),
 * which may be x, becomes i, f, g, o = sigmoid, sigmoid(. + 1), tanh, sigmoid of them.
 * c = i g + f c_before, h = o tanh(c), both (n).  c_before NULL: 0. */
struct lstm_cell {
	float *gates;
	const float *x, *more, *c_before;
	float *h, *c;
	size_t n;
};
void kern_lstm(const struct lstm_cell *r);

/* pre (4,n) = the gradient of the sums, from gh + dh, gc + dc (n), the gradients of h and c by their own uses and
 * by the cell that comes next, and from what kern_lstm left in gates and c; dc becomes the gradient of
 * c_before. */
struct lstm_cell_back {
	float *pre, *dc;
	const float *dh, *gh, *gc, *gates, *c_before, *c;
	size_t n;
};
void kern_lstm_back(const struct lstm_cell_back *r);

#endif
