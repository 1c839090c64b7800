/* placerec.h - the `place` record of docs/reference/stream.md: a placement that is to be run.  The programs
 * that choose placements write it; those that run, screen or learn from them read it. */
#ifndef HSDAG_RECORD_PLACEREC_H
#define HSDAG_RECORD_PLACEREC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "record/rolloutid.h"
#include "stream/rec.h"

struct place_rec {
	struct rollout_id id;
	const char *source; /* "policy", "single", ... */
	uint32_t k, n_sets;
	const char *const *names; /* (k) devices, distinct */
	const uint16_t *device;   /* (1 + n_more, n_sets) index into names, < k */
	/* Of several requests in flight the first runs by the first row of device, the next by the next, in turns: each row
	 * is a replica of the model.  0: there is one. */
	uint32_t n_more;

	/* Sets in the order in which devices run them, distinct; NULL: the order is left to who runs
	 * the placement. */
	uint32_t n_order;
	const uint32_t *order;

	/* What a policy chose, over groups of sets. */
	uint32_t n_groups;
	const uint16_t *action; /* (n_groups) index into names; NULL: no policy chose */
	double logp, entropy;   /* with action or moves */
	bool has_stay;          /* the policy was one around an incumbent (incumbent.h) */
	double stay;            /* its constant */

	/* What was chosen from a list of moves around an incumbent; logp and entropy are of that. */
	uint32_t n_moves, n_move_features;
	const float *moves; /* (n_moves,n_move_features) NULL: nothing was */
	uint32_t move;      /* the chosen row */
	bool adapted;       /* by the scores of block adapt */

	/* What the placement should take, and what none can beat, which is a value where not latency
	 * is to be small. */
	bool predicted, bounded, by_value;
	double predicted_s, bound_s, predicted_value, bound_value;
	/* What none can beat in the order rule that the prediction is by; in another order it may.  0:
	 * no more is known than of every order.  In units of bound_s or bound_value. */
	double rule_bound;
	/* What none can beat where operations, or sets as wholes, are cut into parts (bound_parts_of): however they are,
	 * and where each waits for all parts of what it reads.  NULL: not known. */
	const char *bound_parts_of;
	double bound_parts_s, bound_parts_wait_s;

	bool timed;
	double took_s; /* seconds in which it was found */
};

enum { PLACE_MOST_REPLICAS = 1024 };

/* Optional keys that a reader asks for; it does not look at the others. */
enum {
	PLACE_POLICY = 1 /* action or moves, logp, entropy, stay */,
	PLACE_BOUND = 2 /* bound_s, or bound_value; bound_rule; bound_parts */,
	PLACE_PREDICTED = 4 /* predicted_s */,
	PLACE_TOOK = 8 /* took_s */,
	PLACE_REPLICAS =
		16 /* n_more: without it a record that has replicas is an error, as one of them is not the answer */
};

/* n_sets: what the graph has, or UINT32_MAX: any.  Memory from a.  The required keys are those that
 * a `best` record has, too.  Errors name the key; callers say which record. */
int place_decode(const struct rec *r, uint32_t n_sets, unsigned keys, struct arena *a,
		 struct place_rec *out, struct err *e) MUST_CHECK;
/* The keys `device` and `replicas` of a record that w has begun. */
void place_put_device(const struct place_rec *p, struct rec_writer *w);
int place_encode(const struct place_rec *p, struct rec_writer *w, struct err *e) MUST_CHECK;

/* Did a policy draw this placement, or choose its move? */
bool place_is_drawn(const struct rec *r);

/* The record as it came, unknown keys included, with another prediction. */
int place_encode_predicted(const struct rec *r, double predicted_s, bool has_value,
			   double predicted_value, struct arena *a, struct rec_writer *w,
			   struct err *e) MUST_CHECK;

#endif
