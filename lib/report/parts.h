/* parts.h - what a placement of operations in parts (dagsplit) makes of them. */
#ifndef HSDAG_REPORT_PARTS_H
#define HSDAG_REPORT_PARTS_H

#include "graph/placed.h"

struct parts_told {
	uint32_t cut;   /* operations of which there are parts; 0: the graph has none */
	uint32_t apart; /* of them, those that several devices compute */
	double *share;  /* (k) of the work of those; 0 where they have none */
};

/* flops (n) of the nodes of g, placed as p says.  Memory from a. */
void parts_count(const struct graph *g, const struct placed *p, const double *flops,
		 struct arena *a, struct parts_told *out);

/* (nodes of g->whole, k) operations that each device computes of each node of the whole; g has one.  Memory from a. */
double *parts_by_operation(const struct graph *g, const struct placed *p, const double *flops,
			   struct arena *a);

#endif
