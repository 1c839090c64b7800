/* onednn_conv.c - Convolution and GroupConvolution in bf16.
 *
 * The library wants channels behind pixels; tensors have planes.  The output is cut into slices of
 * rows that fit a cache: the rows of the input that a slice reads are turned and rounded on their
 * way in, its sums are turned back on their way out, and only there memory is touched.  Slices are
 * the tasks of the threads, too.
 *
 *	input planes --turn--> (pixels, cin) bf16 --primitive--> (pixels, cout) f32 --turn--> planes */
#include "kernel/cpu_epilogue.h"
#include "kernel/cpu_window.h"
#include "kernel/onednn/onednn_api.h"
#include "kernel/onednn/onednn_layout.h"

#include <string.h>

enum {
	GRAIN = 1 << 16,         /* multiply-adds below which the f32 kernels are as fast */
	SLICE_BYTES = 768 << 10, /* operands and sums of a slice */
	MAX_SLICES = 64
};

/* Output rows first .. first + n - 1, input rows from .. from + n_in - 1, with so much padding. */
struct slice {
	int64_t first, n, from, n_in, pad, pad_end;
	int like; /* the slice whose primitive runs it */
	struct onednn_primitive primitive;
};

struct bf16_conv {
	struct window g;
	int axis;                    /* of the window's dims, that the slices cut */
	int64_t in_inner, out_inner; /* pixels of a row */
	int n_slices;
	struct slice slice[MAX_SLICES];
	struct cpu_pack *pack;
};

/* ---- preparation ---- */

static bool cut_slice(const struct bf16_conv *m, struct slice *s)
{
	const struct window *g = &m->g;
	int d = m->axis;
	int64_t reach = (g->kernel[d] - 1) * g->dilation[d] + 1;
	int64_t lo = s->first * g->stride[d] - g->pad[d];
	int64_t hi = (s->first + s->n - 1) * g->stride[d] - g->pad[d] + reach;
	s->pad = lo < 0 ? -lo : 0;
	s->pad_end = hi > g->in[d] ? hi - g->in[d] : 0;
	s->from = lo < 0 ? 0 : lo;
	s->n_in = (hi > g->in[d] ? g->in[d] : hi) - s->from;
	return s->n_in > 0 && s->pad < reach && s->pad_end < reach;
}

/* Descriptors have two spatial dims, or three where the window has: dims first .. 2. */
static int first_dim(const struct window *g)
{
	return g->in[0] == 1 && g->kernel[0] == 1 && g->out[0] == 1 && !g->pad[0] ? 1 : 0;
}

static void channels_last(dnnl_memory_desc_t *d, const dnnl_dims_t dims, int n, dnnl_data_type_t t)
{
	dnnl_dims_t strides;
	strides[1] = 1;
	int64_t step = dims[1];
	for (int i = n - 1; i >= 2; step *= dims[i--])
		strides[i] = step;
	strides[0] = step;
	onednn_api()->memory_desc_init_by_strides(d, n, dims, t, strides);
}

static int weight_dims(const struct window *g, dnnl_dims_t dims)
{
	int n = 0;
	if (g->groups > 1)
		dims[n++] = g->groups;
	dims[n++] = g->cout;
	dims[n++] = g->cin;
	for (int i = first_dim(g); i < 3; i++)
		dims[n++] = g->kernel[i];
	return n;
}

/* weights: the layout that another slice's primitive has chosen; NULL: any. */
static bool slice_primitive(const struct bf16_conv *m, struct slice *s,
			    const dnnl_memory_desc_t *weights)
{
	const struct onednn_api *api = onednn_api();
	const struct window *g = &m->g;
	dnnl_dims_t x = {1, g->groups * g->cin}, y = {1, g->groups * g->cout}, w;
	dnnl_dims_t stride, dilation, pad, pad_end;
	dnnl_memory_desc_t src, dst, any;
	dnnl_convolution_desc_t d;
	int n = 0;
	for (int i = first_dim(g); i < 3; i++, n++) {
		int64_t reach = (g->kernel[i] - 1) * g->dilation[i] + 1;
		int64_t end = (g->out[i] - 1) * g->stride[i] + reach - g->in[i] - g->pad[i];
		x[2 + n] = i == m->axis ? s->n_in : g->in[i];
		y[2 + n] = i == m->axis ? s->n : g->out[i];
		stride[n] = g->stride[i];
		dilation[n] = g->dilation[i] - 1;
		pad[n] = i == m->axis ? s->pad : g->pad[i];
		pad_end[n] = i == m->axis ? s->pad_end : end > 0 ? end : 0;
		if (g->pad[i] < 0 || g->pad[i] >= reach || pad_end[n] >= reach)
			return false;
	}
	channels_last(&src, x, 2 + n, dnnl_bf16);
	channels_last(&dst, y, 2 + n, dnnl_f32);
	if (!weights && api->memory_desc_init_by_tag(&any, weight_dims(g, w), w, dnnl_bf16,
						     dnnl_format_tag_any) != dnnl_success)
		return false;
	return api->dilated_convolution_forward_desc_init(
		       &d, dnnl_forward_inference, dnnl_convolution_direct, &src,
		       weights ? weights : &any, NULL, &dst, stride, dilation, pad,
		       pad_end) == dnnl_success &&
	       onednn_primitive_new(&s->primitive, &d, NULL);
}

static bool same_form(const struct slice *a, const struct slice *b)
{
	return a->n == b->n && a->n_in == b->n_in && a->pad == b->pad && a->pad_end == b->pad_end;
}

static bool cut(struct bf16_conv *m, int n_threads)
{
	const struct window *g = &m->g;
	m->axis = first_dim(g);
	while (m->axis < 2 && g->out[m->axis] == 1)
		m->axis++;
	m->in_inner = m->out_inner = 1;
	for (int i = m->axis + 1; i < 3; i++) {
		m->in_inner *= g->in[i];
		m->out_inner *= g->out[i];
	}
	int64_t rows = g->out[m->axis];
	/* A dim before the axis has one output, but perhaps several inputs: no slices then. */
	bool whole = true;
	for (int i = first_dim(g); i < m->axis; i++)
		whole = whole && g->in[i] == 1;
	int64_t bytes = g->groups * (g->cin * m->in_inner * 2 * g->stride[m->axis] +
				     g->cout * m->out_inner * 4);
	int64_t most = SLICE_BYTES / bytes, pieces;
	most = most < 1 ? 1 : most;
	pieces = (rows + most - 1) / most;
	if (pieces * g->batch < n_threads)
		pieces = (n_threads + g->batch - 1) / g->batch;
	pieces = pieces > rows ? rows : pieces > MAX_SLICES ? MAX_SLICES : pieces;
	if (!whole) {
		pieces = 1;
		m->axis = first_dim(g);
		m->in_inner = g->in_plane / g->in[m->axis];
		m->out_inner = g->out_plane / g->out[m->axis];
		rows = g->out[m->axis];
	}
	int64_t each = (rows + pieces - 1) / pieces;
	for (int64_t i = 0; i < rows; i += each, m->n_slices++) {
		struct slice *s = &m->slice[m->n_slices];
		*s = (struct slice){
			.first = i, .n = rows - i < each ? rows - i : each, .like = m->n_slices};
		if (!cut_slice(m, s))
			return false;
		for (int j = 0; j < m->n_slices && s->like == m->n_slices; j++)
			if (same_form(&m->slice[j], s))
				s->like = j;
		if (s->like == m->n_slices &&
		    !slice_primitive(m, s, i ? &m->slice[0].primitive.weights : NULL))
			return false;
	}
	return true;
}

struct weights_job {
	const struct window *g;
	const struct tensor *w;
	const dnnl_memory_desc_t *to;
	float *f32;
	struct err err;
	int rc;
};

static void fill_weights(void *arg, void *data)
{
	struct weights_job *job = arg;
	dnnl_dims_t dims, strides;
	dnnl_memory_desc_t from;
	const void *src = job->w->data;
	int n = weight_dims(job->g, dims);
	int64_t step = 1;
	for (int i = n - 1; i >= 0; step *= dims[i--])
		strides[i] = step;
	onednn_api()->memory_desc_init_by_strides(&from, n, dims, dnnl_f32, strides);
	if (job->w->elem != EL_F32) {
		cpu_convert(EL_F32, job->f32, job->w->elem, src, step);
		src = job->f32;
	}
	job->rc = onednn_reorder(&from, src, job->to, data, &job->err);
}

static int pack_weights(struct bf16_conv *m, const struct tensor *w, struct cpu_ctx *c,
			struct err *e)
{
	const dnnl_memory_desc_t *to = &m->slice[0].primitive.weights;
	struct weights_job job = {.g = &m->g, .w = w, .to = to};
	uint64_t layout[6] = {OP_CONVOLUTION | ONEDNN_PACK};
	onednn_layout_key(to, layout + 1);
	if (w->elem != EL_F32 && !(job.f32 = mem_try((size_t)tensor_elements(w) * sizeof *job.f32)))
		return cpu_no_memory(e);
	m->pack = cpu_pack_get(c->packs, w->data, layout, onednn_api()->memory_desc_get_size(to),
			       fill_weights, &job);
	mem_free(job.f32);
	if (!m->pack)
		return cpu_no_memory(e);
	return job.rc < 0 ? err_set(e, ST_RUNTIME, "%s", job.err.msg) : 0;
}

static void conv_free(void *p)
{
	struct bf16_conv *m = p;
	for (int i = 0; i < m->n_slices; i++)
		onednn_primitive_release(&m->slice[i].primitive);
	cpu_pack_drop(m->pack);
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

static int slice_rows(struct conv_run *r, int64_t image, const struct slice *s, int thread,
		      struct err *e)
{
	const struct bf16_conv *m = r->m;
	const struct window *g = &m->g;
	const struct onednn_primitive *p = &m->slice[s->like].primitive;
	int64_t cin = g->groups * g->cin, cout = g->groups * g->cout;
	int64_t n_in = s->n_in * m->in_inner, n_out = s->n * m->out_inner;
	int64_t at = s->first * m->out_inner;
	size_t x_bytes = whole_lines(n_in * cin * 2), y_bytes = whole_lines(n_out * cout * 4);
	char *x = cpu_thread_scratch(r->k->ctx, thread, x_bytes + y_bytes + p->scratch + 64);
	if (!x)
		return cpu_no_memory(e);
	layout_to_pixels((const float *)r->k->in[0].data + image * cin * g->in_plane +
				 s->from * m->in_inner,
			 g->in_plane, cin, n_in, (uint16_t *)(void *)x);
	const struct onednn_arg args[] = {{DNNL_ARG_SRC, &p->src, x},
					  {DNNL_ARG_WEIGHTS, &p->weights, m->pack->data},
					  {DNNL_ARG_DST, &p->dst, x + x_bytes}};
	if (onednn_primitive_run(p, args, 3, x + x_bytes + y_bytes, e) < 0)
		return -1;
	float *y = (float *)r->k->out[0].data + image * cout * g->out_plane + at;
	layout_to_planes((const float *)(const void *)(x + x_bytes), cout, n_out, y, g->out_plane);
	if (r->k->post && g->out_plane > 1)
		cpu_epilogue_tile(r->k->post, y, g->out_plane, image * cout, cout, at, n_out);
	return 0;
}

static void conv_task(void *arg, int task, int thread)
{
	struct conv_run *r = arg;
	struct err e = ERR_INIT;
	if (slice_rows(r, task / r->m->n_slices, &r->m->slice[task % r->m->n_slices], thread, &e) <
		    0 &&
	    !atomic_flag_test_and_set(&r->failed))
		r->err = e;
}

static int run_conv_bf16(const struct kernel_call *k, struct err *e)
{
	struct conv_run r = {.m = k->prep->more, .k = k, .failed = ATOMIC_FLAG_INIT};
	cpu_parallel(k->ctx, (int)r.m->g.batch * r.m->n_slices, conv_task, &r);
	if (atomic_flag_test_and_set(&r.failed))
		return err_set(e, ST_RUNTIME, "%s", r.err.msg);
	if (k->post && r.m->g.out_plane == 1)
		cpu_epilogue_run(k->ctx, k->post, k->out[0].data);
	return 0;
}

int onednn_conv_prepare(const struct op *op, const struct tensor *in, const struct tensor *out,
			struct cpu_ctx *c, struct cpu_prep **prep, struct err *e)
{
	const struct tensor *x = &in[0], *w = &in[1];
	if (!onednn_multiplies() || x->elem != EL_F32 || out[0].elem != EL_F32 ||
	    !tensor_is_static(x) || !tensor_is_static(&out[0]) || tensor_elements(&out[0]) == 0 ||
	    tensor_elements(w) == 0 || !w->data || w->quant ||
	    (w->elem != EL_F32 && w->elem != EL_F16 && w->elem != EL_BF16))
		return 0;
	struct bf16_conv *m = MEM_NEW(struct bf16_conv);
	cpu_window_init(&m->g, op, x, w, &out[0]);
	const struct window *g = &m->g;
	int64_t work = g->groups * g->cout * g->cin * g->taps * g->out_plane;
	int rc = 0;
	/* One channel a group is no product. */
	bool taken = work >= GRAIN && g->batch <= INT32_MAX / MAX_SLICES &&
		     !(g->cin == 1 && g->groups > 1) && cut(m, c->n_threads);
	if (taken)
		rc = pack_weights(m, w, c, e);
	if (!taken || rc < 0) {
		conv_free(m);
		return rc;
	}
	*prep = MEM_NEW(struct cpu_prep);
	(*prep)->run = run_conv_bf16;
	(*prep)->more = m;
	(*prep)->more_free = conv_free;
	(*prep)->more_bytes = m->pack->bytes;
	(*prep)->owns = 1u << 1;
	return 1;
}
