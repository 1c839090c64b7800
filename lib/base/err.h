/* err.h - how a library function says what went wrong.
 *
 * Library code never prints and never exits.  It returns 0 or -1 (readers 1, 0
 * or -1) and takes a `struct err *` as its last argument.  The first message
 * wins; callers prefix context.  Messages are lower case, without a full stop:
 * what is wrong first, after `; ` what would fix it. */
#ifndef HSDAG_BASE_ERR_H
#define HSDAG_BASE_ERR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Exit statuses of every program. */
enum exit_status {
	ST_OK = 0,      /* done */
	ST_RUNTIME = 1, /* input/output, device, memory */
	ST_USAGE = 2,   /* command line */
	ST_INPUT = 3    /* malformed, truncated or unsupported input */
};

struct err {
	int code;  /* enum exit_status; ST_OK while nothing went wrong */
	bool told; /* another program of the pipeline has said what: nothing is printed */
	char msg[1000];
};

#define ERR_INIT \
	{ \
		0, false, \
		{ \
			0 \
		} \
	}
#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

/* Record an error; returns -1 always.  An error already present is kept. */
int err_set(struct err *e, enum exit_status code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* As err_set, with ": " and the text of the current errno appended.  EPIPE: as err_unread, with this message. */
int err_sys(struct err *e, enum exit_status code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Behind a message that something is not here: where few files may be open, that may be why; else "". */
const char *err_few_files(void);

/* The reader of what is written has gone: it has had enough, or has said why it failed.  As err_set, and
 * nothing is printed. */
int err_unread(struct err *e);

/* Put "context: " in front of the message; returns -1 always. */
int err_prefix(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);

void err_clear(struct err *e);

/* For a switch in a loop over elements, which has no error to return: it met a value that it has no case for.  The first is
 * kept, whichever thread it was, until what ran the loop asks. */
#define MISSED(value) err_miss(__func__, (long long)(value))
void err_miss(const char *function, long long value);
/* 0, or -1 where something was missed since it was asked last. */
int err_missed(struct err *e) MUST_CHECK;

/* How many letters `a` and `b` differ by: put in, left out, other ones, neighbours changed over. */
unsigned err_distance(const char *a, const char *b);
/* May `a` be `b`, mistyped? */
bool err_is_near(const char *a, const char *b);

/* A name that is none of a closed set, and the one of them that may be meant: start with
 * {.name = NAME}, offer all of the set, then err_unknown. */
struct err_near {
	const char *name,
		*best; /* best: the caller's, and there until err_unknown; NULL: none is near */
	unsigned distance;
};
void err_offer(struct err_near *x, const char *candidate);

/* As err_set; behind the message "; did you mean 'BEST'?", where one is near, and what there is
 * (`known`, NULL: nothing is told). */
int err_unknown(struct err *e, enum exit_status code, const struct err_near *x, const char *known,
		const char *fmt, ...) PRINTF_LIKE(5, 6);

/* Copy `src` into `dst[cap]`: control bytes, those beyond ASCII too, and bytes that are
 * not valid UTF-8 become C escapes; quotes and backslashes stay.  A text that is too
 * long ends in "...": 4 * len + 4 bytes hold any.  Returns dst.  For subjects of
 * messages that come from outside. */
char *err_escape(char *dst, size_t cap, const char *src, size_t len);

#endif
