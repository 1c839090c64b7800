/* memplan.h - one piece of memory for many buffers: offsets from lifetimes.
 *
 * For an executor that follows a fixed order: a block is needed from position
 * `first` to position `last` of that order, both included. */
#ifndef HSDAG_SCHED_MEMPLAN_H
#define HSDAG_SCHED_MEMPLAN_H

#include <stdint.h>

#include "base/mem.h"

struct mem_block {
	uint64_t bytes;
	uint32_t first, last; /* first <= last */
	uint64_t offset;      /* out */
};

/* Fill the offsets (multiples of align, a power of two) so that blocks alive at one
 * position never overlap; returns the bytes of the whole piece.  Largest block
 * first, each into the tightest gap between its contemporaries (Pisarchyk and Lee,
 * "Efficient memory management for deep neural net inference", 2020, section 5.2). */
uint64_t memplan_offsets(struct mem_block *b, uint32_t n, uint64_t align);

#endif
