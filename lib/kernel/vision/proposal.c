/* proposal.c - regions from anchors and predicted offsets: Proposal (opset1, opset4),
 * GenerateProposals, ExperimentalDetectron's GenerateProposalsSingleImage, DetectionOutput
 * and TopKROIs.  Sources: the operators' specifications. */
#include "kernel/boxes.h"
#include "op/attr_get.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static float limit(float x, float hi)
{
	float y = x < hi ? x : hi;
	return y > 0 ? y : 0;
}

/* Offsets (dx, dy, log w, log h) applied to a box whose sides are `offset` longer than the
 * difference of their ends.  The result's far ends are `back` nearer. */
static void refine(const float *box, const float *d, float offset, float back, float *to)
{
	float w = box[2] - box[0] + offset, h = box[3] - box[1] + offset;
	float x = d[0] * w + box[0] + 0.5f * w, y = d[1] * h + box[1] + 0.5f * h;
	w *= expf(d[2]);
	h *= expf(d[3]);
	to[0] = x - 0.5f * w;
	to[1] = y - 0.5f * h;
	to[2] = x + 0.5f * w - back;
	to[3] = y + 0.5f * h - back;
}

static void clip_box(float *box, float w, float h)
{
	for (int i = 0; i < 4; i++)
		box[i] = limit(box[i], i & 1 ? h : w);
}

/* ---- Proposal ---- */

/* Anchors (n, 4) around the first position: every ratio with every scale. */
static void make_anchors(const struct op_proposal *p, float *anchor)
{
	float ratio[OP_MAX_REALS], scale[OP_MAX_REALS], offset = p->tensorflow ? 0 : 1;
	int n_ratio = op_reals(&p->ratio, ratio), n_scale = op_reals(&p->scale, scale);
	float centre = 0.5f * (p->base_size - offset) - (p->tensorflow ? p->base_size * 0.5f : 0);
	for (int i = 0; i < n_ratio; i++) {
		float w = sqrtf(p->base_size * p->base_size / ratio[i]);
		w = p->tensorflow ? w : roundf(w);
		float h = p->tensorflow ? w * ratio[i] : roundf(w * ratio[i]);
		for (int j = 0; j < n_scale; j++, anchor += 4) {
			float half_w = 0.5f * (w * scale[j] - offset),
			      half_h = 0.5f * (h * scale[j] - offset);
			anchor[0] = centre - half_w;
			anchor[1] = centre - half_h;
			anchor[2] = centre + half_w;
			anchor[3] = centre + half_h;
		}
	}
}

struct proposal_run {
	const struct op_proposal *a;
	int64_t n_anchors, h, w, n;
	float image_h, image_w, min_h, min_w, offset;
	const float *anchor;
	float *box;          /* (h, w, anchors, 4) */
	struct candidate *c; /* as many */
	/* of one image: (4 a, h, w), (a, h, w) */
	const float *deltas, *scores;
	bool keep_small;
	int n_tasks;
};

enum { GRAIN = 1024 }; /* anchors of a task */

/* The candidates of one image, by `fn`. */
static void for_anchors(struct proposal_run *r, struct cpu_ctx *ctx,
			void (*fn)(void *arg, int task, int thread), const float *deltas,
			const float *scores)
{
	r->deltas = deltas;
	r->scores = scores;
	r->n_tasks = cpu_tasks(r->n, GRAIN);
	cpu_parallel(ctx, r->n_tasks, fn, r);
}

static void enumerate(void *arg, int task, int thread)
{
	struct proposal_run *r = arg;
	int64_t area = r->h * r->w, lo, hi;
	(void)thread;
	cpu_range(r->n, r->n_tasks, task, &lo, &hi);
	for (int64_t i = lo; i < hi; i++) {
		int64_t a = i % r->n_anchors, at = i / r->n_anchors, y = at / r->w, x = at % r->w;
		float shift[2] = {(float)(r->a->tensorflow ? y : x) * (float)r->a->stride,
				  (float)(r->a->tensorflow ? x : y) * (float)r->a->stride};
		float box[4], d[4], *to = r->box + 4 * i;
		for (int j = 0; j < 4; j++) {
			box[j] = r->anchor[4 * a + j] + shift[j & 1];
			d[j] = r->deltas[(4 * a + j) * area + at] /
			       (j < 2 ? r->a->box_scale : r->a->size_scale);
		}
		if (r->a->tensorflow)
			clip_box(box, r->image_w, r->image_h);
		refine(box, d, r->offset, 0, to);
		if (r->a->clip_before)
			clip_box(to, r->image_w - r->offset, r->image_h - r->offset);
		bool large = to[2] - to[0] + r->offset >= r->min_w &&
			     to[3] - to[1] + r->offset >= r->min_h;
		r->c[i] = (struct candidate){large ? r->scores[a * area + at] : 0, (int32_t)i, 0, 0,
					     0};
	}
}

/* n regions of image b into rows (image, box) and their scores, -1 behind the last. */
static void put_regions(const struct proposal_run *r, int64_t b, int64_t n, float *y, float *score)
{
	int64_t most = r->a->post_nms;
	memset(y, 0, (size_t)(most * 5) * sizeof *y);
	if (score)
		memset(score, 0, (size_t)most * sizeof *score);
	for (int64_t i = 0; i < n; i++) {
		float box[4];
		memcpy(box, r->box + 4 * r->c[i].index, sizeof box);
		if (r->a->clip_after)
			clip_box(box, r->image_w, r->image_h);
		y[5 * i] = (float)b;
		for (int j = 0; j < 4; j++)
			y[5 * i + 1 + j] = !r->a->normalize
						   ? box[j]
						   : box[j] / (j & 1 ? r->image_h : r->image_w);
		if (score)
			score[i] = r->c[i].score;
	}
	if (n < most)
		y[5 * n] = -1;
}

static int64_t best(struct candidate *c, int64_t n, int64_t pre, const float *boxes, float nms,
		    float offset, int64_t post)
{
	n = boxes_best(c, n, pre);
	boxes_sort(c, n);
	return boxes_suppress(c, n < pre ? n : pre, boxes, nms, offset, post);
}

int run_proposal(const struct kernel_call *k, struct err *e)
{
	const struct tensor *in = k->in;
	const float *image = in[2].data;
	int64_t n_image = tensor_elements(&in[2]);
	bool swapped = k->op->a.proposal.tensorflow; /* x and y change places */
	struct proposal_run r = {.a = &k->op->a.proposal,
				 .n_anchors = in[0].dim[1] / 2,
				 .h = in[0].dim[2],
				 .w = in[0].dim[3],
				 .image_h = image[swapped],
				 .image_w = image[!swapped]};
	r.offset = r.a->tensorflow ? 0 : 1;
	r.min_h = r.a->min_size * image[2];
	r.min_w = r.a->min_size * image[n_image > 3 ? 3 : 2];
	r.n = r.n_anchors * r.h * r.w;
	float *anchor = cpu_slot_scratch(k->ctx, SLOT_EXTRA,
					 (size_t)(4 * (r.n + r.n_anchors)) * sizeof *anchor);
	r.c = cpu_slot_scratch(k->ctx, SLOT_WHOLE, (size_t)r.n * sizeof *r.c);
	if (!anchor || !r.c)
		return cpu_no_memory(e);
	make_anchors(r.a, anchor);
	r.anchor = anchor;
	r.box = anchor + 4 * r.n_anchors;
	for (int64_t b = 0; b < in[0].dim[0]; b++) {
		/* The second half of the probabilities are those of objects. */
		for_anchors(&r, k->ctx, enumerate, (const float *)in[1].data + b * 4 * r.n,
			    (const float *)in[0].data + b * 2 * r.n + r.n);
		int64_t n = best(r.c, r.n, r.a->pre_nms, r.box, r.a->nms, r.offset, r.a->post_nms);
		put_regions(&r, b, n, (float *)k->out[0].data + b * r.a->post_nms * 5,
			    k->op->n_out > 1 && k->out[1].data
				    ? (float *)k->out[1].data + b * r.a->post_nms
				    : NULL);
	}
	return 0;
}

/* ---- GenerateProposals, ExperimentalDetectronGenerateProposalsSingleImage ---- */

/* Candidates with anchors (h, w, a, 4); label 0: not large enough, and then with score 0 when
 * keep_small. */
static void refine_task(void *arg, int task, int thread)
{
	struct proposal_run *r = arg;
	int64_t area = r->h * r->w, lo, hi;
	const float most = (float)log(1000.0 / 16);
	(void)thread;
	cpu_range(r->n, r->n_tasks, task, &lo, &hi);
	for (int64_t i = lo; i < hi; i++) {
		int64_t a = i % r->n_anchors, at = i / r->n_anchors;
		float d[4], *to = r->box + 4 * i;
		for (int j = 0; j < 4; j++)
			d[j] = r->deltas[(4 * a + j) * area + at];
		d[2] = d[2] < most ? d[2] : most;
		d[3] = d[3] < most ? d[3] : most;
		refine(r->anchor + 4 * i, d, r->offset, r->offset, to);
		clip_box(to, r->image_w - r->offset, r->image_h - r->offset);
		bool large = to[2] - to[0] + r->offset >= r->min_w &&
			     to[3] - to[1] + r->offset >= r->min_h;
		float score = r->scores[a * area + at];
		r->c[i] = (struct candidate){r->keep_small && !large ? 0 : score, (int32_t)i, large,
					     0, 0};
	}
}

/* The first pre_nms candidates, sorted; their number. */
static int64_t refine_anchors(struct proposal_run *r, struct cpu_ctx *ctx, const float *deltas,
			      const float *scores, bool keep_small)
{
	r->keep_small = keep_small;
	for_anchors(r, ctx, refine_task, deltas, scores);
	int64_t n = boxes_best(r->c, r->n, r->a->pre_nms);
	boxes_sort(r->c, n);
	return n < r->a->pre_nms ? n : r->a->pre_nms;
}

/* Drop what is too small, which counts among the first pre_nms. */
static int64_t drop_small(struct candidate *c, int64_t n)
{
	int64_t m = 0;
	for (int64_t i = 0; i < n; i++)
		if (c[i].label)
			c[m++] = c[i];
	return m;
}

/* The threshold falls with each kept box when eta < 1. */
static int64_t suppress_adaptive(const struct proposal_run *r, int64_t n, float offset)
{
	float threshold = r->a->nms;
	int64_t kept = 0;
	if (!(r->a->eta < 1))
		return boxes_suppress(r->c, n, r->box, threshold, offset, r->a->post_nms);
	for (int64_t i = 0; i < n && kept < r->a->post_nms; i++) {
		int64_t j = 0;
		while (j < kept && boxes_overlap(r->box + 4 * r->c[i].index,
						 r->box + 4 * r->c[j].index, offset) <= threshold)
			j++;
		if (j < kept)
			continue;
		r->c[kept++] = r->c[i];
		if (threshold > 0.5f)
			threshold *= r->a->eta;
	}
	return kept;
}

static int anchors_init(struct proposal_run *r, const struct kernel_call *k,
			const struct tensor *scores, struct err *e)
{
	uint32_t d = scores->rank - 3;
	*r = (struct proposal_run){.a = &k->op->a.proposal,
				   .n_anchors = scores->dim[d],
				   .h = scores->dim[d + 1],
				   .w = scores->dim[d + 2],
				   .anchor = k->in[1].data};
	r->n = r->n_anchors * r->h * r->w;
	r->box = cpu_slot_scratch(k->ctx, SLOT_EXTRA, (size_t)(4 * r->n) * sizeof *r->box);
	r->c = cpu_slot_scratch(k->ctx, SLOT_WHOLE, (size_t)r->n * sizeof *r->c);
	return r->box && r->c ? 0 : cpu_no_memory(e);
}

static void put_boxes(const struct proposal_run *r, int64_t n, float *y, float *score)
{
	for (int64_t i = 0; i < n; i++) {
		memcpy(y + 4 * i, r->box + 4 * r->c[i].index, 4 * sizeof *y);
		score[i] = r->c[i].score;
	}
}

int run_generate_proposals(const struct kernel_call *k, struct err *e)
{
	const struct tensor *in = k->in, *out = k->out;
	struct proposal_run r;
	int64_t total = 0, columns = in[0].dim[1];
	if (anchors_init(&r, k, &in[3], e))
		return -1;
	r.offset = r.a->normalize ? 0 : 1;
	for (int64_t b = 0; b < in[0].dim[0]; b++) {
		const float *image = (const float *)in[0].data + b * columns;
		r.image_h = image[0];
		r.image_w = image[1];
		r.min_h = r.a->min_size * image[2];
		r.min_w = r.a->min_size * image[columns > 3 ? 3 : 2];
		int64_t n = refine_anchors(&r, k->ctx, (const float *)in[2].data + b * 4 * r.n,
					   (const float *)in[3].data + b * r.n, false);
		n = suppress_adaptive(&r, drop_small(r.c, n), r.offset);
		put_boxes(&r, n, (float *)out[0].data + 4 * total, (float *)out[1].data + total);
		tensor_set_int(&out[2], b, n);
		total += n;
	}
	if (k->actual) {
		k->actual[0].dim[0] = k->actual[1].dim[0] = total;
		return 0;
	}
	memset((float *)out[0].data + 4 * total, 0,
	       (size_t)(out[0].dim[0] - total) * 4 * sizeof(float));
	memset((float *)out[1].data + total, 0, (size_t)(out[1].dim[0] - total) * sizeof(float));
	return 0;
}

int run_detectron_proposals(const struct kernel_call *k, struct err *e)
{
	const struct tensor *out = k->out;
	const float *image = k->in[0].data;
	struct proposal_run r;
	if (anchors_init(&r, k, &k->in[3], e))
		return -1;
	r.offset = 1;
	r.image_h = image[0];
	r.image_w = image[1];
	r.min_h = r.min_w = r.a->min_size;
	int64_t n = refine_anchors(&r, k->ctx, k->in[2].data, k->in[3].data, true);
	n = boxes_suppress(r.c, n, r.box, r.a->nms, 0, r.a->post_nms);
	memset(out[0].data, 0, (size_t)tensor_bytes(&out[0]));
	memset(out[1].data, 0, (size_t)tensor_bytes(&out[1]));
	put_boxes(&r, n, out[0].data, out[1].data);
	return 0;
}

/* ---- ExperimentalDetectronTopKROIs ---- */

/* Regions (r, 4), scores (r): the best ones, zeros behind them. */
int run_top_rois(const struct kernel_call *k, struct err *e)
{
	int64_t n = k->in[0].dim[0], most = k->out[0].dim[0];
	struct candidate *c = cpu_slot_scratch(k->ctx, SLOT_EXTRA, (size_t)n * sizeof *c);
	float *y = k->out[0].data;
	if (!c)
		return cpu_no_memory(e);
	for (int64_t i = 0; i < n; i++)
		c[i] = (struct candidate){((const float *)k->in[1].data)[i], (int32_t)i, 0, 0, 0};
	n = boxes_best(c, n, most);
	boxes_sort(c, n);
	memset(y, 0, (size_t)(most * 4) * sizeof *y);
	for (int64_t i = 0; i < n && i < most; i++)
		memcpy(y + 4 * i, (const float *)k->in[0].data + 4 * c[i].index, 4 * sizeof *y);
	return 0;
}

/* ---- ExperimentalDetectronDetectionOutput ---- */

/* Boxes of class c (n, 4): regions moved by the class's offsets. */
static void class_boxes(const struct kernel_call *k, int64_t c, float *box)
{
	const struct op_proposal *a = &k->op->a.proposal;
	const float *roi = k->in[0].data, *deltas = k->in[1].data;
	float weight[OP_MAX_REALS];
	op_reals(&a->weights, weight);
	for (int64_t i = 0; i < k->in[0].dim[0]; i++, roi += 4, box += 4) {
		float d[4];
		for (int j = 0; j < 4; j++)
			d[j] = deltas[(i * a->n_classes + c) * 4 + j] / weight[j];
		d[2] = d[2] < a->max_log_wh ? d[2] : a->max_log_wh;
		d[3] = d[3] < a->max_log_wh ? d[3] : a->max_log_wh;
		refine(roi, d, 1, 1, box);
		for (int j = 0; j < 4; j++)
			box[j] = box[j] > 0 ? box[j] : 0;
	}
}

int run_detectron_detection(const struct kernel_call *k, struct err *e)
{
	const struct op_proposal *a = &k->op->a.proposal;
	int64_t n = k->in[0].dim[0], classes = a->n_classes, total = 0, most = a->max_per_image;
	const float *roi = k->in[0].data, *scores = k->in[2].data;
	float *box = cpu_slot_scratch(k->ctx, SLOT_EXTRA, (size_t)(n * classes * 4) * sizeof *box);
	struct candidate *c =
		cpu_slot_scratch(k->ctx, SLOT_WHOLE, (size_t)(n * classes) * sizeof *c);
	if (!box || !c)
		return cpu_no_memory(e);
	for (int64_t label = 1; label < classes; label++) {
		struct candidate *own = c + total;
		float *boxes = box + label * n * 4;
		int64_t m = 0;
		class_boxes(k, label, boxes);
		for (int64_t i = 0; i < n; i++) {
			bool empty =
				roi[4 * i + 2] <= roi[4 * i] || roi[4 * i + 3] <= roi[4 * i + 1];
			float s = empty ? 0 : scores[i * classes + label];
			if (s > a->score)
				own[m++] = (struct candidate){s, (int32_t)i, (int32_t)label, 0, 0};
		}
		boxes_sort(own, m);
		total += boxes_suppress(own, m, boxes, a->nms, 1, a->post_nms);
	}
	if (total > most) {
		boxes_sort(c, boxes_best(c, total, most));
		total = most;
	}
	for (int i = 0; i < 3; i++)
		memset(k->out[i].data, 0, (size_t)tensor_bytes(&k->out[i]));
	for (int64_t i = 0; i < total; i++) {
		memcpy((float *)k->out[0].data + 4 * i, box + (c[i].label * n + c[i].index) * 4,
		       4 * sizeof *box);
		tensor_set_int(&k->out[1], i, c[i].label);
		((float *)k->out[2].data)[i] = c[i].score;
	}
	return 0;
}
