/* transpose.h - matrices of floats, transposed. */
#ifndef HSDAG_KERNEL_TRANSPOSE_H
#define HSDAG_KERNEL_TRANSPOSE_H

#include <stdint.h>

/* to[j][i] = from[i][j] for i < rows, j < cols; rows of `from` lie f, those of `to` t floats apart. */
void cpu_turn(const float *from, int64_t f, int64_t rows, int64_t cols, float *to, int64_t t);
/* The same of bytes. */
void cpu_turn_bytes(const uint8_t *from, int64_t f, int64_t rows, int64_t cols, uint8_t *to,
		    int64_t t);

#endif
