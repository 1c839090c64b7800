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
