/* sweep.h - a sweep of searches: what each method found on each model, over seeds, beside the best that any found, and
 * what it took. */
#ifndef HSDAG_EXPERIMENT_SWEEP_H
#define HSDAG_EXPERIMENT_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

/* A method on a model. */
struct sweep_cell {
	uint32_t n, n_failed; /* seeds that found something, and that did not */
	const char *failed;   /* why the last of them did not; NULL: none failed */
	double best_s;     /* geometric mean of the best latencies; with n 0 nothing below counts */
	double lo_s, hi_s; /* its 95 % interval by Student's t; of one seed 0 to infinity */
	double ratio;      /* to the model's best, 1 for that itself */
	double search_s;   /* mean of the seconds that searches took; 0: not told */
};

/* A method over all models. */
struct sweep_method {
	const char *name;
	uint32_t n_models; /* on which it has found something */
	uint32_t n_wins;   /* on which it is the best, or behind it by less than SWEEP_TIE */
	double ratio;      /* geometric mean of its ratios; 0: of none */
	double worst;
	uint32_t worst_model;
	double search_s; /* geometric mean over models; 0: not told */
};

struct sweep_model {
	const char *name;
	uint32_t best;    /* the method of the least mean; UINT32_MAX: none found anything */
	double single_s;  /* the best single device; 0: not told */
	uint32_t n_seeds; /* the most of a method */
};

struct sweep {
	uint32_t n_models, n_methods;
	struct sweep_model *model; /* in the order of the files */
	struct sweep_method
		*method;         /* from the least mean ratio on; those that found nothing last */
	struct sweep_cell *cell; /* (n_models, n_methods) */
};

/* Less than this is nobody's win. */
#define SWEEP_TIE 0.005

/* Of files .../MODEL/WAY.SEED.tsv: a line of search_result.h, or "failed<TAB>reason" (pipelines/job -r); FILE.job, where
 * it is there, tells the seconds.  Memory from a.  ST_INPUT: what is in a file cannot be. */
int sweep_read(char *const *paths, uint32_t n, struct arena *a, struct sweep *out,
	       struct err *e) MUST_CHECK;

#endif
