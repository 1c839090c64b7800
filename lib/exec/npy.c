/* npy.c - reading and writing .npy files. */
#include "exec/npy.h"
#include "op/value.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const unsigned char MAGIC[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
enum { MAX_HEADER = 1 << 16 };

/* NumPy's name of an element type, or NULL. */
static const char *descr(enum elem t)
{
	switch (t) {
	case EL_F64: return "<f8";
	case EL_F32: return "<f4";
	case EL_F16: return "<f2";
	case EL_I64: return "<i8";
	case EL_I32: return "<i4";
	case EL_I16: return "<i2";
	case EL_I8: return "|i1";
	case EL_U64: return "<u8";
	case EL_U32: return "<u4";
	case EL_U16: return "<u2";
	case EL_U8: return "|u1";
	case EL_BOOLEAN: return "|b1";
	default: return NULL;
	}
}

/* "(1, 3)" as Python writes a tuple. */
static void shape_text(const struct tensor *t, char *dst, size_t cap)
{
	size_t n = (size_t)snprintf(dst, cap, "(");
	for (uint32_t i = 0; i < t->rank; i++)
		n += (size_t)snprintf(dst + n, cap - n, "%s%lld", i ? ", " : "",
				      (long long)t->dim[i]);
	snprintf(dst + n, cap - n, t->rank == 1 ? ",)" : ")");
}

/* The type whose elements a file has in place of those of t: numbers that hold each of its values. */
static enum elem written_as(enum elem t)
{
	if (descr(t))
		return t;
	return elem_is_real(t) ? EL_F32 : t == EL_I4 ? EL_I8 : elem_bits(t) ? EL_U8 : t;
}

static bool write_as(FILE *f, enum elem as, const struct tensor *t)
{
	size_t n = (size_t)tensor_elements(t), size = elem_bits(as) / 8;
	bool ok = as != t->elem || fwrite(t->data, size, n, f) == n;
	for (size_t i = 0; ok && as != t->elem && i < n; i++) {
		float real = 0;
		uint8_t whole = 0;
		struct tensor one = {.elem = as, .data = as == EL_F32 ? (void *)&real : &whole};
		if (as == EL_F32)
			tensor_set_real(&one, 0, tensor_real(t, (int64_t)i));
		else
			tensor_set_int(&one, 0, tensor_int(t, (int64_t)i));
		ok = fwrite(one.data, size, 1, f) == 1;
	}
	return ok;
}

int npy_create(struct newfile *file, const char *path, const struct tensor *t, struct err *e)
{
	char shape[300], head[512];
	enum elem as = written_as(t->elem);
	const char *type = descr(as);
	if (!type)
		return err_set(e, ST_INPUT, "'%s': type '%s' cannot be written as .npy", path,
			       elem_name(t->elem));
	shape_text(t, shape, sizeof shape);
	int len = snprintf(head, sizeof head,
			   "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
	int padded = (10 + len + 1 + 63) / 64 * 64 - 10;
	memset(head + len, ' ', (size_t)(padded - len));
	head[padded - 1] = '\n';
	if (newfile_open(file, path, e) < 0)
		return -1;
	file->lazy = true;
	FILE *f = newfile_text(file);
	unsigned char pre[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
	pre[8] = (unsigned char)(padded & 0xff);
	pre[9] = (unsigned char)(padded >> 8);
	bool ok = fwrite(pre, 1, 10, f) == 10 &&
		  fwrite(head, 1, (size_t)padded, f) == (size_t)padded && write_as(f, as, t);
	if (fflush(f) == 0 && ok)
		return 0;
	err_sys(e, ST_RUNTIME, "cannot write '%s'", path);
	newfile_abandon(file);
	return -1;
}

/* The value of a key of the header: points behind "'key':" and blanks, or NULL. */
static const char *header_value(const char *head, const char *key)
{
	char quoted[40];
	snprintf(quoted, sizeof quoted, "'%s'", key);
	const char *s = strstr(head, quoted);
	if (!s)
		return NULL;
	s += strlen(quoted);
	s += strspn(s, " ");
	if (*s != ':')
		return NULL;
	s++;
	return s + strspn(s, " ");
}

static bool parse_shape(const char *s, struct tensor *t)
{
	t->rank = 0;
	if (!s || *s++ != '(')
		return false;
	for (;;) {
		s += strspn(s, " ,");
		if (*s == ')')
			return true;
		char *end;
		if (*s < '0' || *s > '9' || t->rank == TENSOR_DIMS)
			return false;
		errno = 0;
		t->dim[t->rank++] = strtoll(s, &end, 10);
		if (errno)
			return false;
		s = end;
	}
}

/* Is `type` ('<f4' in quotes) this one?  Of one byte in any order. */
static bool is_type(const char *type, const char *want)
{
	return type[0] == '\'' && strlen(type) >= 5 && strncmp(type + 2, want + 1, 2) == 0 &&
	       (type[1] == want[0] || type[1] == '=' || type[1] == '|' || want[1] == 'V' ||
		want[2] == '1') &&
	       type[4] == '\'';
}

/* The types of the file and of the model's elements that meet each other one by one: the values of a type that NumPy does not
 * have, or its bits, as other people's types for NumPy (ml_dtypes) are saved.  False: the file has another type. */
static bool find_types(const char *type, enum elem t, enum elem *from, enum elem *to)
{
	*from = written_as(t);
	*to = t;
	if (descr(*from) && is_type(type, descr(*from)))
		return true;
	if (descr(t) || elem_bits(t) == 0)
		return false;
	bool pair = elem_bits(t) == 16;
	*from = pair ? EL_U16 : EL_U8;
	*to = pair ? EL_U16 : elem_bits(t) == 8 ? EL_U8 : elem_bits(t) == 4 ? EL_U4 : t;
	return is_type(type, pair ? "|V2" : "|V1") || (t == EL_F8E5M2 && is_type(type, "|f1")) ||
	       (elem_is_real(t) && is_type(type, descr(*from)));
}

static bool is_fortran(const char *head)
{
	return strncmp(header_value(head, "fortran_order"), "False", 5) != 0;
}

/* Elements that were read in Fortran's order, the first index fastest, to their places. */
static int reorder(const char *path, const struct tensor *t, struct err *e)
{
	size_t bytes = (size_t)tensor_bytes(t), bits = elem_bits(t->elem);
	struct tensor to = *t, from = *t;
	int64_t at[TENSOR_DIMS] = {0}, n = tensor_elements(t);
	if (!(from.data = mem_try(bytes + 1)))
		return err_set(e, ST_RUNTIME, "'%s': no memory for %zu bytes", path, bytes);
	memcpy(from.data, t->data, bytes);
	if (bits == 4)
		to.elem = from.elem = EL_U4; /* as bits */
	for (int64_t i = 0; i < n; i++) {
		int64_t j = 0;
		for (uint32_t d = t->rank; d-- > 0;)
			j = j * t->dim[d] + at[d];
		if (bits % 8 == 0)
			memcpy((char *)to.data + (size_t)i * bits / 8,
			       (const char *)from.data + (size_t)j * bits / 8, bits / 8);
		else
			tensor_set_int(&to, i, tensor_int(&from, j));
		for (uint32_t d = t->rank; d-- > 0 && ++at[d] == t->dim[d];)
			at[d] = 0;
	}
	mem_free(from.data);
	return 0;
}

static int check_header(const char *head, const char *path, const struct tensor *t, enum elem *from,
			enum elem *to, struct err *e)
{
	const char *type = header_value(head, "descr"),
		   *order = header_value(head, "fortran_order");
	const char *want = descr(t->elem);
	struct tensor got = {.elem = t->elem};
	char a[300], b[300];
	if (!type || !order || !parse_shape(header_value(head, "shape"), &got))
		return err_set(e, ST_INPUT, "'%s': malformed .npy header", path);
	if (!find_types(type, t->elem, from, to) && want)
		return err_set(e, ST_INPUT, "'%s': its type is %.5s, but the model wants '%s'",
			       path, type, want);
	if (!find_types(type, t->elem, from, to))
		return err_set(
			e, ST_INPUT,
			"'%s': its type is %.5s, but the model wants %s; save its values as '%s'%s",
			path, type, elem_name(t->elem), descr(written_as(t->elem)),
			elem_is_real(t->elem) ? ", or its bits as unsigned integers" : "");
	shape_text(t, a, sizeof a);
	shape_text(&got, b, sizeof b);
	if (!tensor_same_shape(t, &got))
		return err_set(e, ST_INPUT, "'%s': its shape is %s, but the model wants %s", path,
			       b, a);
	return 0;
}

static int read_header(FILE *f, const char *path, char *head, struct err *e)
{
	unsigned char pre[12];
	size_t len;
	if (fread(pre, 1, 10, f) != 10 || memcmp(pre, MAGIC, sizeof MAGIC) != 0)
		return err_set(e, ST_INPUT, "'%s' is not a .npy file", path);
	len = pre[8] | (size_t)pre[9] << 8;
	if (pre[6] == 2) {
		if (fread(pre + 10, 1, 2, f) != 2)
			return err_set(e, ST_INPUT, "'%s': truncated", path);
		len |= (size_t)pre[10] << 16 | (size_t)pre[11] << 24;
	} else if (pre[6] != 1) {
		return err_set(e, ST_INPUT, "'%s': .npy version %d is not read", path, pre[6]);
	}
	if (len >= MAX_HEADER)
		return err_set(e, ST_INPUT, "'%s': malformed .npy header", path);
	if (fread(head, 1, len, f) != len)
		return err_set(e, ST_INPUT, "'%s': truncated", path);
	head[len] = '\0';
	return 0;
}

/* Elements of type `from` into t, whose elements are seen as those of type `to`. */
static int read_as(FILE *f, const char *path, const struct tensor *t, enum elem from, enum elem to,
		   struct err *e)
{
	int64_t n = tensor_elements(t), least = to == EL_I4 ? -8 : 0;
	int64_t most = to == EL_I4 ? 7 : ((int64_t)1 << elem_bits(to)) - 1;
	struct tensor place = *t;
	place.elem = to;
	for (int64_t i = 0; i < n; i++) {
		uint32_t room;
		struct tensor one = {.elem = from, .data = &room};
		if (fread(&room, elem_bits(from) / 8, 1, f) != 1)
			return err_set(e, ST_INPUT, "'%s': not as long as its shape says", path);
		if (from == EL_F32) {
			tensor_set_real(&place, i, tensor_real(&one, 0));
			continue;
		}
		int64_t v = tensor_int(&one, 0);
		if (to == EL_U4 && t->elem == EL_I4)
			v &= 15; /* bits of a signed number in a byte */
		if (v < least || v > most)
			return err_set(e, ST_INPUT,
				       "'%s': element %lld is %lld, and %s has %lld to %lld", path,
				       (long long)i, (long long)v, elem_name(t->elem),
				       (long long)least, (long long)most);
		tensor_set_int(&place, i, v);
	}
	return 0;
}

int npy_read(const char *path, const struct tensor *t, struct err *e)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0) {
		(void)err_sys(e, ST_RUNTIME, "cannot read '%s'", path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	FILE *f = S_ISREG(st.st_mode) ? fdopen(fd, "rb") : NULL;
	if (!f) {
		close(fd);
		return err_set(e, ST_INPUT, "'%s' is not a regular file", path);
	}
	static _Thread_local char head[MAX_HEADER];
	enum elem from = t->elem, to = t->elem;
	int rc = read_header(f, path, head, e);
	if (rc == 0)
		rc = check_header(head, path, t, &from, &to, e);
	size_t bytes = (size_t)tensor_bytes(t);
	if (rc == 0 && from != to)
		rc = read_as(f, path, t, from, to, e);
	else if (rc == 0 && fread(t->data, 1, bytes, f) != bytes)
		rc = err_set(e, ST_INPUT, "'%s': not as long as its shape says", path);
	if (rc == 0 && fgetc(f) != EOF)
		rc = err_set(e, ST_INPUT, "'%s': not as long as its shape says", path);
	if (rc == 0 && t->rank > 1 && is_fortran(head))
		rc = reorder(path, t, e);
	fclose(f);
	return rc;
}
