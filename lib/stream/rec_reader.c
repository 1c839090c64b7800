/* rec_reader.c - records from a descriptor: waiting, framing, the rules of hdr and
 * end.  The only place where a program waits for input. */
#include "base/digest.h"
#include "stream/mp.h"
#include "stream/scan.h"
#include "base/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 16, MAX_KIND = 64 };
/* A buffer is kept from record to record up to this size. */
enum { KEPT = 16 << 20 };

struct rec_reader {
	int fd, watch;
	char name[200]; /* escaped, for messages */
	uint8_t *buf;
	size_t cap, start, len; /* bytes buf[start .. len) are not consumed */
	struct scan scan;       /* of the value at start */
	bool eof;
	bool scanned, handed_out; /* the value at start is complete; is the caller's record */
	uint64_t offset;          /* of buf[start] in the input */
	uint64_t index;           /* of the next record in its stream; 0: hdr is next */
	struct digest *digest;
	msgpack_zone zone;
	char kind[MAX_KIND + 1];
};

struct rec_reader *rec_reader_open(const char *path, int watch, struct err *e)
{
	char name[200];
	err_escape(name, sizeof name, path, strlen(path));
	int fd = STDIN_FILENO;
	if (strcmp(path, "-") != 0) {
		fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0) {
			err_sys(e, ST_RUNTIME, "cannot open '%s'", name);
			return NULL;
		}
	}
	struct stat st;
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		err_set(e, ST_RUNTIME, "cannot read '%s': it is a directory", name);
		close(fd);
		return NULL;
	}
	if (fd == STDIN_FILENO && isatty(fd)) {
		err_set(e, ST_USAGE, "standard input is a terminal; give a file or a pipe");
		return NULL;
	}
	struct rec_reader *r = MEM_NEW(struct rec_reader);
	r->fd = fd;
	r->watch = watch;
	memcpy(r->name, name, sizeof name);
	r->digest = digest_new();
	while (!msgpack_zone_init(&r->zone, MSGPACK_ZONE_CHUNK_SIZE))
		if (!mem_use_reserve())
			msg_out_of_memory(1, sizeof *r);
	scan_start(&r->scan);
	return r;
}

void rec_reader_close(struct rec_reader *r)
{
	if (!r)
		return;
	if (r->fd != STDIN_FILENO)
		close(r->fd);
	msgpack_zone_destroy(&r->zone);
	digest_free(r->digest);
	mem_free(r->buf);
	mem_free(r);
}

int rec_reader_fd(const struct rec_reader *r)
{
	return r->fd;
}

/* Wait until the input has something; -1: the reader of our own output has gone. */
static int wait_input(struct rec_reader *r, struct err *e)
{
	struct pollfd p[2] = {{.fd = r->fd, .events = POLLIN}, {.fd = r->watch, .events = 0}};
	while (!p[0].revents) {
		int n = poll(p, 2, -1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, ST_RUNTIME, "cannot wait for '%s'", r->name);
		if (r->watch >= 0 && (p[1].revents & (POLLERR | POLLHUP | POLLNVAL)))
			return err_unread(e);
	}
	return 0;
}

/* What is not consumed goes to the front of the buffer. */
static void move_rest(struct rec_reader *r)
{
	if (!r->start)
		return;
	memmove(r->buf, r->buf + r->start, r->len - r->start);
	r->len -= r->start;
	r->start = 0;
}

/* A record may be of any size, and memory for it be an answer. */
static int grow(struct rec_reader *r, size_t need, struct err *e)
{
	size_t cap = r->cap + r->cap / 2 > need ? r->cap + r->cap / 2 : need;
	uint8_t *buf = mem_try_resize(r->buf, cap);
	if (!buf)
		return err_set(e, ST_RUNTIME, "out of memory for record %llu of '%s'",
			       (unsigned long long)r->index, r->name);
	r->buf = buf;
	r->cap = cap;
	return 0;
}

/* Read what is there, at most about `want` bytes; sets eof at the end. */
static int fill(struct rec_reader *r, size_t want, struct err *e)
{
	move_rest(r);
	if (r->cap - r->len < want && grow(r, r->len + want, e) < 0)
		return -1;
	ssize_t n = read(r->fd, r->buf + r->len, r->cap - r->len);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n < 0)
		return err_sys(e, ST_RUNTIME, "cannot read '%s'", r->name);
	r->eof = n == 0;
	r->len += (size_t)n;
	return 0;
}

/* Make the value at start complete: 1, or 0 when the input ends, -1. */
static int complete(struct rec_reader *r, struct err *e)
{
	while (!r->scanned) {
		int k = r->start == r->len
				? 0
				: scan_value(&r->scan, r->buf + r->start, r->len - r->start, e);
		if (k < 0)
			return err_prefix(e, "malformed input '%s' at byte %llu", r->name,
					  (unsigned long long)(r->offset + r->scan.pos));
		if (k > 0) {
			r->scanned = true;
			break;
		}
		if (r->eof)
			return 0;
		if (wait_input(r, e) < 0 || fill(r, CHUNK, e) < 0)
			return -1;
	}
	return 1;
}

/* Let go of the record that was handed out, and of a large buffer that it alone needed. */
static void release(struct rec_reader *r)
{
	if (!r->handed_out)
		return;
	r->start += r->scan.pos;
	r->offset += r->scan.pos;
	r->handed_out = r->scanned = false;
	scan_start(&r->scan);
	if (r->cap > KEPT && r->len - r->start < KEPT) {
		move_rest(r);
		r->buf = mem_resize(r->buf, KEPT, 1);
		r->cap = KEPT;
	}
}

static int malformed(struct rec_reader *r, const char *what, struct err *e)
{
	err_set(e, ST_INPUT, "%s", what);
	return err_prefix(e, "malformed input '%s': record %llu (byte %llu)", r->name,
			  (unsigned long long)r->index, (unsigned long long)r->offset);
}

static bool begins(const uint8_t *s, size_t n, const char *with)
{
	size_t m = strlen(with);
	return n >= m && memcmp(s, with, m) == 0;
}

static bool begins_stream(const uint8_t *s, size_t n)
{
	return begins(s, n, "\x92\xa3hdr");
}

const char *rec_file_kind(const char *bytes, size_t n)
{
	const uint8_t *s = (const uint8_t *)bytes;
	if (begins_stream(s, n))
		return "this is a stream, as ir2dag and json2dag write; other programs read it";
	if (begins(s, n, "\xef\xbb\xbf"))
		s += 3, n -= 3;
	while (n && strchr(" \t\r\n", *s) && *s)
		s++, n--;
	if (begins(s, n, "<?xml") || begins(s, n, "<net"))
		return "this is XML as of OpenVINO IR; ir2dag reads it";
	if (n && (*s == '{' || *s == '['))
		return "this is JSON; json2dag reads cost graphs, placebase expert:FILE placements";
	if (begins(s, n, "PK\x03\x04"))
		return "this is a zip archive, as PyTorch saves; ovc or optimum-cli make OpenVINO "
		       "IR of models";
	/* ir_version and the producer's name, the first fields that exporters write */
	if (n > 2 && s[0] == 0x08 && s[1] < 32 && (s[2] == 0x12 || s[2] == 0x3a))
		return "this is ONNX; ovc makes OpenVINO IR of it, which ir2dag reads";
	return NULL;
}

/* Decode [kind, map] from the complete value of n bytes at start. */
static int decode(struct rec_reader *r, size_t n, struct rec *out, struct err *e)
{
	msgpack_object o;
	size_t off = 0;
	msgpack_zone_clear(&r->zone);
	msgpack_unpack_return rc =
		msgpack_unpack((const char *)r->buf + r->start, n, &off, &r->zone, &o);
	if (rc == MSGPACK_UNPACK_NOMEM_ERROR)
		return err_set(e, ST_RUNTIME, "out of memory for record %llu of '%s'",
			       (unsigned long long)r->index, r->name);
	if (rc != MSGPACK_UNPACK_SUCCESS || off != n)
		return malformed(r, "not a MessagePack value", e);
	const msgpack_object *item = o.via.array.ptr;
	if (o.type != MSGPACK_OBJECT_ARRAY || o.via.array.size != 2 ||
	    item[0].type != MSGPACK_OBJECT_STR || item[1].type != MSGPACK_OBJECT_MAP)
		return malformed(r, "not a record; expected [kind, map]", e);
	size_t k = item[0].via.str.size;
	if (k == 0 || k > MAX_KIND)
		return malformed(r, "the record's kind is not of 1 to 64 bytes", e);
	memcpy(r->kind, item[0].via.str.ptr, k);
	r->kind[k] = '\0';
	if (strspn(r->kind, "abcdefghijklmnopqrstuvwxyz0123456789_-.") != k)
		return malformed(r, "the record's kind has a character that is not allowed", e);
	if (mp_check(&item[1], e) < 0)
		return malformed(r, "", e);
	/* The map is the second item of an array in the zone: it lives until the next record. */
	*out = (struct rec){r->kind, mp_val(&item[1]), r->buf + r->start, n, r->index, r->offset};
	return 0;
}

static int check_hdr(struct rec_reader *r, const struct rec *h, struct err *e)
{
	uint64_t version;
	const struct val *chain;
	if (!rec_is(h, "hdr"))
		return malformed(r, "a stream begins with a record 'hdr'", e);
	if (get_uint(h->map, "version", 0, UINT64_MAX, &version, e) < 0 ||
	    get_list(h->map, "chain", &chain, e) < 0)
		return malformed(r, "", e);
	if (version != STREAM_VERSION)
		return malformed(r, "the stream has another version; this program reads version 1",
				 e);
	digest_reset(r->digest);
	return 0;
}

static int check_end(struct rec_reader *r, const struct rec *end, struct err *e)
{
	uint64_t n, digest;
	if (get_uint(end->map, "records", 0, UINT64_MAX, &n, e) < 0 ||
	    get_uint(end->map, "digest", 0, UINT64_MAX, &digest, e) < 0)
		return malformed(r, "", e);
	if (n != r->index - 1)
		return malformed(r, "the end record counts other records than were read", e);
	if (digest != digest_value(r->digest))
		return malformed(r, "the digest does not match; the stream was damaged", e);
	return 0;
}

/* What a program left that failed: where it wrote into this pipe it has just said why. */
static int failed_in_front(const struct rec_reader *r, struct err *e)
{
	struct stat st;
	err_set(e, ST_INPUT, "input '%s' ends where the program that wrote it failed", r->name);
	e->told = fstat(r->fd, &st) == 0 && S_ISFIFO(st.st_mode);
	return -1;
}

int rec_next(struct rec_reader *r, struct rec *out, struct err *e)
{
	release(r);
	int k = complete(r, e);
	if (k >= 0 && r->offset == 0 && r->len > r->start &&
	    !begins_stream(r->buf + r->start, r->len - r->start)) {
		const char *is = rec_file_kind((const char *)r->buf + r->start, r->len - r->start);
		if (is)
			return err_set(e, ST_INPUT, "input '%s' is no stream; %s", r->name, is);
	}
	if (k < 0)
		return -1;
	if (k == 0) {
		if (r->start == r->len && r->index == 0 && r->offset > 0)
			return 0;
		if (r->offset == 0 && r->start == r->len)
			return err_set(e, ST_INPUT, "empty input '%s'; expected a stream", r->name);
		return err_set(e, ST_INPUT,
			       "truncated input '%s': no end record after %llu records (byte %llu)",
			       r->name, (unsigned long long)r->index,
			       (unsigned long long)(r->offset + (r->len - r->start)));
	}
	r->handed_out = true;
	if (decode(r, r->scan.pos, out, e) < 0)
		return -1;
	if (rec_is(out, "fail"))
		return failed_in_front(r, e);
	if (r->index == 0) {
		if (check_hdr(r, out, e) < 0)
			return -1;
		r->index = 1;
	} else if (rec_is(out, "hdr")) {
		return malformed(r, "a second 'hdr' before 'end'", e);
	} else if (rec_is(out, "end")) {
		if (check_end(r, out, e) < 0)
			return -1;
		r->index = 0;
	} else {
		digest_add(r->digest, out->bytes, out->n_bytes);
		r->index++;
	}
	return 1;
}

bool rec_is(const struct rec *r, const char *kind)
{
	return strcmp(r->kind, kind) == 0;
}
