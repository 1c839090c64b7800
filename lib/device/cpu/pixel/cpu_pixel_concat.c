/* cpu_pixel_concat.c - Concat along channels, slices of channels and Splits of them, of tensors that lie with channels behind
 * pixels, or not.
 *
 *	(pixels, c0), (pixels, c1), ..  -->  (pixels, c0 + c1 + ..), or planes where the output is plain */
#include "device/cpu/pixel/cpu_pixel_impl.h"
#include "kernel/cpu_turn.h"
#include "op/slice.h"

#include <stdatomic.h>
#include <string.h>

/* Does n take a range of channels, in order, and all else?  Then the first of them. */
static bool slice_of_channels(const struct step_node *n, int64_t *first)
{
	enum { INPUTS = 5 };
	struct tensor in[INPUTS] = {{0}}, out;
	struct op_range range[TENSOR_DIMS];
	struct err e = ERR_INIT;
	const struct tensor *x = n->in[0].tensor;
	if (n->n_in > INPUTS || !tensor_is_static(x) || x->rank != n->out[0].rank)
		return false;
	for (uint32_t i = 0; i < n->n_in; i++) {
		if (i > 0 && n->in[i].from != FROM_NONE &&
		    (n->in[i].from != FROM_CONST || !n->in[i].tensor->data))
			return false;
		if (n->in[i].tensor)
			in[i] = *n->in[i].tensor;
	}
	if (op_slice_ranges(n->op, in, range, &out, &e) < 0 || out.rank != x->rank)
		return false;
	for (uint32_t d = 0; d < x->rank; d++)
		if (range[d].step != 1 || out.dim[d] != range[d].count ||
		    (d != 1 && range[d].count != x->dim[d]))
			return false;
	*first = range[1].start;
	return true;
}

bool pixel_concat_init(struct pixel_concat *p, const struct step_spec *spec, enum elem elem,
		       struct mem_form *want)
{
	const struct step_node *n = &spec->node[0];
	bool joins = n->op->kind == OP_CONCAT;
	int64_t first = 0;
	if (spec->n_nodes != 1 || !fits_pixels(&n->out[0]) ||
	    (joins ? !concat_joins_channels(n->graph, n->v) : !slice_of_channels(n, &first)))
		return false;
	want[0] = wanted_form(n, elem);
	p->n = joins ? n->n_in : 1;
	p->in = MEM_NEWN(uint32_t, p->n);
	p->part = MEM_NEWN(struct concat_part, p->n);
	p->shape = form_shape_of(&n->out[0]);
	for (uint32_t i = 0; i < p->n; i++) {
		const struct tensor *t = n->in[i].tensor;
		if (n->in[i].from != FROM_INPUT || t->elem != EL_F32 || !tensor_is_static(t) ||
		    tensor_elements(t) == 0)
			return false;
		struct form_shape s = form_shape_of(t);
		p->in[i] = n->in[i].index;
		p->part[i] = (struct concat_part){s, first, joins ? s.channels : p->shape.channels};
	}
	return true;
}

void pixel_concat_release(struct pixel_concat *p)
{
	mem_free(p->in);
	mem_free(p->part);
}

bool pixel_concat_wants(const struct pixel_concat *p, struct devmem *const *in)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (!form_is_plain(&in[p->in[i]]->form))
			return true;
	return false;
}

bool pixel_split_init(struct pixel_split *p, const struct step_spec *spec, enum elem elem,
		      struct mem_form *want)
{
	const struct step_node *n = &spec->node[0];
	const struct tensor *x = n->in[0].tensor;
	int64_t first = 0;
	if (spec->n_nodes != 1 || n->in[0].from != FROM_INPUT || !fits_pixels(x) ||
	    !splits_pixels(n->graph, n->v, n->env) || spec->n_out != n->n_out)
		return false;
	p->n = n->n_out;
	p->part = MEM_NEWN(struct pixel_concat, p->n);
	for (uint32_t i = 0; i < p->n; i++) {
		struct pixel_concat *c = &p->part[i];
		if (!fits_pixels(&n->out[i]) || n->out[i].rank != x->rank)
			return false;
		c->n = 1;
		c->in = mem_copy(&n->in[0].index, 1, sizeof *c->in);
		c->shape = form_shape_of(&n->out[i]);
		const struct concat_part part = {form_shape_of(x), first, c->shape.channels};
		c->part = mem_copy(&part, 1, sizeof part);
		want[i] = wanted_form_of(n, i, elem);
		first += c->shape.channels;
	}
	return first == form_shape_of(x).channels;
}

void pixel_split_release(struct pixel_split *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		pixel_concat_release(&p->part[i]);
	mem_free(p->part);
}

/* ---- running ---- */

struct concat_run {
	const struct pixel_concat *p;
	struct cpu_ctx *ctx;
	struct devmem *const *in;
	char *y;
	struct mem_form form; /* of y */
	int n_tasks;
	atomic_bool failed;
};

/* Pixels first .. first + n - 1 of an image of input i, whose channels are those from `channel` on.
 * tile: PIXEL_FLOATS twice, or as many as a pixel has. */
static void join(const struct concat_run *r, uint32_t i, int64_t channel, int64_t image,
		 int64_t first, int64_t n, float *tile)
{
	const struct concat_part *part = &r->p->part[i];
	const struct form_shape *s = &part->whole, *all = &r->p->shape;
	const struct devmem *x = r->in[r->p->in[i]];
	int64_t size = form_size(r->form.elem), step = pixel_program_tile(s), row = s->channels;
	int64_t bytes = part->n * size, out = all->channels * size;
	char *y = r->y + ((image * all->pixels + first) * all->channels + channel) * size;
	if (r->form.pixels && same_grid(&x->form, &r->form)) {
		const char *from = (const char *)x->p +
				   ((image * s->pixels + first) * row + part->first) * size;
		form_copy_rows(from, row * size, n, bytes, y, out);
		return;
	}
	for (int64_t at = 0; at < n; at += step) {
		int64_t some = n - at < step ? n - at : step;
		float *codes = tile + step * row;
		form_read(&x->form, s, x->p, image, first + at, some, tile);
		if (!r->form.pixels) {
			cpu_turn(tile + part->first, row, some, part->n,
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
		form_copy_rows((const char *)codes + part->first * size, row * size, some, bytes,
			       y + at * out, out);
	}
}

static void concat_task(void *arg, int task, int thread)
{
	struct concat_run *r = arg;
	const struct form_shape *s = &r->p->shape;
	int64_t lo, hi, floats = PIXEL_FLOATS;
	for (uint32_t i = 0; i < r->p->n; i++)
		if (r->p->part[i].whole.channels > floats)
			floats = r->p->part[i].whole.channels;
	float *tile = cpu_thread_scratch(r->ctx, thread, (size_t)(2 * floats) * sizeof *tile);
	if (!tile) {
		atomic_store(&r->failed, true);
		return;
	}
	cpu_range(s->images * s->pixels, r->n_tasks, task, &lo, &hi);
	/* As many pixels at a time as stay in the first cache until all parts of them are there. */
	int64_t most = pixel_program_tile(s);
	while (lo < hi) {
		int64_t image = lo / s->pixels, first = lo % s->pixels, n = hi - lo, channel = 0;
		n = n > most ? most : n;
		n = first + n > s->pixels ? s->pixels - first : n;
		for (uint32_t i = 0; i < r->p->n; channel += r->p->part[i++].n)
			join(r, i, channel, image, first, n, tile);
		lo += n;
	}
}

int pixel_concat_run(const struct pixel_concat *p, struct cpu_ctx *ctx, struct devmem *const *in,
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

int pixel_split_run(const struct pixel_split *p, struct cpu_ctx *ctx, struct devmem *const *in,
		    struct devmem *const *out, struct err *e)
{
	int rc = 0;
	for (uint32_t i = 0; i < p->n && rc == 0; i++)
		rc = pixel_concat_run(&p->part[i], ctx, in, out + i, &out[i]->form, e);
	return rc;
}
