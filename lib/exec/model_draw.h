/* model_draw.h - inputs for a model that was given none: values that it may well meet in its life.
 *
 * What an input stands for is guessed from its name (the layer's and the tensor's), its type, and
 * from who reads it behind operators that only convert, move or negate:
 *
 *   mask       ones: nothing is masked.  Zeros where reading it says that a set element is masked (a
 *              Select that takes minus infinity there, a boolean "pad" mask), or where a real one is
 *              added to scores
 *   positions  0, 1, 2, ... along the last dim; "beam_idx": 0, 1, 2, ...
 *   lengths    the whole length, as the sequence operator that reads them has it, else dim 1 of the
 *              largest input of rank 2 or 3
 *   sizes of an image   height, width, then 1, of the input of rank 4
 *   indices    uniform in the range that every Gather that reads them allows
 *   bytes      u8 of rank 3 or more: uniform in 0 to 255
 *   other integers and booleans   0 or 1
 *   real numbers   uniform in [-1, 1); in (0, 1] where a Log, Sqrt or fractional Power reads them */
#ifndef HSDAG_EXEC_MODEL_DRAW_H
#define HSDAG_EXEC_MODEL_DRAW_H

#include "exec/model.h"

/* Fill m->input from the seed. */
int inputs_seed(struct model *m, uint64_t seed, struct err *e) MUST_CHECK;

#endif
