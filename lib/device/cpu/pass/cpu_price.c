/* cpu_price.c - see cpu_price.h.
 *
 * The table is of chains of four convolutions with random shapes, each in planes and in NHWC, on one core with AVX-512: medians of
 * nanoseconds for a product and a sum (docs/results/speed/operators.md). */
#include "device/cpu/pass/cpu_price.h"

#include "base/disjoint.h"

/* Kinds of convolutions that differ in which layout suits them. */
enum conv_class {
	CONV_POINTS,      /* of one pixel */
	CONV_WINDOWS,     /* of several */
	CONV_THIN,        /* the same of fewer channels than a vector has */
	CONV_GROUPS,      /* in groups */
	CONV_THIN_GROUPS, /* in groups of half a vector of channels or less */
	CONV_DEPTH_SMALL, /* one channel a group: squares over few pixels */
	CONV_DEPTH_MEDIUM,
	CONV_DEPTH_LARGE,
	CONV_DEPTH_OTHER, /* of windows that are no squares */
	CONV_DEPTH_THIN   /* of fewer channels than a vector has */
};
static const struct {
	double plain, nhwc;
} mac_ns[] = {
	[CONV_POINTS] = {0.0099, 0.0085},       [CONV_WINDOWS] = {0.0100, 0.0084},
	[CONV_THIN] = {0.0181, 0.0218},         [CONV_GROUPS] = {0.0124, 0.0105},
	[CONV_THIN_GROUPS] = {0.0156, 0.0178},  [CONV_DEPTH_SMALL] = {0.0656, 0.0323},
	[CONV_DEPTH_MEDIUM] = {0.0179, 0.0180}, [CONV_DEPTH_LARGE] = {0.0215, 0.0300},
	[CONV_DEPTH_OTHER] = {0.0435, 0.0524},  [CONV_DEPTH_THIN] = {0.0182, 0.0611},
};
/* A byte that is brought from one layout into another, as a convolution reads or writes it. */
static const double turned_byte_ns = 0.05;
/* What NHWC may cost beyond planes: other operators than convolutions gain by it. */
static const double margin = 1.05;
enum { VECTOR = 16, FEW_PIXELS = 300, MANY_PIXELS = 1500 };

static const int64_t *dims(const struct graph *g, uint32_t o, uint32_t *rank)
{
	*rank = g->out_rank[o];
	return g->dim + g->dim_ptr[o];
}

static enum conv_class class_of(bool grouped, const int64_t *w, uint32_t rank, int64_t pixels)
{
	int64_t taps = 1, first = w[2 + grouped];
	bool square = true;
	for (uint32_t d = 2 + (uint32_t)grouped; d < rank; d++) {
		taps *= w[d];
		square = square && w[d] == first;
	}
	if (grouped && w[1] == 1 && w[2] == 1)
		return w[0] < VECTOR          ? CONV_DEPTH_THIN
		       : !square || taps == 1 ? CONV_DEPTH_OTHER
		       : pixels < FEW_PIXELS  ? CONV_DEPTH_SMALL
		       : pixels < MANY_PIXELS ? CONV_DEPTH_MEDIUM
					      : CONV_DEPTH_LARGE;
	if (grouped)
		return w[1] <= VECTOR / 2 ? CONV_THIN_GROUPS : CONV_GROUPS;
	return w[0] < VECTOR ? CONV_THIN : taps == 1 ? CONV_POINTS : CONV_WINDOWS;
}

bool price_convolution(const struct cpu_graph *x, uint32_t v, double *plain, double *nhwc)
{
	const struct graph *g = x->g;
	bool grouped = g->kind[v] == OP_GROUP_CONVOLUTION;
	uint32_t o = g->out_ptr[v], i = g->in_ptr[v] + 1, rank, w_rank;
	if ((g->kind[v] != OP_CONVOLUTION && !grouped) || g->in_node[i - 1] == GRAPH_NONE ||
	    g->in_node[i] == GRAPH_NONE)
		return false;
	int64_t n = graph_out_elements(g, o);
	const int64_t *y = dims(g, o, &rank), *w = dims(g, graph_slot_output(g, i), &w_rank);
	int64_t weights = graph_out_elements(g, graph_slot_output(g, i));
	if (rank < 3 || w_rank < 3 + (uint32_t)grouped || n <= 0 || weights <= 0)
		return false;
	double macs = (double)n * (double)weights / (double)y[1];
	enum conv_class c = class_of(grouped, w, w_rank, n / y[0] / y[1]);
	*plain = macs * mac_ns[c].plain;
	*nhwc = macs * mac_ns[c].nhwc;
	return true;
}

/* A part of the graph: the one whose output comes first stands for it. */
struct part {
	double plain, nhwc;
};

/* The output of the part that convolution v is in, which joins its input and its output where both lie in NHWC; GRAPH_NONE: neither does. */
static uint32_t part_of(const struct cpu_graph *x, uint32_t *root, uint32_t v)
{
	uint32_t o = x->g->out_ptr[v];
	if (x->nhwc[o])
		return disjoint_find(root, o);
	o = graph_source(x->g, v, 0) == GRAPH_NONE ? GRAPH_NONE
						   : graph_slot_output(x->g, x->g->in_ptr[v]);
	return o != GRAPH_NONE && x->nhwc[o] ? disjoint_find(root, o) : GRAPH_NONE;
}

/* What brings the input and the output of v into NHWC, or out of it. */
static double turned_ns(const struct cpu_graph *x, uint32_t v)
{
	const struct graph *g = x->g;
	const uint32_t port[2] = {graph_slot_output(g, g->in_ptr[v]), g->out_ptr[v]};
	double ns = 0;
	for (int i = 0; i < 2; i++) {
		int64_t bytes = graph_out_bytes(g, port[i]);
		ns += x->nhwc[port[i]] || bytes < 0 ? 0 : (double)bytes * turned_byte_ns;
	}
	return ns;
}

void prices_compare(struct cpu_graph *x, struct arena *a)
{
	const struct graph *g = x->g;
	uint32_t n_out = g->out_ptr[g->n], *root = disjoint_new(n_out, a);
	struct part *part = ARENA_NEWN(a, struct part, (size_t)n_out + 1);
	x->price = ARENA_NEWN(a, float, (size_t)n_out + 1);
	x->planar = ARENA_NEWN(a, bool, (size_t)g->n + 1);
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
			for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
				if (g->in_node[i] != GRAPH_NONE && x->nhwc[o] &&
				    x->nhwc[graph_slot_output(g, i)])
					disjoint_join(root, o, graph_slot_output(g, i));
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t v = 0; v < g->n; v++) {
			double plain, nhwc;
			if (!price_convolution(x, v, &plain, &nhwc))
				continue;
			uint32_t p = part_of(x, root, v);
			struct part own = {0};
			struct part *of = p == GRAPH_NONE ? &own : &part[p];
			if (pass == 0 || p == GRAPH_NONE) {
				of->plain += plain;
				of->nhwc += nhwc + turned_ns(x, v);
			}
			x->planar[v] = pass == 1 && of->nhwc > margin * of->plain;
		}
	for (uint32_t o = 0; o < n_out; o++) {
		const struct part *p = &part[disjoint_find(root, o)];
		if (!x->nhwc[o] || p->plain == 0)
			continue;
		x->price[o] = (float)(p->nhwc / p->plain);
		x->nhwc[o] = p->nhwc <= margin * p->plain;
	}
}
