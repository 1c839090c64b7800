/* graphrec.h - the `graph` record of docs/reference/stream.md, to and from struct graph.
 *
 * All indices of a decoded graph are range-checked and its rows are in
 * topological order: code behind graph_decode trusts them. */
#ifndef HSDAG_RECORD_GRAPHREC_H
#define HSDAG_RECORD_GRAPHREC_H

#include "graph/graph.h"
#include "stream/rec.h"

/* New graph from a record of kind "graph"; everything lives in its own arena.
 * NULL and an error (ST_INPUT) when the record is not a valid graph. */
struct graph *graph_decode(const struct rec *r, struct err *e) MUST_CHECK;

/* Only the digest and the number of sets, for programs that need no more.  ST_INPUT. */
int graph_decode_size(const struct rec *r, uint64_t *digest, uint32_t *n_sets,
		      struct err *e) MUST_CHECK;

/* Write g as one record and set g->digest. */
int graph_encode(struct graph *g, struct rec_writer *w, struct err *e) MUST_CHECK;

#endif
