/* output_error.c - see output_error.h. */
#include "exec/output_error.h"

#include <math.h>

#include "exec/model_inputs.h"
#include "op/value.h"

/* Of integers, all of whose bits count. */
static double exact_error(const struct tensor *x, const struct tensor *y)
{
	for (int64_t i = 0; i < tensor_elements(y); i++)
		if (tensor_int(x, i) != tensor_int(y, i))
			return 1;
	return 0;
}

double tensor_error(const struct tensor *x, const struct tensor *y)
{
	double far = 0, scale = 0;
	if (x->elem != y->elem || !tensor_same_shape(x, y))
		return OUTPUT_ERROR_MOST;
	if (!elem_is_real(y->elem))
		return exact_error(x, y);
	for (int64_t i = 0; i < tensor_elements(y); i++) {
		double u = tensor_real(x, i), v = tensor_real(y, i);
		if (isfinite(u) && isfinite(v)) {
			far = fmax(far, fabs(u - v));
			scale = fmax(scale, fabs(v));
		} else if (!(isnan(u) && isnan(v)) && u != v) {
			return OUTPUT_ERROR_MOST;
		}
	}
	return far > 0 ? fmin(scale > 0 ? far / scale : INFINITY, OUTPUT_ERROR_MOST) : 0;
}

double output_error(const struct model *m, const void *const *x, const void *const *y)
{
	double most = 0;
	for (uint32_t r = 0; r < m->n_results; r++) {
		struct tensor a = result_value(m, r, x[r]), b = result_value(m, r, y[r]);
		most = fmax(most, tensor_error(&a, &b));
	}
	return most;
}
