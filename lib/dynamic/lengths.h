/* lengths.h - a histogram of lists of shapes, and a few of them that stand for all.
 *
 * What a placement takes is taken to be linear between two neighbours of the few.  The mean over all lengths is then the mean
 * over the few, each with its own weight and of each length between two a share of its weight, the larger the closer it is.  The few
 * are those with which the sum of weight x (t - a)(b - t) over lengths t between neighbours a and b is the least: what is
 * missed of a time that grows with the square of the length.  The first, the last and, where a percentile counts, the one at which
 * it is reached are among them, so that a time that grows with the length has its percentile there. */
#ifndef HSDAG_DYNAMIC_LENGTHS_H
#define HSDAG_DYNAMIC_LENGTHS_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

struct length {
	const char *shapes; /* as shapes_parse reads them */
	double weight;
	uint32_t
		n_between; /* of the few: lengths between it and the next one, which are not among them ... */
	double between; /* ... and their weight */
};

struct lengths {
	uint32_t n;
	struct length *v; /* (n) in an arena */
};

/* The file's lines: shapes without blanks and, behind blanks or a tab, a weight above 0 (else 1).  Empty lines and those that begin with #
 * do not count; equal shapes are one.  ST_RUNTIME: it cannot be read; ST_INPUT: what is wrong with which line. */
int lengths_read(const char *path, struct arena *a, struct lengths *out, struct err *e) MUST_CHECK;

/* At most `most`, > 2, of them, from the least to the largest; all, as they come, where there are no more.  over: as in
 * graph.h.  ST_INPUT: they are not of the same inputs, or not in one order, each at least as large in all dims as the one before. */
int lengths_merge(const struct lengths *x, uint32_t most, double over, struct arena *a,
		  struct lengths *out, struct err *e) MUST_CHECK;

#endif
