/* cpu_pixel_pay.c - which graphs are faster in f32 with channels behind pixels. */
#include "device/cpu/pixel/cpu_pixel_impl.h"
#include "kernel/cpu_level.h"

#include <stdlib.h>

/* Does the window of convolution v reach over three spatial dims? */
static bool is_cube(const struct graph *g, uint32_t v)
{
	uint32_t w = g->in_ptr[v] + 1, rank = g->out_rank[g->out_ptr[v]];
	if (rank < 5 || w >= g->in_ptr[v + 1] || g->in_node[w] == GRAPH_NONE)
		return false;
	uint32_t o = g->out_ptr[g->in_node[w]] + g->in_port[w];
	const int64_t *end = g->dim + g->dim_ptr[o] + g->out_rank[o];
	return g->out_rank[o] >= 5 && end[-1] > 1 && end[-2] > 1 && end[-3] > 1;
}

/* Minimal filtering, products through pointers and oneDNN are as fast there as what reads planes or faster, depthwise and
 * 1x1 convolutions of small planes above all.  Cubes in groups have good kernels in planes alone. */
bool pixels_pay(const struct graph *g)
{
	const char *told = getenv("HSDAG_PIXELS"); /* 0 or 1, for tests and measurements */
	if (told)
		return *told == '1';
	bool any = false;
	for (uint32_t v = 0; v < g->n; v++) {
		enum op_kind kind = g->kind[v];
		if (kind != OP_CONVOLUTION && kind != OP_GROUP_CONVOLUTION &&
		    kind != OP_CONVOLUTION_BACKPROP)
			continue;
		if (kind == OP_GROUP_CONVOLUTION && is_cube(g, v))
			return false;
		any = any || g->out_rank[g->out_ptr[v]] >= (cpu_level < 4 ? 3 : 4);
	}
	return any;
}
