/* onednn_bf16_conv.c - Convolution and GroupConvolution of plain f32 tensors in bf16.
 *
 * The library wants channels behind pixels; tensors have planes.  The rows of the input that a
 * slice reads are turned and rounded on their way in, its sums are turned back on their way
 * out, and only there memory is touched.
 *
 *	input planes --turn--> (pixels, cin) bf16 --primitive--> (pixels, cout) f32 --turn--> planes */
#include "kernel/epilogue.h"
#include "kernel/onednn/onednn_api.h"
#include "kernel/onednn/onednn_conv.h"
#include "kernel/onednn/onednn_layout.h"

enum { GRAIN = 1 << 16 }; /* multiply-adds below which the f32 kernels are as fast */

struct bf16_conv {
	struct window g;
	struct onednn_conv *conv;
};

static void conv_free(void *p)
{
	struct bf16_conv *m = p;
	onednn_conv_free(m->conv);
	mem_free(m);
}

/* ---- running ---- */

struct conv_run {
	const struct bf16_conv *m;
	const struct kernel_call *k;
	struct err err;
	atomic_flag failed;
};

static size_t whole_lines(int64_t bytes)
{
	return ((size_t)bytes + 63) & ~(size_t)63;
}

static int slice_rows(struct conv_run *r, int64_t image, int i, int thread, struct err *e)
{
	const struct window *g = &r->m->g;
	struct window_slice s = onednn_conv_slice(r->m->conv, i);
	int64_t cin = g->groups * g->cin, cout = g->groups * g->cout;
	size_t x_bytes = whole_lines(s.n_in * cin * 2), y_bytes = whole_lines(s.n * cout * 4);
	char *x = cpu_thread_scratch(r->k->ctx, thread, x_bytes + y_bytes + s.scratch + 64);
	if (!x)
		return cpu_no_memory(e);
	layout_to_pixels((const float *)r->k->in[0].data + image * cin * g->in_plane + s.from,
			 g->in_plane, cin, s.n_in, (uint16_t *)(void *)x);
	if (onednn_conv_run(r->m->conv, i, (struct channel_part){0, 1}, x, x + x_bytes,
			    x + x_bytes + y_bytes, e) < 0)
		return -1;
	float *y = (float *)r->k->out[0].data + image * cout * g->out_plane + s.at;
	layout_to_planes((const float *)(const void *)(x + x_bytes), cout, s.n, y, g->out_plane);
	if (r->k->post && g->out_plane > 1)
		cpu_epilogue_tile(r->k->post, y, g->out_plane, image * cout, cout, s.at, s.n);
	return 0;
}

static void conv_task(void *arg, int task, int thread)
{
	struct conv_run *r = arg;
	struct err e = ERR_INIT;
	int n = onednn_conv_slices(r->m->conv);
	if (slice_rows(r, task / n, task % n, thread, &e) < 0 &&
	    !atomic_flag_test_and_set(&r->failed))
		r->err = e;
}

static int run_conv_bf16(const struct kernel_call *k, struct err *e)
{
	struct conv_run r = {.m = k->prep->more, .k = k, .failed = ATOMIC_FLAG_INIT};
	cpu_parallel(k->ctx, (int)r.m->g.batch * onednn_conv_slices(r.m->conv), conv_task, &r);
	if (atomic_flag_test_and_set(&r.failed))
		return err_set(e, ST_RUNTIME, "%s", r.err.msg);
	if (k->post && r.m->g.out_plane == 1)
		cpu_epilogue_run(k->ctx, k->post, k->out[0].data);
	return 0;
}

/* ---- preparation ---- */

int onednn_conv_prepare(const struct op *op, const struct tensor *in, const struct tensor *out,
			struct cpu_ctx *c, struct cpu_prep **prep, struct err *e)
{
	const struct tensor *x = &in[0], *w = &in[1];
	if (!onednn_multiplies() || x->elem != EL_F32 || out[0].elem != EL_F32 ||
	    !tensor_is_static(x) || !tensor_is_static(&out[0]) || tensor_elements(&out[0]) == 0 ||
	    tensor_elements(w) == 0 || !w->data || w->quant ||
	    (w->elem != EL_F32 && w->elem != EL_F16 && w->elem != EL_BF16))
		return 0;
	struct onednn_conv_spec s = {.src = EL_BF16, .dst = EL_F32, .weights = *w, .key = w->data};
	cpu_window_init(&s.g, op, x, w, &out[0]);
	const struct window *g = &s.g;
	int64_t work = g->groups * g->cout * g->cin * g->taps * g->out_plane;
	/* One channel a group is no product. */
	if (work < GRAIN || g->batch > INT32_MAX >> 8 || (g->cin == 1 && g->groups > 1))
		return 0;
	struct bf16_conv m = {.g = s.g};
	int rc = onednn_conv_new(&s, c, &m.conv, e);
	if (rc <= 0)
		return rc;
	*prep = MEM_NEW(struct cpu_prep);
	(*prep)->run = run_conv_bf16;
	(*prep)->more = mem_copy(&m, 1, sizeof m);
	(*prep)->more_free = conv_free;
	(*prep)->more_bytes = onednn_conv_bytes(m.conv);
	(*prep)->owns = 1u << 1;
	return 1;
}
