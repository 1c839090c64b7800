/* detection.c - DetectionOutput: boxes from priors and predicted offsets, suppressed class by
 * class (Caffe's way) or each prior for its best class (decrease_label_id, MXNet's way).
 * Source: the operator's specification, opset1 and opset8. */
#include "kernel/boxes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct detection_run {
	const struct op_detection *a;
	int64_t batch, n, n_classes, n_loc; /* images, priors, classes, box sets */
	const float *loc, *conf, *priors, *arm_conf, *arm_loc;
	bool own_priors;        /* each image has its own */
	float *boxes;           /* (n_loc, n, 4) of one image */
	struct candidate *c;    /* (n_classes, n) of one image */
	struct candidate *kept; /* as many */
};

static float clip01(float x)
{
	return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* Box d (4) from prior p (corners), variances v (4) and offsets. */
static void decode(const struct op_detection *a, const float *p, const float *v,
		   const float *offset, float *d)
{
	float one[4] = {1, 1, 1, 1};
	if (!v)
		v = one;
	if (a->center_size) {
		float w = p[2] - p[0], h = p[3] - p[1];
		float x = v[0] * offset[0] * w + (p[0] + p[2]) / 2;
		float y = v[1] * offset[1] * h + (p[1] + p[3]) / 2;
		w *= expf(v[2] * offset[2]);
		h *= expf(v[3] * offset[3]);
		d[0] = x - w / 2;
		d[1] = y - h / 2;
		d[2] = x + w / 2;
		d[3] = y + h / 2;
	} else {
		for (int i = 0; i < 4; i++)
			d[i] = p[i] + v[i] * offset[i];
	}
	for (int i = 0; a->clip_before && i < 4; i++)
		d[i] = clip01(d[i]);
}

/* All boxes of an image. */
static void decode_image(const struct detection_run *r, int64_t image)
{
	const struct op_detection *a = r->a;
	int64_t size = a->normalized ? 4 : 5, row = r->n * size;
	const float *priors =
		r->priors + (r->own_priors ? image : 0) * row * (a->variance_in_target ? 1 : 2);
	for (int64_t p = 0; p < r->n; p++) {
		float prior[4];
		const float *at = priors + p * size + (size - 4);
		const float *v = a->variance_in_target ? NULL : priors + row + p * 4;
		for (int i = 0; i < 4; i++)
			prior[i] = a->normalized ? at[i]
						 : at[i] / (float)(i & 1 ? a->input_h : a->input_w);
		for (int64_t c = 0; c < r->n_loc; c++) {
			int64_t from = ((image * r->n + p) * r->n_loc + c) * 4;
			float first[4], *d = r->boxes + (c * r->n + p) * 4;
			if (r->arm_loc) { /* two steps */
				decode(a, prior, v, r->arm_loc + from, first);
				decode(a, first, v, r->loc + from, d);
			} else {
				decode(a, prior, v, r->loc + from, d);
			}
		}
	}
}

static float score_of(const struct detection_run *r, int64_t image, int64_t p, int64_t c)
{
	if (r->arm_conf && r->arm_conf[(image * r->n + p) * 2 + 1] < r->a->objectness)
		return c == r->a->background ? 1 : 0;
	return r->conf[(image * r->n + p) * r->n_classes + c];
}

static const float *boxes_of(const struct detection_run *r, int64_t c)
{
	return r->boxes + (r->a->share_location ? 0 : c) * r->n * 4;
}

static int64_t cut(int64_t n, int64_t most)
{
	return most > -1 && n > most ? most : n;
}

/* Class by class: r->kept, classes ascending, scores falling. */
static int64_t keep_by_class(const struct detection_run *r, int64_t image)
{
	int64_t n_kept = 0;
	for (int64_t c = 0; c < r->n_classes; c++) {
		int64_t n = 0;
		if (c == r->a->background)
			continue;
		for (int64_t p = 0; p < r->n; p++) {
			float s = score_of(r, image, p, c);
			if (s > r->a->confidence)
				r->c[n++] = (struct candidate){s, (int32_t)p, (int32_t)c, 0, 0};
		}
		n = boxes_best(r->c, n, r->a->top_k);
		boxes_sort(r->c, n);
		n = boxes_suppress(r->c, cut(n, r->a->top_k), boxes_of(r, c), r->a->nms, 0, -1);
		memcpy(r->kept + n_kept, r->c, (size_t)n * sizeof *r->c);
		n_kept += n;
	}
	return n_kept;
}

static int by_label(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	if (x->label != y->label)
		return x->label < y->label ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Classes ascending; within a class as they stand. */
static void group_by_label(struct candidate *c, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		c[i].begin = (int32_t)i;
	if (n > 1)
		qsort(c, (size_t)n, sizeof *c, by_label);
}

/* Each prior for its best class; a kept box suppresses its own class only. */
static int64_t keep_by_prior(const struct detection_run *r, int64_t image)
{
	int64_t n = 0, kept = 0;
	for (int64_t p = 0; p < r->n; p++) {
		float best = -1;
		int32_t label = 0;
		for (int64_t c = 1; c < r->n_classes; c++) {
			float s = score_of(r, image, p, c);
			if (c != r->a->background && s > best) {
				best = s;
				label = (int32_t)c;
			}
		}
		if (label > 0 && best >= r->a->confidence)
			r->c[n++] = (struct candidate){best, (int32_t)p, label, 0, 0};
	}
	n = boxes_best(r->c, n, r->a->top_k);
	boxes_sort(r->c, n);
	n = cut(n, r->a->top_k);
	for (int64_t i = 0; i < n; i++) {
		const float *boxes = boxes_of(r, r->c[i].label);
		int64_t j = 0;
		while (j < kept && (r->kept[j].label != r->c[i].label ||
				    boxes_overlap(boxes + 4 * r->c[i].index,
						  boxes + 4 * r->kept[j].index, 0) <= r->a->nms))
			j++;
		if (j == kept)
			r->kept[kept++] = r->c[i];
	}
	group_by_label(r->kept, kept);
	return kept;
}

static int64_t put_rows(const struct detection_run *r, int64_t image, int64_t n, float *y,
			int64_t room)
{
	for (int64_t i = 0; i < n && i < room; i++, y += 7) {
		const struct candidate *c = &r->kept[i];
		const float *box = boxes_of(r, c->label) + 4 * c->index;
		y[0] = (float)image;
		y[1] = (float)(c->label - r->a->decrease_label);
		y[2] = c->score;
		for (int j = 0; j < 4; j++)
			y[3 + j] = r->a->clip_after ? clip01(box[j]) : box[j];
	}
	return n < room ? n : room;
}

int run_detection(const struct kernel_call *k, struct err *e)
{
	const struct op_detection *a = &k->op->a.detection;
	const struct tensor *in = k->in;
	struct detection_run r = {.a = a,
				  .batch = in[0].dim[0],
				  .n = in[2].dim[2] / (a->normalized ? 4 : 5),
				  .loc = in[0].data,
				  .conf = in[1].data,
				  .priors = in[2].data,
				  .own_priors = in[2].dim[0] > 1};
	r.n_classes = in[1].dim[1] / r.n;
	r.n_loc = a->share_location ? 1 : r.n_classes;
	if (k->op->n_in == 5) {
		r.arm_conf = in[3].data;
		r.arm_loc = in[4].data;
	}
	size_t n_c = (size_t)(r.n * r.n_classes);
	r.boxes = cpu_slot_scratch(k->ctx, SLOT_EXTRA, (size_t)(r.n_loc * r.n * 4) * sizeof(float));
	r.c = cpu_slot_scratch(k->ctx, SLOT_WHOLE, 2 * n_c * sizeof *r.c);
	if (!r.boxes || !r.c)
		return cpu_no_memory(e);
	r.kept = r.c + n_c;
	float *y = k->out[0].data;
	int64_t rows = k->out[0].dim[2], at = 0;
	memset(y, 0, (size_t)(rows * 7) * sizeof *y);
	for (int64_t image = 0; image < r.batch; image++) {
		decode_image(&r, image);
		int64_t n = a->decrease_label ? keep_by_prior(&r, image) : keep_by_class(&r, image);
		if (a->keep_top_k > -1 && n > a->keep_top_k) {
			boxes_sort(r.kept, boxes_best(r.kept, n, a->keep_top_k));
			n = a->keep_top_k;
			group_by_label(r.kept, n);
		}
		at += put_rows(&r, image, n, y + at * 7, rows - at);
	}
	if (at < rows)
		y[at * 7] = -1;
	return 0;
}
