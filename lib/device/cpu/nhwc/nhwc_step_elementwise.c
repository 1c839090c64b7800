/* nhwc_step_elementwise.c - element-wise operators between images in NHWC, tile by tile. */
#include "device/cpu/nhwc/nhwc_codes.h"
#include "device/cpu/nhwc/nhwc_part.h"

#include <stdatomic.h>

struct elementwise_step {
	struct cpu_ctx *ctx;
	uint32_t n_out;
	struct nhwc_program program;
	float *scales; /* of an output with a scale for each channel; NULL */
};

/* What begins with one value a pixel goes on so. */
static enum group_answer elementwise_group(const struct step_how *how, const struct step_spec *s)
{
	const struct tensor *first = &s->node[0].out[0];
	bool grows = false;
	for (uint32_t v = 1; v < s->n_nodes && first->rank > 1 && first->dim[1] == 1; v++)
		grows = grows || tensor_elements(&s->node[v].out[0]) > tensor_elements(first);
	return nhwc_group(how, s, grows);
}

static int elementwise_init(void *x, const struct step_how *how, const struct step_spec *s,
			    struct mem_form *want, struct err *e)
{
	struct elementwise_step *m = x;
	struct fuse_plan p;
	(void)e;
	if (!fuse_parts(s, &p) || !fuse_code(&p, how->ctx) || p.n_parts != 1 || p.part[0].head)
		return 0;
	const struct tensor *out = p.node[p.part[0].result].out;
	if (!fits_nhwc(p.node[0].out) || !nhwc_same_planes(&p, out))
		return 0;
	m->ctx = how->ctx;
	m->n_out = s->n_out;
	for (uint32_t v = 0; v < p.n; v++) {
		const struct fuse_node *f = &p.node[v];
		if (f->role != ROLE_CODE || !f->node || !fits_nhwc(f->out) ||
		    !how->graph->planes[f->node->v])
			return 0;
		if (!f->leaves)
			continue;
		if (!tensor_same_shape(f->out, out))
			return 0;
		struct mem_form *form = &want[f->out_index];
		*form = nhwc_form_of(how, f->node, 0);
		if (!m->scales)
			m->scales = codes_of_channels(how, f->node->v, out->dim[1], form);
	}
	return nhwc_program_init(&m->program, &p.part[0].code, p.part[0].place, out);
}

static void elementwise_release(void *x)
{
	struct elementwise_step *m = x;
	nhwc_program_release(&m->program);
	mem_free(m->scales);
}

static bool elementwise_wants(const void *x, struct devmem *const *in, struct devmem *const *out,
			      const struct mem_form *want)
{
	const struct elementwise_step *m = x;
	const struct nhwc_program *p = &m->program;
	for (uint32_t i = 0; i < m->n_out; i++)
		if (out[i]->private && want[i].elem != EL_F32)
			return true;
	for (int i = 0; i < p->code.n_operands; i++)
		if (p->kind[i] == OPERAND_READ && p->place[i].base == BASE_INPUT &&
		    !form_is_plain(&in[p->place[i].index]->form))
			return true;
	return false;
}

struct elementwise_run {
	const struct elementwise_step *s;
	struct nhwc_tensor memory[EPI_OPERANDS];
	int n_tasks;
	atomic_bool failed;
};

static void tiles_task(void *arg, int task, int thread)
{
	struct elementwise_run *r = arg;
	const struct nhwc_program *p = &r->s->program;
	const struct form_shape *s = &p->shape;
	int64_t step = nhwc_tile(s), lo, hi;
	struct epilogue code;
	float *tile = cpu_thread_scratch(
		r->s->ctx, thread,
		(size_t)(nhwc_program_floats(p, step) + nhwc_program_line_floats(p)) *
				sizeof *tile +
			64);
	if (!tile) {
		atomic_store(&r->failed, true);
		return;
	}
	cpu_range(s->images * s->pixels, r->n_tasks, task, &lo, &hi);
	if (nhwc_program_add(p, r->memory, NULL, lo * s->channels, (hi - lo) * s->channels))
		return;
	code = p->code;
	nhwc_program_leave_rounding(p, &code, r->memory, NULL);
	const int64_t pixels =
		nhwc_images_join(p, r->memory, s) ? s->images * s->pixels : s->pixels;
	while (lo < hi) {
		int64_t image = lo / pixels, first = lo % pixels, n = hi - lo;
		n = first + n > pixels ? pixels - first : n;
		if (!nhwc_program_line_run(p, r->memory, NULL, image, first, n, tile)) {
			n = n > step ? step : n;
			nhwc_program_run(p, &code, r->memory, image, first, n, NULL, tile);
		}
		lo += n;
	}
}

static int elementwise_run(void *x, const struct step_io *io, struct err *e)
{
	const struct elementwise_step *m = x;
	struct elementwise_run r = {.s = m};
	const struct form_shape *s = &m->program.shape;
	int64_t n = s->images * s->pixels;
	nhwc_program_memory(&m->program, io, r.memory);
	r.n_tasks = cpu_tasks(n * s->channels, 4 * NHWC_FLOATS);
	r.n_tasks = r.n_tasks > 4 * m->ctx->n_threads ? 4 * m->ctx->n_threads : r.n_tasks;
	r.n_tasks = r.n_tasks > n ? (int)n : r.n_tasks;
	cpu_parallel(m->ctx, r.n_tasks, tiles_task, &r);
	return atomic_load(&r.failed) ? cpu_no_memory(e) : 0;
}

const struct step_kind nhwc_elementwise_kind = {
	.name = "element-wise in NHWC",
	.nhwc = true,
	.size = sizeof(struct elementwise_step),
	.group = elementwise_group,
	.init = elementwise_init,
	.release = elementwise_release,
	.wants = elementwise_wants,
	.run = elementwise_run,
};
