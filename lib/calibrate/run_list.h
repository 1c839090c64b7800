/* run_list.h - the `run` records of a stream, as calibrations and tables of experiments read
 * them. */
#ifndef HSDAG_CALIBRATE_RUN_LIST_H
#define HSDAG_CALIBRATE_RUN_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/mem.h"
#include "stream/rec.h"

struct run_item {
	uint64_t sample; /* the placement's number in its stream, from 0 */
	const char *source;
	bool ok;
	const char *reason;  /* "" when ok; nothing below counts when not */
	double lat_s, ref_s; /* ref_s 0: not known */
	bool has_ref;
	uint64_t copies, copy_bytes;
	bool has_plan; /* measured: what follows is told */
	uint64_t in_host, steps;
	uint32_t n_samples, n_devices;
	const double *samples_s; /* (n_samples) */
	const double *busy_s;    /* (n_devices) */
	uint32_t n_loops;     /* kinds of short loops that were timed beside the samples; 0: none */
	const double *loop_s; /* (n_samples, n_devices, n_loops); 0: not known */
};

struct run_list {
	uint32_t n;
	struct run_item *item; /* (n) in the order of the stream */
	uint32_t room;         /* for so many items, of run_list_add */
};

/* From a record of kind "run"; memory from a. */
int run_item_decode(const struct rec *r, struct arena *a, struct run_item *out,
		    struct err *e) MUST_CHECK;

/* Is that a time whose ratios to others are numbers?  So are lat_s and samples_s of run items. */
bool time_is_usable(double s);

/* One more run at the end of l; memory from a. */
int run_list_add(struct run_list *l, const struct rec *r, struct arena *a,
		 struct err *e) MUST_CHECK;

/* All run records of the streams in a file ("-": standard input); memory from a. */
int run_list_read(const char *path, struct arena *a, struct run_list *out,
		  struct err *e) MUST_CHECK;

/* The fastest of a run's samples, and their median; not zero only when ok. */
double run_fastest(const struct run_item *r);
double run_median(const struct run_item *r);

/* A line with tabs between: sample source lat_s fastest median n_samples ref_s copies copy_bytes
 * in_host steps busy_s reason samples_s loop_s, several values with commas between them, "-"
 * where a record has none.  Fastest and median have six digits. */
void run_print(const struct run_item *r, FILE *out);

/* Its source as a cell. */
void run_print_source(const struct run_item *r, FILE *out);

/* The values x[n] with commas between them, "-" when there are none. */
void print_reals(FILE *out, const double *x, size_t n);

#endif
