/* cholesky.c - row by row. */
#include "stats/cholesky.h"

#include <math.h>
#include <stddef.h>

bool cholesky(double *a, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j <= i; j++) {
			double s = a[(size_t)i * n + j];
			for (uint32_t t = 0; t < j; t++)
				s -= a[(size_t)i * n + t] * a[(size_t)j * n + t];
			if (i == j && !(s > 0))
				return false;
			a[(size_t)i * n + j] = i == j ? sqrt(s) : s / a[(size_t)j * n + j];
		}
	return true;
}

void cholesky_back(const double *l, uint32_t n, double *b)
{
	for (uint32_t i = n; i-- > 0;) {
		for (uint32_t j = i + 1; j < n; j++)
			b[i] -= l[(size_t)j * n + i] * b[j];
		b[i] /= l[(size_t)i * n + i];
	}
}

void cholesky_solve(const double *l, uint32_t n, double *b)
{
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < i; j++)
			b[i] -= l[(size_t)i * n + j] * b[j];
		b[i] /= l[(size_t)i * n + i];
	}
	cholesky_back(l, n, b);
}
