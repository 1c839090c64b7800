/* features.h - the feature matrix X of the co-location sets: what the learner
 * knows about each of them.
 *
 * Two encodings.  Fixed: every graph has the same columns (operators of optype.h and
 * a bucket for others, degree bins, log sizes), scaled to about 0 .. 1, so that
 * parameters apply to any graph.  Paper: the columns depend on the graph (types and
 * degrees that occur, dims as they are, padded to the longest shape, the index
 * itself).  Source: Paper, section 3 (features) and appendix G (types of sets). */
#ifndef HSDAG_FEATURE_FEATURES_H
#define HSDAG_FEATURE_FEATURES_H

#include "base/pool.h"
#include "graph/graph.h"
#include "place/problem/placemodel.h"

enum feat_kind {
	FEAT_TYPE,      /* operator type: mean of the one-hots of a set's nodes */
	FEAT_SHAPE,     /* of the first output of a set's last node */
	FEAT_IN_DEGREE, /* one-hot, in the quotient by sets */
	FEAT_OUT_DEGREE,
	FEAT_FRACTAL,   /* fractal.h */
	FEAT_POSITION,  /* number of the set: sets are in a topological order */
	FEAT_SINUSOID,  /* the same as d_pos sines and cosines (Vaswani et al. 2017, 3.5) */
	FEAT_LOG_BYTES, /* of the outputs of a set's last node; of the constants it reads */
	FEAT_LOG_FLOPS,
	FEAT_CONSTANT,     /* share of a set's nodes that are constants */
	FEAT_DEPTH_SOURCE, /* longest path from a source, to a sink, in edges */
	FEAT_DEPTH_SINK,
	FEAT_COSTS, /* times per device, copies, ranks, slack, memory: costcols.c */
	FEAT_COUNT
};

/* A comma-separated list into a set of bits 1 << kind: names, `all` (what a graph tells: all but
 * costs), `paper` (those of the paper) and `none`, each with `-` in front to leave it out; a list
 * that begins with such begins with all.  ST_USAGE for an unknown name or when nothing is left. */
int feat_parse(const char *list, unsigned *kinds, struct err *e) MUST_CHECK;

/* The names of all features, or of the paper's, with commas between. */
const char *feat_names(bool paper, char *buf, size_t n);

/* What is known about costs. */
struct feat_costs {
	const struct place_model *model; /* of the graph */
	bool copies; /* false: nobody tells how long they take, and they count as nothing */
};

struct feat_opts {
	unsigned kinds;
	bool paper;     /* per-graph encodings */
	uint32_t d_pos; /* columns of the sinusoidal encoding; even */
	bool directed;  /* fractal dimension: as in fractal_opts */
	uint32_t radius_cap;
	struct pool *pool;              /* may be NULL */
	const struct feat_costs *costs; /* for FEAT_COSTS; else it may be NULL */
};

struct features {
	uint32_t n, d;       /* n_sets, columns */
	const char **column; /* (d) "type=Convolution", "in_degree=5-8", "fractal" */
	float *x;            /* (n,d) finite */
};

/* Memory from a. */
void feat_compute(const struct graph *g, const struct feat_opts *o, struct arena *a,
		  struct features *out);

#endif
