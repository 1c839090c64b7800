/* cpu_boxes.c - see cpu_boxes.h. */
#include "kernel/cpu_boxes.h"

#include <stdlib.h>

static int by_score(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int by_score_sets(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	if (x->batch != y->batch)
		return x->batch < y->batch ? -1 : 1;
	if (x->label != y->label)
		return x->label < y->label ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

void boxes_sort(struct candidate *c, int64_t n)
{
	if (n > 1)
		qsort(c, (size_t)n, sizeof *c, by_score);
}

void boxes_sort_sets(struct candidate *c, int64_t n)
{
	if (n > 1)
		qsort(c, (size_t)n, sizeof *c, by_score_sets);
}

static float greater(float a, float b)
{
	return a > b ? a : b;
}

static float lesser(float a, float b)
{
	return a < b ? a : b;
}

float boxes_overlap(const float *a, const float *b, float offset)
{
	float area_a = (a[2] - a[0] + offset) * (a[3] - a[1] + offset);
	float area_b = (b[2] - b[0] + offset) * (b[3] - b[1] + offset);
	float w = lesser(a[2], b[2]) - greater(a[0], b[0]) + offset;
	float h = lesser(a[3], b[3]) - greater(a[1], b[1]) + offset;
	if (!(w > 0) || !(h > 0) || b[0] > a[2] || b[2] < a[0] || b[1] > a[3] || b[3] < a[1])
		return 0;
	return w * h / (area_a + area_b - w * h);
}

int64_t boxes_suppress(struct candidate *c, int64_t n, const float *boxes, float threshold,
		       float offset, int64_t most)
{
	int64_t kept = 0;
	for (int64_t i = 0; i < n && (most < 0 || kept < most); i++) {
		int64_t j = 0;
		while (j < kept && boxes_overlap(boxes + 4 * c[i].index, boxes + 4 * c[j].index,
						 offset) <= threshold)
			j++;
		if (j == kept)
			c[kept++] = c[i];
	}
	return kept;
}
