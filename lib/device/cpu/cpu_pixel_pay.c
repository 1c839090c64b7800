/* cpu_pixel_pay.c - which graphs are faster in f32 with channels behind pixels. */
#include "device/cpu/cpu_pixel_impl.h"

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

/* Minimal filtering and oneDNN are as fast there as what reads planes or faster, depthwise and 1x1 convolutions of small
 * planes above all.  Windows with three dims have minimal filtering in planes alone. */
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
		if (is_cube(g, v))
			return false;
		any = any || g->out_rank[g->out_ptr[v]] >= 4;
	}
	return any;
}
