/* yolo.c - RegionYolo and ReorgYolo.  Source: the operators' specifications, opset1, opset2. */
#include "kernel/kernel_impl.h"
#include "kernel/vec.h"

#include <string.h>

/* Softmax over n values that lie `step` apart, for each of `step` such lines, in place; room: step
 * floats. */
static void softmax_strided(float *x, int64_t n, int64_t step, float *room)
{
	static const struct unary_args none;
	memcpy(room, x, (size_t)step * sizeof *x);
	for (int64_t i = 1; i < n; i++)
		vec_join(OP_REDUCE_MAX, x + i * step, room, step);
	for (int64_t i = 0; i < n; i++) {
		vec_binary(OP_SUBTRACT, x + i * step, 1, room, 1, x + i * step, step);
		vec_unary(OP_EXP, &none, x + i * step, x + i * step, step);
	}
	memset(room, 0, (size_t)step * sizeof *x);
	for (int64_t i = 0; i < n; i++)
		vec_join(OP_REDUCE_SUM, x + i * step, room, step);
	for (int64_t i = 0; i < n; i++)
		vec_binary(OP_DIVIDE, x + i * step, 1, room, 1, x + i * step, step);
}

static void sigmoid(float *x, int64_t n)
{
	struct unary_args none = {0};
	vec_unary(OP_SIGMOID, &none, x, x, n);
}

/* (n, boxes (coords + 1 + classes), h, w): sigmoid of positions and confidence; of the classes
 * softmax, or sigmoid with do_softmax false. */
int run_region_yolo(const struct kernel_call *k, struct err *e)
{
	const struct op_yolo *y = &k->op->a.yolo;
	const struct tensor *in = &k->in[0];
	int64_t area = in->dim[2] * in->dim[3], each = y->coords + y->classes + 1;
	int64_t boxes = y->softmax ? y->num : y->n_mask, out_image = boxes * each * area;
	float *to = k->out[0].data;
	float *room = cpu_slot_scratch(k->ctx, SLOT_EXTRA, (size_t)area * sizeof *room);
	if (!room)
		return cpu_no_memory(e);
	if (y->softmax && out_image < in->dim[1] * area)
		out_image = in->dim[1] * area;
	for (int64_t b = 0; b < in->dim[0]; b++, to += out_image) {
		memcpy(to, (const float *)in->data + b * in->dim[1] * area,
		       (size_t)out_image * sizeof *to);
		for (int64_t n = 0; n < boxes; n++) {
			float *box = to + n * each * area;
			sigmoid(box, 2 * area);
			sigmoid(box + y->coords * area, area * (y->softmax ? 1 : y->classes + 1));
			if (!y->softmax || !y->classes)
				continue;
			softmax_strided(box + (y->coords + 1) * area, y->classes, area, room);
		}
	}
	return 0;
}

/* (n, c, h, w) -> (n, c s s, h / s, w / s), in Darknet's order. */
int run_reorg_yolo(const struct kernel_call *k, struct err *e)
{
	const struct tensor *in = &k->in[0];
	int64_t s = k->op->a.yolo.stride, c = in->dim[1], h = in->dim[2], w = in->dim[3];
	int64_t out_c = c / (s * s);
	const float *x = in->data;
	float *y = k->out[0].data;
	(void)e;
	for (int64_t b = 0; b < in->dim[0]; b++)
		for (int64_t i = 0; i < c; i++)
			for (int64_t j = 0; j < h; j++)
				for (int64_t l = 0; l < w; l++) {
					int64_t block = i / out_c, row = j * s + block / s,
						column = l * s + block % s;
					int64_t from =
						((b * out_c + i % out_c) * h * s + row) * w * s +
						column;
					*y++ = x[from];
				}
	return 0;
}
