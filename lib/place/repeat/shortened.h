/* shortened.h - a model with fewer of the blocks that repeat: each block that is left stands for several in a row, and
 * holds what all of these hold.  What is said of it as a placement is said of the whole model, block by block. */
#ifndef HSDAG_PLACE_REPEAT_SHORTENED_H
#define HSDAG_PLACE_REPEAT_SHORTENED_H

#include "place/repeat/repeats.h"
#include "place/simulate/units.h"

struct shortened {
	const struct place_model *whole;
	const struct repeats *x;
	uint32_t most;
	struct place_model m; /* a set for each task */
	uint32_t *stands_for; /* (tasks of m) a task of whole, of the first of its blocks */
	uint32_t *by;         /* (tasks of whole) the task of m that stands for it */
};

/* A run of n blocks becomes one of at most `most` blocks, which stand for n / most blocks each, evenly.  What the first block
 * reads from before, and what is read behind the last one, stays; a block reads from blocks as far before as it did.
 * whole, of one case, and x, of whole, are borrowed, and whole's devices are those of m.  Memory from a. */
void shortened_init(struct shortened *s, const struct place_model *whole, const struct repeats *x,
		    uint32_t most, struct arena *a);

/* From a placement of s->m (n_sets of it) to device (n_sets) of the whole model, and back: as the first of its blocks. */
void shortened_expand(const struct shortened *s, const struct place_units *whole,
		      const uint16_t *from, uint16_t *device);
void shortened_project(const struct shortened *s, const uint16_t *device, uint16_t *to);

#endif
