/* regress.c - normal equations, by elimination. */
#include "stats/regress.h"

static const double RIDGE = 1e-4;

void normal_add(struct normal *m, const double *x, double y)
{
	for (uint32_t i = 0; i < m->k; i++) {
		m->c[i] += x[i] * y;
		for (uint32_t j = 0; j < m->k; j++)
			m->a[i][j] += x[i] * x[j];
	}
}

bool normal_solve(const struct normal *m, double *b)
{
	struct normal t = *m;
	double trace = 0;
	for (uint32_t i = 0; i < t.k; i++)
		trace += t.a[i][i];
	if (trace == 0)
		return false;
	for (uint32_t i = 0; i < t.k; i++)
		t.a[i][i] += RIDGE * trace / t.k;
	/* Gauss-Jordan; the matrix is positive definite, so that no pivot is 0. */
	for (uint32_t i = 0; i < t.k; i++)
		for (uint32_t j = 0; j < t.k; j++) {
			if (j == i)
				continue;
			double r = t.a[j][i] / t.a[i][i];
			for (uint32_t l = 0; l < t.k; l++)
				t.a[j][l] -= r * t.a[i][l];
			t.c[j] -= r * t.c[i];
		}
	for (uint32_t i = 0; i < t.k; i++)
		b[i] = t.c[i] / t.a[i][i];
	return true;
}
