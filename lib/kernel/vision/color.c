/* color.c - NV12toRGB, NV12toBGR, I420toRGB, I420toBGR (opset8): luma at every pixel, chroma at
 * every second one of every second row, as one plane or as several.
 *
 * One plane is (n, 3 h / 2, w, 1): h rows of luma, then chroma; the results are (n, h, w, 3). */
#include "kernel/kernel_impl.h"

#include <math.h>

#define LEVEL_FILE "kernel/vision/color_loops.h"
#include "kernel/isa_dispatch.h"

struct color_run {
	const struct kernel_call *k;
	bool nv12, bgr;
	int64_t h, w;
};

static float element(const struct tensor *t, int64_t i)
{
	return t->elem == EL_U8    ? (float)((const uint8_t *)t->data)[i]
	       : t->elem == EL_F32 ? ((const float *)t->data)[i]
				   : (float)tensor_real(t, i);
}

/* Where U and V of the chroma sample at (y, x) of image b are. */
static void chroma(const struct color_run *r, int64_t b, int64_t y, int64_t x, float *u, float *v)
{
	const struct tensor *in = r->k->in;
	int64_t h = r->h / 2, w = r->w / 2, at = y * w + x, area = h * w;
	if (r->k->op->n_in == 1) {
		int64_t base = b * 6 * area + 4 * area;
		*u = element(in, base + (r->nv12 ? 2 * at : at));
		*v = element(in, base + (r->nv12 ? 2 * at + 1 : area + at));
		return;
	}
	*u = element(&in[1], r->nv12 ? 2 * (b * area + at) : b * area + at);
	*v = r->nv12 ? element(&in[1], 2 * (b * area + at) + 1) : element(&in[2], b * area + at);
}

static float limited(float x)
{
	return x < 0 ? 0 : x > 255 ? 255 : x;
}

/* BT.601, as OpenVINO has its factors. */
static void convert_row(void *arg, int task, int thread)
{
	const struct color_run *r = arg;
	const struct tensor *in = r->k->in, *out = r->k->out;
	int64_t b = task / r->h, row = task % r->h;
	int64_t from = (b * (r->k->op->n_in == 1 ? r->h / 2 * 3 : r->h) + row) * r->w;
	(void)thread;
	for (int64_t x = 0; x < r->w; x++) {
		float u, v, c = 1.164f * (element(in, from + x) - 16), rgb[3];
		chroma(r, b, row / 2, x / 2, &u, &v);
		u -= 128;
		v -= 128;
		rgb[r->bgr ? 2 : 0] = limited(c + 1.596f * v);
		rgb[1] = limited(c - 0.391f * u - 0.813f * v);
		rgb[r->bgr ? 0 : 2] = limited(c + 2.018f * u);
		int64_t to = (((int64_t)task) * r->w + x) * 3;
		for (int i = 0; i < 3; i++)
			if (elem_is_real(out->elem))
				tensor_set_real(out, to + i, (double)rgb[i]);
			else
				tensor_set_int(out, to + i, (int64_t)roundf(rgb[i]));
	}
}

/* Bytes, one plane or several: the same arithmetic on many pixels. */
static void convert_bytes(void *arg, int task, int thread)
{
	const struct color_run *r = arg;
	const struct tensor *in = r->k->in;
	int64_t b = task / r->h, row = task % r->h, w = r->w / 2, area = r->h / 2 * w;
	bool one = r->k->op->n_in == 1;
	const uint8_t *luma =
		(const uint8_t *)in[0].data + (b * (one ? r->h / 2 * 3 : r->h) + row) * r->w;
	const uint8_t *base = one ? (const uint8_t *)in[0].data + b * 6 * area + 4 * area
				  : (const uint8_t *)in[1].data + b * area * (r->nv12 ? 2 : 1);
	const uint8_t *u = base + row / 2 * w * (r->nv12 ? 2 : 1), *v = u + 1;
	if (!r->nv12)
		v = (one ? base + area : (const uint8_t *)in[2].data + b * area) + row / 2 * w;
	uint8_t *to = (uint8_t *)r->k->out[0].data + (int64_t)task * r->w * 3;
	(void)thread;
	LEVEL_CALL(yuv_row, luma, u, v, r->nv12 ? 2 : 1, r->bgr, to, r->w);
}

int run_color(const struct kernel_call *k, struct err *e)
{
	enum op_kind kind = k->op->kind;
	struct color_run r = {.k = k,
			      .nv12 = kind == OP_NV12_TO_RGB || kind == OP_NV12_TO_BGR,
			      .bgr = kind == OP_NV12_TO_BGR || kind == OP_I420_TO_BGR,
			      .h = k->out[0].dim[1],
			      .w = k->out[0].dim[2]};
	int64_t rows = k->out[0].dim[0] * r.h;
	if (rows > INT32_MAX)
		return err_set(e, ST_INPUT, "%s of too many rows", op_info(kind)->type);
	bool bytes = k->in[0].elem == EL_U8 && k->out[0].elem == EL_U8;
	cpu_parallel(k->ctx, (int)rows, bytes ? convert_bytes : convert_row, &r);
	return 0;
}
