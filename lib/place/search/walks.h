/* walks.h - searches that are walks from placement to placement: several at once, each with its
 * own random numbers and start, in rounds.  What they find does not depend on how many threads run
 * them, unless the clock ends them. */
#ifndef HSDAG_PLACE_SEARCH_WALKS_H
#define HSDAG_PLACE_SEARCH_WALKS_H

#include "place/search/search_state.h"

/* One walk from where p is, until limits are spent.  p keeps the best.  heat: how far it may go
 * from there, 1 from a start that is nothing special, less from a good placement. */
typedef void walk(struct search_state *p, const struct limits *limits, double heat);

struct walks {
	const struct place_method *method; /* whose walks they are */
	walk *walk;
	enum random_purpose purpose;
	bool random_starts; /* random placements alone, not all kinds of search_context_start */
	uint32_t n;         /* walks when the clock does not count; 0: two to eight */
};

/* Rounds of walks until r's budget ends; in every other round they go on from the best so far, in
 * all of them when there are too few simulations to get anywhere else.  r->device becomes the best
 * of all, of r->start and of the single devices; r->note tells.  Returns its value, INFINITY:
 * nothing legal was seen. */
double walks_run(const struct walks *w, struct method_run *r);

/* How a budget by the clock, of this many simulations for one walk after another, is cut: a walk
 * should be ample, from a start of its own, before there is a second one from what it found. */
struct walks_rounds {
	double ample; /* 0 .. 1: simulations of a walk, of those that are ample */
	double share; /* of the budget, of a round: 1/6 .. 1 */
};
struct walks_rounds walks_rounds(double evals, uint32_t n_units);

#endif
