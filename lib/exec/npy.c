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

int npy_create(struct newfile *file, const char *path, const struct tensor *t, struct err *e)
{
	char shape[300], head[512];
	struct tensor wide = *t;
	if (t->elem == EL_BF16)
		wide.elem = EL_F32;
	const char *type = descr(wide.elem);
	if (!type)
		return err_set(e, ST_INPUT, "'%s': type '%s' cannot be written as .npy", path,
			       elem_name(t->elem));
	size_t n = (size_t)tensor_elements(t), size = elem_bits(wide.elem) / 8;
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
	bool ok =
		fwrite(pre, 1, 10, f) == 10 && fwrite(head, 1, (size_t)padded, f) == (size_t)padded;
	if (t->elem == EL_BF16) {
		for (size_t i = 0; ok && i < n; i++) {
			float x = (float)tensor_real(t, (int64_t)i);
			ok = fwrite(&x, sizeof x, 1, f) == 1;
		}
	} else {
		ok = ok && fwrite(t->data, size, n, f) == n;
	}
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

static int check_header(const char *head, const char *path, const struct tensor *t, struct err *e)
{
	const char *type = header_value(head, "descr"),
		   *order = header_value(head, "fortran_order");
	const char *want = descr(t->elem);
	struct tensor got = {.elem = t->elem};
	char a[300], b[300];
	if (!type || !order || !parse_shape(header_value(head, "shape"), &got))
		return err_set(e, ST_INPUT, "'%s': malformed .npy header", path);
	if (!want || type[0] != '\'' || strlen(type) < 5 || strncmp(type + 2, want + 1, 2) != 0 ||
	    type[1] == '>' || type[4] != '\'')
		return err_set(e, ST_INPUT, "'%s': its type is %.5s, but the model wants '%s'",
			       path, type, want ? want : elem_name(t->elem));
	if (strncmp(order, "False", 5) != 0 && got.rank > 1)
		return err_set(e, ST_INPUT,
			       "'%s': Fortran order; save it with numpy.ascontiguousarray", path);
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
	int rc = read_header(f, path, head, e);
	if (rc == 0)
		rc = check_header(head, path, t, e);
	size_t bytes = (size_t)tensor_bytes(t);
	if (rc == 0 && (fread(t->data, 1, bytes, f) != bytes || fgetc(f) != EOF))
		rc = err_set(e, ST_INPUT, "'%s': not as long as its shape says", path);
	fclose(f);
	return rc;
}
