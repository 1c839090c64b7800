/* model_inputs.h - what goes into a model and what comes out, as values and as files.
 *
 * A directory holds one file N.npy per Parameter (or Result), N counting from 0 in
 * the order of the graph, and index.tsv: file, layer name, type and shape. */
#ifndef HSDAG_EXEC_MODEL_INPUTS_H
#define HSDAG_EXEC_MODEL_INPUTS_H

#include "exec/model.h"

/* Fill m->input from a directory.  With an index.tsv inputs are found by name. */
int inputs_load(struct model *m, const char *dir, struct err *e) MUST_CHECK;
/* Write m->input; the directory is made if need be. */
int inputs_save(const struct model *m, const char *dir, struct err *e) MUST_CHECK;
/* Write result[n_results] (plan.result). */
int outputs_save(const struct model *m, const void *const *result, const char *dir,
		 struct err *e) MUST_CHECK;

/* Type and shape of input i, with its data. */
struct tensor input_tensor(const struct model *m, uint32_t i);
/* Type and shape of result i; dims that the run decides are DIM_DYNAMIC. */
struct tensor result_tensor(const struct model *m, uint32_t i);
/* Result i of a run (plan.result[i]), with its data and its real shape. */
struct tensor result_value(const struct model *m, uint32_t i, const void *result);

/* Difference of two sets of results (n_results pointers), over all their elements: mean
 * squared error, cosine similarity, largest |a - b| relative to the largest |b| of its
 * tensor.  b is the reference, of the single device; results of different shapes differ by 1e300.
 * -1 (ST_RUNTIME, says why): values that are not finite have no difference. */
struct output_difference {
	double mse, cosine, largest;
};
int outputs_compare(const struct model *m, const void *const *a, const void *const *b,
		    struct output_difference *out, struct err *e) MUST_CHECK;

#endif
