/* cpu_turn.c - see cpu_turn.h. */
#include "kernel/cpu_turn.h"
#include "kernel/cpu_level.h"

#define LEVEL_FILE "kernel/cpu_turn_loops.h"
#include "kernel/cpu_levels.h"

void cpu_turn(const float *from, int64_t f, int64_t rows, int64_t cols, float *to, int64_t t)
{
	LEVEL_CALL(transpose, from, f, rows, cols, to, t);
}
