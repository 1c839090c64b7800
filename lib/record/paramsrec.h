/* paramsrec.h - the `params` record of docs/reference/stream.md: one block of a network's parameters, with the
 * hyperparameters that give it meaning.  gpnembed, placepolicy and reinforce write and read it;
 * what it means to a network: learn/train/paramblock.h. */
#ifndef HSDAG_RECORD_PARAMSREC_H
#define HSDAG_RECORD_PARAMSREC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "stream/rec.h"

enum params_block { BLOCK_EMBED, BLOCK_POLICY, N_BLOCKS, BLOCK_COSTS = N_BLOCKS, BLOCK_ADAPT };
extern const char *const block_names[]; /* "embed", "policy", "costs", "adapt" */

/* One hyperparameter; an integer unless is_real. */
struct params_hyper {
	const char *name;
	double value;
	bool is_real;
};

struct params_rec {
	const char *net; /* name of the network */
	enum params_block block;
	const char *recipe; /* NULL: not told */
	bool without_costs; /* it places by itself where the stream has costs (`costs` false) */
	uint64_t seed;
	uint32_t episode;

	/* to write */
	uint32_t n_hyper;
	const struct params_hyper *hyper; /* (n_hyper) */
	/* read back: the map, borrowed from the record */
	const struct val *hyper_map;

	/* matrices, one behind the other in data */
	uint32_t n;
	const char *const *names;    /* (n) */
	const uint32_t *rows, *cols; /* (n) */
	uint64_t n_data;
	const float *data; /* (n_data) */
};

int params_encode(const struct params_rec *x, struct rec_writer *w, struct err *e) MUST_CHECK;

/* Memory from a.  ST_INPUT also when data is not as long as the matrices say.  Errors name the
 * key; callers say which record. */
int params_decode(const struct rec *r, struct arena *a, struct params_rec *out,
		  struct err *e) MUST_CHECK;

/* The block of a params record, or of a checkpoint's moments. */
int params_decode_block(const struct rec *r, enum params_block *out, struct err *e) MUST_CHECK;

#endif
