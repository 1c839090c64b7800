/* draft.h - a graph that is being written, node by node, each behind what it reads. */
#ifndef HSDAG_SPLIT_DRAFT_H
#define HSDAG_SPLIT_DRAFT_H

#include "base/pairmap.h"
#include "graph/graph.h"
#include "graph/strtab.h"
#include "op/tensor.h"

/* Output `port` of node `node` of the draft. */
struct draft_value {
	uint32_t node, port; /* node GRAPH_NONE: nothing */
};

struct draft {
	const struct graph *from; /* names, attributes and types are borrowed from it */
	struct arena *arena;      /* of the new graph */
	struct strtab type, opset;
	int64_t next_id;
	uint32_t part; /* of nodes to come, as struct graph has it */
	uint32_t n, n_const;
	size_t cap_node, cap_attr, cap_in, cap_out, cap_dim, cap_const, cap_tail;
	struct draft_node {
		int64_t id;
		const char *name, *type, *opset;
		uint32_t attr, in, out; /* where its rows begin */
		uint32_t part;
	} * node;
	uint32_t n_attr, n_in, n_out, n_dim;
	const char **key, **value;
	struct draft_value *in;
	struct draft_out {
		enum elem elem;
		uint8_t rank;
		uint32_t dim;
		const char *names;
	} * out;
	int64_t *dim;
	struct draft_const {
		uint32_t node;
		uint64_t offset, bytes;
	} * constant;
	uint64_t tail_at, tail_bytes;
	uint8_t *tail;
	struct strtab ints; /* lists of integers that are there, as text */
	uint32_t *ints_node;
	size_t cap_ints;
};

/* A draft of a graph like g, which must outlive it. */
void draft_init(struct draft *d, const struct graph *g);
void draft_release(struct draft *d);

/* The next node: draft_node, then its attributes, inputs and outputs by the calls below, in any order.  id < 0: a new one. */
uint32_t draft_node(struct draft *d, const char *name, const char *type, const char *opset,
		    int64_t id);
void draft_attr(struct draft *d, const char *key, const char *value);
void draft_in(struct draft *d, struct draft_value v);
void draft_out(struct draft *d, enum elem elem, uint8_t rank, const int64_t *dim,
	       const char *names);
/* A constant of `bytes` bytes of the .bin at `offset`; t: its type and shape. */
struct draft_value draft_const(struct draft *d, const char *name, const struct tensor *t,
			       uint64_t offset, uint64_t bytes);
/* The constant i64[n] of these integers, one node for all that are alike; n < 0: a scalar. */
struct draft_value draft_ints(struct draft *d, const int64_t *v, int n);
/* A scalar constant 0. */
struct draft_value draft_zero(struct draft *d, enum elem elem);
/* Type and shape of a value; false: not known. */
bool draft_describe(const struct draft *d, struct draft_value v, struct tensor *t);
/* The graph, with the bodies of `from` (row[]: new rows of nodes that have one), without sets and digest. */
struct graph *draft_finish(struct draft *d, const uint32_t *row);

#endif
