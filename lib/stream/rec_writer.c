/* rec_writer.c - records to a descriptor.  A record is packed into memory and
 * written whole; files take their name only when they are complete. */
#include "base/digest.h"
#include "stream/mp.h"
#include "base/newfile.h"
#include "base/utf8.h"
#include "stream/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct open_map {
	size_t at;
	uint32_t n;
	bool list;
}; /* at: of the map32 header */

struct rec_writer {
	int fd;
	char *path;
	struct newfile file; /* that is being made */
	bool is_file;        /* else standard output or a FIFO */
	msgpack_sbuffer buf;
	msgpack_packer packer;
	struct open_map stack[SCAN_MAX_DEPTH];
	uint32_t depth;
	const char *misuse; /* first mistake inside the current record */
	struct digest *digest;
	uint64_t n_records;
	char kind[65];
};

/* ---- opening and closing ---- */

static struct rec_writer *writer_new(int fd, const char *path)
{
	struct rec_writer *w = MEM_NEW(struct rec_writer);
	w->fd = fd;
	w->path = mem_strdup(path);
	w->digest = digest_new();
	msgpack_sbuffer_init(&w->buf);
	msgpack_packer_init(&w->packer, &w->buf, msgpack_sbuffer_write);
	return w;
}

/* Open a FIFO for writing once it has a reader. */
static int open_fifo(const char *path, struct rec_reader *watch, struct err *e)
{
	for (;;) {
		int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd >= 0) {
			fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
			return fd;
		}
		if (errno != ENXIO && errno != EINTR)
			return err_sys(e, ST_RUNTIME, "cannot open '%s'", path);
		struct pollfd p = {.fd = watch ? rec_reader_fd(watch) : -1, .events = 0};
		if (poll(&p, 1, 20) > 0 && (p.revents & (POLLHUP | POLLERR | POLLNVAL)))
			return err_set(e, ST_INPUT, "nobody reads '%s' and the input has ended",
				       path);
	}
}

struct rec_writer *rec_writer_open(const char *path, struct rec_reader *watch, struct err *e)
{
	struct stat st;
	if (strcmp(path, "-") == 0) {
		if (isatty(STDOUT_FILENO)) {
			err_set(e, ST_USAGE,
				"will not write binary records to a terminal; use -o FILE or a "
				"pipe");
			return NULL;
		}
		return writer_new(STDOUT_FILENO, path);
	}
	if (stat(path, &st) == 0 && S_ISFIFO(st.st_mode)) {
		int fd = open_fifo(path, watch, e);
		return fd < 0 ? NULL : writer_new(fd, path);
	}
	struct newfile file;
	if (newfile_open(&file, path, e) < 0)
		return NULL;
	if (isatty(file.fd)) {
		newfile_abandon(&file);
		err_set(e, ST_USAGE, "will not write binary records to a terminal");
		return NULL;
	}
	struct rec_writer *w = writer_new(file.fd, path);
	w->file = file;
	w->is_file = true;
	return w;
}

void rec_write_failed(int fd)
{
	static const char record[] = "\x92\xa4"
				     "fail\x80"; /* ["fail", {}] */
	struct pollfd room = {.fd = fd, .events = POLLOUT};
	struct stat st;
	/* A full pipe is left as it is: who fails waits for nobody. */
	if (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) && poll(&room, 1, 0) == 1 &&
	    write(fd, record, sizeof record - 1) < 0)
		return; /* nobody reads it */
}

int rec_writer_close(struct rec_writer *w, bool commit, struct err *e)
{
	int rc = 0;
	if (!w)
		return 0;
	if (!commit && w->fd != STDOUT_FILENO)
		rec_write_failed(w->fd); /* filter_finish is for standard output */
	if (w->is_file && commit)
		rc = newfile_commit(&w->file, e);
	else if (w->is_file)
		newfile_abandon(&w->file);
	else if (w->fd != STDOUT_FILENO && close(w->fd) != 0 && commit)
		rc = err_sys(e, ST_RUNTIME, "cannot write '%s'", w->path);
	msgpack_sbuffer_destroy(&w->buf);
	digest_free(w->digest);
	mem_free(w->path);
	mem_free(w);
	return rc;
}

int rec_writer_fd(const struct rec_writer *w)
{
	return w->fd;
}

bool rec_writer_alive(const struct rec_writer *w)
{
	struct pollfd p = {.fd = w->fd, .events = 0};
	return !(poll(&p, 1, 0) > 0 && (p.revents & (POLLERR | POLLNVAL)));
}

/* ---- packing ---- */

static void misuse(struct rec_writer *w, const char *what)
{
	if (!w->misuse)
		w->misuse = what;
}

static void pack_str(struct rec_writer *w, const char *s)
{
	size_t n = strlen(s);
	if (!utf8_valid(s, n))
		misuse(w, "a text is not UTF-8");
	msgpack_pack_str(&w->packer, n);
	msgpack_pack_str_body(&w->packer, s, n);
}

/* Count a value in the innermost map or list, and write its key. */
static void begin_value(struct rec_writer *w, const char *key)
{
	if (w->depth == 0) {
		misuse(w, "a value outside a record");
		return;
	}
	struct open_map *m = &w->stack[w->depth - 1];
	while (m->list && m->n == 0 && w->depth > 1)
		m = &w->stack[--w->depth - 1];
	if (m->list != !key)
		misuse(w, key ? "a key inside a list" : "a value without a key");
	if (m->list)
		m->n--;
	else
		m->n++;
	if (key)
		pack_str(w, key);
}

static void push(struct rec_writer *w, size_t at, uint32_t n, bool list)
{
	if (w->depth == SCAN_MAX_DEPTH - 1)
		misuse(w, "nesting is too deep");
	else
		w->stack[w->depth++] = (struct open_map){at, n, list};
}

/* A map whose number of entries is filled in when it ends. */
static void open_map32(struct rec_writer *w)
{
	push(w, w->buf.size, 0, false);
	msgpack_sbuffer_write(&w->buf, "\xdf\0\0\0\0", 5);
}

static void close_map32(struct rec_writer *w)
{
	while (w->depth && w->stack[w->depth - 1].list && w->stack[w->depth - 1].n == 0)
		w->depth--;
	if (w->depth == 0 || w->stack[w->depth - 1].list) {
		misuse(w, "a list has fewer values than it said");
		return;
	}
	struct open_map *m = &w->stack[--w->depth];
	for (int i = 0; i < 4; i++)
		w->buf.data[m->at + 1 + (size_t)i] = (char)(m->n >> (24 - 8 * i));
}

void rec_begin(struct rec_writer *w, const char *kind)
{
	msgpack_sbuffer_clear(&w->buf);
	w->depth = 0;
	w->misuse = NULL;
	snprintf(w->kind, sizeof w->kind, "%s", kind);
	msgpack_pack_array(&w->packer, 2);
	pack_str(w, kind);
	open_map32(w);
}

static int write_all(struct rec_writer *w, const void *data, size_t n, struct err *e)
{
	const char *p = data;
	while (n) {
		ssize_t k = write(w->fd, p, n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0 && errno == EAGAIN) {
			struct pollfd pf = {.fd = w->fd, .events = POLLOUT};
			poll(&pf, 1, 1000);
			continue;
		}
		if (k < 0 && errno == EPIPE)
			return err_unread(e);
		if (k < 0)
			return err_sys(e, ST_RUNTIME, "cannot write '%s'",
				       w->fd == STDOUT_FILENO ? "standard output" : w->path);
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

/* Keep the counters of the end record and send the bytes. */
static int emit(struct rec_writer *w, const char *kind, const void *data, size_t n, struct err *e)
{
	if (strcmp(kind, "hdr") == 0) {
		digest_reset(w->digest);
		w->n_records = 0;
	} else if (strcmp(kind, "end") != 0) {
		digest_add(w->digest, data, n);
		w->n_records++;
	}
	return write_all(w, data, n, e);
}

int rec_end(struct rec_writer *w, struct err *e)
{
	close_map32(w);
	if (w->depth != 0)
		misuse(w, "a map was not ended");
	if (w->buf.size > SCAN_MAX_BYTES)
		misuse(w, "it is larger than 1 GiB");
	if (w->misuse)
		return err_set(e, ST_RUNTIME, "cannot write a record '%s': %s", w->kind, w->misuse);
	int rc = emit(w, w->kind, w->buf.data, w->buf.size, e);
	if (w->buf.alloc > (size_t)4 << 20) { /* one large record must not stay in memory */
		msgpack_sbuffer_destroy(&w->buf);
		msgpack_sbuffer_init(&w->buf);
	}
	return rc;
}

int rec_copy(struct rec_writer *w, const struct rec *r, struct err *e)
{
	return emit(w, r->kind, r->bytes, r->n_bytes, e);
}

void put_bool(struct rec_writer *w, const char *key, bool v)
{
	begin_value(w, key);
	if (v)
		msgpack_pack_true(&w->packer);
	else
		msgpack_pack_false(&w->packer);
}

void put_int(struct rec_writer *w, const char *key, int64_t v)
{
	begin_value(w, key);
	msgpack_pack_int64(&w->packer, v);
}

void put_uint(struct rec_writer *w, const char *key, uint64_t v)
{
	begin_value(w, key);
	msgpack_pack_uint64(&w->packer, v);
}

void put_real(struct rec_writer *w, const char *key, double v)
{
	if (!isfinite(v))
		misuse(w, "a number is not finite");
	begin_value(w, key);
	msgpack_pack_double(&w->packer, v);
}

void put_text(struct rec_writer *w, const char *key, const char *s)
{
	begin_value(w, key);
	pack_str(w, s);
}

void put_texts(struct rec_writer *w, const char *key, const char *const *s, size_t n)
{
	begin_value(w, key);
	msgpack_pack_array(&w->packer, n);
	for (size_t i = 0; i < n; i++)
		pack_str(w, s[i]);
}

void put_val(struct rec_writer *w, const char *key, const struct val *v)
{
	begin_value(w, key);
	msgpack_pack_object(&w->packer, *mp_of(v));
}

void put_entries(struct rec_writer *w, const struct val *map, const char *const *except,
		 struct arena *a)
{
	for (size_t i = 0; i < val_count(map); i++) {
		const char *key, *const *x = except;
		size_t n;
		if (!val_bytes(val_key_at(map, i), &key, &n))
			continue;
		while (*x && (strlen(*x) != n || memcmp(*x, key, n) != 0))
			x++;
		if (!*x)
			put_val(w, arena_strndup(a, key, n), val_value_at(map, i));
	}
}

void put_map_begin(struct rec_writer *w, const char *key)
{
	begin_value(w, key);
	open_map32(w);
}

void put_map_end(struct rec_writer *w)
{
	close_map32(w);
}

void put_list_begin(struct rec_writer *w, const char *key, size_t n)
{
	begin_value(w, key);
	msgpack_pack_array(&w->packer, n);
	push(w, 0, (uint32_t)n, true);
}

void put_tensor(struct rec_writer *w, const char *key, enum tensor_type t, uint32_t rank,
		const uint64_t *shape, const void *data)
{
	size_t n = 1, bytes;
	for (uint32_t i = 0; i < rank; i++)
		if (!mem_mul(n, shape[i], &n))
			misuse(w, "a tensor is too large");
	if (!mem_mul(n, tensor_type_bytes(t), &bytes) || bytes > SCAN_MAX_BYTES) {
		misuse(w, "a tensor is too large");
		return;
	}
	for (size_t i = 0; i < n; i++)
		if ((t == TT_F32 && !isfinite(((const float *)data)[i])) ||
		    (t == TT_F64 && !isfinite(((const double *)data)[i]))) {
			misuse(w, "a tensor holds a number that is not finite");
			break;
		}
	begin_value(w, key);
	msgpack_pack_map(&w->packer, 3);
	pack_str(w, "dtype");
	pack_str(w, tensor_type_name(t));
	pack_str(w, "shape");
	msgpack_pack_array(&w->packer, rank);
	for (uint32_t i = 0; i < rank; i++)
		msgpack_pack_uint64(&w->packer, shape[i]);
	pack_str(w, "data");
	msgpack_pack_bin(&w->packer, bytes);
	if (bytes)
		msgpack_pack_bin_body(&w->packer, data, bytes);
}

uint64_t put_digest(struct rec_writer *w, const char *key)
{
	size_t from = w->depth ? w->stack[0].at + 5 : 0;
	uint64_t d = digest_of(w->buf.data + from, w->buf.size - from, 0);
	put_uint(w, key, d);
	return d;
}

/* ---- the last record ---- */

int rec_write_end(struct rec_writer *w, struct err *e)
{
	uint64_t n = w->n_records, d = digest_value(w->digest);
	rec_begin(w, "end");
	put_uint(w, "records", n);
	put_uint(w, "digest", d);
	return rec_end(w, e);
}
