/* dots.h - products of a few vectors with a matrix as it lies, row by row: dot products. */
#ifndef HSDAG_KERNEL_DENSE_DOTS_H
#define HSDAG_KERNEL_DENSE_DOTS_H

#include <stdbool.h>
#include <stdint.h>

enum { DOTS_ROWS = 4, DOTS_STEPS = 2 };

/* y[t * pitch + j] = dot product of row j of w (rows, n) and row t of x (steps, n); rows <= DOTS_ROWS,
 * steps <= DOTS_STEPS.  A sum has one order whatever the company.  fetch: w goes on behind its rows, and that
 * is wanted soon. */
void cpu_dots(const float *w, int rows, bool fetch, const float *x, int steps, int64_t n, float *y,
	      int64_t pitch);

#endif
