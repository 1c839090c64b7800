/* act.h - what the acting stage knows of a stream while it places: borrowed by the files of this room,
 * which write `place` records. */
#ifndef HSDAG_LEARN_ACT_ACT_H
#define HSDAG_LEARN_ACT_ACT_H

#include "base/mem.h"
#include "record/devrec.h"
#include "record/episoderec.h"
#include "stream/rec.h"

struct handover_giver;

struct act {
	struct rec_writer *out;
	struct arena *arena; /* scratch: what is written is in it until the caller resets it */
	const struct devs *devs;
	uint64_t graph, seed;
	uint32_t n_sets;
	const uint8_t *mask; /* (n_sets,k) or NULL */
	bool loop;           /* episodes are numbered by reinforce */
	bool greedy;         /* the most probable placement in place of draws */
	bool several;        /* the program was told to draw more than one */
	uint32_t samples;    /* of a part */
	uint32_t visits;     /* placements on the way to a sample, behind so many groups; 0: none */
	struct incumbent incumbent;   /* of the episode */
	struct handover_giver *giver; /* for what reinforce would compute again; NULL: it does */
};

#endif
