/* scan.c - resumable MessagePack scanner: structure and limits, no decoding.
 * Every count is held against the limits before it is believed, floats are
 * finite, map keys are str, extension types are refused. */
#include "stream/scan.h"

#include <math.h>
#include <string.h>

void scan_start(struct scan *s)
{
	s->pos = 0;
	s->depth = 0;
	s->n_values = 0;
}

static uint64_t big_endian(const uint8_t *p, unsigned n)
{
	uint64_t v = 0;
	for (unsigned i = 0; i < n; i++)
		v = v << 8 | p[i];
	return v;
}

/* What the first byte says: bytes of header after it, and what they count. */
enum what { SCALAR, FLOAT32, FLOAT64, TEXT, BYTES, LIST, TABLE, REFUSED };
struct lead {
	enum what what;
	uint8_t extra;
	uint8_t fixed;
};

static struct lead lead_of(uint8_t b)
{
	if (b <= 0x7f || b >= 0xe0)
		return (struct lead){SCALAR, 0, 0};
	if (b <= 0x8f)
		return (struct lead){TABLE, 0, b & 15};
	if (b <= 0x9f)
		return (struct lead){LIST, 0, b & 15};
	if (b <= 0xbf)
		return (struct lead){TEXT, 0, b & 31};
	switch (b) {
	case 0xc0:
	case 0xc2:
	case 0xc3: return (struct lead){SCALAR, 0, 0};
	case 0xc4: return (struct lead){BYTES, 1, 0};
	case 0xc5: return (struct lead){BYTES, 2, 0};
	case 0xc6: return (struct lead){BYTES, 4, 0};
	case 0xca: return (struct lead){FLOAT32, 4, 0};
	case 0xcb: return (struct lead){FLOAT64, 8, 0};
	case 0xcc:
	case 0xd0: return (struct lead){SCALAR, 1, 0};
	case 0xcd:
	case 0xd1: return (struct lead){SCALAR, 2, 0};
	case 0xce:
	case 0xd2: return (struct lead){SCALAR, 4, 0};
	case 0xcf:
	case 0xd3: return (struct lead){SCALAR, 8, 0};
	case 0xd9: return (struct lead){TEXT, 1, 0};
	case 0xda: return (struct lead){TEXT, 2, 0};
	case 0xdb: return (struct lead){TEXT, 4, 0};
	case 0xdc: return (struct lead){LIST, 2, 0};
	case 0xdd: return (struct lead){LIST, 4, 0};
	case 0xde: return (struct lead){TABLE, 2, 0};
	case 0xdf: return (struct lead){TABLE, 4, 0};
	default: return (struct lead){REFUSED, 0, 0};
	}
}

static bool finite_float(enum what w, const uint8_t *p)
{
	if (w == FLOAT32) {
		uint32_t u = (uint32_t)big_endian(p, 4);
		return (u & 0x7f800000u) != 0x7f800000u;
	}
	uint64_t u = big_endian(p, 8);
	return (u & 0x7ff0000000000000u) != 0x7ff0000000000000u;
}

/* Open a list or table of n entries. */
static int push(struct scan *s, uint64_t n, bool map, struct err *e)
{
	uint64_t values = map ? 2 * n : n;
	if (values > SCAN_MAX_VALUES - s->n_values || values > SCAN_MAX_BYTES - s->pos)
		return err_set(e, ST_INPUT, "a count of %llu is beyond the limit of a record",
			       (unsigned long long)n);
	/* An empty one, too: msgpack_unpack has a stack of this depth. */
	if (s->depth == SCAN_MAX_DEPTH)
		return err_set(e, ST_INPUT, "nesting deeper than %d", SCAN_MAX_DEPTH);
	if (values == 0)
		return 0;
	s->stack[s->depth].left = values;
	s->stack[s->depth].map = map;
	s->depth++;
	return 0;
}

int scan_value(struct scan *s, const uint8_t *buf, size_t len, struct err *e)
{
	while (s->pos < len) {
		struct lead l = lead_of(buf[s->pos]);
		const uint8_t *arg = buf + s->pos + 1;
		if (l.what == REFUSED)
			return err_set(e, ST_INPUT, "byte 0x%02x is not allowed here", buf[s->pos]);
		bool key = s->depth && s->stack[s->depth - 1].map &&
			   s->stack[s->depth - 1].left % 2 == 0;
		if (key && l.what != TEXT)
			return err_set(e, ST_INPUT, "a map key is not a str");
		if (len - s->pos - 1 < l.extra)
			return 0;
		uint64_t n = l.extra ? big_endian(arg, l.extra) : l.fixed;
		size_t size = 1 + (size_t)l.extra;
		if (l.what == TEXT || l.what == BYTES) {
			if (n > SCAN_MAX_BYTES - s->pos - size)
				return err_set(e, ST_INPUT, "a record larger than %zu bytes",
					       SCAN_MAX_BYTES);
			size += (size_t)n;
			if (len - s->pos < size)
				return 0;
		} else if ((l.what == FLOAT32 || l.what == FLOAT64) && !finite_float(l.what, arg)) {
			return err_set(e, ST_INPUT, "a number is not finite");
		}
		if (++s->n_values > SCAN_MAX_VALUES || s->pos + size > SCAN_MAX_BYTES)
			return err_set(e, ST_INPUT,
				       "a record beyond the limits (%d values, %zu bytes)",
				       SCAN_MAX_VALUES, SCAN_MAX_BYTES);
		s->pos += size;
		if (s->depth)
			s->stack[s->depth - 1].left--;
		if ((l.what == LIST || l.what == TABLE) && push(s, n, l.what == TABLE, e) < 0)
			return -1;
		while (s->depth && s->stack[s->depth - 1].left == 0)
			s->depth--;
		if (s->depth == 0)
			return 1;
	}
	return 0;
}
