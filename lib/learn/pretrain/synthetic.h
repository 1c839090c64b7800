/* synthetic.h - made-up placement problems to learn from: graphs of several kinds on devices of
 * several kinds, none of which is a model, an instance or a family of graphs that anything here is
 * tested with (docs/results/learning.md lists them). */
#ifndef HSDAG_LEARN_PRETRAIN_SYNTHETIC_H
#define HSDAG_LEARN_PRETRAIN_SYNTHETIC_H

#include "place/problem/placemodel.h"

struct synthetic {
	struct arena *a;
	struct graph *g;
	struct place_model m;
};

/* Problem `number` of a seed, of at most most_tasks tasks: 2 to 32 devices.  Always the same for
 * these three. */
void synthetic_init(struct synthetic *x, uint64_t seed, uint32_t number, uint32_t most_tasks);
void synthetic_release(struct synthetic *x);

#endif
