/* cpu_pixel_run.c - steps in pixels run; programs by tiles. */
#include "device/cpu/pixel/cpu_pixel_step.h"

#include <math.h>

static struct mem_form form_of_output(const struct pixel_step *s, uint32_t i,
				      const struct devmem *m)
{
	return m->private ? s->want[i] : (struct mem_form){.elem = EL_F32};
}

bool pixel_step_wants(const struct pixel_step *s, struct devmem *const *in,
		      struct devmem *const *out)
{
	if (s->kind == PIXEL_CONV || s->kind == PIXEL_NORM)
		return true;
	if (s->kind == PIXEL_POOL)
		return pixel_pool_wants(&s->pool, in, out);
	if (s->kind == PIXEL_CHANNELS)
		return !form_is_plain(&in[s->channels.x_in]->form);
	if (s->kind == PIXEL_CONCAT)
		return pixel_concat_wants(&s->concat, in);
	if (s->kind == PIXEL_SPLIT)
		return pixel_concat_wants(&s->split.part[0], in);
	if (s->kind == PIXEL_TURN)
		return pixel_turn_wants(&s->turn, in, out, &s->want[0]);
	if (s->kind == PIXEL_RESIZE || s->kind == PIXEL_PAD || s->kind == PIXEL_DECONV)
		return out[0]->private;
	for (uint32_t i = 0; i < s->n_out; i++)
		if (out[i]->private && s->want[i].elem != EL_F32)
			return true;
	for (int i = 0; i < s->program.code.n_operands; i++)
		if (s->program.kind[i] == PIXEL_READ && s->program.place[i].base == BASE_INPUT &&
		    !form_is_plain(&in[s->program.place[i].index]->form))
			return true;
	return false;
}

static void find_memory(struct pixel_run *r)
{
	const struct pixel_program *p = &r->s->program;
	for (int i = 0; r->s->has_program && i < p->code.n_operands; i++) {
		const struct fuse_place *pl = &p->place[i];
		if (!pixel_is_memory(p->kind[i]))
			continue;
		if (pl->base == BASE_CONST) {
			union {
				const void *c;
				void *p;
			} data = {(const char *)pl->data + pl->bytes};
			r->memory[i] = (struct pixel_memory){data.p, {.elem = EL_F32}};
		} else if (pl->base == BASE_INPUT) {
			r->memory[i] =
				(struct pixel_memory){r->in[pl->index]->p, r->in[pl->index]->form};
		} else {
			r->memory[i] = (struct pixel_memory){
				r->out[pl->index]->p,
				form_of_output(r->s, pl->index, r->out[pl->index])};
		}
	}
}

bool pixel_images_join(const struct pixel_run *r, const struct form_shape *shape)
{
	const struct pixel_program *p = &r->s->program;
	bool join = shape->images > 1;
	for (int i = 0; r->s->has_program && i < p->code.n_operands && join; i++)
		join = !pixel_is_memory(p->kind[i]) || p->kind[i] == PIXEL_MAP ||
		       (p->kind[i] != PIXEL_SPREAD &&
			(shape->pixels == 1 || !form_is_plain(&r->memory[i].form)));
	return join;
}

void pixel_note(struct pixel_run *r, int rc, const struct err *e)
{
	if (rc < 0 && !atomic_flag_test_and_set(&r->failed))
		r->err = *e;
}

static void program_task(void *arg, int task, int thread)
{
	struct pixel_run *r = arg;
	const struct pixel_program *p = &r->s->program;
	int64_t step = pixel_program_tile(&p->shape), lo, hi;
	struct epilogue code;
	float *tile = cpu_thread_scratch(
		r->s->ctx, thread,
		(size_t)(pixel_program_floats(p, step) + pixel_line_floats(p)) * sizeof *tile + 64);
	if (!tile) {
		if (!atomic_flag_test_and_set(&r->failed))
			(void)cpu_no_memory(&r->err);
		return;
	}
	cpu_range(p->shape.images * p->shape.pixels, r->n_tasks, task, &lo, &hi);
	if (pixel_program_add(p, r->memory, NULL, lo * p->shape.channels,
			      (hi - lo) * p->shape.channels))
		return;
	code = p->code;
	pixel_program_leave_rounding(p, &code, r->memory, NULL);
	const int64_t pixels = pixel_images_join(r, &p->shape) ? p->shape.images * p->shape.pixels
							       : p->shape.pixels;
	while (lo < hi) {
		int64_t image = lo / pixels, first = lo % pixels, n = hi - lo;
		n = first + n > pixels ? pixels - first : n;
		if (!pixel_line_run(p, r->memory, NULL, image, first, n, tile)) {
			n = n > step ? step : n;
			pixel_program_run(p, &code, r->memory, image, first, n, NULL, tile);
		}
		lo += n;
	}
}

int pixel_step_run(struct pixel_step *s, struct devmem *const *in, struct devmem *const *out,
		   struct err *e)
{
	struct pixel_run r = {.s = s, .in = in, .out = out, .failed = ATOMIC_FLAG_INIT};
	r.y = s->kind == PIXEL_TURN ? pixel_turn_form(&s->turn, in, out[0], &s->want[0])
				    : form_of_output(s, 0, out[0]);
	find_memory(&r);
	if (s->kind == PIXEL_CONV) {
		pixel_conv_slices_run(&r);
	} else if (s->kind == PIXEL_DECONV) {
		pixel_deconv_slices_run(&r);
	} else if (s->kind == PIXEL_POOL) {
		if (pixel_pool_run(&s->pool, s->ctx, in, out, &r.y, e) < 0)
			return -1;
	} else if (s->kind == PIXEL_CHANNELS) {
		if (pixel_channels_run(&s->channels, s->ctx, in, out, e) < 0)
			return -1;
	} else if (s->kind == PIXEL_CONCAT) {
		if (pixel_concat_run(&s->concat, s->ctx, in, out, &r.y, e) < 0)
			return -1;
	} else if (s->kind == PIXEL_SPLIT) {
		for (uint32_t i = 0; i < s->n_out; i++)
			out[i]->form = form_of_output(s, i, out[i]);
		if (pixel_split_run(&s->split, s->ctx, in, out, e) < 0)
			return -1;
	} else if (s->kind == PIXEL_TURN) {
		pixel_turn_run(&s->turn, s->ctx, in, out, &r.y);
	} else if (s->kind == PIXEL_RESIZE) {
		if (pixel_resize_run(&s->resize, s->ctx, in, out, &r.y, e) < 0)
			return -1;
	} else if (s->kind == PIXEL_PAD) {
		if (pixel_pad_run(&s->pad, s->ctx, in, out, &r.y, e) < 0)
			return -1;
	} else if (s->kind == PIXEL_NORM) {
		if (pixel_norm_run(&s->norm, s->ctx, in, out, &r.y, e) < 0)
			return -1;
	} else {
		int64_t n = s->shape.images * s->shape.pixels;
		r.n_tasks = cpu_tasks(n * s->shape.channels, 4 * PIXEL_FLOATS);
		r.n_tasks = r.n_tasks > 4 * s->ctx->n_threads ? 4 * s->ctx->n_threads : r.n_tasks;
		r.n_tasks = r.n_tasks > n ? (int)n : r.n_tasks;
		cpu_parallel(s->ctx, r.n_tasks, program_task, &r);
	}
	if (atomic_flag_test_and_set(&r.failed))
		return err_set(e, ST_RUNTIME, "%s", r.err.msg);
	out[0]->form = r.y;
	for (uint32_t i = 1; i < s->n_out; i++)
		out[i]->form = form_of_output(s, i, out[i]);
	return 0;
}
