/* net_layer.h - layers that networks are made of.  For each: its matrices in a table of
 * parameters, and its forward pass on the tape, where p points at the first of
 * these matrices. */
#ifndef HSDAG_LEARN_NET_NET_LAYER_H
#define HSDAG_LEARN_NET_NET_LAYER_H

#include "learn/params/params.h"
#include "learn/tape/tape.h"

/* Matrices that a layer has in the table: weight and bias; gain and bias of a LayerNorm; both. */
enum { MATS_PLAIN = 2, MATS_NORM = 2, MATS_NORMED = MATS_PLAIN + MATS_NORM };

/* NAME.weight (in,out) and NAME.bias (1,out), uniform in +- gain / sqrt(in). */
void add_linear(struct params *p, const char *name, uint32_t in, uint32_t out, double gain);
/* LayerNorm: NAME.gain = 1, NAME.bias = 0, both (1,width). */
void add_norm(struct params *p, const char *name, uint32_t width);
/* GCN: NAME.weight (in,out) uniform as in Glorot and Bengio 2010, eq. 16; NAME.bias = 0. */
void add_gcn(struct params *p, const char *name, uint32_t in, uint32_t out);

/* Linear - LayerNorm - ReLU - Dropout, `layers` times, x (n,in) -> (n,h).  MATS_NORMED each. */
void add_normed_mlp(struct params *p, const char *part, int64_t layers, uint32_t in, uint32_t h);
struct mat *normed_mlp(struct tape *t, struct mat *const *p, int64_t layers, double drop,
		       struct mat *x);

/* Linear - ReLU - Dropout, but for the last Linear, which `last` follows:
 * x (n,in) -> (n,out).  MATS_PLAIN each.  gain: of the last layer's initial bound. */
void add_plain_mlp(struct params *p, const char *part, int64_t layers, uint32_t in, uint32_t h,
		   uint32_t out, double gain);
struct mat *plain_mlp(struct tape *t, struct mat *const *p, int64_t layers, double drop,
		      struct after last, struct mat *x);

/* GCN layers H <- Dropout(ReLU(Dhat^-1/2 Ahat Dhat^-1/2 H W + b)) from H = X, then
 * LayerNorm(X + H); x (n,h).  MATS_PLAIN each, then MATS_NORM. */
void add_gnn(struct params *p, const char *part, int64_t layers, uint32_t h);
struct mat *gnn(struct tape *t, struct mat *const *p, int64_t layers, double drop,
		const struct ugraph *g, struct mat *x);

/* One half of the DeepSets pooling (Zaheer et al. 2017): LayerNorm(X + MLP(X)), x (n,h).
 * MATS_PLAIN a layer, then MATS_NORM. */
void add_deepset(struct params *p, const char *part, int64_t layers, uint32_t h);
struct mat *deepset(struct tape *t, struct mat *const *p, int64_t layers, double drop,
		    struct mat *x);

#endif
