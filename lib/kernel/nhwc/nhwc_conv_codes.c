/* nhwc_conv_codes.c - convolutions of codes: their weights as codes, and padding that has codes of its own. */
#include "kernel/nhwc/nhwc_conv.h"

#include <math.h>
#include <stdlib.h>

static int32_t sum_of(const int8_t *x, int64_t n)
{
	int32_t sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += x[i];
	return sum;
}

/* Do sums of any codes of 8 bits times these weights fit 32 bits, row by row? */
static bool sums_fit(const int8_t *code, int64_t rows, int64_t n)
{
	for (int64_t r = 0; r < rows; r++) {
		int64_t sum = 0;
		for (int64_t i = 0; i < n; i++)
			sum += abs(code[r * n + i]);
		if (sum > INT32_MAX / 255)
			return false;
	}
	return true;
}

/* Where zero has codes of its own in each channel, padding is part of what the convolution reads. */
static void frame(struct conv_step *s)
{
	struct window *g = &s->g;
	bool same = true;
	for (int64_t i = 0; i < s->x.n_scales && same; i++)
		same = form_zero(&s->x, i) == 0;
	s->framed = !same && window_has_padding(g);
	if (!s->framed)
		return;
	s->zeros = MEM_NEWN(char, (size_t)s->x.n_scales);
	for (int64_t i = 0; i < s->x.n_scales; i++)
		s->zeros[i] = (char)(int)form_zero(&s->x, i);
	g->in_plane = 1;
	for (int i = 0; i < 3; i++) {
		int64_t reach =
			(g->out[i] - 1) * g->stride[i] + (g->kernel[i] - 1) * g->dilation[i] + 1;
		s->margin[i] = g->pad[i];
		s->size[i] = g->in[i];
		g->in[i] = reach > g->pad[i] + g->in[i] ? reach : g->pad[i] + g->in[i];
		g->in_plane *= g->in[i];
		g->pad[i] = g->pad_end[i] = 0;
	}
}

/* Weights as codes, their scales, and the convolution. */
int codes_conv(struct conv_step *s, const struct tensor *w, const void *key, const float *bias,
	       struct err *e)
{
	int64_t count = tensor_elements(w), rows = s->g.groups * s->g.cout;
	float *f32 = mem_try((size_t)count * sizeof *f32), *scale = MEM_NEWN(float, (size_t)rows);
	int8_t *code = mem_try((size_t)count);
	const struct window whole = s->g;
	frame(s);
	bool pads = window_has_padding(&s->g);
	float *shift = MEM_NEWN(float, (size_t)rows);
	bool shifts = false;
	int rc = 0;
	if (!f32 || !code) {
		rc = cpu_no_memory(e);
	} else {
		cpu_convert(EL_F32, f32, w->elem, w->data, count);
		rc = codes_of_weights(f32, rows, count / rows, code, scale) &&
		     sums_fit(code, rows, count / rows);
	}
	for (int64_t i = 0; i < rows && rc > 0; i++) {
		float x_scale = s->x.scales ? s->x.scales[i / s->g.cout] : s->x.scale;
		float zero = pads ? 0 : form_zero(&s->x, i / s->g.cout);
		shift[i] = (bias ? bias[i] / (x_scale * scale[i]) : 0) -
			   zero * (float)sum_of(code + i * (count / rows), count / rows);
		scale[i] *= x_scale;
		if (s->direct)
			scale[i] /= s->codes.scales ? s->codes.scales[i] : s->codes.scale;
		float made = s->direct ? form_zero(&s->codes, i) : 0;
		if (made != 0)
			shift[i] += made / scale[i];
		shifts = shifts || shift[i] != 0;
	}
	struct onednn_conv_spec spec = {.g = s->g,
					.src = s->x.elem,
					.dst = s->direct ? s->codes.elem : EL_F32,
					.weights = *w,
					.key = key,
					.scale = scale,
					.bias = shifts ? shift : NULL,
					.zero = pads ? (int)s->x.zero : 0};
	spec.weights.elem = EL_I8;
	spec.weights.data = code;
	struct tiled_conv_spec tiled = {.g = s->g,
					.weights = &spec.weights,
					.key = key,
					.bias = shifts ? shift : NULL,
					.scale = scale,
					.src = s->x.elem,
					.dst = spec.dst,
					.post = {.lo = -INFINITY, .hi = INFINITY}};
	if (rc > 0 && spec.zero == 0 && tiled_conv_does(s->ctx, &s->g, s->x.elem)) {
		rc = conv_by_tiles(s, &tiled, e);
	} else if (rc > 0) {
		rc = conv_by_onednn(s, &spec, e);
	}
	mem_free(f32);
	mem_free(code);
	mem_free(scale);
	mem_free(shift);
	if (rc <= 0) { /* floats have no such padding */
		s->g = whole;
		s->framed = false;
	}
	return rc;
}
