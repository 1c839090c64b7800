/* weights.h - the .bin of an IR, mapped read-only. */
#ifndef HSDAG_IR_WEIGHTS_H
#define HSDAG_IR_WEIGHTS_H

#include <stdint.h>

#include "base/err.h"
#include "graph/graph.h"

struct weights {
	const uint8_t *data; /* NULL when bytes is 0 */
	uint64_t bytes;
};

/* Map the file at `path`, which must be a regular file.  ST_RUNTIME when it
 * cannot be read, ST_INPUT when it is something else than a file. */
int weights_open(struct weights *w, const char *path, struct err *e) MUST_CHECK;
void weights_close(struct weights *w);

/* Check that every constant of g, bodies included, lies within w; ST_INPUT names
 * the first that does not. */
int weights_check(const struct weights *w, const struct graph *g, struct err *e) MUST_CHECK;

/* Whatever of the file was read leaves the process's memory until it is read again: after
 * weights have been packed or uploaded, which are copies. */
void weights_rest(const struct weights *w);

/* The bytes of constant c (an index into g->const_*): not aligned, borrowed from w. */
static inline const uint8_t *weights_at(const struct weights *w, const struct graph *g, uint32_t c)
{
	return w->data + g->const_offset[c];
}

#endif
