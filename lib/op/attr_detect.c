/* attr_detect.c - attributes of the operators of detectors: boxes, their suppression, regions.
 * The operator's defaults apply to what is absent; unknown attributes are ignored,
 * values that make no sense are errors. */
#include "op/attr_get.h"
#include "op/opimpl.h"

#include <math.h>
#include <string.h>

/* Different aspect ratios with 1 among them, flipped ones too; as OpenVINO counts them. */
static int64_t count_ratios(const struct op_prior *p)
{
	float r[OP_MAX_REALS], seen[2 * OP_MAX_REALS + 1] = {1};
	int n = op_reals(&p->ratio, r), n_seen = 1;
	for (int i = 0; i < n; i++)
		for (int flipped = 0; flipped <= p->flip; flipped++) {
			float x = roundf((flipped ? 1 / r[i] : r[i]) * 1e6f) / 1e6f;
			int j = 0;
			while (j < n_seen && seen[j] != x)
				j++;
			if (j == n_seen)
				seen[n_seen++] = x;
		}
	return n_seen;
}

static int64_t count_priors(const struct op_prior *p)
{
	float density[OP_MAX_REALS];
	int64_t ratios = count_ratios(p), n;
	if (p->scale_all)
		n = ratios * p->min_size.n + p->max_size.n;
	else
		n = ratios + p->min_size.n - 1;
	if (p->fixed_size.n)
		n = ratios * p->fixed_size.n;
	for (int i = 0, m = op_reals(&p->density, density); i < m; i++) {
		int64_t d = (int64_t)density[i];
		n += (p->fixed_ratio.n ? p->fixed_ratio.n : ratios) * (d * d - 1);
	}
	return n;
}

/* All of a list in lo .. hi. */
static int check_range(const struct op *op, const char *key, const struct op_reals *r, float lo,
		       float hi, struct err *e)
{
	float x[OP_MAX_REALS];
	for (int i = 0, n = op_reals(r, x); i < n; i++)
		if (!(x[i] >= lo && x[i] <= hi))
			return op_bad_attr(op, key, r->text, e);
	return 0;
}

int attr_prior(struct op *op, struct err *e)
{
	struct op_prior *p = &op->a.prior;
	p->clip = p->flip = false;
	p->scale_all = true;
	p->min_max_first = true;
	if (op_get_reals(op, "min_size", &p->min_size, e) ||
	    op_get_reals(op, "max_size", &p->max_size, e) ||
	    op_get_reals(op, "aspect_ratio", &p->ratio, e) ||
	    op_get_reals(op, "density", &p->density, e) ||
	    op_get_reals(op, "fixed_ratio", &p->fixed_ratio, e) ||
	    op_get_reals(op, "fixed_size", &p->fixed_size, e) ||
	    op_get_reals(op, "variance", &p->variance, e) ||
	    op_get_reals(op, "width", &p->width, e) || op_get_reals(op, "height", &p->height, e) ||
	    op_get_bool(op, "flip", &p->flip, e) || op_get_bool(op, "clip", &p->clip, e) ||
	    op_get_bool(op, "scale_all_sizes", &p->scale_all, e) ||
	    op_get_bool(op, "min_max_aspect_ratios_order", &p->min_max_first, e) ||
	    op_get_float(op, "step", &p->step, e) || op_get_float(op, "step_w", &p->step_w, e) ||
	    op_get_float(op, "step_h", &p->step_h, e) ||
	    op_get_float(op, "offset", &p->offset, e) ||
	    check_range(op, "aspect_ratio", &p->ratio, 1e-6f, 1e6f, e) ||
	    check_range(op, "fixed_ratio", &p->fixed_ratio, 1e-6f, 1e6f, e) ||
	    check_range(op, "fixed_size", &p->fixed_size, 0, 1e6f, e) ||
	    check_range(op, "density", &p->density, 1, 1000, e))
		return -1;
	if (p->variance.n > 1 && p->variance.n != 4)
		return op_bad_attr(op, "variance", p->variance.text, e);
	if (p->fixed_size.n && p->density.n < p->fixed_size.n)
		return err_set(e, ST_INPUT, "PriorBox with fewer densities than fixed sizes");
	if (p->width.n != p->height.n)
		return err_set(e, ST_INPUT, "PriorBoxClustered with %d widths and %d heights",
			       p->width.n, p->height.n);
	p->n_priors = op->kind == OP_PRIOR_BOX ? count_priors(p) : p->width.n;
	if (p->n_priors < 1)
		return err_set(e, ST_INPUT, "%s without boxes", op_info(op->kind)->type);
	return 0;
}

int attr_detection(struct op *op, struct err *e)
{
	struct op_detection *d = &op->a.detection;
	int code = 0, n;
	int64_t keep[8] = {-1};
	*d = (struct op_detection){.background = 0,
				   .top_k = -1,
				   .share_location = true,
				   .input_w = 1,
				   .input_h = 1,
				   .confidence = 0};
	if (op_get_int(op, "num_classes", 1, &d->n_classes, e) ||
	    op_get_int(op, "background_label_id", -1, &d->background, e) ||
	    op_get_int(op, "top_k", -1, &d->top_k, e) ||
	    op_get_list(op, "keep_top_k", -1, 8, keep, &n, e) ||
	    op_get_int(op, "input_width", 1, &d->input_w, e) ||
	    op_get_int(op, "input_height", 1, &d->input_h, e) ||
	    op_get_float(op, "nms_threshold", &d->nms, e) ||
	    op_get_float(op, "confidence_threshold", &d->confidence, e) ||
	    op_get_float(op, "objectness_score", &d->objectness, e) ||
	    op_get_choice(op, "code_type",
			  "caffe.PriorBoxParameter.CORNER|caffe.PriorBoxParameter.CENTER_SIZE",
			  &code, e) ||
	    op_get_bool(op, "share_location", &d->share_location, e) ||
	    op_get_bool(op, "variance_encoded_in_target", &d->variance_in_target, e) ||
	    op_get_bool(op, "clip_before_nms", &d->clip_before, e) ||
	    op_get_bool(op, "clip_after_nms", &d->clip_after, e) ||
	    op_get_bool(op, "decrease_label_id", &d->decrease_label, e) ||
	    op_get_bool(op, "normalized", &d->normalized, e))
		return -1;
	d->keep_top_k = keep[0];
	d->center_size = code == 1;
	return 0;
}

int attr_nms(struct op *op, struct err *e)
{
	struct op_nms *a = &op->a.nms;
	int box = 0, decay = 1, sort = 2;
	*a = (struct op_nms){.descending = true,
			     .index = EL_I64,
			     .top_k = -1,
			     .keep_top_k = -1,
			     .background = -1,
			     .eta = 1,
			     .sigma = 2,
			     .normalized = true,
			     .clockwise = true};
	if (op_get_choice(op, "box_encoding", "corner|center", &box, e) ||
	    op_get_bool(op, "sort_result_descending", &a->descending, e) ||
	    op_get_elem(op, "output_type", &a->index, e) ||
	    op_get_choice(op, "sort_result_type", "classid|score|none", &sort, e) ||
	    op_get_bool(op, "sort_result_across_batch", &a->across_batch, e) ||
	    op_get_bool(op, "normalized", &a->normalized, e) ||
	    op_get_bool(op, "clockwise", &a->clockwise, e) ||
	    op_get_choice(op, "decay_function", "gaussian|linear", &decay, e) ||
	    op_get_int(op, "nms_top_k", -1, &a->top_k, e) ||
	    op_get_int(op, "keep_top_k", -1, &a->keep_top_k, e) ||
	    op_get_int(op, "background_class", -1, &a->background, e) ||
	    op_get_float(op, "iou_threshold", &a->iou, e) ||
	    op_get_float(op, "score_threshold", &a->score, e) ||
	    op_get_float(op, "nms_eta", &a->eta, e) ||
	    op_get_float(op, "gaussian_sigma", &a->sigma, e) ||
	    op_get_float(op, "post_threshold", &a->post, e))
		return -1;
	a->center = box == 1;
	a->gaussian = decay == 0;
	a->sort = (enum op_sort)sort;
	return 0;
}

int attr_proposal(struct op *op, struct err *e)
{
	struct op_proposal *p = &op->a.proposal;
	const char *framework = graph_attr(op->g, op->v, "framework");
	*p = (struct op_proposal){.box_scale = 1,
				  .size_scale = 1,
				  .clip_before = true,
				  .eta = 1,
				  .max_log_wh = (float)log(1000.0 / 16),
				  .count = EL_I64,
				  .pre_nms = 1,
				  .post_nms = 1,
				  .stride = 1};
	if (op_get_reals(op, "ratio", &p->ratio, e) || op_get_reals(op, "scale", &p->scale, e) ||
	    op_get_float(op, "base_size", &p->base_size, e) ||
	    op_get_float(op, "min_size", &p->min_size, e) ||
	    op_get_float(op, "nms_thresh", &p->nms, e) ||
	    op_get_float(op, "nms_threshold", &p->nms, e) ||
	    op_get_float(op, "score_threshold", &p->score, e) ||
	    op_get_float(op, "nms_eta", &p->eta, e) ||
	    op_get_float(op, "max_delta_log_wh", &p->max_log_wh, e) ||
	    op_get_reals(op, "deltas_weights", &p->weights, e) ||
	    op_get_float(op, "box_coordinate_scale", &p->box_scale, e) ||
	    op_get_float(op, "box_size_scale", &p->size_scale, e) ||
	    op_get_int(op, "pre_nms_topn", 0, &p->pre_nms, e) ||
	    op_get_int(op, "post_nms_topn", 0, &p->post_nms, e) ||
	    op_get_int(op, "pre_nms_count", 0, &p->pre_nms, e) ||
	    op_get_int(op, "post_nms_count", op->kind == OP_DETECTRON_DETECTION_OUTPUT ? -1 : 0,
		       &p->post_nms, e) ||
	    op_get_int(op, "max_rois", 0, &p->post_nms, e) ||
	    op_get_int(op, "feat_stride", 0, &p->stride, e) ||
	    op_get_int(op, "num_classes", 1, &p->n_classes, e) ||
	    op_get_int(op, "max_detections_per_image", 0, &p->max_per_image, e) ||
	    op_get_bool(op, "clip_before_nms", &p->clip_before, e) ||
	    op_get_bool(op, "clip_after_nms", &p->clip_after, e) ||
	    op_get_bool(op, "normalize", &p->normalize, e) ||
	    op_get_bool(op, "normalized", &p->normalize, e) ||
	    op_get_elem(op, "roi_num_type", &p->count, e))
		return -1;
	p->tensorflow = framework && !strcmp(framework, "tensorflow");
	if (op->kind == OP_DETECTRON_DETECTION_OUTPUT && p->weights.n != 4)
		return err_set(e, ST_INPUT, "deltas_weights has %d values, not 4", p->weights.n);
	if (op->kind == OP_DETECTRON_DETECTION_OUTPUT && p->n_classes < 1)
		return err_set(e, ST_INPUT, "num_classes is missing");
	return check_range(op, "ratio", &p->ratio, 1e-6f, 1e6f, e);
}

int attr_roi(struct op *op, struct err *e)
{
	struct op_roi *r = &op->a.roi;
	int mode = 0, align = 0, method = 0;
	*r = (struct op_roi){.h = 1,
			     .w = 1,
			     .dim = 1,
			     .bins_x = 1,
			     .bins_y = 1,
			     .part = 1,
			     .group = 1,
			     .scale = 1,
			     .trans_std = 1,
			     .clockwise = false};
	bool aligned = false;
	int64_t size[2];
	int n_size;
	if (op_get_int(op, "pooled_h", 1, &r->h, e) || op_get_int(op, "pooled_w", 1, &r->w, e) ||
	    op_get_list(op, "output_size", 1, 2, size, &n_size, e) ||
	    op_get_int(op, "sampling_ratio", 0, &r->sampling, e) ||
	    op_get_int(op, "output_dim", 1, &r->dim, e) ||
	    op_get_int(op, "group_size", 1, &r->group, e) ||
	    op_get_int(op, "spatial_bins_x", 1, &r->bins_x, e) ||
	    op_get_int(op, "spatial_bins_y", 1, &r->bins_y, e) ||
	    op_get_int(op, "part_size", 1, &r->part, e) ||
	    op_get_float(op, "spatial_scale", &r->scale, e) ||
	    op_get_float(op, "trans_std", &r->trans_std, e) ||
	    op_get_choice(op, "mode", "avg|max|average|bilinear|bilinear_deformable", &mode, e) ||
	    op_get_choice(op, "method", "max|bilinear", &method, e) ||
	    op_get_choice(op, "aligned_mode", "asymmetric|half_pixel_for_nn|half_pixel", &align,
			  e) ||
	    op_get_bool(op, "clockwise_mode", &r->clockwise, e) ||
	    op_get_bool(op, "aligned", &aligned, e) ||
	    op_get_reals(op, "pyramid_scales", &r->pyramid, e))
		return -1;
	if (n_size > 0) {
		r->h = size[0];
		r->w = size[n_size - 1];
	}
	r->max = mode == 1;
	r->bilinear = mode >= 3 || method == 1;
	r->align = aligned ? ALIGN_HALF_PIXEL_NN : (enum op_align)align;
	if (r->sampling > 1 << 10 || r->bins_x > 1 << 10 || r->bins_y > 1 << 10)
		return err_set(e, ST_INPUT, "%s with more than 1024 samples of a bin along an axis",
			       op_info(op->kind)->type);
	return 0;
}

int attr_yolo(struct op *op, struct err *e)
{
	struct op_yolo *y = &op->a.yolo;
	int64_t mask[OP_MAX_REALS];
	*y = (struct op_yolo){.axis = 1, .end_axis = 3, .softmax = true, .stride = 1};
	if (op_get_int(op, "axis", INT32_MIN, &y->axis, e) ||
	    op_get_int(op, "end_axis", INT32_MIN, &y->end_axis, e) ||
	    op_get_int(op, "classes", 0, &y->classes, e) ||
	    op_get_int(op, "coords", 2, &y->coords, e) || op_get_int(op, "num", 0, &y->num, e) ||
	    op_get_int(op, "stride", 1, &y->stride, e) ||
	    op_get_bool(op, "do_softmax", &y->softmax, e) ||
	    op_get_list(op, "mask", INT32_MIN, OP_MAX_REALS, mask, &y->n_mask, e))
		return -1;
	if (y->n_mask < 0)
		y->n_mask = 0;
	return 0;
}

int attr_grid(struct op *op, struct err *e)
{
	struct op_grid *g = &op->a.grid;
	g->flatten = true;
	return op_get_int(op, "h", 0, &g->h, e) || op_get_int(op, "w", 0, &g->w, e) ||
			       op_get_float(op, "stride_x", &g->stride_x, e) ||
			       op_get_float(op, "stride_y", &g->stride_y, e) ||
			       op_get_bool(op, "flatten", &g->flatten, e)
		       ? -1
		       : 0;
}
