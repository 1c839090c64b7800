/* cpu_pixel_channels.c - means over the channels of each pixel, as norms of channels and maps of attention have them. */
#include "device/cpu/pixel/cpu_pixel_impl.h"
#include "kernel/cpu_vec.h"

#include <stdatomic.h>

enum { GRAIN = 1 << 14 }; /* elements of a task */

bool pixel_channels_init(struct pixel_channels *p, const struct step_spec *spec,
			 struct mem_form *want)
{
	const struct step_node *n = &spec->node[0];
	const struct tensor *x = n->in[0].tensor;
	if (spec->n_nodes != 1 || n->in[0].from != FROM_INPUT || !fits_pixels(x) ||
	    n->out[0].elem != EL_F32 || n->in[1].from != FROM_CONST || !n->in[1].tensor->data ||
	    !is_mean_of_channels(n->in[1].tensor, x->rank))
		return false;
	want[0] = (struct mem_form){.elem = EL_F32}; /* one channel lies the same in any form */
	p->x_in = n->in[0].index;
	p->shape = form_shape_of(x);
	return true;
}

struct channels_run {
	const struct pixel_channels *p;
	struct cpu_ctx *ctx;
	const struct devmem *x;
	float *y;
	int n_tasks;
	atomic_bool failed;
};

static void pixels_task(void *arg, int task, int thread)
{
	struct channels_run *r = arg;
	const struct form_shape *s = &r->p->shape;
	int64_t lo, hi, c = s->channels, step = pixel_program_tile(s);
	float *tile = cpu_thread_scratch(r->ctx, thread, (size_t)(step * c) * sizeof *tile);
	if (!tile) {
		atomic_store(&r->failed, true);
		return;
	}
	cpu_range(s->images * s->pixels, r->n_tasks, task, &lo, &hi);
	for (int64_t n; lo < hi; lo += n) {
		int64_t first = lo % s->pixels;
		n = hi - lo < step ? hi - lo : step;
		n = first + n > s->pixels ? s->pixels - first : n;
		form_read(&r->x->form, s, r->x->p, lo / s->pixels, first, n, tile);
		for (int64_t i = 0; i < n; i++)
			r->y[lo + i] = vec_sum(tile + i * c, c) / (float)c;
	}
}

int pixel_channels_run(const struct pixel_channels *p, struct cpu_ctx *ctx,
		       struct devmem *const *in, struct devmem *const *out, struct err *e)
{
	struct channels_run r = {.p = p, .ctx = ctx, .x = in[p->x_in], .y = out[0]->p};
	int64_t n = p->shape.images * p->shape.pixels;
	r.n_tasks = cpu_tasks(n * p->shape.channels, GRAIN);
	r.n_tasks = r.n_tasks > n ? (int)n : r.n_tasks;
	cpu_parallel(ctx, r.n_tasks, pixels_task, &r);
	return atomic_load(&r.failed) ? cpu_no_memory(e) : 0;
}
