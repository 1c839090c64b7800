/* handover.h - what a draw computed on the way, for the replay of what it drew.
 *
 * A replay computes the forward pass of the policy once more, because who draws and who learns are two programs.  Where both
 * run on one machine the first can leave its activations in memory that the second reads.  They are those that the replay
 * would compute, bit by bit: without them everything is the same but the time. */
#ifndef HSDAG_LEARN_NET_HANDOVER_H
#define HSDAG_LEARN_NET_HANDOVER_H

#include "base/sharedmem.h"
#include "learn/net/choices.h"
#include "learn/net/net.h"
#include "record/handoverrec.h"

/* Of some steps that were drawn at once.  The draw is given memory and says how much of it was written; 0: nothing, because
 * there was no room or because the network hands nothing over. */
struct handover {
	float *v;       /* 64-byte aligned; a replay only reads it */
	size_t room, n; /* floats: what v has, what was written */
	uint32_t steps; /* that were drawn at once */
	uint64_t key;   /* handover_key of the draw */
	bool used;      /* a replay did */
};

/* Of all that decides what is handed over: the parameters of the policy, embeddings z (n) and devices of n steps, the
 * program and the processor.  A replay with another key computes for itself. */
uint64_t handover_key(const struct net_model *m, uint32_t n, struct mat *const *z,
		      const struct choices *c);

/* Before a replay: what is handed over to these choices, unless it is of others. */
void handover_known(const struct net_model *m, uint32_t n, struct mat *const *z, struct choices *c);

/* ---- memory between programs ---- */

/* The draw's side. */
struct handover_giver {
	struct sharedmem memory;
	size_t used; /* bytes, of this episode */
};

/* At the beginning of an episode: the memory is free again. */
void handover_begin(struct handover_giver *g);
/* What is left, for the next draw; made when it is first asked for.  Room 0: there is none. */
struct handover handover_next(struct handover_giver *g);
/* Behind a draw that wrote something: it may be read, and this is to be told.  id: its first step. */
struct handover_rec handover_give(struct handover_giver *g, const struct handover *h,
				  const struct rollout_id *id);
void handover_giver_release(struct handover_giver *g);

/* The replay's side: memory stays open from episode to episode. */
struct handover_taker {
	struct sharedmem memory;
	uint32_t pid, fd; /* of which it is */
};

/* False: nothing is there, as where it is another machine's, or its program has ended. */
bool handover_take(struct handover_taker *t, const struct handover_rec *r, struct handover *out);
void handover_taker_release(struct handover_taker *t);

#endif
