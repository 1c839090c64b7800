/* hyper.h - hyperparameters of the networks: one flat struct, one table of
 * descriptors through which options, streams and messages name its fields. */
#ifndef HSDAG_LEARN_NET_HYPER_H
#define HSDAG_LEARN_NET_HYPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct hyper {
	/* shape of the embedding network (method.md section 1, 4 to 6) */
	int64_t hidden;           /* width h */
	int64_t layer_trans;      /* Linear layers of the input and of the output MLP */
	int64_t layer_gnn;        /* GCN layers before the edge scores */
	int64_t layer_gnn2;       /* GCN layers before the pooling */
	int64_t layer_parsingnet; /* Linear layers of the edge MLP */
	int64_t layer_deepsets;   /* Linear layers of each half of the pooling */
	double dropout_network;   /* probability that an activation is dropped, 0 <= p < 1 */
	double dropout_parsing;   /* probability that a round of parsing cannot keep an edge */
	/* parsing */
	int64_t rounds;     /* rounds of parsing; 0: until nothing shrinks */
	int64_t mix_rounds; /* 1: a step of training draws its rounds from 1 .. rounds */
	double weights;     /* what the log bytes of constants on an edge add to its score, in
	                              front of the sigmoid */
	int64_t min_groups; /* no round leaves fewer groups (if there are as many nodes) */
	/* choices that change no shape */
	int64_t pool_sum;    /* scale of a group: 1: mean score * number of edges; 0: mean score */
	int64_t act_final;   /* 1: the output MLP ends in ReLU and dropout, as published */
	int64_t policy_norm; /* 1: LayerNorm of Z' in front of the policy's MLP */
	double policy_gain;  /* factor on the initial bound of the policy's last layer */
};

struct hyper_field {
	const char *name; /* as in the field, and in the `hyper` map of a params record */
	size_t offset;    /* in struct hyper */
	bool is_real;     /* double, else int64_t */
	double lo, hi;    /* accepted range, ends included */
	const char *help;
};

/* Ends with a NULL name. */
extern const struct hyper_field hyper_fields[];

/* The paper's recipe (with the published code's choices where it is silent) and
 * the default one. */
extern const struct hyper hyper_paper, hyper_default;

const struct hyper_field *hyper_find(const char *name); /* NULL when unknown */
double hyper_get(const struct hyper *h, const struct hyper_field *f);
/* -1 (ST_INPUT) when v is out of range or not an integer where one is due. */
int hyper_set(struct hyper *h, const struct hyper_field *f, double v, struct err *e) MUST_CHECK;

#endif
