/* cpu_pixel_pay.c - which graphs are faster in f32 with channels behind pixels. */
#include "device/cpu/cpu_pixel_impl.h"

#include <stdlib.h>

/* Two spatial dims: there minimal filtering and oneDNN are as fast as what reads planes or faster, depthwise and 1x1
 * convolutions of small planes above all.  Volumes have minimal filtering in planes alone. */
bool pixels_pay(const struct graph *g)
{
	const char *told = getenv("HSDAG_PIXELS"); /* 0 or 1, for tests and measurements */
	bool any = false;
	if (told)
		return *told == '1';
	for (uint32_t v = 0; v < g->n; v++) {
		enum op_kind kind = op_kind(g->type[v]);
		if (kind != OP_CONVOLUTION && kind != OP_GROUP_CONVOLUTION)
			continue;
		uint32_t rank = g->out_rank[g->out_ptr[v]];
		if (rank > 4)
			return false;
		any = any || rank == 4;
	}
	return any;
}
