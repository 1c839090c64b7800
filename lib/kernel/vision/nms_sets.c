/* nms_sets.c - MatrixNms and MulticlassNms: boxes of all classes of an image, suppressed
 * class by class (by decayed scores or by a threshold that may fall), the best of them
 * kept, in an order of choice.
 *
 * Boxes (b, n, 4), scores (b, c, n) -> rows (class, score, box), flat indices of the boxes, how
 * many rows each image has.  Left-over rows are -1.  With the numbers of boxes of each image as
 * a third input: boxes (c, n, 4), scores (c, n), the images' boxes one behind the other.
 * Sources: the operators' specifications, opset8 and opset9. */
#include "kernel/boxes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sets_run {
	const struct op *op;
	const struct op_nms *a;
	const float *boxes, *scores;
	int64_t batch, classes, n; /* n: boxes of an input row */
	bool shared;               /* third input */
	const float *class_boxes;  /* (n, 4) of the image and class at work */
	struct candidate *c;       /* (n) */
	struct candidate *kept;    /* (batch, classes, n) at most */
	float *most_iou;           /* MatrixNms: (n) greatest overlap with a better box */
};

static float overlap(const struct sets_run *r, int32_t i, int32_t j)
{
	return boxes_overlap(r->class_boxes + 4 * i, r->class_boxes + 4 * j,
			     r->a->normalized ? 0 : 1);
}

/* c[m] in the order of scores -> those kept in front; how many.  A score falls with the overlap
 * with better boxes, less so when those are overlapped themselves. */
static int64_t decay(const struct sets_run *r, struct candidate *c, int64_t m)
{
	const struct op_nms *a = r->a;
	int64_t kept = 0;
	for (int64_t i = 0; i < m; i++) {
		float least = 1, most = 0;
		for (int64_t j = 0; j < i; j++) {
			float iou = overlap(r, r->c[i].index, r->c[j].index), top = r->most_iou[j];
			float d = a->gaussian ? expf((top * top - iou * iou) * a->sigma)
					      : (1 - iou) / (1 - top + 1e-10f);
			least = d < least ? d : least;
			most = iou > most ? iou : most;
		}
		r->most_iou[i] = most;
		float score = r->c[i].score * least;
		if (score > a->post) {
			c[kept] = r->c[i];
			c[kept++].score = score;
		}
	}
	return kept;
}

static int64_t suppress(const struct sets_run *r, struct candidate *c, int64_t m)
{
	float threshold = r->a->iou;
	int64_t kept = 0;
	for (int64_t i = 0; i < m; i++) {
		int64_t j = 0;
		while (j < kept && overlap(r, r->c[i].index, c[j].index) <= threshold)
			j++;
		if (j < kept)
			continue;
		c[kept++] = r->c[i];
		if (r->a->eta < 1 && threshold > 0.5f)
			threshold *= r->a->eta;
	}
	return kept;
}

static int64_t one_class(struct sets_run *r, const float *scores, int64_t n, int64_t batch,
			 int64_t label, struct candidate *to)
{
	bool matrix = r->op->kind == OP_MATRIX_NMS;
	int64_t m = 0;
	for (int64_t i = 0; i < n; i++)
		if (matrix ? scores[i] > r->a->score : scores[i] >= r->a->score)
			r->c[m++] = (struct candidate){scores[i], (int32_t)i, (int32_t)label,
						       (int32_t)batch, 0};
	m = boxes_best(r->c, m, r->a->top_k);
	boxes_sort(r->c, m);
	if (r->a->top_k > -1 && m > r->a->top_k)
		m = r->a->top_k;
	return matrix ? decay(r, to, m) : suppress(r, to, m);
}

static int by_class(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	if (x->label != y->label)
		return x->label < y->label ? -1 : 1;
	if (x->batch != y->batch)
		return x->batch < y->batch ? -1 : 1;
	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static void sort_candidates(const struct sets_run *r, struct candidate *c, int64_t n)
{
	if (r->a->sort == SORT_SCORE)
		boxes_sort_sets(c, n);
	else if (r->a->sort == SORT_CLASS && n > 1)
		qsort(c, (size_t)n, sizeof *c, by_class);
}

/* All classes of an image with n boxes from `first` on; rows kept.  Their order is the one that
 * OpenVINO's plugin leaves: MatrixNms sorts by class only across images. */
static int64_t one_image(struct sets_run *r, int64_t batch, int64_t first, int64_t n,
			 struct candidate *to)
{
	int64_t kept = 0;
	for (int64_t c = 0; c < r->classes; c++) {
		if (c == r->a->background)
			continue;
		int64_t row = r->shared ? c : batch * r->classes + c;
		r->class_boxes = r->boxes + ((r->shared ? c : batch) * r->n + first) * 4;
		kept += one_class(r, r->scores + row * r->n + first, n, batch, c, to + kept);
	}
	kept = boxes_best(to, kept, r->a->keep_top_k);
	boxes_sort_sets(to, kept);
	if (r->a->keep_top_k > -1 && kept > r->a->keep_top_k)
		kept = r->a->keep_top_k;
	if (r->op->kind == OP_MULTICLASS_NMS)
		sort_candidates(r, to, kept);
	for (int64_t i = 0; i < kept; i++)
		to[i].begin = (int32_t)first;
	return kept;
}

static void put_row(const struct kernel_call *k, const struct sets_run *r, int64_t i,
		    const struct candidate *c)
{
	float *y = (float *)k->out[0].data + 6 * i;
	int64_t box = c->begin + c->index;
	y[0] = (float)c->label;
	y[1] = c->score;
	memcpy(y + 2, r->boxes + ((r->shared ? c->label : c->batch) * r->n + box) * 4,
	       4 * sizeof *y);
	if (k->out[1].data)
		tensor_set_int(&k->out[1], i,
			       r->shared ? box * r->classes + c->label : c->batch * r->n + box);
}

static void put_padding(const struct kernel_call *k, int64_t from)
{
	float *y = k->out[0].data;
	for (int64_t i = from * 6; i < k->out[0].dim[0] * 6; i++)
		y[i] = -1;
	for (int64_t i = from; i < k->out[1].dim[0] && k->out[1].data; i++)
		tensor_set_int(&k->out[1], i, -1);
}

static int sets_init(struct sets_run *r, const struct kernel_call *k, struct err *e)
{
	bool shared = k->op->n_in > 2;
	*r = (struct sets_run){.op = k->op,
			       .a = &k->op->a.nms,
			       .boxes = k->in[0].data,
			       .scores = k->in[1].data,
			       .shared = shared,
			       .n = k->in[0].dim[1],
			       .batch = shared ? k->in[2].dim[0] : k->in[1].dim[0],
			       .classes = k->in[1].dim[shared ? 0 : 1]};
	size_t n = (size_t)r->n, rows = n * (size_t)((shared ? 1 : r->batch) * r->classes);
	r->c = cpu_slot_scratch(k->ctx, SLOT_EXTRA, n * (sizeof *r->c + sizeof(float)));
	r->kept = cpu_slot_scratch(k->ctx, SLOT_WHOLE, rows * sizeof *r->kept);
	if (!r->c || !r->kept)
		return cpu_no_memory(e);
	r->most_iou = (float *)(void *)(r->c + n);
	return 0;
}

int run_nms_sets(const struct kernel_call *k, struct err *e)
{
	struct sets_run r;
	int64_t total = 0, first = 0, room = k->out[0].dim[0];
	if (sets_init(&r, k, e))
		return -1;
	for (int64_t b = 0; b < r.batch; b++) {
		int64_t n = r.shared ? tensor_int(&k->in[2], b) : r.n;
		if (n < 0 || n > r.n - first)
			return err_set(e, ST_INPUT, "more boxes of images than there are");
		n = one_image(&r, b, first, n, r.kept + total);
		if (r.shared)
			first += tensor_int(&k->in[2], b);
		if (n > room - total)
			n = room - total;
		total += n;
		if (k->out[2].data)
			tensor_set_int(&k->out[2], b, n);
	}
	if (r.a->across_batch)
		sort_candidates(&r, r.kept, total);
	for (int64_t i = 0; i < total; i++)
		put_row(k, &r, i, &r.kept[i]);
	if (k->actual)
		k->actual[0].dim[0] = k->actual[1].dim[0] = total;
	else
		put_padding(k, total);
	return 0;
}
