/* facts.h - what cutting asks of a graph: decoded operators, shapes, and the values of small
 * constants, as far as the .bin is there. */
#ifndef HSDAG_SPLIT_FACTS_H
#define HSDAG_SPLIT_FACTS_H

#include "dynamic/host_eval.h"
#include "ir/weights.h"
#include "op/op.h"

struct split_facts {
	const struct graph *g;
	struct op *op;  /* (n) */
	bool *constant; /* (n) depends on constants alone */
	/* (n) of what reads a variable that which assigns it, and the other way round; GRAPH_NONE: there is not one of each */
	uint32_t *peer;
	uint32_t max_in; /* most inputs of a node */
	struct host_values values;
	struct weights weights;
	struct cpu_ctx *ctx;
	struct arena *arena;
};

/* g is borrowed.  Without its .bin only what needs no values of constants is known.  ST_INPUT: attributes that make no
 * sense, constants beyond the .bin.  split_facts_close in any case. */
int split_facts_open(struct split_facts *f, const struct graph *g, struct err *e) MUST_CHECK;
void split_facts_close(struct split_facts *f);

/* Shape of input i of node v, or of its output o; false: not known, or not there. */
bool split_input(const struct split_facts *f, uint32_t v, uint32_t i, struct tensor *t);
bool split_output(const struct split_facts *f, uint32_t v, uint32_t o, struct tensor *t);
/* The same where dims may be open: DIM_DYNAMIC, as the length of a cache. */
bool split_input_open(const struct split_facts *f, uint32_t v, uint32_t i, struct tensor *t);
bool split_output_open(const struct split_facts *f, uint32_t v, uint32_t o, struct tensor *t);
/* Integers that input i of node v always has, into dst[max]; their number, -1: not known, or more. */
int split_ints(struct split_facts *f, uint32_t v, uint32_t i, int64_t *dst, int max);

#endif
