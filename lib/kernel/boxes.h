/* boxes.h - boxes of detectors: overlap, and candidates in the order of their scores. */
#ifndef HSDAG_KERNEL_BOXES_H
#define HSDAG_KERNEL_BOXES_H

#include "kernel/kernel_impl.h"

/* A box with a score; index: where it came from. */
struct candidate {
	float score;
	int32_t index, label, batch;
	int32_t begin; /* soft suppression: kept boxes that it was compared with */
};

/* Sort by falling score, then rising index; with_sets: ties by batch, label, index. */
void boxes_sort(struct candidate *c, int64_t n);
void boxes_sort_sets(struct candidate *c, int64_t n);

/* Moves candidates to the front that are among the `most` with the best scores (< 0: all), and few
 * others; how many.  They are not sorted. */
int64_t boxes_best(struct candidate *c, int64_t n, int64_t most);

/* Intersection over union of two boxes (x0, y0, x1, y1), whose sides are longer by `offset` than
 * the difference of their ends (1: ends are pixels that belong to the box). */
float boxes_overlap(const float *a, const float *b, float offset);

/* Kept boxes (x0, y0, x1, y1, area), by where they lie (boxes_near.c).  The caller sets threshold and
 * offset. */
struct boxes_near {
	float threshold, offset;
	int n; /* stripes */
	double from, scale, widest;
	int64_t *start, *kept; /* room of each stripe, and how many are there */
	float *rows;
};
size_t boxes_near_bytes(int64_t n);
/* For n candidates, boxes `size` floats apart; none is kept yet. */
void boxes_near_init(struct boxes_near *b, void *memory, const struct candidate *c, int64_t n,
		     const float *boxes, int size);
void boxes_near_keep(struct boxes_near *b, const float *box);
/* Does a box overlap a kept one by more than the threshold? */
bool boxes_near_any(const struct boxes_near *b, const float *box);

/* Of the first n candidates, in their order, keep those that overlap none kept before by more than
 * `threshold`, at most `most` (< 0: any number).  Moves them to the front; their number. */
int64_t boxes_suppress(struct candidate *c, int64_t n, const float *boxes, float threshold,
		       float offset, int64_t most);

#endif
