/* cpu_narrow_concat.c - Concat along channels of tensors that lie with channels behind pixels, or not.
 *
 *	(pixels, c0), (pixels, c1), ..  -->  (pixels, c0 + c1 + ..), or planes where the output is plain */
#include "device/cpu/cpu_narrow_impl.h"
#include "kernel/cpu_turn.h"

#include <stdatomic.h>
#include <string.h>

bool narrow_concat_init(struct narrow_concat *p, const struct step_spec *spec, bool bf16,
			struct mem_form *want)
{
	const struct step_node *n = &spec->node[0];
	if (spec->n_nodes != 1 || !fits_pixels(&n->out[0]) ||
	    !concat_joins_channels(n->graph, n->v))
		return false;
	want[0] = wanted_form(n, bf16);
	p->n = n->n_in;
	p->in = MEM_NEWN(uint32_t, p->n);
	p->part = MEM_NEWN(struct form_shape, p->n);
	p->shape = form_shape_of(&n->out[0]);
	for (uint32_t i = 0; i < p->n; i++) {
		const struct tensor *t = n->in[i].tensor;
		if (n->in[i].from != FROM_INPUT || t->elem != EL_F32 || !tensor_is_static(t))
			return false;
		p->in[i] = n->in[i].index;
		p->part[i] = form_shape_of(t);
	}
	return true;
}

void narrow_concat_release(struct narrow_concat *p)
{
	mem_free(p->in);
	mem_free(p->part);
}

bool narrow_concat_wants(const struct narrow_concat *p, struct devmem *const *in)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (!form_is_plain(&in[p->in[i]]->form))
			return true;
	return false;
}

/* ---- running ---- */

struct concat_run {
	const struct narrow_concat *p;
	struct cpu_ctx *ctx;
	struct devmem *const *in;
	char *y;
	struct mem_form form; /* of y */
	int n_tasks;
	atomic_bool failed;
};

/* n rows of `bytes` each, one behind the other, to rows `step` bytes apart. */
static void spread_rows(const char *x, int64_t n, int64_t bytes, char *y, int64_t step)
{
	for (int64_t i = 0; i < n; i++)
		memcpy(y + i * step, x + i * bytes, (size_t)bytes);
}

/* Pixels first .. first + n - 1 of an image of input i, whose channels are those from `channel` on.
 * tile: PIXEL_FLOATS twice, or as many as a pixel has. */
static void join(const struct concat_run *r, uint32_t i, int64_t channel, int64_t image,
		 int64_t first, int64_t n, float *tile)
{
	const struct form_shape *s = &r->p->part[i], *all = &r->p->shape;
	const struct devmem *x = r->in[r->p->in[i]];
	int64_t size = form_size(r->form.elem), step = pixel_program_tile(s), row = s->channels;
	char *y = r->y + ((image * all->pixels + first) * all->channels + channel) * size;
	if (r->form.pixels && same_grid(&x->form, &r->form)) {
		const char *from = (const char *)x->p + (image * s->pixels + first) * row * size;
		spread_rows(from, n, row * size, y, all->channels * size);
		return;
	}
	for (int64_t at = 0; at < n; at += step) {
		int64_t some = n - at < step ? n - at : step;
		float *codes = tile + step * row;
		form_read(&x->form, s, x->p, image, first + at, some, tile);
		if (!r->form.pixels) {
			cpu_turn(tile, row, some, row,
				 (float *)(void *)r->y +
					 (image * all->channels + channel) * all->pixels + first +
					 at,
				 all->pixels);
			continue;
		}
		if (r->form.elem == EL_F32)
			codes = tile;
		else
			form_codes(&r->form, tile, some * row, codes);
		spread_rows((const char *)codes, some, row * size, y + at * all->channels * size,
			    all->channels * size);
	}
}

static void concat_task(void *arg, int task, int thread)
{
	struct concat_run *r = arg;
	const struct form_shape *s = &r->p->shape;
	int64_t lo, hi, floats = s->channels > PIXEL_FLOATS ? s->channels : PIXEL_FLOATS;
	float *tile = cpu_thread_scratch(r->ctx, thread, (size_t)(2 * floats) * sizeof *tile);
	if (!tile) {
		atomic_store(&r->failed, true);
		return;
	}
	cpu_range(s->images * s->pixels, r->n_tasks, task, &lo, &hi);
	while (lo < hi) {
		int64_t image = lo / s->pixels, first = lo % s->pixels, n = hi - lo, channel = 0;
		n = first + n > s->pixels ? s->pixels - first : n;
		for (uint32_t i = 0; i < r->p->n; channel += r->p->part[i++].channels)
			join(r, i, channel, image, first, n, tile);
		lo += n;
	}
}

int narrow_concat_run(const struct narrow_concat *p, struct cpu_ctx *ctx, struct devmem *const *in,
		      struct devmem *const *out, const struct mem_form *y, struct err *e)
{
	struct concat_run r = {.p = p, .ctx = ctx, .in = in, .y = out[0]->p, .form = *y};
	int64_t n = p->shape.images * p->shape.pixels;
	r.n_tasks = cpu_tasks(n * p->shape.channels, 4 * PIXEL_FLOATS);
	r.n_tasks = r.n_tasks > 4 * ctx->n_threads ? 4 * ctx->n_threads : r.n_tasks;
	r.n_tasks = r.n_tasks > n ? (int)n : r.n_tasks;
	cpu_parallel(ctx, r.n_tasks, concat_task, &r);
	return atomic_load(&r.failed) ? cpu_no_memory(e) : 0;
}
