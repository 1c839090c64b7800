/* prior.c - boxes that a detector starts from: PriorBox, PriorBoxClustered and
 * ExperimentalDetectronPriorGridGenerator.  Sources: the operators' specifications, opset1,
 * opset6, opset8. */
#include "kernel/kernel_impl.h"
#include "op/attr_get.h"

#include <math.h>
#include <string.h>

/* Where boxes go: centre and half sizes in, corners relative to the image out. */
struct prior_run {
	float *y;
	int64_t left; /* boxes that still fit */
	float image_w, image_h, x, centre_y;
};

static float clip01(float x)
{
	return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* clip_outer: only what lies outside on the box's own side. */
static void put_box(struct prior_run *r, float x, float y, float half_w, float half_h,
		    bool clip_outer)
{
	float iw = 1 / r->image_w, ih = 1 / r->image_h;
	if (r->left-- <= 0)
		return;
	r->y[0] = (x - half_w) * iw;
	r->y[1] = (y - half_h) * ih;
	r->y[2] = (x + half_w) * iw;
	r->y[3] = (y + half_h) * ih;
	for (int i = 0; clip_outer && i < 4; i++)
		if (i < 2 ? r->y[i] < 0 : r->y[i] > 1)
			r->y[i] = i < 2 ? 0 : 1;
	r->y += 4;
}

struct prior_lists {
	float ratio[2 * OP_MAX_REALS + 1], min[OP_MAX_REALS], max[OP_MAX_REALS],
		fixed[OP_MAX_REALS], fixed_ratio[OP_MAX_REALS], density[OP_MAX_REALS];
	int n_ratio, n_min, n_max, n_fixed, n_fixed_ratio, n_density;
};

/* 1, then what differs from all before, each followed by its inverse when flipped. */
static void list_ratios(const struct op_prior *p, struct prior_lists *l)
{
	float given[OP_MAX_REALS];
	int n = op_reals(&p->ratio, given);
	l->ratio[0] = 1;
	l->n_ratio = 1;
	for (int i = 0; i < n; i++) {
		int j = 0;
		while (j < l->n_ratio && !(fabsf(given[i] - l->ratio[j]) < 1e-6f))
			j++;
		if (j < l->n_ratio)
			continue;
		l->ratio[l->n_ratio++] = given[i];
		if (p->flip)
			l->ratio[l->n_ratio++] = 1 / given[i];
	}
}

/* density x density boxes of one size and ratio spread around the position. */
static void dense_boxes(struct prior_run *r, float size, float density, float half_w, float half_h)
{
	int64_t n = (int64_t)density, shift = (int64_t)(size / (float)n);
	float whole = (float)((int64_t)size / 2);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < n; j++)
			put_box(r, r->x - whole + (float)shift / 2 + (float)(j * shift),
				r->centre_y - whole + (float)shift / 2 + (float)(i * shift), half_w,
				half_h, true);
}

static void fixed_boxes(struct prior_run *r, const struct prior_lists *l)
{
	for (int s = 0; s < l->n_fixed; s++) {
		float size = l->fixed[s], density = l->density[s], half = size * 0.5f;
		for (int i = 0; i < l->n_fixed_ratio; i++) {
			float ar = sqrtf(l->fixed_ratio[i]);
			dense_boxes(r, size, density, half * ar, half / ar);
		}
		if (l->n_fixed_ratio)
			continue;
		half = (float)(int64_t)size * 0.5f;
		dense_boxes(r, size, density, half, half);
		for (int i = 0; i < l->n_ratio; i++) {
			float ar = sqrtf(l->ratio[i]);
			if (!(fabsf(l->ratio[i] - 1) < 1e-6f))
				dense_boxes(r, size, density, size * 0.5f * ar, size * 0.5f / ar);
		}
	}
}

static void ratio_boxes(struct prior_run *r, const struct prior_lists *l, float size)
{
	for (int i = 0; i < l->n_ratio; i++) {
		float ar = sqrtf(l->ratio[i]);
		if (!(fabsf(l->ratio[i] - 1) < 1e-6f))
			put_box(r, r->x, r->centre_y, size * 0.5f * ar, size * 0.5f / ar, false);
	}
}

static void sized_boxes(struct prior_run *r, const struct op_prior *p, const struct prior_lists *l)
{
	for (int i = 0; i < l->n_min; i++) {
		bool ratios = p->scale_all || i == l->n_min - 1;
		float size = l->min[p->scale_all ? i : 0];
		put_box(r, r->x, r->centre_y, l->min[i] * 0.5f, l->min[i] * 0.5f, false);
		if (!p->min_max_first && ratios)
			ratio_boxes(r, l, size);
		if (i < l->n_max) {
			float half = sqrtf(l->min[i] * l->max[i]) * 0.5f;
			put_box(r, r->x, r->centre_y, half, half, false);
		}
		if (p->min_max_first && ratios)
			ratio_boxes(r, l, size);
	}
}

/* The second row of the output. */
static void put_variances(const struct op_prior *p, float *y, int64_t n)
{
	float v[OP_MAX_REALS] = {0.1f};
	int m = op_reals(&p->variance, v);
	for (int64_t i = 0; i < n; i++)
		y[i] = v[m == 4 ? i % 4 : 0];
}

static void clip_all(const struct op_prior *p, float *y, int64_t n)
{
	for (int64_t i = 0; p->clip && i < n; i++)
		y[i] = clip01(y[i]);
}

int run_prior_box(const struct kernel_call *k, struct err *e)
{
	const struct op_prior *p = &k->op->a.prior;
	struct prior_lists l;
	int64_t h = tensor_int(&k->in[0], 0), w = tensor_int(&k->in[0], 1), n = k->out[0].dim[1];
	float *y = k->out[0].data, step = p->step;
	struct prior_run r = {.y = y,
			      .left = n / 4,
			      .image_h = (float)tensor_int(&k->in[1], 0),
			      .image_w = (float)tensor_int(&k->in[1], 1)};
	(void)e;
	list_ratios(p, &l);
	l.n_min = op_reals(&p->min_size, l.min);
	l.n_max = op_reals(&p->max_size, l.max);
	l.n_fixed = op_reals(&p->fixed_size, l.fixed);
	l.n_fixed_ratio = op_reals(&p->fixed_ratio, l.fixed_ratio);
	l.n_density = op_reals(&p->density, l.density);
	if (!p->scale_all) { /* sizes are fractions of the image's height */
		step = step == -1 ? r.image_h / (float)h : step * r.image_h;
		for (int i = 0; i < l.n_min; i++)
			l.min[i] *= r.image_h;
	}
	memset(y, 0, (size_t)n * sizeof *y);
	for (int64_t i = 0; i < h; i++)
		for (int64_t j = 0; j < w; j++) {
			r.x = step == 0 ? ((float)j + 0.5f) * (r.image_w / (float)w)
					: (p->offset + (float)j) * step;
			r.centre_y = step == 0 ? ((float)i + 0.5f) * (r.image_h / (float)h)
					       : (p->offset + (float)i) * step;
			fixed_boxes(&r, &l);
			sized_boxes(&r, p, &l);
		}
	clip_all(p, y, n);
	put_variances(p, y + n, n);
	return 0;
}

int run_prior_box_clustered(const struct kernel_call *k, struct err *e)
{
	const struct op_prior *p = &k->op->a.prior;
	float width[OP_MAX_REALS], height[OP_MAX_REALS], *y = k->out[0].data;
	int m = op_reals(&p->width, width);
	int64_t h = tensor_int(&k->in[0], 0), w = tensor_int(&k->in[0], 1), n = k->out[0].dim[1];
	struct prior_run r = {.y = y,
			      .left = n / 4,
			      .image_h = (float)tensor_int(&k->in[1], 0),
			      .image_w = (float)tensor_int(&k->in[1], 1)};
	(void)e;
	op_reals(&p->height, height);
	float step_w = p->step_w == 0 ? p->step : p->step_w,
	      step_h = p->step_h == 0 ? p->step : p->step_h;
	if (step_w == 0 && step_h == 0) {
		step_w = r.image_w / (float)w;
		step_h = r.image_h / (float)h;
	}
	for (int64_t i = 0; i < h; i++)
		for (int64_t j = 0; j < w; j++)
			for (int s = 0; s < m; s++)
				put_box(&r, ((float)j + p->offset) * step_w,
					((float)i + p->offset) * step_h, width[s] / 2,
					height[s] / 2, false);
	clip_all(p, y, n);
	put_variances(p, y + n, n);
	return 0;
}

/* Priors (a, 4), features (1, c, h, w), image (1, c, h, w): the priors at every position. */
int run_prior_grid(const struct kernel_call *k, struct err *e)
{
	const struct op_grid *g = &k->op->a.grid;
	const float *prior = k->in[0].data;
	float *y = k->out[0].data;
	int64_t h = g->h ? g->h : k->in[1].dim[2], w = g->w ? g->w : k->in[1].dim[3];
	float step_x = g->stride_x ? g->stride_x : (float)k->in[2].dim[3] / (float)w;
	float step_y = g->stride_y ? g->stride_y : (float)k->in[2].dim[2] / (float)h;
	(void)e;
	for (int64_t i = 0; i < h; i++)
		for (int64_t j = 0; j < w; j++)
			for (int64_t s = 0; s < k->in[0].dim[0]; s++, y += 4)
				for (int c = 0; c < 4; c++)
					y[c] = prior[4 * s + c] +
					       (c & 1 ? step_y * ((float)i + 0.5f)
						      : step_x * ((float)j + 0.5f));
	return 0;
}
