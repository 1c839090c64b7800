/* nms.c - NonMaxSuppression (opset1 to opset9, with soft suppression) and NMSRotated: for each
 * image and class, boxes in the order of their scores, unless they overlap kept ones.
 *
 * Boxes (b, n, 4 or 5), scores (b, c, n) -> rows (batch, class, box) and (batch, class, score) and
 * their number.  Rows that are left over are -1. */
#include "base/heap.h"
#include "kernel/boxes.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

typedef float overlap_fn(const float *a, const float *b);

/* Numbers of a box: corners in order and its area, or those of a rotated box. */
enum { BOX = 5 };

enum { SORTED = 8 }; /* one of so many candidates may be kept: they are sorted */

struct nms_run {
	const struct kernel_call *k;
	float *boxes; /* (images, n_boxes, BOX) */
	int n_place_tasks;
	bool rotated;
	overlap_fn *overlap;
	float iou, score, soft; /* soft: -1 / (2 sigma); 0: hard suppression */
	int64_t n_boxes, classes, most;
	struct candidate *kept; /* (images, classes, most) */
	int64_t *n_kept;        /* (images, classes) */
	int64_t total;
	atomic_bool failed;
};

/* A class of an image. */
struct nms_class {
	const struct nms_run *r;
	const float *boxes;
	struct candidate *kept;
	void *memory; /* of near */
	struct boxes_near near;
};

static float overlap_upright(const float *a, const float *b)
{
	return boxes_overlap(a, b, 0);
}

/* Corners in any order, or (x, y, width, height) around the centre, to corners and area. */
static void place_box(const float *from, bool center, float *to)
{
	for (int i = 0; i < 2; i++) {
		float a = from[i], b = from[i + 2], half = b / 2;
		/* as fminf and fmaxf, which are calls */
		to[i] = center ? a - half : a < b || b != b ? a : b;
		to[i + 2] = center ? a + half : a > b || b != b ? a : b;
	}
	to[4] = (to[2] - to[0]) * (to[3] - to[1]);
}

/* ---- rotated boxes (x, y, width, height, angle) ---- */

struct point {
	double x, y;
};

static void corners_of(const float *box, double sign, struct point *p)
{
	double c = cos(sign * (double)box[4]), s = sin(sign * (double)box[4]);
	for (int i = 0; i < 4; i++) {
		double x = (double)box[2] / 2 * (i == 0 || i == 3 ? -1 : 1),
		       y = (double)box[3] / 2 * (i < 2 ? -1 : 1);
		p[i] = (struct point){(double)box[0] + x * c - y * s,
				      (double)box[1] + x * s + y * c};
	}
}

static double side(struct point a, struct point b, struct point p)
{
	return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

/* The part of polygon p[n] on the inner side of the line a b, into q; number of corners. */
static int clip_polygon(const struct point *p, int n, struct point a, struct point b,
			struct point *q)
{
	int m = 0;
	for (int i = 0; i < n; i++) {
		struct point u = p[i], v = p[(i + 1) % n];
		double su = side(a, b, u), sv = side(a, b, v);
		if (su >= 0)
			q[m++] = u;
		if ((su > 0 && sv < 0) || (su < 0 && sv > 0)) {
			double t = su / (su - sv);
			q[m++] = (struct point){u.x + t * (v.x - u.x), u.y + t * (v.y - u.y)};
		}
	}
	return m;
}

static double polygon_area(const struct point *p, int n)
{
	double s = 0;
	for (int i = 1; i + 1 < n; i++)
		s += side(p[0], p[i], p[i + 1]);
	return s / 2;
}

static float overlap_rotated(const float *a, const float *b, double sign)
{
	enum { MOST = 16 };
	struct point p[MOST], q[4], clipped[MOST];
	double area_a = (double)a[2] * (double)a[3], area_b = (double)b[2] * (double)b[3];
	int n = 4;
	if (area_a < 1e-14 || area_b < 1e-14)
		return 0;
	corners_of(a, sign, p);
	corners_of(b, sign, q);
	for (int i = 0; i < 4 && n > 2; i++) {
		n = clip_polygon(p, n, q[i], q[(i + 1) % 4], clipped);
		memcpy(p, clipped, (size_t)n * sizeof *p);
	}
	double both = n > 2 ? fabs(polygon_area(p, n)) : 0;
	return (float)(both / (area_a + area_b - both));
}

static float overlap_clockwise(const float *a, const float *b)
{
	return overlap_rotated(a, b, 1);
}

static float overlap_counter(const float *a, const float *b)
{
	return overlap_rotated(a, b, -1);
}

/* ---- a heap of candidates: greatest score, then least index on top ---- */

static bool above(const struct candidate *a, const struct candidate *b)
{
	return a->score > b->score || (a->score == b->score && a->index < b->index);
}

#define ABOVE(a, b) above(&(a), &(b))
HEAP(candidates, struct candidate, ABOVE)

/* Overlaps alone decide, of upright boxes. */
static bool is_plain(const struct nms_run *r)
{
	return r->soft == 0 && !r->rotated;
}

/* Weaken c by the boxes that were kept since it was last looked at; false: it is dropped. */
static bool survives(const struct nms_class *s, struct candidate *c, int64_t n)
{
	const struct nms_run *r = s->r;
	const float *box = s->boxes + BOX * c->index;
	if (is_plain(r))
		return !boxes_near_any(&s->near, box);
	for (int64_t j = n - 1; j >= c->begin; j--) {
		float iou = r->overlap(box, s->boxes + BOX * s->kept[j].index);
		if (r->soft == 0) {
			if (iou > r->iou)
				return false;
			continue;
		}
		c->score *= iou <= r->iou ? expf(r->soft * iou * iou) : 0;
		if (iou >= r->iou || c->score <= r->score)
			return false;
	}
	c->begin = (int32_t)n;
	return true;
}

/* Where many are kept, nearly all are looked at: sorting them is faster than a heap. */
static int64_t suppress_sorted(struct nms_class *s, struct candidate *c, int64_t n)
{
	int64_t m = 0;
	boxes_sort(c, n);
	for (int64_t i = 0; i < n && m < s->r->most; i++) {
		const float *box = s->boxes + BOX * c[i].index;
		if (boxes_near_any(&s->near, box))
			continue;
		boxes_near_keep(&s->near, box);
		s->kept[m++] = c[i];
	}
	return m;
}

/* Returns how many are kept. */
static int64_t suppress_class(struct nms_class *s, struct candidate *heap, const float *scores,
			      int64_t batch, int64_t label)
{
	const struct nms_run *r = s->r;
	int64_t m = 0;
	uint32_t n = 0;
	for (int64_t i = 0; i < r->n_boxes; i++)
		if (scores[i] > r->score)
			heap[n++] = (struct candidate){scores[i], (int32_t)i, (int32_t)label,
						       (int32_t)batch, 0};
	if (is_plain(r))
		boxes_near_init(&s->near, s->memory, heap, n, s->boxes, BOX);
	if (is_plain(r) && r->most > n / SORTED)
		return suppress_sorted(s, heap, n);
	for (uint32_t i = n / 2; i-- > 0;) {
		struct candidate c = heap[i];
		uint32_t at = i;
		HEAP_SINK(heap, n, at, c, ABOVE);
	}
	while (n > 0 && m < r->most) {
		struct candidate c = candidates_pop(heap, &n);
		float before = c.score;
		if (!survives(s, &c, m))
			continue;
		if (c.score != before) {
			candidates_push(heap, &n, c);
			continue;
		}
		if (is_plain(r))
			boxes_near_keep(&s->near, s->boxes + BOX * c.index);
		s->kept[m++] = c;
	}
	return m;
}

/* Task (image, class). */
static void nms_task(void *arg, int task, int thread)
{
	struct nms_run *r = arg;
	int64_t batch = task / r->classes, label = task % r->classes;
	size_t heap_bytes = ((size_t)r->n_boxes * sizeof(struct candidate) + 63) / 64 * 64;
	char *p = cpu_thread_scratch(r->k->ctx, thread, heap_bytes + boxes_near_bytes(r->n_boxes));
	if (!p) {
		r->failed = true;
		return;
	}
	struct nms_class s = {.r = r,
			      .boxes = r->boxes + batch * r->n_boxes * BOX,
			      .kept = r->kept + task * r->most,
			      .memory = p + heap_bytes,
			      .near = {.threshold = r->iou}};
	r->n_kept[task] = suppress_class(
		&s, (struct candidate *)(void *)p,
		(const float *)r->k->in[1].data + (int64_t)task * r->n_boxes, batch, label);
}

static float scalar(const struct kernel_call *k, int i)
{
	return i < k->op->n_in && k->in[i].data && k->in[i].elem != EL_DYNAMIC
		       ? (float)tensor_real(&k->in[i], 0)
		       : 0;
}

static void put_rows(const struct kernel_call *k, const struct nms_run *r)
{
	int64_t room = k->out[0].dim[0], n = r->total < room ? r->total : room;
	for (int64_t i = 0; i < room && (i < n || !k->actual); i++) {
		struct candidate c = {-1, -1, -1, -1, 0};
		if (i < n)
			c = r->kept[i];
		int64_t row[3] = {c.batch, c.label, c.index};
		for (int j = 0; j < 3; j++) {
			tensor_set_int(&k->out[0], i * 3 + j, row[j]);
			if (k->op->n_out > 1 && k->out[1].data)
				tensor_set_real(&k->out[1], i * 3 + j,
						j < 2 ? (double)row[j] : (double)c.score);
		}
	}
	if (k->op->n_out > 2 && k->out[2].data)
		tensor_set_int(&k->out[2], 0, n);
	if (k->actual)
		k->actual[0].dim[0] = n;
	if (k->actual && k->op->n_out > 1)
		k->actual[1].dim[0] = n;
}

/* Task: some boxes of all images. */
static void place_task(void *arg, int task, int thread)
{
	struct nms_run *r = arg;
	const struct tensor *in = &r->k->in[0];
	int64_t lo, hi, width = in->dim[2];
	(void)thread;
	cpu_range(in->dim[0] * r->n_boxes, r->n_place_tasks, task, &lo, &hi);
	const float *from = (const float *)in->data + lo * width;
	float *to = r->boxes + lo * BOX;
	for (; lo < hi; lo++, from += width, to += BOX) {
		if (r->rotated)
			memcpy(to, from, BOX * sizeof *to);
		else
			place_box(from, r->k->op->a.nms.center, to);
	}
}

int run_nms(const struct kernel_call *k, struct err *e)
{
	const struct op_nms *a = &k->op->a.nms;
	int64_t batch = k->in[1].dim[0], n = k->in[0].dim[1];
	struct nms_run r = {.k = k,
			    .rotated = k->op->kind == OP_NMS_ROTATED,
			    .iou = scalar(k, 3),
			    .score = scalar(k, 4),
			    .n_boxes = n,
			    .classes = k->in[1].dim[1]};
	float sigma = scalar(k, 5);
	r.overlap = !r.rotated     ? overlap_upright
		    : a->clockwise ? overlap_clockwise
				   : overlap_counter;
	r.soft = sigma > 0 ? -0.5f / sigma : 0;
	r.most = k->op->n_in > 2 && k->in[2].data ? tensor_int(&k->in[2], 0) : 0;
	r.most = r.most < 0 ? 0 : r.most > n ? n : r.most;
	int64_t sets = batch * r.classes;
	float *boxes =
		cpu_slot_scratch(k->ctx, SLOT_EXTRA, (size_t)(batch * n * BOX) * sizeof *boxes);
	char *kept = cpu_slot_scratch(k->ctx, SLOT_WHOLE,
				      (size_t)(r.most * sets) * sizeof *r.kept +
					      (size_t)(sets + 1) * sizeof *r.n_kept);
	if (!boxes || !kept)
		return cpu_no_memory(e);
	r.boxes = boxes;
	r.n_kept = (int64_t *)(void *)kept;
	r.kept = (struct candidate *)(void *)(kept + (size_t)(sets + 1) * sizeof *r.n_kept);
	r.n_place_tasks = cpu_tasks(batch * n * BOX, 1 << 13);
	cpu_parallel(k->ctx, r.n_place_tasks, place_task, &r);
	cpu_parallel(k->ctx, (int)sets, nms_task, &r);
	if (r.failed)
		return cpu_no_memory(e);
	for (int64_t i = 0; i < sets; i++) {
		memmove(r.kept + r.total, r.kept + i * r.most,
			(size_t)r.n_kept[i] * sizeof *r.kept);
		r.total += r.n_kept[i];
	}
	if (a->descending)
		boxes_sort_sets(r.kept, r.total);
	put_rows(k, &r);
	return 0;
}
