/* json_read.c - JSON text into values.  The only file that includes jansson, which
 * parses; values are then laid out as msgpack-c's objects, like those of a record. */
#include "stream/json_read.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream/mp.h"
#include "stream/scan.h"

static int read_all(int fd, const char *path, char **text, size_t *n, struct err *e)
{
	size_t cap = 0;

	for (;;) {
		*text = mem_grow(*text, &cap, *n + 65536, 1);
		ssize_t got = read(fd, *text + *n, cap - *n);

		if (got == 0)
			return 0;
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys(e, ST_RUNTIME, "cannot read '%s'", path);
		*n += (size_t)got;
		if (*n > SCAN_MAX_BYTES)
			return err_set(e, ST_INPUT, "'%s' is larger than 1 GiB", path);
	}
}

/* ---- integers beyond int64, which jansson refuses ---- */

/* Before parsing they become texts with this mark in front, after it numbers again.  Texts that
 * begin with a U+0001 of their own get another one in between. */
#define MARK "\001integer "
static const char MARK_JSON[] = "\"\\u0001integer ", OWN_MARK[] = "\\u0001";

/* Bytes of the integer literal at s[0 .. n) when it is none that fits int64; else 0, with *skip
 * bytes that need no second look. */
static size_t large_integer(const char *s, size_t n, size_t *skip)
{
	enum { SURE = 18 }; /* digits that always fit */
	size_t i = s[0] == '-', first = i, end;
	char digits[32];

	while (i < n && s[i] >= '0' && s[i] <= '9')
		i++;
	for (end = i; end < n && s[end] && strchr("+-.eE0123456789", s[end]);)
		end++;
	*skip = end > 0 ? end : 1;
	if (i != end || i - first <= SURE || s[first] == '0')
		return 0;
	if (i >= sizeof(digits))
		return i;
	memcpy(digits, s, i);
	digits[i] = 0;
	errno = 0;
	strtoll(digits, NULL, 10);
	return errno == ERANGE ? i : 0;
}

/* A text that is copied with changes. */
struct changed {
	const char *from;
	size_t done; /* of from: copied or left out */
	char *out;   /* NULL: nothing has changed yet */
	size_t n, cap;
};

static void append(struct changed *x, const char *s, size_t n)
{
	x->out = mem_grow(x->out, &x->cap, x->n + n, 1);
	memcpy(x->out + x->n, s, n);
	x->n += n;
}

static void copy_until(struct changed *x, size_t end)
{
	append(x, x->from + x->done, end - x->done);
	x->done = end;
}

/* The string literal that begins at `at`; returns how long it is. */
static size_t mark_string(struct changed *x, size_t at, size_t n)
{
	const char *s = x->from + at;
	size_t mark = sizeof(OWN_MARK) - 1, len = 1;

	if (n - at > mark && memcmp(s + 1, OWN_MARK, mark) == 0) {
		copy_until(x, at + 1);
		append(x, OWN_MARK, mark);
	}
	while (at + len < n && s[len] != '"')
		len += s[len] == '\\' ? 2 : 1;
	return len + 1;
}

/* *text with such integers as marked texts; the same memory when nothing changes. */
static void mark_integers(char **text, size_t *n)
{
	struct changed x = {.from = *text};
	const char *s = *text;

	for (size_t i = 0, skip, len; i < *n; i += skip) {
		skip = 1;
		if (s[i] == '"')
			skip = mark_string(&x, i, *n);
		if (s[i] != '-' && (s[i] < '0' || s[i] > '9'))
			continue;
		len = large_integer(s + i, *n - i, &skip);
		if (len == 0)
			continue;
		copy_until(&x, i);
		append(&x, MARK_JSON, sizeof(MARK_JSON) - 1);
		copy_until(&x, i + len);
		append(&x, "\"", 1);
	}
	if (!x.out)
		return;
	copy_until(&x, *n);
	mem_free(*text);
	*text = x.out;
	*n = x.n;
}

/* ---- values ---- */

static int convert(const json_t *j, int depth, struct arena *a, msgpack_object *o, struct err *e);

static void put_str(msgpack_object *o, struct arena *a, const char *s, size_t n)
{
	if (n > sizeof(MARK) - 1 && memcmp(s, MARK, sizeof(MARK) - 1) == 0) {
		o->type = MSGPACK_OBJECT_EXT; /* val.c: the digits of an integer */
		o->via.ext.ptr = arena_strndup(a, s + sizeof(MARK) - 1, n - (sizeof(MARK) - 1));
		o->via.ext.size = (uint32_t)(n - (sizeof(MARK) - 1));
		return;
	}
	if (n > 0 && s[0] == MARK[0]) {
		s++;
		n--;
	}
	o->type = MSGPACK_OBJECT_STR;
	o->via.str.ptr = arena_strndup(a, s, n);
	o->via.str.size = (uint32_t)n;
}

static int convert_array(const json_t *j, int depth, struct arena *a, msgpack_object *o,
			 struct err *e)
{
	size_t n = json_array_size(j);

	o->type = MSGPACK_OBJECT_ARRAY;
	o->via.array.size = (uint32_t)n;
	o->via.array.ptr = ARENA_NEWN(a, msgpack_object, n);
	for (size_t i = 0; i < n; i++)
		if (convert(json_array_get(j, i), depth + 1, a, &o->via.array.ptr[i], e) < 0)
			return -1;
	return 0;
}

static int convert_object(const json_t *j, int depth, struct arena *a, msgpack_object *o,
			  struct err *e)
{
	json_t *object = (json_t *)(uintptr_t)j; /* jansson's iterators take no const */
	const char *key;
	json_t *value;
	msgpack_object_kv *kv = ARENA_NEWN(a, msgpack_object_kv, json_object_size(j));

	o->type = MSGPACK_OBJECT_MAP;
	o->via.map.size = (uint32_t)json_object_size(j);
	o->via.map.ptr = kv;
	json_object_foreach(object, key, value)
	{
		put_str(&kv->key, a, key, strlen(key));
		if (convert(value, depth + 1, a, &kv->val, e) < 0)
			return -1;
		kv++;
	}
	return 0;
}

static int convert(const json_t *j, int depth, struct arena *a, msgpack_object *o, struct err *e)
{
	if (depth > JSON_PARSER_MAX_DEPTH)
		return err_set(e, ST_INPUT, "nested deeper than %d", JSON_PARSER_MAX_DEPTH);
	switch (json_typeof(j)) {
	case JSON_OBJECT: return convert_object(j, depth, a, o, e);
	case JSON_ARRAY: return convert_array(j, depth, a, o, e);
	case JSON_STRING: put_str(o, a, json_string_value(j), json_string_length(j)); return 0;
	case JSON_INTEGER:
		o->type = json_integer_value(j) < 0 ? MSGPACK_OBJECT_NEGATIVE_INTEGER
						    : MSGPACK_OBJECT_POSITIVE_INTEGER;
		o->via.i64 = json_integer_value(j);
		return 0;
	case JSON_REAL:
		o->type = MSGPACK_OBJECT_FLOAT64;
		o->via.f64 = json_real_value(j);
		return 0;
	case JSON_NULL: o->type = MSGPACK_OBJECT_NIL; return 0;
	default:
		o->type = MSGPACK_OBJECT_BOOLEAN;
		o->via.boolean = json_is_true(j);
		return 0;
	}
}

const struct val *json_read(const char *path, struct arena *a, struct err *e)
{
	bool std = strcmp(path, "-") == 0;
	int fd = std ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	msgpack_object *o = ARENA_NEWN(a, msgpack_object, 1);
	static const char bom[] = "\xef\xbb\xbf";
	char *text = NULL, quoted[200];
	json_error_t why;
	size_t n = 0;
	int rc = fd < 0 ? err_sys(e, ST_RUNTIME, "cannot read '%s'", path)
			: read_all(fd, path, &text, &n, e);

	if (fd >= 0 && !std)
		close(fd);
	if (rc == 0 && n == 0)
		rc = err_set(e, ST_INPUT, "empty input '%s'", path);
	if (rc == 0) {
		if (n >= 3 && memcmp(text, bom, 3) == 0)
			memset(text, ' ', 3);
		mark_integers(&text, &n);
		json_t *j = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);

		rc = j ? convert(j, 0, a, o, e)
		       : err_set(e, ST_INPUT, "not JSON at line %d, column %d: %s", why.line,
				 why.column,
				 err_escape(quoted, sizeof(quoted), why.text, strlen(why.text)));
		json_decref(j);
		if (rc < 0)
			err_prefix(e, "'%s'", path);
	}
	mem_free(text);
	return rc < 0 ? NULL : mp_val(o);
}
