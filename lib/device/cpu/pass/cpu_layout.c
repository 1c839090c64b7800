/* cpu_layout.c - see cpu_layout.h. */
#include "device/cpu/pass/cpu_layout.h"

#include "device/cpu/pass/cpu_kinds.h"
#include "kernel/isa_level.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- where the spatial dims are ---- */

/* Pass: the last dims of tensors of 4 and 5 dims are spatial ones; of three dims those of a convolution or pooling of lines, and of
 * what keeps its shape behind that, or pads it: other tensors of three dims are tokens. */
void planes_find(struct cpu_graph *x, struct arena *a)
{
	const struct graph *g = x->g;
	x->planes = ARENA_NEWN(a, bool, (size_t)g->n + 1);
	for (uint32_t v = 0; v < g->n; v++) {
		if (g->out_ptr[v] == g->out_ptr[v + 1])
			continue;
		enum op_kind kind = x->g->kind[v];
		enum op_category c = op_info(kind)->category;
		uint32_t rank = g->out_rank[g->out_ptr[v]], u = graph_source(g, v, 0);
		bool line = c == OPC_CONV || c == OPC_POOL;
		if (!line && u != GRAPH_NONE && g->out_rank[g->out_ptr[u]] == 3 &&
		    (c == OPC_UNARY || c == OPC_BINARY || kind == OP_GROUP_NORM || kind == OP_MVN ||
		     kind == OP_PAD))
			line = x->planes[u];
		x->planes[v] = rank == 4 || rank == 5 || (rank == 3 && line);
	}
}

/* ---- who wants what ---- */

/* How node u likes what it reads in input slot i, output o. */
static enum wish wish_of(const struct cpu_graph *x, uint32_t u, uint32_t i)
{
	enum op_kind kind = x->g->kind[u];
	enum op_category c = op_info(kind)->category;
	bool asked = false;
	for (const struct step_kind *const *k = cpu_kinds; *k; k++) {
		if (!(*k)->reads || !kind_begins(*k, kind))
			continue;
		enum wish w = (*k)->reads(x, u, i);
		asked = true;
		if (w != WISH_ANY)
			return w;
	}
	if (asked)
		return WISH_ANY;
	if (cpu_graph_is_view(x, u))
		return i == x->g->in_ptr[u] && x->nhwc[x->g->out_ptr[u]] ? WISH_NHWC : WISH_PLAIN;
	return c == OPC_CONV || c == OPC_POOL || c == OPC_UNARY || c == OPC_BINARY ||
			       kind == OP_FAKE_QUANTIZE
		       ? WISH_NHWC
		       : WISH_PLAIN;
}

/* ---- is it worth while in f32? ---- */

/* Does the window of convolution v reach over three spatial dims? */
static bool is_cube(const struct graph *g, uint32_t v)
{
	uint32_t w = g->in_ptr[v] + 1, rank = g->out_rank[g->out_ptr[v]];
	if (rank < 5 || w >= g->in_ptr[v + 1] || g->in_node[w] == GRAPH_NONE)
		return false;
	uint32_t o = graph_slot_output(g, w);
	const int64_t *end = g->dim + g->dim_ptr[o] + g->out_rank[o];
	return g->out_rank[o] == 5 || g->out_rank[o] == 6
		       ? end[-1] > 1 && end[-2] > 1 && end[-3] > 1
		       : false;
}

bool layout_is_told(void)
{
	return getenv("HSDAG_PIXELS") != NULL;
}

/* Has it images, whose convolutions are priced one by one (cpu_price.c)?  Cubes in groups have good kernels in planes alone. */
static bool nhwc_pays(const struct cpu_graph *x)
{
	const struct graph *g = x->g;
	const char *told = getenv("HSDAG_PIXELS"); /* 0 or 1, for tests and measurements */
	if (told)
		return *told == '1';
	bool any = false;
	for (uint32_t v = 0; v < g->n; v++) {
		enum op_kind kind = x->g->kind[v];
		if (kind != OP_CONVOLUTION && kind != OP_GROUP_CONVOLUTION &&
		    kind != OP_CONVOLUTION_BACKPROP)
			continue;
		if (kind == OP_GROUP_CONVOLUTION && is_cube(g, v))
			return false;
		any = any || g->out_rank[g->out_ptr[v]] >= (cpu_level < 4 ? 3 : 4);
	}
	return any;
}

/* ---- the pass ---- */

/* Pass: from the last node to the first, as readers come later.  An output lies in NHWC where some reader wants it so, and none
 * wants it plain. */
void layout_find(struct cpu_graph *x, struct arena *a)
{
	const struct graph *g = x->g;
	x->nhwc = ARENA_NEWN(a, bool, (size_t)g->out_ptr[g->n] + 1);
	for (uint32_t v = g->n; v-- > 0;)
		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++) {
			enum wish all = WISH_ANY;
			for (uint32_t k = x->g->consumers.ptr[v];
			     k < x->g->consumers.ptr[v + 1] && all != WISH_PLAIN; k++) {
				uint32_t u = x->g->consumers.dst[k], i = x->g->consumers.slot[k];
				enum wish one =
					cpu_graph_reads(x, u, i, o) ? wish_of(x, u, i) : WISH_ANY;
				all = one == WISH_ANY ? all : one;
			}
			x->nhwc[o] = all == WISH_NHWC;
		}
	x->nhwc_pays = nhwc_pays(x);
}

void layout_reason(const struct cpu_graph *x, uint32_t v, uint32_t o, char *dst, size_t cap)
{
	const struct consumers *c = &x->g->consumers;
	uint32_t like = 0;
	char l[300];
	for (uint32_t k = c->ptr[v]; k < c->ptr[v + 1]; k++) {
		enum wish w = cpu_graph_reads(x, c->dst[k], c->slot[k], o)
				      ? wish_of(x, c->dst[k], c->slot[k])
				      : WISH_ANY;
		like += w == WISH_NHWC;
		if (w != WISH_PLAIN)
			continue;
		snprintf(dst, cap, "plain: %s reads it so",
			 graph_layer(x->g, c->dst[k], l, sizeof l));
		return;
	}
	double price = x->price ? (double)x->price[o] : 0;
	if (like && price > 0 && !x->nhwc[o])
		snprintf(dst, cap,
			 "plain: NHWC is modelled to cost its part of the graph %.2f times as much",
			 price);
	else if (like && price > 0)
		snprintf(dst, cap,
			 "NHWC where it stays on the device: all that reads it likes it so, and "
			 "its part of the graph is modelled to cost %.2f of planes",
			 price);
	else
		snprintf(dst, cap,
			 like ? "NHWC where it stays on the device: all that reads it likes it so"
			      : "plain: nothing that reads it likes NHWC better");
}
