/* inverse.c - Inverse (opset14): every matrix (n, n) of a batch, by LU factors with pivots in double
 * precision; with `adjoint` the transposed inverse.  Of a singular matrix it is NAN. */
#include "kernel/kernel_impl.h"

#include <math.h>

#include "linear/blas.h"

/* y (n,n) = the inverse of a, which is spoilt: both row-major, or both column-major. */
static void invert(double *a, int64_t n, blasint *pivot, double *y)
{
	blasint size = (blasint)n, info;
	for (int64_t i = 0; i < n * n; i++)
		y[i] = i / n == i % n;
	blas()->dgesv_(&size, &size, a, &size, pivot, y, &size, &info);
	for (int64_t i = 0; i < n * n && info > 0; i++)
		y[i] = NAN;
}

int run_inverse(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0];
	if (x->rank < 2 || x->dim[x->rank - 2] != x->dim[x->rank - 1])
		return err_set(e, ST_INPUT, "Inverse of matrices that are not square");
	bool adjoint = k->op->a.inverse.adjoint;
	int64_t n = x->dim[x->rank - 1], count = n ? tensor_elements(x) / (n * n) : 0;
	double *a = cpu_slot_scratch(k->ctx, SLOT_EXTRA,
				     (size_t)(2 * n * n) * sizeof *a + (size_t)n * sizeof(blasint));
	if (!a)
		return cpu_no_memory(e);
	if (!blas_open(e))
		return -1;
	double *y = a + n * n;
	for (int64_t m = 0; m < count; m++) {
		for (int64_t i = 0; i < n * n; i++)
			a[i] = tensor_real(x, m * n * n + i);
		invert(a, n, (blasint *)(y + n * n), y);
		for (int64_t i = 0; i < n * n; i++)
			tensor_set_real(&k->out[0], m * n * n + i,
					y[adjoint ? i % n * n + i / n : i]);
	}
	return 0;
}
