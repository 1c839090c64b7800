/* cpu_graph.h - what the passes of the cpu device found out about a graph, as arrays: which outputs lie in NHWC, and
 * which lie on grids of 8 bits.
 *
 * Passes (device/cpu/pass) write the arrays once for each graph of a model; steps read them.  What is asked of few nodes, and costs
 * little, is a function below. */
#ifndef HSDAG_DEVICE_CPU_GRAPH_CPU_GRAPH_H
#define HSDAG_DEVICE_CPU_GRAPH_CPU_GRAPH_H

#include "device/cpu/graph/cpu_grid.h"
#include "graph/graph.h"
#include "kernel/nhwc/mem_form.h"
#include "kernel/step_env.h"
#include "op/op.h"

struct cpu_graph {
	const struct graph *g;
	const struct step_env *env;
	bool *planes;           /* (n) are the last dims of output 0 spatial ones? */
	bool *nhwc;             /* (n_out) does all that reads it like it best in NHWC? */
	struct node_grid *grid; /* (n) which grid output 0 lies on */
	bool nhwc_pays;         /* in f32, too */
	/* In f32, where the prices of both layouts were compared (pass/cpu_price.h); else NULL. */
	float *price; /* (n_out) what NHWC costs the part of the graph that an output is in, over what planes cost; 0: not known */
	bool *planar; /* (n) a convolution that planes suit better */
};

/* A constant of i32 or i64 as it lies among the weights, of rank 0 or 1; false: it is none. */
bool cpu_graph_ints(const struct cpu_graph *x, uint32_t v, struct tensor *t);

/* Does input slot i of node u read what output o holds, and not its shape alone? */
bool cpu_graph_reads(const struct cpu_graph *x, uint32_t u, uint32_t i, uint32_t o);
/* Do depthwise convolutions of node v's output 0 read it, and nothing else? */
bool cpu_graph_only_depthwise(const struct cpu_graph *x, uint32_t v);
/* Is any output of node v to lie in NHWC? */
bool cpu_graph_any_nhwc(const struct cpu_graph *x, uint32_t v);
/* Do input 0 and output 0 of v, images, differ in their channels alone? */
bool cpu_graph_keeps_planes(const struct cpu_graph *x, uint32_t v);
/* Has output 0 of v the same images, channels and number of pixels as input 0, being a view of it? */
bool cpu_graph_is_view(const struct cpu_graph *x, uint32_t v);
/* Do input 0 and output 0 of v, of 4 or 5 dims, differ in rows or columns alone, and did a convolution, a pooling or a resize make the
 * input, of Concat any one, as far as a few nodes back tell?  Other tensors of so many dims may be tokens, or heads of them. */
bool cpu_graph_keeps_channels(const struct cpu_graph *x, uint32_t v);
/* Does v split channels of images, or rows or columns of them, and a reader of one of its outputs want NHWC? */
bool cpu_graph_splits_nhwc(const struct cpu_graph *x, uint32_t v);

/* Does node v read rows that a product or a norm made, no images, as far as a few nodes back tell? */
bool cpu_graph_reads_rows(const struct cpu_graph *x, uint32_t v);

/* ---- forms ---- */

/* Can it lie in NHWC at all: static f32, 3 to 5 dims? */
bool fits_nhwc(const struct tensor *t);
/* The form that output `port` of node v takes where nobody outside of the device reads it.  elem: what the device computes in:
 * EL_F32, EL_BF16, or EL_I8, codes. */
struct mem_form nhwc_wanted(const struct cpu_graph *x, uint32_t v, uint32_t port, enum elem elem);

#endif
