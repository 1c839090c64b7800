/* inverse.c - Inverse (opset14): every matrix (n, n) of a batch, by elimination with pivots in
 * double precision; with `adjoint` the transposed inverse. */
#include "kernel/kernel_impl.h"

#include <math.h>

/* a (n, 2n) starts as (matrix | identity) and ends as (identity | inverse). */
static void eliminate(double *a, int64_t n)
{
	for (int64_t c = 0; c < n; c++) {
		int64_t pivot = c;
		for (int64_t r = c + 1; r < n; r++)
			if (fabs(a[r * 2 * n + c]) > fabs(a[pivot * 2 * n + c]))
				pivot = r;
		for (int64_t j = 0; j < 2 * n && pivot != c; j++) {
			double t = a[c * 2 * n + j];
			a[c * 2 * n + j] = a[pivot * 2 * n + j];
			a[pivot * 2 * n + j] = t;
		}
		double p = a[c * 2 * n + c];
		for (int64_t j = 0; j < 2 * n; j++)
			a[c * 2 * n + j] /= p;
		for (int64_t r = 0; r < n; r++) {
			double f = a[r * 2 * n + c];
			for (int64_t j = 0; j < 2 * n && r != c && f != 0; j++)
				a[r * 2 * n + j] -= f * a[c * 2 * n + j];
		}
	}
}

int run_inverse(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0];
	if (x->rank < 2 || x->dim[x->rank - 2] != x->dim[x->rank - 1])
		return err_set(e, ST_INPUT, "Inverse of matrices that are not square");
	bool adjoint = k->op->a.inverse.adjoint;
	int64_t n = x->dim[x->rank - 1], count = n ? tensor_elements(x) / (n * n) : 0;
	double *a = cpu_slot_scratch(k->ctx, SLOT_EXTRA, (size_t)(2 * n * n) * sizeof *a);
	if (!a)
		return cpu_no_memory(e);
	for (int64_t m = 0; m < count; m++) {
		for (int64_t i = 0; i < n * n; i++) {
			a[i / n * 2 * n + i % n] = tensor_real(x, m * n * n + i);
			a[i / n * 2 * n + n + i % n] = i / n == i % n;
		}
		eliminate(a, n);
		for (int64_t i = 0; i < n * n; i++) {
			int64_t row = adjoint ? i % n : i / n, column = adjoint ? i / n : i % n;
			tensor_set_real(&k->out[0], m * n * n + i, a[row * 2 * n + n + column]);
		}
	}
	return 0;
}
