/* conv_whole.c - convolutions whose window is the whole input (squeeze-and-excite blocks,
 * classifiers): one product of images (batch, k) with weights (k, cout). */
#include "kernel/conv/conv.h"
#include "kernel/gemm/product.h"

#include <stdatomic.h>

enum { GRAIN = 1 << 17, FEW_GRAIN = 1 << 15 }; /* multiply-adds of a task; with few images */

bool cpu_is_whole(const struct window *g)
{
	bool whole = g->groups == 1 && g->out_plane == 1;
	for (int d = 0; d < 3; d++)
		whole = whole && g->kernel[d] == g->in[d] && g->pad[d] == 0 &&
			(g->dilation[d] == 1 || g->kernel[d] == 1);
	return whole;
}

struct whole_run {
	struct product p;
	int n_tasks;
	struct cpu_ctx *ctx;
	atomic_bool failed;
};

static void whole_task(void *arg, int task, int thread)
{
	struct whole_run *r = arg;
	int64_t lo, hi;
	float *unpacked = cpu_thread_scratch(r->ctx, thread, PRODUCT_SCRATCH * sizeof *unpacked);
	if (!unpacked) {
		r->failed = true;
		return;
	}
	cpu_range(product_n_panels(r->p.n), r->n_tasks, task, &lo, &hi);
	product_panels(&r->p, lo, hi, unpacked);
}

int cpu_conv_whole(struct cpu_ctx *c, const struct window *g, const float *x, const void *weights,
		   bool half, float *y, const struct epilogue *post, struct err *e)
{
	struct whole_run r = {.ctx = c};
	r.p = (struct product){.m = g->batch,
			       .n = g->cout,
			       .k = g->cin * g->taps,
			       .a = x,
			       .b = weights,
			       .b_half = half,
			       .c = y,
			       .ldc = g->cout,
			       .post = post};
	if (g->batch > 1) {
		float *a = cpu_slot_scratch(c, SLOT_WHOLE,
					    (size_t)product_a_floats(r.p.m, r.p.k) * sizeof *a);
		if (!a)
			return cpu_no_memory(e);
		product_pack_a(a, x, r.p.m, r.p.k, r.p.k, 1);
		r.p.a = a;
	}
	int64_t panels = product_n_panels(r.p.n);
	r.n_tasks = cpu_tasks(r.p.m * r.p.n * r.p.k, r.p.m > GEMM_M ? GRAIN : FEW_GRAIN);
	if (r.n_tasks > panels)
		r.n_tasks = (int)panels;
	cpu_parallel(c, r.n_tasks, whole_task, &r);
	return r.failed ? cpu_no_memory(e) : 0;
}
