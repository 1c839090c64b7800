/* output_error.h - how far results are from those of a reference: one number, as --max-error has it. */
#ifndef HSDAG_EXEC_OUTPUT_ERROR_H
#define HSDAG_EXEC_OUTPUT_ERROR_H

#include "exec/model.h"

/* Of results of different shapes, and of elements of which one is not finite: records hold finite numbers. */
#define OUTPUT_ERROR_MOST 1e300

/* Of x beside y of the reference: the largest |x - y| of an element over the tensor's scale, which is the largest |y| of its
 * finite elements.
 * - NaN beside NaN, and an infinity beside the same one, differ by 0; either beside anything else by OUTPUT_ERROR_MOST.
 * - Where all of y is 0, what differs does so by OUTPUT_ERROR_MOST.
 * - Integers and booleans are labels and indices as often as quantities: where one differs, the error is 1.
 * - No elements: 0.  Other shapes: OUTPUT_ERROR_MOST. */
double tensor_error(const struct tensor *x, const struct tensor *y);

/* The largest of all results (n_results pointers each, as plan.result); a model without any: 0. */
double output_error(const struct model *m, const void *const *x, const void *const *y);

#endif
