/* json_read.h - JSON text as the values that records are made of, so that one set of
 * accessors (rec.h) serves both. */
#ifndef HSDAG_STREAM_JSON_READ_H
#define HSDAG_STREAM_JSON_READ_H

#include "stream/rec.h"

/* The one JSON value in the file at `path` ("-": standard input); memory from a.  Texts have no NUL
 * inside, numbers are finite.  NULL: ST_RUNTIME when it cannot be read, ST_INPUT when it is empty,
 * larger than 1 GiB, not JSON (RFC 8259; the message has line and column), has a key twice in one
 * object, a number beyond double or an integer beyond int64, or is nested deeper than 2048. */
const struct val *json_read(const char *path, struct arena *a, struct err *e) MUST_CHECK;

/* Blanks for the byte order mark that a text of n bytes begins with, if it does. */
void json_blank_mark(char *text, size_t n);

/* Its two halves: the n > 0 bytes of a file, the caller's (mem_free); and what they are as JSON, text being written to, and
 * messages without the file's name. */
int json_file(const char *path, char **text, size_t *n, struct err *e) MUST_CHECK;
const struct val *json_parse(char *text, size_t n, struct arena *a, struct err *e) MUST_CHECK;

#endif
