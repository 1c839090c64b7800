/* cases.h - a model with several lists of shapes: what each of them takes in the answer, and in the placement that is best for
 * it alone of all that were measured or simulated. */
#ifndef HSDAG_REPORT_CASES_H
#define HSDAG_REPORT_CASES_H

#include <stdio.h>

#include "graph/graph.h"
#include "record/placerec.h"
#include "record/runrec.h"

/* A placement, and what its last run said. */
struct case_run {
	struct place_rec place;
	const double *case_s; /* (n_cases) NULL: it has not run */
};

/* Of the placements of a stream; memory is the caller's arena. */
struct case_runs {
	uint32_t n;
	size_t cap;
	struct case_run *v; /* (n) */
};

void case_runs_release(struct case_runs *x);
/* A placement, which lives as long as x; a run with RUN_STEP, RUN_SAMPLE, RUN_SOURCE and RUN_CASES. */
void case_runs_place(struct case_runs *x, const struct place_rec *p);
void case_runs_run(struct case_runs *x, const struct run_rec *run);

/* The placement that takes least in case i; NULL: none has run. */
const struct case_run *case_runs_best(const struct case_runs *x, uint32_t i);

/* The placement that takes least with the shapes of `at`, which has the nodes of g.  Where they are those of a case: the best for it.
 * Elsewhere, of placements that ran with the cases beside it: by the sum of all dims of inputs and variables `at` lies between two
 * cases, where times are linear (as in lengths.h), or beyond the first or last one, where they are as there; of cases with equal
 * sums the first counts.  NULL: none ran, dims are open, or cases are phases of a language model, between which nothing is. */
const struct case_run *case_runs_at(const struct case_runs *x, const struct graph *g,
				    const struct graph *at);

/* What case_runs_at answers on a part of the way between two cases, a and b, which follow each other by that sum. */
struct case_range {
	const struct graph_case *a, *b;
	double from, to; /* from 0 (a) to 1 (b) */
	const struct case_run *best;
};

/* All of them in order, *n, in memory of the caller's (mem_free): those of several lists of shapes that have run; of phases of a
 * language model there are none. */
struct case_range *case_runs_ranges(const struct case_runs *x, const struct graph *g, uint32_t *n);

/* What another runtime needs to choose as case_runs_at does, as JSON, in which placements are numbers: number(arg, place) is that
 * of a placement.  Of variables it knows nothing: sums are of the inputs' dims alone.
 *
 *   {"cases": [{"name": SHAPES, "inputs": [[DIM...]...], CHOICE}...],   -1: open; null: not even the rank is known
 *    "ranges": [{"to": SUM, CHOICE}...],    ascending; the last one has what is beyond, too
 *    "otherwise": {CHOICE}}                 shapes that are no case, where there are no ranges
 *   CHOICE: "placement": N, "by": the method */
void case_runs_choice(FILE *out, const struct case_runs *x, const struct graph *g,
		      const struct place_rec *answer,
		      uint32_t (*number)(void *arg, const struct place_rec *p), void *arg);

/* A case of which is told: its seconds in the answer, and in the placement that is best for it alone. */
struct case_row {
	const struct graph_case *c;
	double answer_s, alone_s;
	const char *source; /* of the latter */
};

/* row[GRAPH_MAX_CASES] of g's cases; their number, 0 where the answer has not run. */
uint32_t case_runs_rows(const struct case_runs *x, const struct graph *g,
			const struct place_rec *answer, struct case_row *row);

/* The table of g's cases for people, where the answer has run; nothing for other models. */
void case_runs_print(FILE *out, const struct case_runs *x, const struct graph *g,
		     const struct place_rec *answer);

#endif
