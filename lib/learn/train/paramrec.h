/* paramrec.h - the `params` record of STREAM.md: one block of a network's
 * parameters with the hyperparameters that give it meaning. */
#ifndef HSDAG_LEARN_TRAIN_PARAMREC_H
#define HSDAG_LEARN_TRAIN_PARAMREC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "learn/net/net.h"
#include "learn/net/params.h"
#include "stream/rec.h"

enum block { BLOCK_EMBED, BLOCK_POLICY, N_BLOCKS };
extern const char *const block_names[]; /* "embed", "policy" */

struct param_block {
	enum block block;
	const struct net *net;
	void *hyper;        /* of net, owned */
	const char *recipe; /* of gpnembed (recipe_names); NULL: not told */
	uint64_t seed;      /* of the initial values and of dropout */
	uint32_t episode;   /* episodes trained; 0: initial */
	struct params *p;   /* owned; NULL: nothing here yet */
};

/* The first parameters of a block, from its seed; b names block, net, hyper and seed.  k: devices,
 * of a policy. */
void param_block_init(struct param_block *b, uint32_t d, uint32_t k);

int paramrec_write(const struct param_block *b, struct rec_writer *w, struct err *e) MUST_CHECK;

/* From a record of kind "params".  ST_INPUT when the network is unknown, a hyperparameter
 * is missing or out of range, the matrices and their data disagree, or *out holds a block
 * already and its network or its matrices are others: a block that was checked once stays so. */
int paramrec_read(struct param_block *out, const struct rec *r, struct err *e) MUST_CHECK;

/* Which block does this params record hold?  -1: neither. */
int paramrec_block(const struct rec *r, enum block *out, struct err *e) MUST_CHECK;

/* Are these the matrices that its network has for d features and k devices?  ST_INPUT
 * names the first difference. */
int param_block_check(const struct param_block *b, uint32_t d, uint32_t k,
		      struct err *e) MUST_CHECK;

/* Do the blocks that are there belong to one network, and to `net` (NULL: to any)?  ST_INPUT. */
int param_blocks_match(const struct param_block b[N_BLOCKS], const struct net *net,
		       struct err *e) MUST_CHECK;

void param_block_release(struct param_block *b);

#endif
