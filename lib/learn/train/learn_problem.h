/* learn_problem.h - what a learner is set to work on, gathered from a stream: the
 * graph of co-located sets, their features, the devices, a grouping given from
 * outside. */
#ifndef HSDAG_LEARN_TRAIN_LEARN_PROBLEM_H
#define HSDAG_LEARN_TRAIN_LEARN_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "record/devrec.h"
#include "learn/net/net.h"
#include "learn/tape/ugraph.h"
#include "stream/rec.h"

struct learn_problem {
	struct arena *arena; /* owns everything below */
	bool has_graph, has_feat, has_devs, has_group;
	uint64_t digest;          /* of the graph */
	uint32_t n, d;            /* sets, feature columns */
	struct ugraph graph;      /* over the sets; sets that share a device are connected; traffic:
	                                constants alone */
	const uint32_t *together; /* (n) sets of equal value share a device; NULL: any may part */
	const float *x;           /* (n,d) */
	struct devs devs;
	const uint8_t *mask;              /* (n,k) or NULL; a set that no device can run may go
	                                anywhere here: the run stage names its operator */
	struct grouping given;            /* when has_group */
	uint64_t feat_graph, group_graph; /* digests that feat and group name */
	uint32_t feat_rows, group_rows;
};

void learn_problem_init(struct learn_problem *p);
void learn_problem_release(struct learn_problem *p);
void learn_problem_reset(struct learn_problem *p); /* for the next stream */

/* Take a graph, feat, devs or group record: 1 when it was one of them, 0 when it
 * was not, -1 (ST_INPUT) when it is malformed or the second graph of its stream. */
int learn_problem_take(struct learn_problem *p, const struct rec *r, struct err *e) MUST_CHECK;

/* Do the records fit together?  Needs a graph, and feat and devs as told.  Fills mask and together,
 * by which graph and given change. */
int learn_problem_check(struct learn_problem *p, bool need_feat, bool need_devs,
			struct err *e) MUST_CHECK;

/* The graph of the sets of a graph record, before sets are tied; memory of *out from a. */
int learn_graph(const struct rec *r, struct arena *a, struct ugraph *out, uint64_t *digest,
		struct err *e) MUST_CHECK;

/* The mask of d for the n_sets sets of a graph, NULL where d has none.  A set that no device can
 * run may go anywhere: its row is set to ones, in place, and the run stage names its operator.
 * ST_INPUT: a mask of another graph. */
int learn_mask(struct devs *d, uint64_t graph, uint32_t n_sets, const uint8_t **mask,
	       struct err *e) MUST_CHECK;

#endif
