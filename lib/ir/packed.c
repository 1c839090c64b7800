/* packed.c - streaming decompression of weights by liblzma, zlib and libzstd. */
#include "ir/packed.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <lzma.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"

enum {
	BLOCK = 1 << 16,        /* bytes that are read, and decompressed, at a time */
	DECODER_LOG_BYTES = 28, /* what a decoder may need: 256 MiB */
	ZSTD_LOG_BYTES = 27,    /* the largest window of zstd that is not --ultra --long */
};

/* What is still to be read and to be filled. */
struct flow {
	const uint8_t *in;
	size_t n_in;
	uint8_t *out;
	size_t n_out;
	bool last; /* no input comes after in */
};

/* One decoder: `go` moves bytes from in to out and returns 1 when everything was decompressed, 0 when
 * it wants more input or room, -1 with *why when it cannot go on. */
struct decoder {
	const char *suffix;
	void *(*start)(void);
	int (*go)(void *state, struct flow *f, const char **why);
	void (*end)(void *state);
};

/* ---- xz ---- */

static void *xz_start(void)
{
	lzma_stream *s = MEM_NEW(lzma_stream);
	*s = (lzma_stream)LZMA_STREAM_INIT;
	if (lzma_stream_decoder(s, UINT64_C(1) << DECODER_LOG_BYTES, LZMA_CONCATENATED) == LZMA_OK)
		return s;
	mem_free(s);
	return NULL;
}

static int xz_go(void *state, struct flow *f, const char **why)
{
	lzma_stream *s = state;
	s->next_in = f->in, s->avail_in = f->n_in;
	s->next_out = f->out, s->avail_out = f->n_out;
	lzma_ret rc = lzma_code(s, f->last ? LZMA_FINISH : LZMA_RUN);
	f->in = s->next_in, f->n_in = s->avail_in;
	f->out = s->next_out, f->n_out = s->avail_out;
	if (rc == LZMA_STREAM_END)
		return 1;
	if (rc == LZMA_OK || (rc == LZMA_BUF_ERROR && !f->last))
		return 0;
	*why = rc == LZMA_BUF_ERROR        ? "it is truncated"
	       : rc == LZMA_MEMLIMIT_ERROR ? "decompressing it takes more than 256 MiB of memory"
	       : rc == LZMA_FORMAT_ERROR   ? "it is no xz file"
	       : rc == LZMA_MEM_ERROR      ? "out of memory"
					   : "it is damaged";
	return -1;
}

static void xz_end(void *state)
{
	lzma_end(state);
	mem_free(state);
}

/* ---- gzip: one or several members, as gzip -d takes them ---- */

struct gz {
	z_stream stream;
	bool within; /* a member has not ended, or none has begun */
};

static void *gz_start(void)
{
	struct gz *z = MEM_NEW(struct gz);
	*z = (struct gz){.within = true};
	if (inflateInit2(&z->stream, MAX_WBITS + 16) == Z_OK)
		return z;
	mem_free(z);
	return NULL;
}

static int gz_go(void *state, struct flow *f, const char **why)
{
	struct gz *z = state;
	if (f->n_in == 0 && f->last && !z->within)
		return 1;
	if (!z->within && inflateReset(&z->stream) != Z_OK)
		return -1;
	z_stream *s = &z->stream;
	s->next_in = (z_const Bytef *)f->in, s->avail_in = (uInt)f->n_in;
	s->next_out = f->out, s->avail_out = (uInt)f->n_out;
	int rc = inflate(s, Z_NO_FLUSH);
	f->in = s->next_in, f->n_in = s->avail_in;
	f->out = s->next_out, f->n_out = s->avail_out;
	z->within = rc != Z_STREAM_END;
	if (rc == Z_OK || rc == Z_STREAM_END || (rc == Z_BUF_ERROR && !f->last))
		return 0;
	*why = rc == Z_BUF_ERROR   ? "it is truncated"
	       : rc == Z_MEM_ERROR ? "out of memory"
				   : "it is damaged, or no gzip file";
	return -1;
}

static void gz_end(void *state)
{
	struct gz *z = state;
	inflateEnd(&z->stream);
	mem_free(z);
}

/* ---- zstd ---- */

struct zst {
	ZSTD_DStream *stream;
	bool within; /* a frame has not ended, or none has begun */
};

static void *zst_start(void)
{
	struct zst *z = MEM_NEW(struct zst);
	*z = (struct zst){ZSTD_createDStream(), true};
	if (z->stream &&
	    !ZSTD_isError(ZSTD_DCtx_setParameter(z->stream, ZSTD_d_windowLogMax, ZSTD_LOG_BYTES)))
		return z;
	ZSTD_freeDStream(z->stream);
	mem_free(z);
	return NULL;
}

static int zst_go(void *state, struct flow *f, const char **why)
{
	struct zst *z = state;
	ZSTD_inBuffer in = {f->in, f->n_in, 0};
	ZSTD_outBuffer out = {f->out, f->n_out, 0};
	if (f->n_in == 0 && f->last && !z->within)
		return 1;
	size_t rc = ZSTD_decompressStream(z->stream, &out, &in);
	f->in += in.pos, f->n_in -= in.pos;
	f->out += out.pos, f->n_out -= out.pos;
	if (ZSTD_isError(rc)) {
		*why = ZSTD_getErrorName(rc);
		return -1;
	}
	z->within = rc != 0;
	if (z->within && f->last && f->n_in == 0 && out.pos == 0) {
		*why = "it is truncated";
		return -1;
	}
	return 0;
}

static void zst_end(void *state)
{
	struct zst *z = state;
	ZSTD_freeDStream(z->stream);
	mem_free(z);
}

/* ---- the table ---- */

static const struct decoder decoders[] = {
	{".xz", xz_start, xz_go, xz_end},
	{".gz", gz_start, gz_go, gz_end},
	{".zst", zst_start, zst_go, zst_end},
};
enum { N_DECODERS = sizeof decoders / sizeof decoders[0] };

const char *const packed_suffix[] = {".xz", ".gz", ".zst", NULL};

static const struct decoder *decoder_of(const char *path)
{
	size_t n = strlen(path);
	for (int i = 0; i < N_DECODERS; i++) {
		size_t k = strlen(decoders[i].suffix);
		if (n > k && strcmp(path + n - k, decoders[i].suffix) == 0)
			return &decoders[i];
	}
	return NULL;
}

bool packed_is(const char *path)
{
	return decoder_of(path) != NULL;
}

/* ---- from file to file ---- */

/* n bytes at the end of `out`; a block of zeros is a hole. */
static bool put(int out, const uint8_t *block, size_t n)
{
	if (n == BLOCK && block[0] == 0 && memcmp(block, block + 1, n - 1) == 0)
		return lseek(out, BLOCK, SEEK_CUR) >= 0;
	for (size_t done = 0; done < n;) {
		ssize_t k = write(out, block + done, n - done);
		if (k < 0 && errno != EINTR)
			return false;
		done += k > 0 ? (size_t)k : 0;
	}
	return true;
}

struct expansion {
	const char *name; /* of the packed file, quoted */
	int in, out;
	uint64_t most, bytes;
	uint8_t *read, *made; /* (BLOCK) each */
};

/* What was made goes to the file, when the block is full or nothing comes behind it. */
static int flush_made(struct expansion *x, struct flow *f, bool ended, struct err *e)
{
	size_t n = BLOCK - f->n_out;
	if (n == 0 || (n < BLOCK && !ended))
		return 0;
	if (n > x->most - x->bytes)
		return err_set(e, ST_INPUT,
			       "'%s' holds more than the %" PRIu64 " bytes that the model can use",
			       x->name, x->most);
	if (!put(x->out, x->made, n))
		return err_sys(e, ST_RUNTIME, "cannot write what '%s' holds", x->name);
	x->bytes += n;
	f->out = x->made, f->n_out = BLOCK;
	return 0;
}

static int expand(struct expansion *x, const struct decoder *d, void *state, struct err *e)
{
	struct flow f = {.out = x->made, .n_out = BLOCK};
	const char *why = "it is damaged";
	for (int ended = 0; !ended;) {
		if (f.n_in == 0 && !f.last) {
			ssize_t n = read(x->in, x->read, BLOCK);
			if (n < 0)
				return err_sys(e, ST_RUNTIME, "cannot read '%s'", x->name);
			f.in = x->read, f.n_in = (size_t)n, f.last = n == 0;
		}
		ended = d->go(state, &f, &why);
		if (ended < 0)
			return err_set(e, ST_INPUT, "cannot decompress '%s': %s", x->name, why);
		if (flush_made(x, &f, ended, e) < 0)
			return -1;
	}
	if (ftruncate(x->out, (off_t)x->bytes) < 0)
		return err_sys(e, ST_RUNTIME, "cannot write what '%s' holds", x->name);
	return 0;
}

int packed_expand(const char *path, int out, uint64_t most, struct err *e)
{
	const struct decoder *d = decoder_of(path);
	char name[300];
	err_escape(name, sizeof name, path, strlen(path));
	struct expansion x = {.name = name, .out = out, .most = most};
	x.in = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	if (x.in < 0)
		return err_sys(e, ST_RUNTIME, "cannot open weights '%s'", name);
	int rc = 0;
	if (fstat(x.in, &st) < 0)
		rc = err_sys(e, ST_RUNTIME, "cannot read weights '%s'", name);
	else if (!S_ISREG(st.st_mode))
		rc = err_set(e, ST_INPUT, "weights '%s' are not a regular file", name);
	void *state = rc == 0 ? d->start() : NULL;
	if (rc == 0 && !state)
		rc = err_set(e, ST_RUNTIME, "cannot decompress '%s': out of memory", name);
	if (state) {
		x.read = mem_alloc(BLOCK, 1);
		x.made = mem_alloc(BLOCK, 1);
		rc = expand(&x, d, state, e);
		mem_free(x.read);
		mem_free(x.made);
		d->end(state);
	}
	close(x.in);
	return rc;
}
