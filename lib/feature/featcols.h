/* featcols.h - the columns of each feature: how many, their names, their values.
 * Defined by featcols.c and costcols.c for features.c, which lays them out; not for others. */
#ifndef HSDAG_FEATURE_FEATCOLS_H
#define HSDAG_FEATURE_FEATCOLS_H

#include "feature/features.h"
#include "graph/strtab.h"

struct feat_work {
	const struct graph *g;
	const struct feat_opts *o;
	struct arena *a;       /* of the result: names */
	uint32_t n, d;         /* sets; columns of a row */
	struct digraph q;      /* quotient by sets */
	uint32_t *size, *last; /* (n) nodes of each set; its last node */
	uint32_t *degree[2];   /* (n) in, out */
	uint32_t *depth[2];    /* (n) from a source, to a sink */
	/* Paper's encodings: */
	struct strtab types;                        /* that occur, sorted */
	uint32_t *degree_seen[2], n_degree_seen[2]; /* distinct values, ascending */
	uint32_t max_rank;
};

struct feat_encoder {
	const char *name;
	bool in_paper; /* one of the paper's features */
	bool in_all;   /* false: it needs more than a graph */
	/* Number of columns; their names when `column` is not NULL. */
	uint32_t (*columns)(const struct feat_work *w, const char **column);
	/* x: the feature's first column of row 0; rows are w->d apart and zero. */
	void (*fill)(const struct feat_work *w, float *x);
};
extern const struct feat_encoder feat_encoders[FEAT_COUNT];

/* costcols.c */
uint32_t costs_columns(const struct feat_work *w, const char **column);
void costs_fill(const struct feat_work *w, float *x);

#endif
