/* cpu_pixel_resize.c - Interpolate of two spatial dims, of tensors with channels behind pixels: an output row is
 * a weighted sum of input rows, and each of its pixels one of that row's pixels. */
#include "device/cpu/pixel/cpu_pixel_impl.h"
#include "kernel/cpu_vec.h"

#include <stdatomic.h>
#include <string.h>

bool pixel_resize_init(struct pixel_resize *p, const struct step_spec *spec, enum elem elem,
		       struct mem_form *want)
{
	enum { INPUTS = 4 };
	const struct step_node *n = &spec->node[0];
	const struct op_resize *a = &n->op->a.resize;
	struct tensor in[INPUTS] = {{0}};
	struct err e = ERR_INIT;
	double scale[TENSOR_DIMS];
	const struct tensor *x = n->in[0].tensor, *y = &n->out[0];
	if (spec->n_nodes != 1 || n->n_in > INPUTS || n->in[0].from != FROM_INPUT ||
	    !fits_pixels(x) || !fits_pixels(y) || x->rank != 4 || x->dim[0] != y->dim[0] ||
	    x->dim[1] != y->dim[1] || resize_wide(a))
		return false;
	for (uint32_t i = 0; i < n->n_in; i++) {
		if (i > 0 && n->in[i].tensor &&
		    (n->in[i].from != FROM_CONST || !n->in[i].tensor->data))
			return false;
		if (n->in[i].tensor)
			in[i] = *n->in[i].tensor;
	}
	for (int d = 0; d < 4; d++)
		if (a->pad_begin[d] || a->pad_end[d])
			return false;
	if (resize_scales(n->op, in, n->out, scale, &e) < 0 || scale[0] != 1 || scale[1] != 1)
		return false;
	want[0] = wanted_form(n, elem);
	p->x_in = n->in[0].index;
	p->in_shape = form_shape_of(x);
	p->shape = form_shape_of(y);
	for (int d = 0; d < 2; d++) {
		p->in[d] = x->dim[2 + d];
		p->out[d] = y->dim[2 + d];
		p->tap[d] = MEM_NEWN(struct resize_tap, (size_t)p->out[d]);
		for (int64_t o = 0; o < p->out[d]; o++)
			p->tap[d][o] = resize_tap(a, o, scale[2 + d], p->in[d], p->out[d]);
	}
	return want[0].pixels;
}

void pixel_resize_release(struct pixel_resize *p)
{
	mem_free(p->tap[0]);
	mem_free(p->tap[1]);
}

/* ---- running ---- */

struct resize_run {
	const struct pixel_resize *p;
	struct cpu_ctx *ctx;
	const struct devmem *x;
	void *y;
	struct mem_form form; /* of y */
	atomic_bool failed;
};

/* The sum of rows or pixels of n floats, `step` floats apart. */
static void mix(const struct resize_tap *tap, const float *x, int64_t step, int64_t n, float *y)
{
	const float *from[4];
	for (int t = 0; t < tap->n; t++)
		from[t] = x + tap->at[t] * step;
	if (tap->n == 1 && tap->weight[0] == 1)
		memcpy(y, from[0], (size_t)n * sizeof *y);
	else if (tap->n == 0)
		memset(y, 0, (size_t)n * sizeof *y);
	else
		vec_mix(from, tap->weight, tap->n, y, n);
}

/* One output row. */
static void row_task(void *arg, int task, int thread)
{
	struct resize_run *r = arg;
	const struct pixel_resize *p = r->p;
	int64_t c = p->shape.channels, image = task / p->out[0], oy = task % p->out[0];
	int64_t row = p->in[1] * c, step = pixel_program_tile(&p->shape);
	float *rows =
		cpu_thread_scratch(r->ctx, thread, (size_t)(5 * row + step * c) * sizeof *rows);
	if (!rows) {
		atomic_store(&r->failed, true);
		return;
	}
	float *line = rows + 4 * row, *tile = line + row;
	struct resize_tap tall = p->tap[0][oy];
	for (int t = 0; t < tall.n; t++) {
		form_read(&r->x->form, &p->in_shape, r->x->p, image, tall.at[t] * p->in[1],
			  p->in[1], rows + t * row);
		tall.at[t] = t;
	}
	if (tall.n == 1 && tall.weight[0] == 1)
		line = rows;
	else
		mix(&tall, rows, row, row, line);
	for (int64_t ox = 0; ox < p->out[1]; ox += step) {
		int64_t n = p->out[1] - ox < step ? p->out[1] - ox : step;
		for (int64_t i = 0; i < n; i++)
			mix(&p->tap[1][ox + i], line, c, c, tile + i * c);
		form_write(&r->form, &p->shape, r->y, image, oy * p->out[1] + ox, n, tile);
	}
}

int pixel_resize_run(const struct pixel_resize *p, struct cpu_ctx *ctx, struct devmem *const *in,
		     struct devmem *const *out, const struct mem_form *y, struct err *e)
{
	struct resize_run r = {.p = p, .ctx = ctx, .x = in[p->x_in], .y = out[0]->p, .form = *y};
	cpu_parallel(ctx, (int)(p->shape.images * p->out[0]), row_task, &r);
	return atomic_load(&r.failed) ? cpu_no_memory(e) : 0;
}
