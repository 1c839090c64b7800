/* packed.h - weights that are kept compressed: NAME.bin.xz, NAME.bin.gz, NAME.bin.zst.
 *
 * They are decompressed once, into the cache, and mapped from there: never beside the user's files.
 * Memory is bounded: a decoder that asks for more than 256 MiB is refused. */
#ifndef HSDAG_IR_PACKED_H
#define HSDAG_IR_PACKED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* ".xz", ".gz", ".zst", NULL: what NAME.bin may end with, tried in this order. */
extern const char *const packed_suffix[];

/* Whether path ends with one of them. */
bool packed_is(const char *path);

/* Decompress the file at `path` (packed_is) into the file descriptor `out`, which is empty; runs of
 * zero bytes become holes.  ST_INPUT: truncated, damaged, or more than `most`
 * bytes; ST_RUNTIME: it cannot be read, or `out` not be written. */
int packed_expand(const char *path, int out, uint64_t most, struct err *e) MUST_CHECK;

#endif
