/* params.h - the parameters of one block of a network: one flat run of floats
 * and a table that names its matrices.
 *
 * Gradients and Adam's moments are flat runs of the same length, so that sums,
 * norms, steps and serialisation are loops over n floats. */
#ifndef HSDAG_LEARN_PARAMS_PARAMS_H
#define HSDAG_LEARN_PARAMS_PARAMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

/* How a matrix starts. */
enum param_init {
	PARAM_ZERO,
	PARAM_ONE,
	PARAM_UNIFORM /* uniform in [-bound, bound) */
};

struct param {
	const char *name;    /* "gnn1.0.weight" */
	uint32_t rows, cols; /* row-major; a vector is (1, cols) */
	size_t at;           /* first float in params.data */
	enum param_init init;
	float bound;
};

struct params {
	uint32_t n_mats;
	struct param *mat;   /* (n_mats), in order of their floats */
	size_t n;            /* floats in all */
	float *data;         /* (n) */
	struct arena *arena; /* owns everything */
};

struct params *params_new(void);
void params_free(struct params *p);

/* Append a matrix (its data come with params_alloc).  Returns its index. */
uint32_t params_add(struct params *p, const char *name, uint32_t rows, uint32_t cols,
		    enum param_init init, float bound);
/* Data for all matrices, zeroed; no params_add after this. */
void params_alloc(struct params *p);

/* Initial values, with params_alloc where there are no data yet; returns p.  Matrix i from random stream RNG_INIT + first_stream + i of
 * (seed, episode 0, step 0): the same numbers whatever else is drawn. */
struct params *params_init(struct params *p, uint64_t seed, uint32_t first_stream);

/* Do these names and shapes, in this order, describe p?  -1 (ST_INPUT) names the
 * first difference. */
int params_match(const struct params *p, size_t n_mats, const char *const *names,
		 const uint32_t *rows, const uint32_t *cols, struct err *e) MUST_CHECK;

/* ---- Adam (Kingma and Ba 2015, algorithm 1) ---- */

struct adam {
	double lr, beta1, beta2, eps;
	uint64_t t; /* steps taken */
	size_t n;
	float *m, *v; /* (n) first and second moments */
};

/* Moments zeroed; lr as given, beta 0.9 and 0.999, eps 1e-8. */
void adam_init(struct adam *a, size_t n, double lr);
void adam_release(struct adam *a);

/* data (n) -= lr * mhat / (sqrt(vhat) + eps), with gradient scale * grad (n). */
void adam_step(struct adam *a, float *data, const float *grad, double scale);

/* Sum of squares in double precision, in a fixed order. */
double params_norm2(const float *grad, size_t n);

/* Factor that brings a gradient of this norm down to max_norm: 1 when it is
 * shorter, or when max_norm is 0. */
double params_clip(double norm, double max_norm);

#endif
