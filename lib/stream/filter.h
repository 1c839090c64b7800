/* filter.h - what all filters share: input and output streams, the header with
 * its provenance chain, the end record, several streams one after another.
 *
 *   struct filter f;
 *   if (filter_open(&f, path, &common, argc, argv, &e) == 0)
 *           while ((k = filter_next(&f, &r, &e)) > 0)
 *                   if (k == FILTER_END) finish one stream, reset state, filter_end(&f, &e)
 *                   else a record: use it, filter_pass(&f, &r, &e) to keep it
 *   rc = filter_close(&f, k, &e);
 */
#ifndef HSDAG_STREAM_FILTER_H
#define HSDAG_STREAM_FILTER_H

#include "base/opt.h"
#include "stream/rec.h"
#include "stream/stages.h"

struct filter {
	struct rec_reader *in; /* NULL for a source */
	struct rec_writer *out;
	const struct opt_common *common;
	int argc;
	char **argv;
	struct stages stages; /* of the stream at hand, so far */
	int threads;          /* told in the header; 1 unless set before the first record */
};

enum { FILTER_RECORD = 1, FILTER_END = 2 };

/* Open `in_path` (NULL: a source without input) and the output.  SIGPIPE is
 * ignored: a vanished reader is an error of writing. */
int filter_open(struct filter *f, const char *in_path, const struct opt_common *c, int argc,
		char **argv, struct err *e) MUST_CHECK;

/* Next record.  hdr is handled here: copied with this program appended to its
 * chain.  FILTER_END: the end record of one stream was read; the caller writes what it
 * still has, then calls filter_end.  0: end of the input.  -1: error. */
int filter_next(struct filter *f, struct rec *r, struct err *e) MUST_CHECK;
int filter_pass(struct filter *f, const struct rec *r, struct err *e) MUST_CHECK;

/* A source writes its hdr with filter_begin; every stream ends with filter_end. */
int filter_begin(struct filter *f, struct err *e) MUST_CHECK;
int filter_end(struct filter *f, struct err *e) MUST_CHECK;

/* Close both; k is the last result of filter_next (< 0: failed, the output is
 * not committed).  Returns k < 0 ? -1 : 0, or -1 when closing fails. */
int filter_close(struct filter *f, int k, struct err *e) MUST_CHECK;

/* The end of main: opt_finish.  A program that failed tells the next one in the pipe, which then fails without a
 * message of its own: the first cause is said once. */
int filter_finish(int rc, const struct opt_common *c, struct err *e);

/* For the stages of a training loop.  Ctrl-C reaches every process of a pipeline, and
 * reinforce answers it by ending the loop in order: the others let the first SIGINT
 * pass, and die of the second. */
void filter_absorb_interrupt(void);

/* hdr for writers outside a filter (the params FIFO, checkpoints). */
int rec_write_hdr(struct rec_writer *w, const struct rec *from, const struct filter *f,
		  struct err *e) MUST_CHECK;

#endif
