/* scan.h - finds the end of one MessagePack value in bytes that arrive piece by
 * piece, before anything is decoded or reserved for it.  Internal to lib/stream. */
#ifndef HSDAG_STREAM_SCAN_H
#define HSDAG_STREAM_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { SCAN_MAX_DEPTH = 32, SCAN_MAX_VALUES = 1 << 24 }; /* 32: msgpack-c's own limit */
#define SCAN_MAX_BYTES ((size_t)1 << 30)

struct scan {
	size_t pos; /* next byte to look at, from the value's start */
	uint32_t depth, n_values;
	struct {
		uint64_t left;
		bool map;
	} stack[SCAN_MAX_DEPTH]; /* values still to come */
};

void scan_start(struct scan *s);

/* Look at buf[0 .. len), which begins with the value.  1: the value ends at
 * s->pos; 0: more bytes are needed (call again with the same bytes and more behind them);
 * -1: not a legal value (ST_INPUT). */
int scan_value(struct scan *s, const uint8_t *buf, size_t len, struct err *e) MUST_CHECK;

#endif
