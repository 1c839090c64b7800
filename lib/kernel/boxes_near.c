/* boxes_near.c - kept boxes in stripes of the picture, so that a box is compared with few of them.
 *
 * Where the intersection over union of two boxes is above t, their common part is wider than t times
 * the width of each.  So the centre of one is not farther outside of the other than (1/2 - t) of its
 * own width, which is less than the other's over t. */
#include "kernel/boxes.h"
#include "kernel/vec.h"

#include <math.h>

enum { MOST_STRIPES = 4096, FEW = 64 };

size_t boxes_near_bytes(int64_t n)
{
	return (size_t)(5 * n) * sizeof(float) + 2 * (MOST_STRIPES + 1) * sizeof(int64_t);
}

static double width_of(const struct boxes_near *b, const float *box)
{
	return (double)box[2] - (double)box[0] + b->offset;
}

static int stripe_of(const struct boxes_near *b, double x)
{
	double at = (x - b->from) * b->scale;
	return at < 0 ? 0 : at >= b->n ? b->n - 1 : (int)at;
}

static int home_of(const struct boxes_near *b, const float *box)
{
	return stripe_of(b, ((double)box[0] + (double)box[2] + b->offset) / 2);
}

/* How many stripes: each about as wide as a box.  One where what is computed in f32 may be far from the
 * exact numbers, or boxes that do not meet count too. */
static void choose_stripes(struct boxes_near *b, const struct candidate *c, int64_t n,
			   const float *boxes, int size)
{
	double least = INFINITY, most = -INFINITY, sum = 0;
	b->n = 1;
	b->widest = 0;
	if (n < FEW || !(b->threshold >= 0))
		return;
	for (int64_t i = 0; i < n; i++) {
		const float *box = boxes + size * c[i].index;
		double w = width_of(b, box),
		       area = w * ((double)box[3] - (double)box[1] + b->offset);
		if (!(fabs(area) < 1e30) || (area > 0 && area < 1e-30))
			return;
		least = (double)box[0] < least ? (double)box[0] : least;
		most = (double)box[2] > most ? (double)box[2] : most;
		b->widest = w > b->widest ? w : b->widest;
		sum += w > 0 ? w : 0;
	}
	double stripes = (most - least) / (sum / (double)n);
	if (!(stripes >= 2))
		return;
	b->n = stripes < MOST_STRIPES ? (int)stripes : MOST_STRIPES;
	b->from = least;
	b->scale = b->n / (most - least);
}

void boxes_near_init(struct boxes_near *b, void *memory, const struct candidate *c, int64_t n,
		     const float *boxes, int size)
{
	choose_stripes(b, c, n, boxes, size);
	b->start = memory;
	b->kept = b->start + MOST_STRIPES + 1;
	b->rows = (float *)(void *)(b->kept + MOST_STRIPES + 1);
	for (int i = 0; i <= b->n; i++)
		b->start[i] = b->kept[i] = 0;
	for (int64_t i = 0; i < n && b->n > 1; i++)
		b->start[home_of(b, boxes + size * c[i].index) + 1]++;
	for (int i = 0; i < b->n; i++)
		b->start[i + 1] += b->start[i];
	if (b->n == 1)
		b->start[1] = n;
}

void boxes_near_keep(struct boxes_near *b, const float *box)
{
	int i = b->n > 1 ? home_of(b, box) : 0;
	int64_t room = b->start[i + 1] - b->start[i];
	float *to = b->rows + 5 * b->start[i] + b->kept[i]++;
	for (int j = 0; j < 5; j++)
		to[j * room] = box[j];
}

bool boxes_near_any(const struct boxes_near *b, const float *box)
{
	int first = 0, last = 0;
	if (b->n > 1) {
		/* A little less, since f32 is rounded; no bound by the width of this box for small ones. */
		double t = (double)b->threshold * (1 - 1e-5), w = width_of(b, box), far = b->widest;
		far = t > 0.01 && w / t < far ? w / t : far;
		far = t < 0.5 ? (0.5 - t) * far + 1e-5 * b->widest : 0;
		first = stripe_of(b, (double)box[0] - far);
		last = stripe_of(b, (double)box[2] + (double)b->offset + far);
	}
	for (int i = first; i <= last; i++)
		if (vec_overlaps_any(box, b->rows + 5 * b->start[i], b->start[i + 1] - b->start[i],
				     b->kept[i], b->offset, b->threshold))
			return true;
	return false;
}
