/* weights.h - the .bin of an IR, mapped read-only, decompressed before where it is kept so. */
#ifndef HSDAG_IR_WEIGHTS_H
#define HSDAG_IR_WEIGHTS_H

#include <stdint.h>

#include "base/err.h"
#include "graph/graph.h"

struct weights {
	const uint8_t *data; /* NULL when bytes is 0 */
	uint64_t bytes;      /* the tail of the graph (graph.h) included */
	uint64_t file_bytes;
	char *path; /* of the file that is mapped: a compressed one's copy, by its descriptor */
	int held; /* 1 + that descriptor, by which the copy lasts whatever the cache does; 0: none */
};

/* Map the file at `path`, which must be a regular file, and behind it the tail that g has; "": there is no file, the
 * tail alone.  One that packed_is (packed.h) is decompressed into the
 * cache first, unless it is there already, without a cache into a temporary file without a name; it may hold twice
 * the bytes that g's constants take, and 16 MiB.  ST_RUNTIME when it cannot be read, or not be decompressed for
 * want of room; ST_INPUT when it is something else than a file, damaged, or larger, or so long that it lies where
 * the tail of g should. */
int weights_open(struct weights *w, const char *path, const struct graph *g,
		 struct err *e) MUST_CHECK;
void weights_close(struct weights *w);

/* Bytes of a .bin that holds every constant of g, bodies included. */
uint64_t weights_size(const struct graph *g);

/* Check that every constant of g, bodies included, lies within w; ST_INPUT names
 * the first that does not. */
int weights_check(const struct weights *w, const struct graph *g, struct err *e) MUST_CHECK;

/* Whatever of the file was read leaves the process's memory until it is read again: after
 * weights have been packed or uploaded, which are copies. */
void weights_rest(const struct weights *w);
/* Only few small constants will be read, here and there: what lies behind them is not fetched. */
void weights_sparse(const struct weights *w);

/* The bytes of constant c (an index into g->const_*): not aligned, borrowed from w. */
static inline const uint8_t *weights_at(const struct weights *w, const struct graph *g, uint32_t c)
{
	return w->data + g->const_offset[c];
}

#endif
