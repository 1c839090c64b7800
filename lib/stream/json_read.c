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

/* ---- values ---- */

static int convert(const json_t *j, int depth, struct arena *a, msgpack_object *o, struct err *e);

static void put_str(msgpack_object *o, struct arena *a, const char *s, size_t n)
{
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

int json_file(const char *path, char **text, size_t *n, struct err *e)
{
	bool std = strcmp(path, "-") == 0;
	int fd = std ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);

	*text = NULL;
	*n = 0;
	int rc = fd < 0 ? err_sys(e, ST_RUNTIME, "cannot read '%s'", path)
			: read_all(fd, path, text, n, e);
	if (fd >= 0 && !std)
		close(fd);
	if (rc == 0 && *n == 0)
		rc = err_set(e, ST_INPUT, "empty input '%s'", path);
	if (rc < 0) {
		mem_free(*text);
		*text = NULL;
	}
	return rc;
}

void json_blank_mark(char *text, size_t n)
{
	static const char bom[] = "\xef\xbb\xbf";
	if (n >= 3 && memcmp(text, bom, 3) == 0)
		memset(text, ' ', 3);
}

const struct val *json_parse(char *text, size_t n, struct arena *a, struct err *e)
{
	msgpack_object *o = ARENA_NEWN(a, msgpack_object, 1);
	char quoted[200];
	json_error_t why;

	json_blank_mark(text, n);
	json_t *j = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);

	const char *is = j ? NULL : rec_file_kind(text, n);
	if (is && !strchr("{[", text[strspn(text, " \t\r\n")]))
		err_set(e, ST_INPUT, "no JSON; %s", is);
	int rc =
		j ? convert(j, 0, a, o, e)
		  : err_set(e, ST_INPUT, "not JSON at line %d, column %d: %s", why.line, why.column,
			    err_escape(quoted, sizeof(quoted), why.text, strlen(why.text)));
	json_decref(j);
	return rc < 0 ? NULL : mp_val(o);
}

const struct val *json_read(const char *path, struct arena *a, struct err *e)
{
	char *text;
	size_t n;

	if (json_file(path, &text, &n, e) < 0)
		return NULL;
	const struct val *v = json_parse(text, n, a, e);
	if (!v)
		err_prefix(e, "'%s'", path);
	mem_free(text);
	return v;
}
