/* rec.h - records of a stream: reading, fields, writing.  docs/reference/stream.md is the
 * normative description of the bytes. */
#ifndef HSDAG_STREAM_REC_H
#define HSDAG_STREAM_REC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

#define STREAM_VERSION 1

/* ---- reading ---- */

struct val; /* a decoded MessagePack value; borrowed from its record */

struct rec {
	const char *kind;
	const struct val *map;
	const uint8_t *bytes; /* the record as it stood on the wire */
	size_t n_bytes;
	uint64_t index;  /* 0 is hdr */
	uint64_t offset; /* of its first byte in the input */
};

struct rec_reader;

/* What n bytes are that begin a file, and who reads it, for what expected another kind of file; NULL: nothing that is known. */
const char *rec_file_kind(const char *bytes, size_t n);

/* Read from `path` ("-": standard input; FIFOs are opened without blocking).
 * `watch` is a descriptor, or -1, whose reader's disappearance ends a wait with
 * an error: normally the program's output.  NULL on error. */
struct rec_reader *rec_reader_open(const char *path, int watch, struct err *e) MUST_CHECK;
void rec_reader_close(struct rec_reader *r);

/* Next record: 1, valid until the next call; 0 at the end of the input, which
 * is only where a stream has ended; -1 on malformed or truncated input
 * (ST_INPUT) or a failed read (ST_RUNTIME).  hdr and end records are returned too
 * (`rec_is`); their rules are already checked. */
int rec_next(struct rec_reader *r, struct rec *out, struct err *e) MUST_CHECK;
bool rec_is(const struct rec *r, const char *kind);
int rec_reader_fd(const struct rec_reader *r);

/* A copy that lives until rec_drop (which takes NULL); NULL: no memory. */
struct rec *rec_keep(const struct rec *r);
void rec_drop(struct rec *r);

/* ---- values ---- */

enum val_type { VAL_NIL, VAL_BOOL, VAL_INT, VAL_REAL, VAL_STR, VAL_BIN, VAL_ARRAY, VAL_MAP };
enum val_type val_type(const struct val *v);
const struct val *val_get(const struct val *map, const char *key); /* NULL when absent */
size_t val_count(const struct val *v);                             /* of an array or map; else 0 */
const struct val *val_at(const struct val *array, size_t i);
const struct val *val_key_at(const struct val *map, size_t i);
const struct val *val_value_at(const struct val *map, size_t i);
bool val_bytes(const struct val *v, const char **s, size_t *n); /* of a str or bin */
bool val_real(const struct val *v, double *out);                /* of an int or real */
bool val_int(const struct val *v, int64_t *out);                /* false when beyond int64 */
bool val_uint(const struct val *v, uint64_t *out);
bool val_bool(const struct val *v, bool *out);

/* ---- fields: required keys of a map, checked; -1 names the key ---- */

int get_uint(const struct val *map, const char *key, uint64_t lo, uint64_t hi, uint64_t *out,
	     struct err *e) MUST_CHECK;
/* From lo to 2^32-1. */
int get_u32(const struct val *map, const char *key, uint32_t lo, uint32_t *out,
	    struct err *e) MUST_CHECK;
int get_int(const struct val *map, const char *key, int64_t lo, int64_t hi, int64_t *out,
	    struct err *e) MUST_CHECK;
int get_real(const struct val *map, const char *key, double *out, struct err *e) MUST_CHECK;
int get_bool(const struct val *map, const char *key, bool *out, struct err *e) MUST_CHECK;
/* NUL-terminated copy in a; text with a NUL inside is refused. */
int get_text(const struct val *map, const char *key, struct arena *a, const char **out,
	     struct err *e) MUST_CHECK;
/* Array of str; *n in: expected count or SIZE_MAX, out: count. */
int get_texts(const struct val *map, const char *key, struct arena *a, size_t *n, const char ***out,
	      struct err *e) MUST_CHECK;
int get_map(const struct val *map, const char *key, const struct val **out,
	    struct err *e) MUST_CHECK;
int get_list(const struct val *map, const char *key, const struct val **out,
	     struct err *e) MUST_CHECK;

enum tensor_type {
	TT_U8,
	TT_I8,
	TT_U16,
	TT_I16,
	TT_U32,
	TT_I32,
	TT_U64,
	TT_I64,
	TT_F32,
	TT_F64,
	TT_COUNT
};
const char *tensor_type_name(enum tensor_type t); /* "f32" */
size_t tensor_type_bytes(enum tensor_type t);

enum { TENSOR_MAX_RANK = 8 };
struct tensor_view {
	enum tensor_type type;
	uint32_t rank;
	uint64_t shape[TENSOR_MAX_RANK];
	size_t n;            /* elements */
	const uint8_t *data; /* little-endian, NOT aligned; borrowed from the record */
};
int val_tensor(const struct val *v, struct tensor_view *t, struct err *e) MUST_CHECK;
bool val_is_tensor(const struct val *v);

/* Aligned copy in a of a tensor of exactly this type and rank.  shape[i] in:
 * expected size or UINT64_MAX for any; out: the size. */
int get_tensor(const struct val *map, const char *key, enum tensor_type t, uint32_t rank,
	       uint64_t *shape, struct arena *a, void *out_data, struct err *e) MUST_CHECK;

/* ---- writing ---- */

struct rec_writer;

/* Write to `path` ("-": standard output).  Binary output to a terminal is refused.  A file takes
 * its name by rec_writer_close with commit (newfile.h); a FIFO is opened without blocking,
 * waiting while `watch_reader` (may be NULL) has not ended. */
struct rec_writer *rec_writer_open(const char *path, struct rec_reader *watch_reader,
				   struct err *e) MUST_CHECK;
int rec_writer_close(struct rec_writer *w, bool commit, struct err *e);
/* Into a pipe at fd, and nothing else: the program that writes there has failed and has said why.  Its reader
 * need not complain.  Errors are ignored. */
void rec_write_failed(int fd);
int rec_writer_fd(const struct rec_writer *w);
/* False when the reader of this output has vanished. */
bool rec_writer_alive(const struct rec_writer *w);

/* A record: rec_begin, put_* for its keys, rec_end, which writes and flushes it.
 * The put_* calls never fail on their own; a non-finite number or a misuse is
 * reported by rec_end. */
void rec_begin(struct rec_writer *w, const char *kind);
int rec_end(struct rec_writer *w, struct err *e) MUST_CHECK;

/* Inside a map `key` is the key; inside an array it is NULL. */
void put_bool(struct rec_writer *w, const char *key, bool v);
void put_int(struct rec_writer *w, const char *key, int64_t v);
void put_uint(struct rec_writer *w, const char *key, uint64_t v);
void put_real(struct rec_writer *w, const char *key, double v);
void put_text(struct rec_writer *w, const char *key, const char *s);
void put_texts(struct rec_writer *w, const char *key, const char *const *s, size_t n);
void put_val(struct rec_writer *w, const char *key, const struct val *v);
/* The entries of a map but for those of the keys in `except` (NULL ends); scratch from a. */
void put_entries(struct rec_writer *w, const struct val *map, const char *const *except,
		 struct arena *a);
void put_map_begin(struct rec_writer *w, const char *key);
void put_map_end(struct rec_writer *w);
void put_list_begin(struct rec_writer *w, const char *key, size_t n); /* n values follow */
void put_tensor(struct rec_writer *w, const char *key, enum tensor_type t, uint32_t rank,
		const uint64_t *shape, const void *data);
#define put_vector(w, key, t, n, data) put_tensor(w, key, t, 1, (const uint64_t[]){n}, data)
#define put_matrix(w, key, t, r, c, data) put_tensor(w, key, t, 2, (const uint64_t[]){r, c}, data)
/* XXH64 of the entries of the current record so far, as key; returned too. */
uint64_t put_digest(struct rec_writer *w, const char *key);

/* The end record: count and digest of what was written since hdr. */
int rec_write_end(struct rec_writer *w, struct err *e) MUST_CHECK;

/* Copy a record as it stands. */
int rec_copy(struct rec_writer *w, const struct rec *r, struct err *e) MUST_CHECK;

#endif
