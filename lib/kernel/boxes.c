/* boxes.c - see boxes.h. */
#include "kernel/boxes.h"
#include "base/mem.h"

#include <stdlib.h>

/* Falls with the score; not a number comes last or first. */
static uint32_t rank_of(const struct candidate *c)
{
	union {
		float f;
		uint32_t u;
	} x = {c->score + 0.0f}; /* no -0 */
	return x.u >> 31 ? x.u : ~x.u & 0x7fffffff;
}

/* Sets: ties by batch and label before index. */
static inline bool before(bool sets, const struct candidate *a, const struct candidate *b)
{
	uint32_t x = rank_of(a), y = rank_of(b);
	if (x != y)
		return x < y;
	if (sets && a->batch != b->batch)
		return a->batch < b->batch;
	if (sets && a->label != b->label)
		return a->label < b->label;
	return a->index < b->index;
}

static int by_score(const void *a, const void *b)
{
	return before(false, b, a) - before(false, a, b);
}

static int by_score_sets(const void *a, const void *b)
{
	return before(true, b, a) - before(true, a, b);
}

static void swap(struct candidate *a, struct candidate *b)
{
	struct candidate t = *a;
	*a = *b;
	*b = t;
}

static inline void insert_sort(bool sets, struct candidate *c, int64_t n)
{
	for (int64_t i = 1; i < n; i++) {
		struct candidate t = c[i];
		int64_t j = i;
		for (; j > 0 && before(sets, &t, &c[j - 1]); j--)
			c[j] = c[j - 1];
		c[j] = t;
	}
}

/* Quicksort with a comparison that is compiled in; qsort, whose time has a bound, for what `depth`
 * divisions have not made small. */
static void sort(bool sets, struct candidate *c, int64_t n, int depth)
{
	while (n > 16) {
		if (depth-- == 0) {
			qsort(c, (size_t)n, sizeof *c, sets ? by_score_sets : by_score);
			return;
		}
		/* The median of three in front; it stops both ways. */
		struct candidate *mid = c + n / 2, *end = c + n - 1;
		if (before(sets, mid, c))
			swap(mid, c);
		if (before(sets, end, mid))
			swap(end, mid);
		if (before(sets, mid, c))
			swap(mid, c);
		struct candidate pivot = *mid;
		int64_t i = 0, j = n - 1;
		while (i <= j) {
			while (before(sets, &c[i], &pivot))
				i++;
			while (before(sets, &pivot, &c[j]))
				j--;
			if (i <= j)
				swap(&c[i++], &c[j--]);
		}
		sort(sets, c, j + 1, depth);
		c += i;
		n -= i;
	}
	insert_sort(sets, c, n);
}

void boxes_sort(struct candidate *c, int64_t n)
{
	sort(false, c, n, 64 - __builtin_clzll((uint64_t)n | 1) + 8);
}

void boxes_sort_sets(struct candidate *c, int64_t n)
{
	sort(true, c, n, 64 - __builtin_clzll((uint64_t)n | 1) + 8);
}

int64_t boxes_best(struct candidate *c, int64_t n, int64_t most)
{
	enum { BUCKETS = 4096 };
	uint32_t count[BUCKETS] = {0}, least = UINT32_MAX, last = 0;
	int64_t kept = 0, sum = 0;
	int shift = 0, border = 0;
	if (most < 0 || n <= 2 * most || n > UINT32_MAX)
		return n;
	for (int64_t i = 0; i < n; i++) {
		uint32_t rank = rank_of(&c[i]);
		least = rank < least ? rank : least;
		last = rank > last ? rank : last;
	}
	while ((last - least) >> shift >= BUCKETS)
		shift++;
	for (int64_t i = 0; i < n; i++)
		count[(rank_of(&c[i]) - least) >> shift]++;
	while (border < BUCKETS && (sum += count[border]) < most)
		border++;
	for (int64_t i = 0; i < n; i++)
		if ((int)((rank_of(&c[i]) - least) >> shift) <= border)
			c[kept++] = c[i];
	return kept;
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

/* The same where no copies of the kept boxes fit into memory. */
static int64_t suppress_in_place(struct candidate *c, int64_t n, const float *boxes,
				 float threshold, float offset, int64_t most)
{
	int64_t kept = 0;
	for (int64_t i = 0; i < n && kept < most; i++) {
		int64_t j = 0;
		while (j < kept && boxes_overlap(boxes + 4 * c[i].index, boxes + 4 * c[j].index,
						 offset) <= threshold)
			j++;
		if (j == kept)
			c[kept++] = c[i];
	}
	return kept;
}

int64_t boxes_suppress(struct candidate *c, int64_t n, const float *boxes, float threshold,
		       float offset, int64_t most)
{
	int64_t kept = 0, room = most >= 0 && most < n ? most : n;
	struct boxes_near near = {.threshold = threshold, .offset = offset};
	void *memory = room > 0 ? mem_try(boxes_near_bytes(n)) : NULL;
	if (!memory)
		return suppress_in_place(c, n, boxes, threshold, offset, room);
	boxes_near_init(&near, memory, c, n, boxes, 4);
	for (int64_t i = 0; i < n && kept < room; i++) {
		const float *b = boxes + 4 * c[i].index;
		float box[5] = {b[0], b[1], b[2], b[3],
				(b[2] - b[0] + offset) * (b[3] - b[1] + offset)};
		if (boxes_near_any(&near, box))
			continue;
		boxes_near_keep(&near, box);
		c[kept++] = c[i];
	}
	mem_free(memory);
	return kept;
}
