/* infer_detect.c - shape inference of the operators of detectors.  Letters: b batch, n boxes, c
 * classes or channels, r regions, a anchors. */
#include "op/opimpl.h"

static struct tensor shape2(enum elem t, int64_t a, int64_t b)
{
	return (struct tensor){.elem = t, .rank = 2, .dim = {a, b}};
}

static struct tensor shape1(enum elem t, int64_t a)
{
	return (struct tensor){.elem = t, .rank = 1, .dim = {a}};
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Height and width (2) of the features, of the image -> (2, 4 h w priors). */
int infer_prior(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	if (tensor_elements(&in[0]) != 2 || tensor_elements(&in[1]) != 2)
		return op_misfit("the shape that a PriorBox is given", &in[0], e);
	int64_t h = tensor_int(&in[0], 0), w = tensor_int(&in[0], 1);
	if (h < 0 || w < 0)
		return op_misfit("the shape that a PriorBox is given", &in[0], e);
	*out = shape2(EL_F32, 2, op_mul(op_mul(h, w), 4 * op->a.prior.n_priors));
	return 0;
}

/* Locations (b, n 4 or n c 4), confidences (b, n c), priors (b or 1, 1 or 2, n 4 or n 5) ->
 * (1, 1, most, 7). */
int infer_detection(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	const struct op_detection *d = &op->a.detection;
	if (in[0].rank != 2 || in[1].rank != 2 || in[2].rank != 3)
		return op_misfit("DetectionOutput", &in[2], e);
	int64_t batch = in[0].dim[0], n = in[2].dim[2] / (d->normalized ? 4 : 5);
	if (n < 1 || in[1].dim[0] != batch || in[1].dim[1] % n)
		return op_misfit("DetectionOutput", &in[1], e);
	int64_t classes = op->version >= 8 ? in[1].dim[1] / n : d->n_classes;
	if (classes < 1 || in[1].dim[1] != op_mul(n, classes) ||
	    in[0].dim[1] != op_mul(n, d->share_location ? 4 : 4 * classes) ||
	    in[2].dim[1] != (d->variance_in_target ? 1 : 2) ||
	    (in[2].dim[0] != 1 && in[2].dim[0] != batch))
		return op_misfit("DetectionOutput", &in[2], e);
	if (op->n_in == 5 &&
	    (tensor_elements(&in[3]) != op_mul(batch, 2 * n) || !tensor_same_shape(&in[4], &in[0])))
		return op_misfit("DetectionOutput", &in[3], e);
	int64_t most =
		op_mul(batch, d->keep_top_k > 0 ? d->keep_top_k
						: op_mul(classes, d->top_k > 0 ? d->top_k : n));
	*out = (struct tensor){.elem = in[0].elem, .rank = 4, .dim = {1, 1, most, 7}};
	return 0;
}

/* Boxes (b, n, 4), scores (b, c, n), the most boxes of a class -> rows of (batch, class, box)
 * and (batch, class, score), and their number. */
int infer_nms(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	bool rotated = op->kind == OP_NMS_ROTATED;
	if (in[0].rank != 3 || in[1].rank != 3 || in[0].dim[2] != (rotated ? 5 : 4) ||
	    in[0].dim[0] != in[1].dim[0] || in[0].dim[1] != in[1].dim[2])
		return op_misfit(op_info(op->kind)->type, &in[1], e);
	int64_t most = op_has_input(op, in, 2) ? tensor_int(&in[2], 0) : 0;
	most = least(most < 0 ? 0 : most, in[0].dim[1]);
	most = op_mul(op_mul(most, in[1].dim[0]), in[1].dim[1]);
	for (int i = 0; i < op->n_out; i++)
		out[i] = i == 2 ? shape1(op->a.nms.index, 1)
				: shape2(i ? EL_F32 : op->a.nms.index, most, 3);
	return 0;
}

/* MatrixNms and MulticlassNms: boxes (b, n, 4), scores (b, c, n) -> rows of (class, score, box),
 * their indices (.., 1), how many of each image (b).  With a third input, boxes (c, n, 4), scores
 * (c, n) and the numbers of boxes (b). */
int infer_nms_sets(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	const struct op_nms *a = &op->a.nms;
	bool shared = op_has_input(op, in, 2);
	if (in[0].rank != 3 || in[0].dim[2] != 4 || in[1].rank != (shared ? 2 : 3))
		return op_misfit(op_info(op->kind)->type, &in[0], e);
	int64_t batch = shared ? in[2].dim[0] : in[1].dim[0], n = in[0].dim[1];
	int64_t classes = in[1].dim[shared ? 0 : 1];
	if (in[1].dim[in[1].rank - 1] != n || in[0].dim[0] != (shared ? classes : batch) ||
	    (shared && in[2].rank != 1))
		return op_misfit(op_info(op->kind)->type, &in[1], e);
	if (a->background >= 0 && a->background < classes)
		classes--;
	int64_t most = op_mul(classes, a->top_k >= 0 ? least(a->top_k, n) : n);
	most = op_mul(a->keep_top_k >= 0 ? least(most, a->keep_top_k) : most, batch);
	for (int i = 0; i < op->n_out; i++)
		out[i] = i == 0   ? shape2(in[0].elem, most, 6)
			 : i == 1 ? shape2(a->index, most, 1)
				  : shape1(a->index, batch);
	return 0;
}

/* Class probabilities (b, 2 a, h, w), deltas (b, 4 a, h, w), image (3 or 4) -> (b most, 5), and
 * from opset4 on the scores. */
int infer_proposal(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	const struct op_proposal *p = &op->a.proposal;
	int64_t anchors = (int64_t)p->ratio.n * p->scale.n;
	if (in[0].rank != 4 || in[1].rank != 4 || in[0].dim[1] != 2 * anchors ||
	    in[1].dim[1] != 4 * anchors || in[0].dim[0] != in[1].dim[0] ||
	    in[0].dim[2] != in[1].dim[2] || in[0].dim[3] != in[1].dim[3])
		return op_misfit("Proposal", &in[0], e);
	int64_t image = tensor_elements(&in[2]);
	if (image != 3 && image != 4 && image != 6)
		return op_misfit("the image's shape of Proposal", &in[2], e);
	int64_t n = op_mul(in[0].dim[0], p->post_nms);
	out[0] = shape2(in[0].elem, n, 5);
	if (op->n_out > 1)
		out[1] = shape1(in[0].elem, n);
	return 0;
}

static bool proposals_fit(const int64_t *deltas, const int64_t *scores)
{
	return deltas[0] == 4 * scores[0] && deltas[1] == scores[1] && deltas[2] == scores[2];
}

/* Images (b, 3 or 4), anchors (h, w, a, 4), deltas (b, 4 a, h, w), scores (b, a, h, w). */
int infer_generate_proposals(const struct op *op, const struct tensor *in, struct tensor *out,
			     struct err *e)
{
	int64_t n;
	if (in[0].rank != 2 || in[0].dim[1] < 3 || in[0].dim[1] > 4 || in[1].rank != 4 ||
	    in[2].rank != 4 || in[3].rank != 4 || in[2].dim[0] != in[3].dim[0] ||
	    in[0].dim[0] != in[3].dim[0] || !proposals_fit(in[2].dim + 1, in[3].dim + 1) ||
	    tensor_elements(&in[1]) != op_mul(4 * in[3].dim[1], op_mul(in[3].dim[2], in[3].dim[3])))
		return op_misfit("GenerateProposals", &in[3], e);
	n = op_mul(in[0].dim[0], op->a.proposal.post_nms < 0 ? 0 : op->a.proposal.post_nms);
	out[0] = shape2(in[0].elem, n, 4);
	out[1] = shape1(in[0].elem, n);
	out[2] = shape1(op->a.proposal.count, in[0].dim[0]);
	return 0;
}

/* Image (3), anchors (h w a, 4), deltas (4 a, h, w), scores (a, h, w). */
int infer_detectron_proposals(const struct op *op, const struct tensor *in, struct tensor *out,
			      struct err *e)
{
	if (tensor_elements(&in[0]) < 2 || in[2].rank != 3 || in[3].rank != 3 ||
	    !proposals_fit(in[2].dim, in[3].dim) ||
	    tensor_elements(&in[1]) != op_mul(4 * in[3].dim[0], op_mul(in[3].dim[1], in[3].dim[2])))
		return op_misfit(op_info(op->kind)->type, &in[3], e);
	int64_t n = op->a.proposal.post_nms < 0 ? 0 : op->a.proposal.post_nms;
	out[0] = shape2(in[0].elem, n, 4);
	out[1] = shape1(in[0].elem, n);
	return 0;
}

/* Regions (r, 4), deltas (r, 4 c), scores (r, c), image (1, 3) -> boxes, classes, scores. */
int infer_detectron_detection(const struct op *op, const struct tensor *in, struct tensor *out,
			      struct err *e)
{
	int64_t n = op->a.proposal.max_per_image, c = op->a.proposal.n_classes;
	if (in[0].rank != 2 || in[0].dim[1] != 4 ||
	    tensor_elements(&in[1]) != op_mul(in[0].dim[0], 4 * c) ||
	    tensor_elements(&in[2]) != op_mul(in[0].dim[0], c) || tensor_elements(&in[3]) < 2)
		return op_misfit(op_info(op->kind)->type, &in[0], e);
	out[0] = shape2(in[0].elem, n, 4);
	out[1] = shape1(EL_I32, n);
	out[2] = shape1(in[0].elem, n);
	return 0;
}

int infer_top_rois(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	if (in[0].rank != 2 || in[0].dim[1] != 4 || tensor_elements(&in[1]) != in[0].dim[0])
		return op_misfit(op_info(op->kind)->type, &in[0], e);
	*out = shape2(in[0].elem, op->a.proposal.post_nms, 4);
	return 0;
}

/* Priors (a, 4), features (1, c, h, w), image (1, c, h, w) -> (h w a, 4) or (h, w, a, 4). */
int infer_prior_grid(const struct op *op, const struct tensor *in, struct tensor *out,
		     struct err *e)
{
	const struct op_grid *g = &op->a.grid;
	if (in[0].rank != 2 || in[0].dim[1] != 4 || in[1].rank != 4 || in[2].rank != 4)
		return op_misfit(op_info(op->kind)->type, &in[0], e);
	int64_t h = g->h ? g->h : in[1].dim[2], w = g->w ? g->w : in[1].dim[3];
	if (g->flatten)
		*out = shape2(in[0].elem, op_mul(op_mul(h, w), in[0].dim[0]), 4);
	else
		*out = (struct tensor){
			.elem = in[0].elem, .rank = 4, .dim = {h, w, in[0].dim[0], 4}};
	return 0;
}

/* Features (b, c, h, w), regions (r, 4 or 5) [, batch indices (r)] -> (r, c, h, w). */
int infer_roi_align(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	int64_t columns = op->kind == OP_ROI_ALIGN ? 4 : 5;
	if (in[0].rank != 4 || in[1].rank != 2 || in[1].dim[1] != columns ||
	    (op->kind != OP_ROI_POOLING && tensor_elements(&in[2]) != in[1].dim[0]))
		return op_misfit(op_info(op->kind)->type, &in[1], e);
	*out = (struct tensor){.elem = in[0].elem,
			       .rank = 4,
			       .dim = {in[1].dim[0], in[0].dim[1], op->a.roi.h, op->a.roi.w}};
	return 0;
}

/* Regions (r, 4), a pyramid of features (1, c, h, w) each -> (r, c, size, size), regions. */
int infer_roi_features(const struct op *op, const struct tensor *in, struct tensor *out,
		       struct err *e)
{
	if (in[0].rank != 2 || in[0].dim[1] != 4 || op->a.roi.pyramid.n < op->n_in - 1)
		return op_misfit(op_info(op->kind)->type, &in[0], e);
	for (int i = 1; i < op->n_in; i++)
		if (in[i].rank != 4 || in[i].dim[0] < 1 || in[i].dim[1] != in[1].dim[1])
			return op_misfit(op_info(op->kind)->type, &in[i], e);
	out[0] = (struct tensor){.elem = in[0].elem,
				 .rank = 4,
				 .dim = {in[0].dim[0], in[1].dim[1], op->a.roi.h, op->a.roi.h}};
	if (op->n_out > 1)
		op_like(&out[1], &in[0]);
	return 0;
}

/* Features (b, c, h, w), regions (r, 5) -> (r, dim, group, group). */
int infer_psroi(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	const struct op_roi *r = &op->a.roi;
	bool bins = op->kind == OP_PSROI_POOLING && r->bilinear;
	int64_t need =
		op_mul(r->dim, bins ? op_mul(r->bins_x, r->bins_y) : op_mul(r->group, r->group));
	if (in[0].rank != 4 || in[1].rank != 2 || in[1].dim[1] != 5 || in[0].dim[1] < need)
		return op_misfit(op_info(op->kind)->type, &in[0], e);
	*out = (struct tensor){
		.elem = in[0].elem, .rank = 4, .dim = {in[1].dim[0], r->dim, r->group, r->group}};
	return 0;
}

int infer_region_yolo(const struct op *op, const struct tensor *in, struct tensor *out,
		      struct err *e)
{
	const struct op_yolo *y = &op->a.yolo;
	int axis = op_axis(y->axis, in[0].rank), end = op_axis(y->end_axis, in[0].rank);
	if (in[0].rank != 4 || axis < 0 || end < axis)
		return op_misfit("RegionYolo", &in[0], e);
	int64_t each = y->classes + y->coords + 1, n = y->softmax ? y->num : y->n_mask;
	if (in[0].dim[1] < op_mul(each, n))
		return op_misfit("RegionYolo", &in[0], e);
	op_like(out, in);
	if (!y->softmax) {
		out->dim[1] = each * n;
		return 0;
	}
	out->rank = 0;
	for (int i = 0; i < (int)in[0].rank; i++) {
		if (i <= axis || i > end)
			out->dim[out->rank++] = in[0].dim[i];
		else
			out->dim[out->rank - 1] = op_mul(out->dim[out->rank - 1], in[0].dim[i]);
	}
	return 0;
}

int infer_reorg_yolo(const struct op *op, const struct tensor *in, struct tensor *out,
		     struct err *e)
{
	int64_t s = op->a.yolo.stride;
	if (in[0].rank != 4 || in[0].dim[1] % op_mul(s, s) || in[0].dim[2] % s || in[0].dim[3] % s)
		return op_misfit("ReorgYolo", &in[0], e);
	op_like(out, in);
	out->dim[1] = op_mul(out->dim[1], s * s);
	out->dim[2] /= s;
	out->dim[3] /= s;
	return 0;
}
