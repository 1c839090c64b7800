/* opt.h - command lines: one table gives parsing, range checks, --help and --help-all.
 *
 * Every program also takes -o/--output FILE, -v/--verbose (repeatable),
 * -h/--help, --help-all and --version, and those that draw random numbers --seed N.
 *
 * --help is one screen: usage, the first ten options of the table, a line each, and an example.  So what is
 * used most stands first in a table.  --help-all is all there is; man pages and completion come from it. */
#ifndef HSDAG_BASE_OPT_H
#define HSDAG_BASE_OPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { OPT_MAX_TEXTS = 64 };

enum opt_kind {
	OPT_FLAG,   /* bool *; presence sets it, --no-NAME clears it */
	OPT_INT,    /* int64_t *; lo <= value <= hi */
	OPT_REAL,   /* double *; lo <= value <= hi, finite */
	OPT_TEXT,   /* const char ** (borrowed from argv) */
	OPT_CHOICE, /* int *; index into choices[] (NULL-terminated) */
	OPT_TEXTS   /* struct opt_texts *; each time one more */
};

struct opt_texts {
	int n;
	const char *v[OPT_MAX_TEXTS]; /* borrowed from argv */
};

struct opt {
	const char *name; /* long name without dashes; NULL ends the table */
	char letter;      /* 0: none */
	enum opt_kind kind;
	void *dst;        /* holds the default before parsing; --help prints it */
	const char *arg;  /* name of the argument in --help */
	const char *help; /* one sentence; --help breaks its lines */
	double lo, hi;    /* OPT_INT, OPT_REAL; both 0: only the type's range */
	const char *const *choices;
	bool *given; /* optional: set when the option was present */
};

struct opt_common {
	const char *output; /* "-": standard output */
	int64_t seed;
	int verbose;
};
#define OPT_COMMON_INIT \
	{ \
		"-", 1, 0 \
	}

/* A verb of a program that has several, as in "devrun probe".  A table ends with a NULL name. */
struct opt_verb {
	const char *name;    /* "probe" */
	const char *summary; /* one line */
	const char *example;
};

struct opt_program {
	const char *name;    /* "dagfeat" */
	const char *verb;    /* argv[1], which is then not parsed; NULL: no verb is given */
	const char *summary; /* one line */
	const char *args;    /* positional arguments as in usage, e.g. "[FILE]" */
	int min_args, max_args;
	bool has_seed, no_output;
	const struct opt *opts;
	const struct opt_verb *verbs; /* --help shows these instead of the options; may be NULL */
	void (*print_details)(void);  /* after the options, what is made up; may be NULL */
	const char *details;          /* then these paragraphs (opt_print); may be NULL */
	void (*print_list)(void);     /* --list prints the METHODs; NULL: there are none */
	const char *example;          /* one or more lines */
};

/* The place in `verbs` of the verb that argv[1] names; -1: argv[1] is something else, or not there. */
int opt_verb(const struct opt_verb *verbs, int argc, char **argv);

/* Parse argv.  Returns 1 to go on (positional arguments are argv[*first] ..
 * argv[argc - 1], at most max_args of them), 0 when --help, --help-all, --version or --list
 * was printed, -1 with a usage error (ST_USAGE).  Sets the program name and
 * verbosity for messages. */
int opt_parse(const struct opt_program *p, struct opt_common *c, int argc, char **argv, int *first,
	      struct err *e) MUST_CHECK;

/* The argument of the last --name ARG or --name=ARG, before argv is parsed: for an option that
 * decides which others there are.  NULL: there is none, or it is abbreviated. */
const char *opt_peek(int argc, char **argv, const char *name);

/* Print text as --help does: lines that begin with a blank as they are, paragraphs of others
 * with lines of 80 columns. */
void opt_print(const char *text);

/* The end of main: 0 or the error's status, with the message printed, and
 * standard output closed and checked (a full disk is noticed). */
int opt_finish(int rc, struct err *e);

/* Whole-string number parsing with range check; `what` names the subject. */
int opt_int(const char *s, const char *what, int64_t lo, int64_t hi, int64_t *out,
	    struct err *e) MUST_CHECK;
int opt_real(const char *s, const char *what, double lo, double hi, double *out,
	     struct err *e) MUST_CHECK;

#endif
