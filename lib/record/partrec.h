/* partrec.h - the `part` record of docs/reference/stream.md: the groups of sets that one step of the embedding
 * network makes.  gpnembed writes it, placepolicy and reinforce read it. */
#ifndef HSDAG_RECORD_PARTREC_H
#define HSDAG_RECORD_PARTREC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "record/rolloutid.h"
#include "stream/rec.h"

/* One round of parsing: n nodes before it; the edges that were kept, as indices
 * of that round's undirected edges sorted by (smaller end, larger end). */
struct parse_round {
	uint32_t n, n_kept;
	const uint32_t *kept; /* (n_kept) ascending */
};

/* What one step of the embedding network answers. */
struct partition {
	bool given; /* the groups come from outside, not from rounds of parsing */
	uint32_t n_rounds;
	const struct parse_round *round;
	uint32_t n_groups;
	const uint32_t *group; /* (n) */
	const float *z;        /* (n_groups, d) Z'; not looked at by a replay */
	const uint32_t *label; /* (n_groups) what the network drew for the sets of each group, where
	                          groups are drawn; else NULL */
	double logp;           /* log-probability of these draws */
};

struct part_rec {
	struct rollout_id id; /* sample is 0 */
	uint32_t n_sets, d;   /* d: columns of z, 0 when it was dropped */
	struct partition p;
};

/* Memory from a.  n_sets and sizes are those of the record; edges and groups
 * are range-checked against them, not against the graph (see net_check). */
int part_decode(const struct rec *r, struct arena *a, struct part_rec *out,
		struct err *e) MUST_CHECK;
/* z is written when p->d > 0. */
int part_encode(const struct part_rec *p, struct rec_writer *w, struct err *e) MUST_CHECK;

/* The record as it came, unknown keys included, but for z. */
int part_encode_without_z(const struct rec *r, struct arena *a, struct rec_writer *w,
			  struct err *e) MUST_CHECK;

#endif
