/* quantize.c - see quantize.h. */
#include "kernel/quantize.h"
#include "kernel/quantize_vec.h"

#define LEVEL_FILE "kernel/quantize_loops.h"
#include "kernel/isa_dispatch.h"

void codes_of(const struct code_grid *g, const float *x, int64_t n, uint8_t *y)
{
	LEVEL_CALL(codes_one, x, n, &g->by, &g->shift, false, 0, y);
}

void codes_of_rows(const struct code_rows *r, const float *x, int64_t n, void *y)
{
	int base = r->is_signed ? 128 : 0;
	if (r->columns == 0)
		LEVEL_CALL(codes_one, x, n, r->by, r->shift, r->hswish, base, y);
	else
		LEVEL_CALL(codes, x, n, r->columns, r->by, r->shift, r->hswish, base, y);
}

void codes_scale_sums(void *sums, const int32_t *shift, const float *scale, const float *rest,
		      int64_t n)
{
	LEVEL_CALL(scale_sums, sums, shift, scale, rest, n);
}
