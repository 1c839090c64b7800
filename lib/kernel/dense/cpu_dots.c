/* cpu_dots.c - see cpu_dots.h. */
#include "kernel/dense/cpu_dots.h"

#define LEVEL_FILE "kernel/dense/cpu_dots_loops.h"
#include "kernel/cpu_levels.h"

void cpu_dots(const float *w, int rows, bool fetch, const float *x, int steps, int64_t n, float *y,
	      int64_t pitch)
{
	LEVEL_CALL(dots, w, rows, fetch, x, steps, n, y, pitch);
}
