/* one_node.h - a graph of one node, made by hand: for tests and benchmarks of a device's steps. */
#ifndef HSDAG_TESTS_ONE_NODE_H
#define HSDAG_TESTS_ONE_NODE_H

#include <string.h>

#include "op/op.h"

enum { ONE_PORTS = 8, ONE_ATTRS = 12 };

struct one_node {
	struct graph g;
	enum op_kind kind;
	const char *key[ONE_ATTRS], *value[ONE_ATTRS], *type, *opset, *name;
	uint32_t in_ptr[2], in_node[ONE_PORTS], in_port[ONE_PORTS], attr_ptr[2], out_ptr[2],
		dim_ptr[ONE_PORTS + 1], readers[2];
	int64_t id;
	uint8_t out_elem[ONE_PORTS], out_rank[ONE_PORTS];
	struct op op;
	struct tensor in[ONE_PORTS], out[ONE_PORTS];
};

/* n stays where it is: the graph points into it.  Attributes (one_node_attr), in, and op and out by op_decode and op_infer are
 * the caller's. */
static inline void one_node_init(struct one_node *n, const char *type, const char *opset,
				 uint32_t n_in, uint32_t n_out)
{
	memset(n, 0, sizeof *n);
	n->type = type;
	n->kind = op_kind(type);
	n->opset = opset;
	n->name = "node";
	n->in_ptr[1] = n_in;
	n->out_ptr[1] = n_out;
	n->g = (struct graph){.name = "one",
			      .xml = "",
			      .weights = "",
			      .n = 1,
			      .id = &n->id,
			      .node_name = &n->name,
			      .type = &n->type,
			      .opset = &n->opset,
			      .kind = &n->kind,
			      .consumers = {.ptr = n->readers},
			      .attr_ptr = n->attr_ptr,
			      .attr_key = n->key,
			      .attr_value = n->value,
			      .in_ptr = n->in_ptr,
			      .in_node = n->in_node,
			      .in_port = n->in_port,
			      .out_ptr = n->out_ptr,
			      .out_elem = n->out_elem,
			      .out_rank = n->out_rank,
			      .dim_ptr = n->dim_ptr};
}

/* Texts are borrowed. */
static inline void one_node_attr(struct one_node *n, const char *key, const char *value)
{
	n->key[n->attr_ptr[1]] = key;
	n->value[n->attr_ptr[1]++] = value;
}

#endif
