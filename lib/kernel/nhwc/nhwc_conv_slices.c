/* nhwc_conv_slices.c - convolutions in NHWC run, slice by slice: what a slice reads is made ready (nhwc_conv_input.c), and its
 * sums become what follows makes of them. */
#include "kernel/nhwc/nhwc_conv.h"
#include "kernel/onednn/onednn_layout.h"

#include <math.h>
#include <string.h>

static size_t whole_lines(int64_t bytes)
{
	return ((size_t)bytes + 63) & ~(size_t)63;
}

/* What becomes of a slice's outputs in y, pixels of one image or of images that lie as one. */
static void part_output(const struct conv_run *r, int64_t image, const struct window_slice *sl,
			char *y, float *tile)
{
	const struct conv_step *s = r->s;
	const struct form_shape row = {1, s->shape.channels, sl->n};
	int64_t c = s->shape.channels, step = nhwc_tile(&s->shape);
	const int64_t first = (image * s->shape.pixels + sl->at) * c;
	const struct nhwc_tensor value[2] = {
		{y, s->direct ? s->codes : form_nhwc(EL_F32)},
		{(char *)r->y.data + first * form_size(r->y.form.elem), r->y.form}};
	struct epilogue code;
	if (s->direct && s->has_program &&
	    nhwc_program_add(&s->program, r->memory, value, first, sl->n * c))
		return;
	if (s->has_program &&
	    nhwc_program_line_run(&s->program, r->memory, value, image, sl->at, sl->n, tile))
		return;
	if (s->has_program) {
		code = s->program.code;
		nhwc_program_leave_rounding(&s->program, &code, r->memory, &r->y.form);
	}
	if (s->has_program && !s->direct && r->y.form.nhwc && form_size(r->y.form.elem) == 1 &&
	    nhwc_program_hswish(&code)) {
		form_codes_hswish(&r->y.form, c, (const float *)(void *)y, sl->n, value[1].data);
		return;
	}
	bool turns = !s->direct && form_is_plain(&r->y.form) && s->shape.pixels > 1;
	bool there = y == value[1].data;
	for (int64_t i = 0; i < sl->n && (s->has_program || !turns); i += step) {
		int64_t n = sl->n - i < step ? sl->n - i : step;
		float *at = (float *)(void *)y + i * c;
		if (s->direct)
			form_read(&s->codes, &row, y, 0, i, n, at = tile);
		if (s->has_program)
			nhwc_program_run(&s->program, &code, r->memory, image, sl->at + i, n, at,
					 tile + (n * c > NHWC_FLOATS ? n * c : NHWC_FLOATS));
		if (!turns && !there)
			form_write(&r->y.form, &s->shape, r->y.data, image, sl->at + i, n, at);
	}
	if (turns)
		layout_to_planes((const float *)(void *)y, c, sl->n,
				 (float *)r->y.data + image * c * s->shape.pixels + sl->at,
				 s->shape.pixels);
}

static void slice_output(const struct conv_run *r, int64_t image, const struct window_slice *sl,
			 char *y, float *tile)
{
	const struct conv_step *s = r->s;
	int64_t size = s->shape.channels * form_size(s->direct ? s->codes.elem : EL_F32);
	bool apart = s->joined && !(nhwc_images_join(s->has_program ? &s->program : NULL, r->memory,
						     &s->shape) &&
				    (s->shape.pixels == 1 || !form_is_plain(&r->y.form)));
	for (int64_t i = 0; i < sl->n;) {
		struct image_part p = image_part_of(&s->shape, apart, image, sl->at + i, sl->n - i);
		const struct window_slice part = {.at = p.first, .n = p.n};
		part_output(r, p.image, &part, y + i * size, tile);
		i += p.n;
	}
}

static bool in_codes(const struct mem_form *f)
{
	return f->nhwc && form_size(f->elem) == 1 && !f->scales && f->zero == 0;
}

/* The same of codes. */
static bool fused_codes(const struct conv_run *r, struct tiled_conv_sum *sum)
{
	const struct conv_step *s = r->s;
	const struct nhwc_program *p = &s->program;
	int o = p->addend[0] == -1 ? p->addend[1] : p->addend[0];
	if (!p->adds || p->sum != -1 || o < 0 || (p->addend[0] != -1 && p->addend[1] != -1) ||
	    !in_codes(&s->codes) || !in_codes(&r->y.form) || !in_codes(&r->memory[o].form))
		return false;
	*sum = (struct tiled_conv_sum){.add = r->memory[o].data,
				       .elem = r->memory[o].form.elem,
				       .to = r->y.form.elem,
				       .lo = p->positive ? 0 : -INFINITY,
				       .hi = INFINITY,
				       .made_scale = s->codes.scale / r->y.form.scale,
				       .add_scale = r->memory[o].form.scale / r->y.form.scale};
	return true;
}

/* Does a convolution by tiles add what its program does, and nothing else, as it writes?  Then what, of all images. */
static bool fused_sum(const struct conv_run *r, struct tiled_conv_sum *sum)
{
	const struct conv_step *s = r->s;
	if (!conv_tiles(s) || !s->has_program)
		return false;
	if (s->direct)
		return fused_codes(r, sum);
	*sum = (struct tiled_conv_sum){.elem = EL_BF16, .to = EL_BF16};
	int o = nhwc_program_line_adds(&s->program, &sum->lo, &sum->hi);
	if (o < 0 || s->x.elem != EL_BF16 || !form_same(&r->y.form, &s->x) ||
	    !form_same(&r->memory[o].form, &s->x))
		return false;
	sum->add = r->memory[o].data;
	return true;
}

static struct mem_form sums_form(const struct conv_step *s)
{
	return s->direct ? s->codes : form_nhwc(EL_F32);
}

/* Does the convolution write where the output lies? */
static bool writes_there(const struct conv_run *r)
{
	const struct mem_form sums = sums_form(r->s);
	if (r->adds)
		return true;
	return form_same(&r->y.form, &sums) && (!r->s->direct || !r->s->has_program);
}

/* Floats that slice_output needs. */
static int64_t output_floats(const struct conv_step *s)
{
	int64_t n = nhwc_tile(&s->shape), floats = n * s->shape.channels;
	floats = floats > NHWC_FLOATS ? floats : NHWC_FLOATS;
	if (s->has_program)
		floats +=
			nhwc_program_floats(&s->program, n) + nhwc_program_line_floats(&s->program);
	return floats;
}

/* Where the sums of a slice lie that the convolution writes where the output lies, or to r->sums. */
static char *slice_sums(const struct conv_run *r, int64_t image, const struct window_slice *sl)
{
	const struct conv_step *s = r->s;
	return (r->sums ? r->sums : (char *)r->y.data) +
	       (image * s->shape.pixels + sl->at) * s->shape.channels *
		       form_size(r->adds ? r->y.form.elem : sums_form(s).elem);
}

static int convolve(struct conv_run *r, int64_t image, int i, struct channel_part part,
		    const void *x, void *y, void *scratch, struct err *e)
{
	struct conv_step *s = r->s;
	if (!r->adds)
		return conv_slice_run(s, i, part, x, y, scratch, e);
	struct tiled_conv_sum sum = r->sum;
	sum.add = (const char *)sum.add + (image * s->shape.pixels + conv_slice(s, i).at) *
						  s->shape.channels * form_size(sum.elem);
	tiled_conv_run(conv_tiles(s), i, part, x, y, &sum, scratch);
	return 0;
}

static int convolve_slice(struct conv_run *r, int64_t image, int i, int thread, struct err *e)
{
	const struct conv_step *s = r->s;
	struct window_slice sl = conv_slice(s, i);
	bool there = writes_there(r);
	size_t x_bytes = whole_lines(sl.n_in * s->in_shape.channels * form_size(s->x.elem));
	size_t y_bytes =
		there ? 0 : whole_lines(sl.n * s->shape.channels * form_size(sums_form(s).elem));
	size_t room_bytes = whole_lines(output_floats(s) * 4);
	char *x = cpu_thread_scratch(s->ctx, thread,
				     x_bytes + y_bytes + room_bytes + sl.scratch + 64);
	if (!x)
		return cpu_no_memory(e);
	char *y = there ? slice_sums(r, image, &sl) : x + x_bytes;
	float *room = (float *)(void *)(x + x_bytes + y_bytes);
	const void *from = conv_slice_input(r, image, &sl, x, room);
	const struct channel_part all = {0, 1};
	if (convolve(r, image, i, all, from, y, (char *)room + room_bytes, e) < 0)
		return -1;
	if (!there || (s->has_program && !r->adds))
		slice_output(r, image, &sl, y, room);
	return 0;
}

/* Of a slice that reads and writes where its tensors lie. */
static int conv_part(struct conv_run *r, int64_t image, int i, struct channel_part part, int thread,
		     struct err *e)
{
	const struct conv_step *s = r->s;
	struct window_slice sl = conv_slice(s, i);
	void *scratch = cpu_thread_scratch(s->ctx, thread, sl.scratch + 64);
	if (!scratch)
		return cpu_no_memory(e);
	return convolve(r, image, i, part, conv_slice_input(r, image, &sl, NULL, NULL),
			slice_sums(r, image, &sl), scratch, e);
}

/* Blocks col .. col + n - 1 of a row, each of up[2] pixels, to row y; x_step: bytes between blocks. */
static void scatter_row(const struct conv_step *s, const char *x, int64_t x_step, int64_t col,
			int64_t n, char *y)
{
	int64_t size = s->shape.channels * form_size(s->codes.elem), up = s->up[2];
	int64_t lo = col * up - s->crop[2], hi = lo + n * up;
	if (lo < 0) {
		int64_t most = up + lo < s->made[2] ? up + lo : s->made[2];
		form_copy_rows(x - lo * size, 0, 1, most * size, y, 0);
		lo += up;
		x += x_step;
		n--;
	}
	if (n > 0 && hi > s->made[2]) {
		int64_t at = hi - up;
		n--;
		form_copy_rows(x + n * x_step, 0, 1, (s->made[2] - at) * size, y + at * size, 0);
	}
	if (n > 0)
		form_copy_rows(x, x_step, n, up * size, y + lo * size, up * size);
}

/* Blocks first .. first + n - 1 of x (up0 * up1 * up2 * channels) go where they belong, runs of a row at a time. */
static void scatter(const struct conv_step *s, const char *x, int64_t first, int64_t n, char *y)
{
	const int64_t *out = s->g.out, *up = s->up, *made = s->made;
	int64_t size = s->shape.channels * form_size(s->codes.elem), run;
	int64_t step = up[0] * up[1] * up[2] * size, line = up[2] * size;
	for (int64_t p = first; p < first + n; p += run, x += run * step) {
		int64_t col = p % out[2], row = p / out[2] % out[1], plane = p / out[2] / out[1];
		run = out[2] - col < first + n - p ? out[2] - col : first + n - p;
		for (int64_t t = 0; t < up[0] * up[1]; t++) {
			int64_t z = plane * up[0] + t / up[1] - s->crop[0],
				r = row * up[1] + t % up[1] - s->crop[1];
			if (z >= 0 && z < made[0] && r >= 0 && r < made[1])
				scatter_row(s, x + t * line, step, col, run,
					    y + (z * made[1] + r) * made[2] * size);
		}
	}
}

static int deconv_slice(struct conv_run *r, int64_t image, int i, int thread, struct err *e)
{
	const struct conv_step *s = r->s;
	struct window_slice sl = conv_slice(s, i);
	int64_t c = s->in_shape.channels, tile = c > NHWC_FLOATS ? c : NHWC_FLOATS;
	int64_t size = form_size(s->codes.elem);
	size_t x_bytes = whole_lines(sl.n_in * c * form_size(s->x.elem)),
	       y_bytes = whole_lines(sl.n * s->g.cout * size);
	char *x = cpu_thread_scratch(s->ctx, thread,
				     x_bytes + y_bytes + whole_lines(tile * 4) + sl.scratch + 64);
	if (!x)
		return cpu_no_memory(e);
	char *y = x + x_bytes;
	float *room = (float *)(void *)(y + y_bytes);
	const void *from = conv_slice_input(r, image, &sl, x, room);
	if (conv_slice_run(r->s, i, (struct channel_part){0, 1}, from, y,
			   (char *)room + whole_lines(tile * 4), e) < 0)
		return -1;
	scatter(s, y, sl.at, sl.n,
		(char *)r->y.data + image * s->shape.pixels * s->shape.channels * size);
	return 0;
}

/* The first error of a task is the run's. */
static void conv_note(struct conv_run *r, int rc, const struct err *e)
{
	if (rc < 0 && !atomic_flag_test_and_set(&r->failed))
		r->err = *e;
}

static void conv_task(void *arg, int task, int thread)
{
	struct conv_run *r = arg;
	struct err e = ERR_INIT;
	int n = conv_slices(r->s);
	conv_note(r, convolve_slice(r, task / n, task % n, thread, &e), &e);
}

static void part_task(void *arg, int task, int thread)
{
	struct conv_run *r = arg;
	struct err e = ERR_INIT;
	/* A thread mostly has one part of all slices. */
	int n = conv_slices(r->s), parts = r->s->parts, all = (int)r->s->g.batch * n,
	    slice = task % all;
	const struct channel_part part = {task / all, parts};
	conv_note(r, conv_part(r, slice / n, slice % n, part, thread, &e), &e);
}

/* What becomes of sums that are ready: of an image, each thread has as many pixels. */
static void output_task(void *arg, int task, int thread)
{
	struct conv_run *r = arg;
	struct err e = ERR_INIT;
	int n = r->s->ctx->n_threads;
	int64_t lo, hi;
	cpu_range(r->s->g.out_plane, n, task % n, &lo, &hi);
	const struct window_slice sl = {.at = lo, .n = hi - lo};
	float *room = cpu_thread_scratch(r->s->ctx, thread, (size_t)output_floats(r->s) * 4 + 64);
	if (room)
		slice_output(r, task / n, &sl, slice_sums(r, task / n, &sl), room);
	else
		conv_note(r, cpu_no_memory(&e), &e);
}

static void deconv_task(void *arg, int task, int thread)
{
	struct conv_run *r = arg;
	struct err e = ERR_INIT;
	int n = conv_slices(r->s);
	conv_note(r, deconv_slice(r, task / n, task % n, thread, &e), &e);
}

/* Codes of some pixels of all images, to where they are ready. */
static void ready_task(void *arg, int task, int thread)
{
	struct conv_run *r = arg;
	const struct conv_step *s = r->s;
	struct err e = ERR_INIT;
	int64_t lo, hi, c = s->in_shape.channels, floats = c > NHWC_FLOATS ? c : NHWC_FLOATS;
	float *tile = cpu_thread_scratch(s->ctx, thread, (size_t)floats * sizeof *tile);
	if (!tile) {
		conv_note(r, cpu_no_memory(&e), &e);
		return;
	}
	cpu_range(s->in_shape.images * s->in_shape.pixels, s->ctx->n_threads, task, &lo, &hi);
	while (lo < hi) {
		struct image_part p = image_part_of(&s->in_shape, true, 0, lo, hi - lo);
		conv_make_codes(r, p, r->ready + lo * c * form_size(s->x.elem), tile);
		lo += p.n;
	}
}

/* Makes the codes of the whole input ready, which all parts of all slices read; false: no memory. */
static bool make_ready(struct conv_run *r)
{
	const struct conv_step *s = r->s;
	const struct form_shape *in = &s->in_shape;
	size_t bytes = (size_t)(in->images * in->pixels * in->channels) * form_size(s->x.elem);
	r->ready = cpu_slot_scratch(s->ctx, SLOT_STEP, bytes);
	if (r->ready)
		cpu_parallel(s->ctx, s->ctx->n_threads, ready_task, r);
	return r->ready != NULL;
}

/* Room for all sums, where the output is no place for them; false: no memory. */
static bool make_sums(struct conv_run *r)
{
	const struct conv_step *s = r->s;
	const struct form_shape *out = &s->shape;
	size_t bytes =
		(size_t)(out->images * out->pixels * out->channels) * form_size(sums_form(s).elem);
	r->sums = cpu_slot_scratch(s->ctx, SLOT_FORMS, bytes);
	return r->sums != NULL;
}

/* By parts of slices where threads share these better. */
static void run_slices(struct conv_run *r)
{
	struct conv_step *s = r->s;
	r->adds = fused_sum(r, &r->sum);
	int slices = (int)s->g.batch * conv_slices(s);
	if (s->parts == 1 || (!writes_there(r) && !make_sums(r)) ||
	    (!form_same(&r->x.form, &s->x) && !make_ready(r))) {
		r->sums = NULL;
		cpu_parallel(s->ctx, slices, conv_task, r);
		return;
	}
	cpu_parallel(s->ctx, slices * s->parts, part_task, r);
	if (r->sums || (s->has_program && !r->adds))
		cpu_parallel(s->ctx, (int)s->g.batch * s->ctx->n_threads, output_task, r);
}

int conv_run(struct conv_step *s, const struct nhwc_tensor *x, const struct nhwc_tensor *y,
	     const struct nhwc_tensor *memory, struct err *e)
{
	struct conv_run r = {
		.s = s, .x = *x, .y = *y, .memory = memory, .failed = ATOMIC_FLAG_INIT};
	run_slices(&r);
	return atomic_flag_test_and_set(&r.failed) ? err_set(e, ST_RUNTIME, "%s", r.err.msg) : 0;
}

int deconv_run(struct conv_step *s, const struct nhwc_tensor *x, const struct nhwc_tensor *y,
	       struct err *e)
{
	struct conv_run r = {.s = s, .x = *x, .y = *y, .failed = ATOMIC_FLAG_INIT};
	cpu_parallel(s->ctx, (int)s->g.batch * conv_slices(s), deconv_task, &r);
	return atomic_flag_test_and_set(&r.failed) ? err_set(e, ST_RUNTIME, "%s", r.err.msg) : 0;
}
