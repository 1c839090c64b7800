/* move_search.h - a search by moves of an incumbent, of which each is one simulation or one run:
 * patches are drawn, a network ranks them by what they do in the incumbent's predicted schedule,
 * and the one of the highest score is tried. */
#ifndef HSDAG_PLACE_LEARNED_MOVE_SEARCH_H
#define HSDAG_PLACE_LEARNED_MOVE_SEARCH_H

#include "place/learned/learned_params.h"
#include "place/learned/parse.h"
#include "place/learned/patch.h"
#include "place/search/search_state.h"

struct move_search {
	const struct search_context *s;
	const struct cost_view *view;
	const struct learned_params *params; /* NULL: patches are tried as they are drawn */
	uint32_t n_candidates;
	double heat;           /* mean share by which a run may be worse and stay */
	struct search_state p; /* the incumbent, its value, the best so far */
	struct incumbent_view *x;
	struct patcher patcher;
	struct random_stream rng;
	const struct parse *parse; /* groups whose parts are patches, too; NULL: none */
	bool fresh;                /* x is of another placement than p */
	struct patch *patch;       /* (n_candidates) */
	float *feature, *score;
	uint64_t *tried; /* hashes of what this incumbent has tried */
	uint32_t n_tried, cap_tried;
	struct arena *a;
};

/* Candidates that are ranked for a run. */
enum { MOVE_CANDIDATES = 64 };

/* All borrowed but params, too. */
void move_search_init(struct move_search *x, const struct search_context *s,
		      const struct cost_view *view, const struct learned_params *params,
		      uint32_t n_candidates, struct random_stream rng);
void move_search_release(struct move_search *x);

/* The incumbent becomes device (n_sets), by one evaluation. */
void move_search_set(struct move_search *x, const uint16_t *device);

/* Draws patches that were not tried yet, with features and scores: how many, at most n_candidates;
 * 0: the incumbent has no schedule, or nothing is left to try. */
uint32_t move_search_candidates(struct move_search *x);

/* One run of patch i: the gain, log of the value before by that after, -INFINITY where it is not
 * legal.  The patch stays if it is better (keep), else it is taken back. */
double move_search_try(struct move_search *x, uint32_t i, bool keep);

/* The gains of the first n candidates, each simulated and taken back, without a trace; what gains
 * nothing may be -INFINITY. */
void move_search_gains(struct move_search *x, uint32_t n, double *gain);

/* One step: the candidates, the best of them, its run.  false: there was none. */
bool move_search_step(struct move_search *x);

#endif
