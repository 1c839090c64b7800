/* dots.c - see dots.h. */
#include "kernel/dense/dots.h"

#define LEVEL_FILE "kernel/dense/dots_loops.h"
#include "kernel/isa_dispatch.h"

void cpu_dots(const float *w, int rows, bool fetch, const float *x, int steps, int64_t n, float *y,
	      int64_t pitch)
{
	LEVEL_CALL(dots, w, rows, fetch, x, steps, n, y, pitch);
}
