/* rec_field.c - required keys of a map, checked on the way out. */
#include "stream/rec.h"

#include <math.h>
#include <string.h>

static const struct val *need(const struct val *map, const char *key, struct err *e)
{
	const struct val *v = val_get(map, key);
	if (!v)
		err_set(e, ST_INPUT, "no key '%s'", key);
	return v;
}

int get_uint(const struct val *map, const char *key, uint64_t lo, uint64_t hi, uint64_t *out,
	     struct err *e)
{
	const struct val *v = need(map, key, e);
	if (!v)
		return -1;
	if (!val_uint(v, out))
		return err_set(e, ST_INPUT, "key '%s' is not a non-negative integer", key);
	if (*out < lo || *out > hi)
		return err_set(e, ST_INPUT, "key '%s' is %llu; %llu to %llu", key,
			       (unsigned long long)*out, (unsigned long long)lo,
			       (unsigned long long)hi);
	return 0;
}

int get_u32(const struct val *map, const char *key, uint32_t lo, uint32_t *out, struct err *e)
{
	uint64_t v = 0;
	if (get_uint(map, key, lo, UINT32_MAX, &v, e) < 0)
		return -1;
	*out = (uint32_t)v;
	return 0;
}

int get_int(const struct val *map, const char *key, int64_t lo, int64_t hi, int64_t *out,
	    struct err *e)
{
	const struct val *v = need(map, key, e);
	if (!v)
		return -1;
	if (!val_int(v, out))
		return err_set(e, ST_INPUT, "key '%s' is not an integer", key);
	if (*out < lo || *out > hi)
		return err_set(e, ST_INPUT, "key '%s' is %lld; %lld to %lld", key, (long long)*out,
			       (long long)lo, (long long)hi);
	return 0;
}

int get_real(const struct val *map, const char *key, double *out, struct err *e)
{
	const struct val *v = need(map, key, e);
	if (!v)
		return -1;
	return val_real(v, out) ? 0 : err_set(e, ST_INPUT, "key '%s' is not a number", key);
}

int get_bool(const struct val *map, const char *key, bool *out, struct err *e)
{
	const struct val *v = need(map, key, e);
	if (!v)
		return -1;
	return val_bool(v, out) ? 0 : err_set(e, ST_INPUT, "key '%s' is not a bool", key);
}

static int text_of(const struct val *v, const char *key, struct arena *a, const char **out,
		   struct err *e)
{
	const char *s;
	size_t n;
	if (val_type(v) != VAL_STR || !val_bytes(v, &s, &n))
		return err_set(e, ST_INPUT, "key '%s' is not a str", key);
	if (memchr(s, '\0', n))
		return err_set(e, ST_INPUT, "key '%s' holds a NUL byte", key);
	*out = arena_strndup(a, s, n);
	return 0;
}

int get_text(const struct val *map, const char *key, struct arena *a, const char **out,
	     struct err *e)
{
	const struct val *v = need(map, key, e);
	return v ? text_of(v, key, a, out, e) : -1;
}

int get_list(const struct val *map, const char *key, const struct val **out, struct err *e)
{
	const struct val *v = need(map, key, e);
	if (!v)
		return -1;
	*out = v;
	return val_type(v) == VAL_ARRAY ? 0 : err_set(e, ST_INPUT, "key '%s' is not a list", key);
}

int get_map(const struct val *map, const char *key, const struct val **out, struct err *e)
{
	const struct val *v = need(map, key, e);
	if (!v)
		return -1;
	*out = v;
	return val_type(v) == VAL_MAP ? 0 : err_set(e, ST_INPUT, "key '%s' is not a map", key);
}

int get_texts(const struct val *map, const char *key, struct arena *a, size_t *n, const char ***out,
	      struct err *e)
{
	const struct val *list;
	if (get_list(map, key, &list, e) < 0)
		return -1;
	size_t count = val_count(list);
	if (*n != SIZE_MAX && *n != count)
		return err_set(e, ST_INPUT, "key '%s' has %zu entries, not %zu", key, count, *n);
	*n = count;
	*out = arena_alloc(a, count, sizeof **out);
	for (size_t i = 0; i < count; i++)
		if (text_of(val_at(list, i), key, a, &(*out)[i], e) < 0)
			return -1;
	return 0;
}

/* ---- tensors ---- */

static const struct {
	char name[4];
	uint8_t bytes;
} TYPES[TT_COUNT] = {
	[TT_U8] = {"u8", 1},   [TT_I8] = {"i8", 1},   [TT_U16] = {"u16", 2}, [TT_I16] = {"i16", 2},
	[TT_U32] = {"u32", 4}, [TT_I32] = {"i32", 4}, [TT_U64] = {"u64", 8}, [TT_I64] = {"i64", 8},
	[TT_F32] = {"f32", 4}, [TT_F64] = {"f64", 8},
};

const char *tensor_type_name(enum tensor_type t)
{
	return TYPES[t].name;
}

size_t tensor_type_bytes(enum tensor_type t)
{
	return TYPES[t].bytes;
}

bool val_is_tensor(const struct val *v)
{
	return val_type(v) == VAL_MAP && val_get(v, "dtype") && val_get(v, "shape") &&
	       val_get(v, "data");
}

static bool all_finite(const struct tensor_view *t)
{
	if (t->type == TT_F32) {
		uint32_t bad = 0;
		for (size_t i = 0; i < t->n; i++) {
			uint32_t u;
			memcpy(&u, t->data + 4 * i, 4);
			bad |= (u & 0x7f800000u) == 0x7f800000u;
		}
		return !bad;
	}
	if (t->type == TT_F64) {
		for (size_t i = 0; i < t->n; i++) {
			double x;
			memcpy(&x, t->data + 8 * i, 8);
			if (!isfinite(x))
				return false;
		}
	}
	return true;
}

int val_tensor(const struct val *v, struct tensor_view *t, struct err *e)
{
	const char *s;
	size_t n, bytes, i;
	if (!val_is_tensor(v))
		return err_set(e, ST_INPUT, "not a tensor");
	const struct val *dtype = val_get(v, "dtype"), *shape = val_get(v, "shape");
	if (val_type(dtype) != VAL_STR || !val_bytes(dtype, &s, &n))
		return err_set(e, ST_INPUT, "a tensor's dtype is not a str");
	for (i = 0; i < TT_COUNT; i++)
		if (strlen(TYPES[i].name) == n && memcmp(TYPES[i].name, s, n) == 0)
			break;
	if (i == TT_COUNT)
		return err_set(e, ST_INPUT, "unknown tensor dtype");
	t->type = (enum tensor_type)i;
	if (val_type(shape) != VAL_ARRAY || val_count(shape) > TENSOR_MAX_RANK)
		return err_set(e, ST_INPUT, "a tensor's shape is not a list of at most %d sizes",
			       TENSOR_MAX_RANK);
	t->rank = (uint32_t)val_count(shape);
	t->n = 1;
	for (i = 0; i < t->rank; i++)
		if (!val_uint(val_at(shape, i), &t->shape[i]) || !mem_mul(t->n, t->shape[i], &t->n))
			return err_set(e, ST_INPUT, "a tensor's shape is not a list of sizes");
	const struct val *data = val_get(v, "data");
	if (val_type(data) != VAL_BIN || !val_bytes(data, &s, &n))
		return err_set(e, ST_INPUT, "a tensor's data is not bin");
	if (!mem_mul(t->n, TYPES[t->type].bytes, &bytes) || bytes != n)
		return err_set(e, ST_INPUT, "a tensor has %zu bytes of data, its shape does not",
			       n);
	t->data = (const uint8_t *)s;
	if (!all_finite(t))
		return err_set(e, ST_INPUT, "a tensor holds a number that is not finite");
	return 0;
}

int get_tensor(const struct val *map, const char *key, enum tensor_type type, uint32_t rank,
	       uint64_t *shape, struct arena *a, void *out_data, struct err *e)
{
	const struct val *v = need(map, key, e);
	struct tensor_view t;
	if (!v)
		return -1;
	if (val_tensor(v, &t, e) < 0)
		return err_prefix(e, "key '%s'", key);
	if (t.type != type || t.rank != rank)
		return err_set(e, ST_INPUT, "key '%s' is a %s tensor of rank %u, not %s of rank %u",
			       key, TYPES[t.type].name, t.rank, TYPES[type].name, rank);
	for (uint32_t i = 0; i < rank; i++) {
		if (shape[i] != UINT64_MAX && shape[i] != t.shape[i])
			return err_set(e, ST_INPUT,
				       "key '%s' has size %llu in dimension %u, not %llu", key,
				       (unsigned long long)t.shape[i], i,
				       (unsigned long long)shape[i]);
		shape[i] = t.shape[i];
	}
	void *copy = arena_raw(a, t.n, TYPES[type].bytes);
	if (t.n)
		memcpy(copy, t.data, t.n * TYPES[type].bytes);
	memcpy(out_data, &copy, sizeof copy);
	return 0;
}
