/* paramblock.h - one block of a network's parameters with the hyperparameters that give it
 * meaning, to and from `params` records (record/paramsrec.h). */
#ifndef HSDAG_LEARN_TRAIN_PARAMBLOCK_H
#define HSDAG_LEARN_TRAIN_PARAMBLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "learn/net/net.h"
#include "learn/params/params.h"
#include "record/paramsrec.h"

struct param_block {
	enum params_block block;
	const struct net *net;
	void *hyper;        /* of net, owned */
	const char *recipe; /* of gpnembed (recipe_names); NULL: not told */
	bool without_costs; /* gpnembed's --no-costs: no scorers beside it where there are costs */
	uint64_t seed;      /* of the initial values and of dropout */
	uint32_t episode;   /* episodes trained; 0: initial */
	struct params *p;   /* owned; NULL: nothing here yet */
};

/* The first parameters of a block, from its seed; b names block, net, hyper and seed.  k: devices,
 * of a policy. */
void param_block_init(struct param_block *b, uint32_t d, uint32_t k);

int param_block_encode(const struct param_block *b, struct rec_writer *w, struct err *e) MUST_CHECK;

/* From a record of kind "params".  ST_INPUT when the network is unknown, a hyperparameter
 * is missing or out of range, the matrices and their data disagree, or *out holds a block
 * already and its network or its matrices are others: a block that was checked once stays so. */
int param_block_decode(struct param_block *out, const struct rec *r, struct err *e) MUST_CHECK;

/* Are these the matrices that its network has for d features and k devices?  ST_INPUT
 * names the first difference. */
int param_block_check(const struct param_block *b, uint32_t d, uint32_t k,
		      struct err *e) MUST_CHECK;

/* Do the blocks that are there belong to one network, and to `net` (NULL: to any)?  ST_INPUT. */
int param_blocks_match(const struct param_block b[N_BLOCKS], const struct net *net,
		       struct err *e) MUST_CHECK;

void param_block_release(struct param_block *b);

#endif
