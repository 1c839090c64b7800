/* net_draw.h - a network drawn by bytes, as a graph in memory whose constants are in its tail. */
#ifndef HSDAG_TESTS_NET_DRAW_H
#define HSDAG_TESTS_NET_DRAW_H

#include "op/tensor.h"

struct drawn {
	struct graph *graph; /* without sets; NULL: nothing could be drawn */
	/* (nodes) of a Parameter of integers: they are below this number; 0: any */
	const int64_t *bound;
	/* (outputs) between two plans only last bits differ; no two runs have to agree */
	const bool *smooth, *random;
};

/* The next byte, below a bound; 0 behind the last one. */
uint32_t draw_byte(uint32_t bound);
/* Begins with these bytes.  The graph stays until the next call. */
void draw_begin(const uint8_t *data, size_t size);
void draw_net(struct drawn *out);
/* Numbers into t (its data), from `noise` on; integers below bound, 0: any small ones. */
void draw_fill(const struct tensor *t, uint32_t noise, int64_t bound);

#endif
