/* placepolicy_impl.h - the state of placepolicy_filter.c, and what it does with parts
 * (placepolicy_parts.c).  Not for others. */
#ifndef HSDAG_PLACEPOLICY_PLACEPOLICY_IMPL_H
#define HSDAG_PLACEPOLICY_PLACEPOLICY_IMPL_H

#include "learn/act/act_costs.h"
#include "learn/act/act_groups.h"
#include "learn/net/handover.h"
#include "learn/train/learn_problem.h"
#include "learn/train/paramblock.h"
#include "placepolicy/placepolicy_filter.h"

/* Parts that follow each other, until another record comes: a network may draw for all at once. */
enum { MOST_WAITING = 16 };
enum { MOST_ROWS = 1 << 16 }; /* groups of all their samples */
struct waiting {
	uint32_t n;
	uint64_t rows;
	struct rec *rec[MOST_WAITING];
	struct part_rec part[MOST_WAITING];
	struct arena *arena; /* of what part points to */
};

struct placepolicy {
	const struct placepolicy_options *o;
	uint64_t seed;
	struct filter *f;                                /* the caller's */
	struct arena *run_arena, *episode_arena, *arena; /* of the stream, an episode, a record */
	struct net_work *work;
	bool has_graph, has_devs, has_mask;
	bool references_out; /* single-device references were written */
	/* columns of z that the policy was checked for, and its params told; 0: not yet */
	uint32_t policy_d;
	struct rec *graph_rec; /* until a network has read it, or is none that looks at it */
	struct ugraph sets;    /* what was read from it */
	struct devs devs;
	uint32_t *class; /* (n_sets) sets of equal class share a device; NULL: any may part */
	uint32_t n_classes;
	struct param_block block[N_BLOCKS];
	struct act act;
	struct act_costs costs;
	struct handover_giver giver;
	struct waiting waiting;
};

/* A part: its placements, or it waits for parts behind it. */
int placepolicy_take_part(struct placepolicy *s, const struct rec *r, struct err *e) MUST_CHECK;

/* Placements of the parts that wait. */
int placepolicy_place_waiting(struct placepolicy *s, struct err *e) MUST_CHECK;
void placepolicy_drop_waiting(struct placepolicy *s);

#endif
