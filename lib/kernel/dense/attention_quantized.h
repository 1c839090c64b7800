/* attention_quantized.h - scores of queries and keys that lie on grids of 8 bits, in integers (AVX-512 with VNNI). */
#ifndef HSDAG_KERNEL_DENSE_ATTENTION_QUANTIZED_H
#define HSDAG_KERNEL_DENSE_ATTENTION_QUANTIZED_H

#include <stdbool.h>

#include "kernel/quantize.h"

enum { CODES_ROWS = 32 }; /* queries side by side */

/* Has the processor the instructions?  Nothing else here may be called where it has not. */
bool attend_codes_there(void);
/* Bytes of queries and of n keys, of d numbers each: multiples of 64. */
int64_t attend_codes_queries(int64_t d);
int64_t attend_codes_keys(int64_t n, int64_t d);

/* q (rows <= CODES_ROWS, d) as codes, side by side. */
void attend_codes_pack_queries(const struct code_grid *grid, const float *q, int rows, int64_t d,
			       char *queries);
/* k (n,d) as codes. */
void attend_codes_pack_keys(const struct code_grid *grid, const float *k, int64_t n, int64_t d,
			    char *keys);
/* Scores s (x1 - x0, CODES_ROWS) of keys x0 .. x1 - 1 of n: `scale` times the product of key and query, exactly but for the rounding
 * of f32. */
void attend_codes_score(const struct code_grid *q_grid, const struct code_grid *k_grid, float scale,
			const char *queries, const char *keys, int64_t n, int64_t d, int64_t x0,
			int64_t x1, float *s);

#endif
