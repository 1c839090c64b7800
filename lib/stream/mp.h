/* mp.h - the one place that includes msgpack-c.  Internal to lib/stream. */
#ifndef HSDAG_STREAM_MP_H
#define HSDAG_STREAM_MP_H

#include <msgpack.h>

#include "stream/rec.h"

/* A struct val is a msgpack_object under a name that keeps msgpack-c out of the headers. */
static inline const msgpack_object *mp_of(const struct val *v)
{
	return (const msgpack_object *)(const void *)v;
}

static inline const struct val *mp_val(const msgpack_object *o)
{
	return (const struct val *)(const void *)o;
}

/* What a scan cannot see: keys that occur twice in a map, str that is not UTF-8. */
int mp_check(const msgpack_object *o, struct err *e) MUST_CHECK;

#endif
