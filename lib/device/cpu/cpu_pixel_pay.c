/* cpu_pixel_pay.c - which graphs are faster in f32 with channels behind pixels. */
#include "device/cpu/cpu_pixel_impl.h"
#include "kernel/cpu_level.h"

#include <stdlib.h>

/* Minimal filtering, products through pointers and oneDNN are as fast there as what reads planes or faster, depthwise and
 * 1x1 convolutions of small planes above all. */
bool pixels_pay(const struct graph *g)
{
	const char *told = getenv("HSDAG_PIXELS"); /* 0 or 1, for tests and measurements */
	if (told)
		return *told == '1';
	for (uint32_t v = 0; v < g->n; v++) {
		enum op_kind kind = op_kind(g->type[v]);
		if (kind != OP_CONVOLUTION && kind != OP_GROUP_CONVOLUTION)
			continue;
		if (g->out_rank[g->out_ptr[v]] >= (cpu_level < 4 ? 3 : 4))
			return true;
	}
	return false;
}
