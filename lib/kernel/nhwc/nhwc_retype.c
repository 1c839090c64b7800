/* nhwc_retype.c - elements that stay where they are, and change their type at most. */
#include "kernel/nhwc/nhwc_kernels.h"

enum { GRAIN = 1 << 15 };

struct retype_run {
	const struct mem_form *from, *to;
	const char *x;
	char *y;
	int64_t n;
	int n_tasks;
};

static void retype_task(void *arg, int task, int thread)
{
	const struct retype_run *r = arg;
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

void nhwc_retype(struct cpu_ctx *ctx, int64_t n, const struct nhwc_tensor *x,
		 const struct nhwc_tensor *y)
{
	struct retype_run r = {.from = &x->form,
			       .to = &y->form,
			       .x = x->data,
			       .y = y->data,
			       .n = n,
			       .n_tasks = cpu_tasks(n, GRAIN)};
	cpu_parallel(ctx, r.n_tasks, retype_task, &r);
}
