/* format.h - an output format of placeout: from an answer to text.  The table of them is
 * formats.h. */
#ifndef HSDAG_REPORT_FORMAT_H
#define HSDAG_REPORT_FORMAT_H

#include <stdbool.h>
#include <stdio.h>

#include "graph/placed.h"
#include "record/devrec.h"
#include "record/costrec.h"
#include "report/answer.h"

struct trace;          /* trace.h */
struct history;        /* history.h */
struct comparison;     /* compare.h */
struct scheduled_list; /* scheduled.h */
struct screen;         /* screen.h */
struct traded;         /* traded.h */

/* Placements that a search ran, in their order: when, and how long they took. */
struct search_curve {
	uint32_t n;
	const double *at_s, *lat_s; /* (n) seconds since the search began */
};

/* Names of operations in the file that the model came from, and what they are called here: pairs of `name` and `here`.  Several may
 * have one operation. */
struct other_names {
	uint32_t n;
	const char **name, **here; /* (n) */
};

/* What a format may use.  All is borrowed. */
struct report_input {
	const struct answer *x;              /* the answer, and what was measured */
	const struct placed *p;              /* its placement, by nodes */
	const char *map;                     /* other names for devices (devicemap.h); NULL: none */
	const char *const *names;            /* (p->k) of devices, renamed */
	const double *flops;                 /* (n) operations of the nodes */
	const struct other_names *other;     /* of operations; NULL: none */
	const bool *constant;                /* (n) nodes that depend on constants alone */
	const struct devs *devs;             /* the stream's last devs record; NULL: none */
	const struct trace *trace;           /* filled only for a format that needs_trace */
	const struct history *history;       /* filled only for a format that needs_history */
	const struct comparison *comparison; /* filled only for a format that needs_comparison */
	const struct scheduled_list *others; /* filled only for a format that needs_others */
	const struct cost_rec
		*cost; /* what sets take, where such a format has it; NULL: not told */
	const struct placed_idle *idle;   /* of the graph, for placed_init */
	bool literal;                     /* constants are where they were placed */
	const struct search_curve *curve; /* NULL: not told */
	const struct traded *traded;      /* NULL: not told */
	const char *objective;            /* what was made small; NULL: the latency */
	const char *phases; /* of place and their seconds, as its report has them; NULL: not told */
	double search_s;    /* how long the search took; negative: not told */
	const struct screen *screen;    /* that the text is for */
	void (*warn)(const char *text); /* something a person should know */
};

struct report_format {
	const char *name;
	bool needs_comparison; /* it puts all placements beside each other */
	bool styled;           /* its text may have colours */
	const char *about;     /* for --help; lines of at most 66 columns */
	bool needs_trace;      /* it writes a run's schedule */
	bool needs_history;    /* it tells how the answer came about */
	bool needs_others;     /* it shows other placements beside the answer, and what sets take */
	bool tells_operations; /* why each operation is where it is: a schedule and what sets take, where they are told */
	bool plain; /* names of devices stand in its text as they are: they come escaped */
	/* 0: written; 1: written, and it names problems for which the placement cannot be carried
	 * out; -1: an error. */
	int (*write)(FILE *out, const struct report_input *in, struct err *e);
};
extern const struct report_format *const report_formats[]; /* NULL ends */

#endif
