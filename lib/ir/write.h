/* write.h - OpenVINO IR version 11 as text, layer by layer.
 *
 * An ir_writer makes one network: layers in the order of the calls, each call
 * returning the layer's number, which later calls use to connect it.  Layers of a
 * graph keep their type, opset, attributes, name and tensor names; bodies of
 * TensorIterator, Loop and If are written with them.  Bytes of constants stay where they are:
 * layers hold offsets into a .bin that the caller names elsewhere.
 *
 * ir_write_part writes a part of a graph: the nodes of a segment with the
 * constants that they read, Parameters and Results at the boundary. */
#ifndef HSDAG_IR_WRITE_H
#define HSDAG_IR_WRITE_H

#include <stddef.h>

#include "base/err.h"
#include "graph/graph.h"

/* Output `port` (counted from 0) of layer number `layer`. */
struct ir_value {
	uint32_t layer, port;
};
#define IR_NO_VALUE ((struct ir_value){UINT32_MAX, 0}) /* an input that is not connected */

/* Type and shape of a tensor; names: comma-separated as in an IR, may be "". */
struct ir_tensor {
	enum elem elem;
	uint8_t rank;       /* RANK_DYNAMIC: dim is not used */
	const int64_t *dim; /* (rank) DIM_DYNAMIC allowed */
	const char *names;
};
/* Of output o (an index into g->out_*). */
struct ir_tensor ir_tensor_of(const struct graph *g, uint32_t o);

/* The .bin that the text refers to: where in it the bytes are that the graph has at `offset` of
 * its own .bin, and where bytes are that the graph has not. */
struct ir_bin {
	uint64_t (*place)(void *arg, uint64_t offset, uint64_t bytes);
	uint64_t (*append)(void *arg, const void *data, uint64_t bytes);
	void *arg;
};

struct ir_writer;
/* bin: NULL when it is the graph's own; borrowed. */
struct ir_writer *ir_writer_new(const char *name, const struct ir_bin *bin);
void ir_writer_free(struct ir_writer *w);
/* What graph_fixed_variables says of the graph whose nodes come; borrowed.  Without it variables keep the shapes of their attributes. */
void ir_writer_variables(struct ir_writer *w, const bool *fixed);

uint32_t ir_write_parameter(struct ir_writer *w, const char *name, const struct ir_tensor *t);
/* A constant at `offset` of the new .bin. */
uint32_t ir_write_constant(struct ir_writer *w, const char *name, const struct ir_tensor *t,
			   uint64_t offset, uint64_t bytes);
/* Node v of g, in[] one value for each of its input ports (trailing ones may be missing). */
uint32_t ir_write_node(struct ir_writer *w, const struct graph *g, uint32_t v,
		       const struct ir_value *in);
/* An operator that no graph has, with one output; `attributes` is the text of its <data>,
 * already escaped, or "". */
uint32_t ir_write_operator(struct ir_writer *w, const char *type, const char *opset,
			   const char *name, const char *attributes, uint32_t n_in,
			   const struct ir_value *in, const struct ir_tensor *out);
/* A Convert of packed weights to `out`, marked so that plugins may keep them packed. */
uint32_t ir_write_decompression(struct ir_writer *w, const char *name, struct ir_value in,
				const struct ir_tensor *out);
uint32_t ir_write_result(struct ir_writer *w, const char *name, struct ir_value in);
/* A name as an item of a list of names: commas are escaped.  To be freed by mem_free. */
char *ir_list_item(const char *name);
/* The whole text, ended; it lives until ir_writer_free.  Call it once. */
const char *ir_writer_text(struct ir_writer *w, size_t *bytes);

/* ---- parts of a graph ---- */

struct ir_part {
	uint32_t n_nodes;
	const uint32_t *node; /* (n_nodes) ascending; no constants, Parameters or Results */
	uint32_t n_in, n_out;
	const uint32_t *in;  /* (n_in) outputs of g that become Parameters, in this order */
	const uint32_t *out; /* (n_out) outputs of g that Results read */
};

/* Write part p of g with the nodes of constant[] (n) that it reads.  Parameters have the name of
 * the node whose output they stand for (with .PORT when it has several), and the tensor's names
 * or else that name; Results are called NODE/result.  An output that p reads from outside, and
 * that is neither constant nor in p->in, is the caller's error (assert).  A constant ShapeOf of
 * something that is not constant becomes a constant, which needs bin->append. */
void ir_write_part(struct ir_writer *w, const struct ir_bin *bin, const struct graph *g,
		   const bool *constant, const struct ir_part *p);

#endif
