/* tape_lstm_cell.c - the LSTM cell and its derivative, for each level of instructions. */
#include "learn/tape/tape_lstm_cell.h"

#include <string.h>

#define LEVEL_FILE "learn/tape/tape_lstm_loops.h"
#include "kernel/isa_dispatch.h"

void kern_lstm(const struct lstm_cell *r)
{
	LEVEL_CALL(lstm, r);
}

void kern_lstm_back(const struct lstm_cell_back *r)
{
	LEVEL_CALL(lstm_back, r);
}
