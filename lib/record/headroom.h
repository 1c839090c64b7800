/* headroom.h - memory of devices that stays free, as --headroom tells it: 10% or 2G of each device, NAME=10% or NAME=2G of one,
 * with commas between.  B, K, M, G, T are powers of 1024; a number alone is a percentage. */
#ifndef HSDAG_RECORD_HEADROOM_H
#define HSDAG_RECORD_HEADROOM_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

struct headroom_item {
	const char *name; /* of a device; NULL: of all that no item names */
	double share;     /* of its memory */
	uint64_t bytes;
};

struct headroom {
	uint32_t n;
	const struct headroom_item *item; /* (n) in the list's order */
};

/* Memory from a.  ST_USAGE: an item is no share below 100% and no number of bytes. */
int headroom_parse(const char *list, struct arena *a, struct headroom *out,
		   struct err *e) MUST_CHECK;

/* -1 (ST_USAGE): an item names none of these devices (k). */
int headroom_check(const struct headroom *x, const char *const *names, uint32_t k,
		   struct err *e) MUST_CHECK;

/* What is told of a device, nothing too: its own item wins over one of all, a later one over an earlier one. */
struct headroom_item headroom_of(const struct headroom *x, const char *device);

/* Bytes that stay free of `memory` (0: nobody knows, and none stay free): all but one at most, as no bytes would be no limit. */
uint64_t headroom_bytes(const struct headroom_item *x, uint64_t memory);

#endif
