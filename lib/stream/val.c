/* val.c - looking into decoded values, and the checks that need decoding. */
#include "stream/mp.h"
#include "base/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- checks ---- */

static int compare_str(const msgpack_object_str *a, const msgpack_object_str *b)
{
	uint32_t n = a->size < b->size ? a->size : b->size;
	int c = n ? memcmp(a->ptr, b->ptr, n) : 0;
	return c ? c : (a->size > b->size) - (a->size < b->size);
}

static int compare_keys(const void *a, const void *b)
{
	return compare_str(*(const msgpack_object_str *const *)a,
			   *(const msgpack_object_str *const *)b);
}

static int duplicate(const msgpack_object_str *k, struct err *e)
{
	char name[80];
	return err_set(e, ST_INPUT, "key '%s' occurs twice",
		       err_escape(name, sizeof name, k->ptr, k->size));
}

static int check_keys(const msgpack_object_map *m, struct err *e)
{
	if (m->size <= 24) {
		for (uint32_t i = 1; i < m->size; i++)
			for (uint32_t j = 0; j < i; j++)
				if (compare_str(&m->ptr[i].key.via.str, &m->ptr[j].key.via.str) ==
				    0)
					return duplicate(&m->ptr[i].key.via.str, e);
		return 0;
	}
	const msgpack_object_str **k = mem_alloc(m->size, sizeof *k);
	int rc = 0;
	for (uint32_t i = 0; i < m->size; i++)
		k[i] = &m->ptr[i].key.via.str;
	qsort(k, m->size, sizeof *k, compare_keys);
	for (uint32_t i = 1; i < m->size && rc == 0; i++)
		if (compare_str(k[i - 1], k[i]) == 0)
			rc = duplicate(k[i], e);
	mem_free(k);
	return rc;
}

int mp_check(const msgpack_object *o, struct err *e)
{
	switch (o->type) {
	case MSGPACK_OBJECT_STR:
		if (!utf8_valid(o->via.str.ptr, o->via.str.size))
			return err_set(e, ST_INPUT, "a str is not UTF-8");
		return 0;
	case MSGPACK_OBJECT_ARRAY:
		for (uint32_t i = 0; i < o->via.array.size; i++)
			if (mp_check(&o->via.array.ptr[i], e) < 0)
				return -1;
		return 0;
	case MSGPACK_OBJECT_MAP:
		for (uint32_t i = 0; i < o->via.map.size; i++)
			if (mp_check(&o->via.map.ptr[i].key, e) < 0 ||
			    mp_check(&o->via.map.ptr[i].val, e) < 0)
				return -1;
		return check_keys(&o->via.map, e);
	default: return 0;
	}
}

/* ---- access ---- */

enum val_type val_type(const struct val *v)
{
	switch (mp_of(v)->type) {
	case MSGPACK_OBJECT_BOOLEAN: return VAL_BOOL;
	case MSGPACK_OBJECT_POSITIVE_INTEGER:
	case MSGPACK_OBJECT_NEGATIVE_INTEGER: return VAL_INT;
	case MSGPACK_OBJECT_FLOAT32:
	case MSGPACK_OBJECT_FLOAT64: return VAL_REAL;
	case MSGPACK_OBJECT_STR: return VAL_STR;
	case MSGPACK_OBJECT_BIN: return VAL_BIN;
	case MSGPACK_OBJECT_ARRAY: return VAL_ARRAY;
	case MSGPACK_OBJECT_MAP: return VAL_MAP;
	default: return VAL_NIL;
	}
}

const struct val *val_get(const struct val *map, const char *key)
{
	const msgpack_object *o = mp_of(map);
	size_t n = strlen(key);
	if (o->type != MSGPACK_OBJECT_MAP)
		return NULL;
	for (uint32_t i = 0; i < o->via.map.size; i++) {
		const msgpack_object_str *k = &o->via.map.ptr[i].key.via.str;
		if (k->size == n && memcmp(k->ptr, key, n) == 0)
			return mp_val(&o->via.map.ptr[i].val);
	}
	return NULL;
}

size_t val_count(const struct val *v)
{
	const msgpack_object *o = mp_of(v);
	return o->type == MSGPACK_OBJECT_ARRAY ? o->via.array.size
	       : o->type == MSGPACK_OBJECT_MAP ? o->via.map.size
					       : 0;
}

const struct val *val_at(const struct val *array, size_t i)
{
	return mp_val(&mp_of(array)->via.array.ptr[i]);
}

const struct val *val_key_at(const struct val *map, size_t i)
{
	return mp_val(&mp_of(map)->via.map.ptr[i].key);
}

const struct val *val_value_at(const struct val *map, size_t i)
{
	return mp_val(&mp_of(map)->via.map.ptr[i].val);
}

bool val_bytes(const struct val *v, const char **s, size_t *n)
{
	const msgpack_object *o = mp_of(v);
	if (o->type == MSGPACK_OBJECT_STR)
		*s = o->via.str.ptr, *n = o->via.str.size;
	else if (o->type == MSGPACK_OBJECT_BIN)
		*s = o->via.bin.ptr, *n = o->via.bin.size;
	else
		return false;
	return true;
}

bool val_real(const struct val *v, double *out)
{
	const msgpack_object *o = mp_of(v);
	switch (o->type) {
	case MSGPACK_OBJECT_FLOAT32:
	case MSGPACK_OBJECT_FLOAT64: *out = o->via.f64; return true;
	case MSGPACK_OBJECT_POSITIVE_INTEGER: *out = (double)o->via.u64; return true;
	case MSGPACK_OBJECT_NEGATIVE_INTEGER: *out = (double)o->via.i64; return true;
	default: return false;
	}
}

bool val_int(const struct val *v, int64_t *out)
{
	const msgpack_object *o = mp_of(v);
	if (o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER)
		*out = o->via.i64;
	else if (o->type == MSGPACK_OBJECT_POSITIVE_INTEGER && o->via.u64 <= INT64_MAX)
		*out = (int64_t)o->via.u64;
	else
		return false;
	return true;
}

bool val_uint(const struct val *v, uint64_t *out)
{
	const msgpack_object *o = mp_of(v);
	if (o->type != MSGPACK_OBJECT_POSITIVE_INTEGER)
		return false;
	*out = o->via.u64;
	return true;
}

bool val_bool(const struct val *v, bool *out)
{
	const msgpack_object *o = mp_of(v);
	if (o->type != MSGPACK_OBJECT_BOOLEAN)
		return false;
	*out = o->via.boolean;
	return true;
}
