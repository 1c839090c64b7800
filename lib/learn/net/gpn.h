/* gpn.h - hyperparameters of the graph parsing network, for those who build one by hand: tests and
 * benchmarks.  Programs know them by name only (struct net). */
#ifndef HSDAG_LEARN_NET_GPN_H
#define HSDAG_LEARN_NET_GPN_H

#include <stdint.h>

struct gpn_hyper {
	/* shape of the embedding network (gpn.c has the equations) */
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
	int64_t bf16;        /* 1: operands of products with weights are rounded to bf16 */
};

/* The paper's recipe (with the published code's choices where it is silent) and
 * the default one. */
extern const struct gpn_hyper gpn_paper, gpn_default;

#endif
