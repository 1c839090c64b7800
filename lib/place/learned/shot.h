/* shot.h - placements without a search: list schedules by several rules, and the best of them.
 * What the learned policy answers in one shot, and where learned searches begin. */
#ifndef HSDAG_PLACE_LEARNED_SHOT_H
#define HSDAG_PLACE_LEARNED_SHOT_H

#include "place/learned/decode.h"
#include "place/learned/learned_params.h"
#include "place/learned/parse.h"
#include "place/search/search_context.h"

/* Rules: HEFT, HEFT with contention, look-ahead rank, optimistic costs, and the policy. */
enum { N_RULES = 5, RULE_AHEAD = 2, RULE_POLICY = N_RULES - 1, SHOT_VARIANTS = 64 };
extern const char *const rule_names[]; /* (N_RULES) */

/* The placement of rule i into device (n_sets).  params NULL: RULE_POLICY is not there.  -1
 * (ST_RUNTIME): a task has no device left.  group (n_sets): sets that go to one device; NULL: any may
 * part.  makespan_s: of the schedule in which it was placed; may be NULL. */
int rule_run(uint32_t i, const struct cost_view *view, const struct learned_params *params,
	     const uint32_t *group, uint16_t *device, double *makespan_s, struct err *e) MUST_CHECK;

struct shot {
	const struct cost_view *view;
	const struct search_context *s;
	const struct learned_params *params; /* NULL: rules alone */
	const uint32_t *group;               /* (n_sets) groups to place as one, too; NULL */
	const struct parse *parse;           /* groups of several sizes; NULL */
	uint32_t variants; /* of the policy, too: each does not see some features */
	uint64_t seed;     /* of what they do not see */
	uint64_t most;     /* evaluations, of those whose own schedules are shortest; 0: all */
	bool patient;      /* all list schedules, however large the problem is */
	/* of clock_s: the first list schedule is cut short then and there are no more; 0: none */
	double deadline_s;
	/* answers */
	double value; /* of the best, as simulated */
	const char *who;
	uint64_t used;       /* evaluations */
	uint32_t n_left_out; /* list schedules that the deadline left out, or cut short */
};

/* Some features, drawn, are not looked at: a variant of the policy. */
void shot_drop_features(struct scorer *scorer, struct random_stream *rng);

/* The best of all into device (n_sets).  -1 (ST_RUNTIME): none is legal. */
int shot_run(struct shot *x, uint16_t *device, struct err *e) MUST_CHECK;

#endif
