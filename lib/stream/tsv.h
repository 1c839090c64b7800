/* tsv.h - records as tab-separated lines: the text form that scripts and tests read.
 *
 * A column is a path into a record's map:
 *   lat_s               a value
 *   samples_s[3]        element 3 (from 0) of an array or tensor; of a matrix its row 3
 *   links[0].latency_s  an entry of a map
 *   :kind               the record's kind
 *   names[]             one line for each element instead of one for the record; several such
 *                       columns stand side by side, where one has ended its cells are empty
 * Numbers and bools are as in JSON.  A text stands without quotes; its control characters and
 * backslashes are written as \t, \n, \r, \\ and \xHH.  The elements of an array or tensor, whatever
 * its rank, have commas between them, and a comma inside such an element is \, .  A map, which has
 * no text form, and bytes are refused.  What a record does not have, and nil, is an empty cell. */
#ifndef HSDAG_STREAM_TSV_H
#define HSDAG_STREAM_TSV_H

#include <stdio.h>

#include "stream/rec.h"

struct tsv;

/* The columns of a list of paths with commas between them.  NULL: ST_USAGE. */
struct tsv *tsv_new(const char *paths, struct err *e) MUST_CHECK;
void tsv_free(struct tsv *t);

/* The lines of r on `out`.  -1 (ST_INPUT): a value has no text form, or is a malformed tensor. */
int tsv_record(struct tsv *t, const struct rec *r, FILE *out, struct err *e) MUST_CHECK;

/* After the records: a column whose first key none of them had, and that is none of `known`, words with
 * blanks between them, is ST_USAGE. */
int tsv_check(const struct tsv *t, const char *known, struct err *e) MUST_CHECK;

/* A text as a cell; s ends with NUL. */
void tsv_text(FILE *out, const char *s);

#endif
