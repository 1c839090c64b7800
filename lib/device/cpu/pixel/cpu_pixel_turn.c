/* cpu_pixel_turn.c - transpositions between tokens, which have channels last, and planes that lie with channels behind
 * pixels: the elements stay where they are, at most their type changes.
 *
 *	tokens (n, p, c) f32  --Transpose-->  (n, c, p), which lies as (n, p, c) in another form, and back */
#include "device/cpu/pixel/cpu_pixel_impl.h"

enum { GRAIN = 1 << 15 };

/* Does n move dim `from` to `to`, and nothing else? */
static bool moves(const struct step_node *n, uint32_t from, uint32_t to)
{
	const struct tensor *order = n->in[1].tensor;
	uint32_t rank = n->in[0].tensor->rank;
	if (n->in[1].from != FROM_CONST || !order->data || tensor_elements(order) != (int64_t)rank)
		return false;
	for (uint32_t i = 0, d = 0; i < rank; i++) {
		d += d == from;
		if (tensor_int(order, i) != (i == to ? from : d++))
			return false;
	}
	return true;
}

bool pixel_turn_init(struct pixel_turn *p, const struct step_spec *spec, enum elem elem,
		     struct mem_form *want)
{
	const struct step_node *n = &spec->node[0];
	if (spec->n_nodes != 1 || n->n_in != 2 || n->in[0].from != FROM_INPUT)
		return false;
	const struct tensor *x = n->in[0].tensor, *y = &n->out[0];
	if (x->elem != EL_F32 || !tensor_is_static(x) || tensor_elements(x) == 0 || x->rank < 3 ||
	    x->rank > 5)
		return false;
	p->to_planes = moves(n, x->rank - 1, 1) && y->dim[1] <= FORM_CHANNELS;
	p->to_tokens = moves(n, 1, x->rank - 1) && x->dim[1] <= FORM_CHANNELS;
	if (!p->to_planes && !p->to_tokens)
		return false;
	p->x_in = n->in[0].index;
	p->n = tensor_elements(x);
	want[0] = p->to_planes ? wanted_form(n, elem) : (struct mem_form){.elem = EL_F32};
	return true;
}

bool pixel_turn_wants(const struct pixel_turn *p, struct devmem *const *in,
		      struct devmem *const *out, const struct mem_form *want)
{
	const struct mem_form *x = &in[p->x_in]->form;
	return (p->to_planes && form_is_plain(x) && out[0]->private && want->pixels) ||
	       (p->to_tokens && x->pixels);
}

struct mem_form pixel_turn_form(const struct pixel_turn *p, struct devmem *const *in,
				const struct devmem *out, const struct mem_form *want)
{
	bool from_planes = in[p->x_in]->form.pixels; /* which become tokens */
	return out->private && !from_planes ? *want : (struct mem_form){.elem = EL_F32};
}

struct turn_run {
	const struct mem_form *from, *to;
	const char *x;
	char *y;
	int64_t n;
	int n_tasks;
};

static void turn_task(void *arg, int task, int thread)
{
	const struct turn_run *r = arg;
	int64_t lo, hi;
	(void)thread;
	cpu_range(r->n, r->n_tasks, task, &lo, &hi);
	const char *x = r->x + lo * form_size(r->from->elem);
	char *y = r->y + lo * form_size(r->to->elem);
	/* As one pixel: elements in the order in which they lie. */
	const struct form_shape all = {1, hi - lo, 1};
	if (r->to->elem == EL_F32)
		form_read(r->from, &all, x, 0, 0, 1, (float *)(void *)y);
	else
		form_write(r->to, &all, y, 0, 0, 1, (const float *)(const void *)x);
}

void pixel_turn_run(const struct pixel_turn *p, struct cpu_ctx *ctx, struct devmem *const *in,
		    struct devmem *const *out, const struct mem_form *y)
{
	struct turn_run r = {.from = &in[p->x_in]->form,
			     .to = y,
			     .x = in[p->x_in]->p,
			     .y = out[0]->p,
			     .n = p->n,
			     .n_tasks = cpu_tasks(p->n, GRAIN)};
	cpu_parallel(ctx, r.n_tasks, turn_task, &r);
}
