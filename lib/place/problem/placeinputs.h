/* placeinputs.h - the records that a placement problem is made of, gathered from a
 * stream: graph, devs, cost; and a specification where these say nothing. */
#ifndef HSDAG_PLACE_PROBLEM_PLACEINPUTS_H
#define HSDAG_PLACE_PROBLEM_PLACEINPUTS_H

#include "record/costrec.h"
#include "record/devrec.h"
#include "graph/graph.h"
#include "record/grouprec.h"
#include "record/headroom.h"
#include "place/problem/placemodel.h"
#include "place/problem/spec.h"
#include "place/problem/watts.h"
#include "stream/rec.h"

/* Which ready task a device takes.  RECORDED: as the cost record says, else by rank. */
enum place_order {
	PLACE_ORDER_RECORDED,
	PLACE_ORDER_RANK,
	PLACE_ORDER_FIFO,
	PLACE_ORDER_IMPROVED,
	PLACE_ORDER_FREE
};
extern const char *const place_order_names[]; /* as options and records have them; NULL ends */

struct place_inputs {
	const char *spec_list;    /* --spec; NULL: not given */
	bool contention, overlap; /* false: off, whatever the cost record says */
	struct headroom headroom; /* of memory; n 0: not given */
	enum place_order order;
	struct place_objective objective;
	struct watts_list watts; /* n 0: not given */

	struct spec spec; /* n_devs 0: not loaded */
	struct graph *g;  /* NULL: not seen yet */
	bool has_devs;
	struct devs devs;
	struct cost_rec cost;        /* k 0: none yet */
	enum place_order cost_order; /* that it tells; RECORDED: none */
	enum place_rules rules;
	int64_t only_case; /* of several the one that counts, from 1; 0: all by their weights */
	bool keep_groups;  /* group records are taken, and models keep groups together */
	bool has_group;
	struct group_rec group;
	struct arena *arena, *devs_arena, *cost_arena, *group_arena;
};

/* Loads spec_list when there is one. */
int place_inputs_init(struct place_inputs *x, const char *spec_list, struct err *e) MUST_CHECK;
void place_inputs_release(struct place_inputs *x);

/* Look at a record: 1 when it is a graph, devs, cost or group (now kept), else 0; -1 for a
 * malformed one, and for a second graph (ST_INPUT).  A later one replaces an earlier one of its
 * kind. */
int place_inputs_take(struct place_inputs *x, const struct rec *r, struct err *e) MUST_CHECK;

/* Is this a devs or cost record behind an earlier one of its kind?  For programs to whom the first
 * ones are the problem, and later ones what somebody has learned of it. */
bool place_inputs_known(const struct place_inputs *x, const struct rec *r);

/* The stream has ended: forget its records. */
void place_inputs_reset(struct place_inputs *x);

/* The model for placements on these devices; graph and names are borrowed, memory from a.
 * Costs, links and watts are those of --spec when it was given, else of the stream; memory limits
 * and masks of the stream's devs where it has them, else of --spec; the list of watts has the last
 * word on these.
 * Without links in the stream: 10 us and 1e10 bytes/s between any two.
 * Sets of one group stay together like those of `together`, unless no device could run them all.
 * -1: ST_USAGE, no costs, or an objective of energy and a device without watts; ST_INPUT. */
int place_inputs_model(struct place_inputs *x, const char *const *names, uint32_t k,
		       struct arena *a, struct place_model *m, struct err *e) MUST_CHECK;

/* What each operation takes on these devices, and of that every part of it, however small, as --spec or the specification behind
 * the stream's costs has it.  *g: whose nodes these are, the graph before it was cut.  work_s (n,k), fixed_s (k) from a.  false:
 * costs are no specification's. */
bool place_inputs_operations(const struct place_inputs *x, const char *const *names, uint32_t k,
			     struct arena *a, const struct graph **g, double **work_s,
			     double **fixed_s);

/* (k,k) which of these devices take turns, as the stream's devs tell (struct sched_costs), from a;
 * NULL: none. */
const uint8_t *place_inputs_turns(const struct place_inputs *x, const char *const *names,
				  uint32_t k, struct arena *a);

/* Only what place_allowed needs (and types, and what stays together), from masks and recorded
 * costs; nothing can be missing. */
void place_inputs_masks(struct place_inputs *x, const char *const *names, uint32_t k,
			struct arena *a, struct place_model *m);

#endif
