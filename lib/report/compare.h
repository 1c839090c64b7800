/* compare.h - placements beside each other: what each took, how far that is from the bound and from the best single
 * device, and how long its method was looking for it. */
#ifndef HSDAG_REPORT_COMPARE_H
#define HSDAG_REPORT_COMPARE_H

#include "record/placerec.h"
#include "record/runrec.h"

struct compared_one {
	struct rollout_id id;
	const char *source;
	const char *device; /* of a single device's; else NULL */
	bool ran;           /* run is told */
	bool timed;
	double took_s;
	struct run_rec run;
};

struct comparison {
	struct compared_one *one;
	size_t n, cap;
	const char *const *names; /* (k) of the devices of the last placement */
	uint32_t k;
	double bound_s, bound_value; /* the largest that a placement told; 0: none did */
	bool simulated, measured;    /* there are such runs */
	struct arena *arena;
};

void comparison_init(struct comparison *c);
void comparison_release(struct comparison *c);
/* Take note of a record of a graph with n_sets sets; place and run matter.  -1: it is malformed. */
int comparison_take(struct comparison *c, const struct rec *r, struct err *e) MUST_CHECK;

/* What a row is about: a placement, the best single device where no row is its own, what no placement can beat. */
enum compare_kind { COMPARE_PLACEMENT, COMPARE_SINGLE, COMPARE_BOUND };

struct compare_row {
	enum compare_kind kind;
	char name[200];
	const char *why; /* it has no times: why; else NULL */
	double lat_s, lo_s, hi_s, value, of_bound, speedup,
		took_s; /* 0: not known; took_s: negative */
	uint32_t order; /* in the stream */
};

struct compare_table {
	struct compare_row *row; /* (n) the best first */
	uint32_t n;
	bool by_value, ranges, timed, whys;
};

/* Rows of all placements, the best first; marks: also of the bound and the best single device.  Memory from a; texts are c's. */
struct compare_table comparison_table(const struct comparison *c, bool marks, struct arena *a);

#endif
