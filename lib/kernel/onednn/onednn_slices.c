/* onednn_slices.c - see onednn_slices.h. */
#include "kernel/onednn/onednn_slices.h"
#include "kernel/onednn/onednn_api.h"
#include "kernel/onednn/onednn_unary.h"

#include <pthread.h>
#include <string.h>

enum {
	SLICE_BYTES = 768 << 10, /* operands and sums of a slice */
	MAX_SLICES = 64,
	PRIMITIVE_BYTES = 36 << 10 /* that the library has on the heap for one, seen with 2.6 */
};

/* Output rows first .. first + n - 1, input rows from .. from + n_in - 1, with so much padding. */
struct slice {
	int64_t first, n, from, n_in, pad, pad_end;
	int like; /* the slice whose primitive runs it */
	struct onednn_primitive primitive;
	struct onednn_primitive
		plain; /* the same without the unary operator, made when it is needed */
};

struct onednn_slices {
	struct window g;
	dnnl_data_type_t src, weights, dst;
	float *scale, *bias; /* (groups * cout) or NULL */
	onednn_md *bias_desc;
	int32_t zero; /* of src */
	bool has_unary;
	enum op_kind unary;
	struct unary_args args;
	/* The library's limits make numbers of what is none: where operands are huge, infinite or no numbers, so that sums may not be,
	 * they are ours. */
	bool limits, huge_weights;
	pthread_mutex_t lock;        /* of slice[].plain */
	int axis;                    /* of the window's dims, that the slices cut */
	int64_t in_inner, out_inner; /* pixels of a row */
	int n_slices;
	struct slice *slice; /* (n_slices) */
	struct cpu_pack *pack;
};

static dnnl_data_type_t type_of(enum elem t)
{
	return t == EL_BF16 ? dnnl_bf16 : t == EL_U8 ? dnnl_u8 : t == EL_I8 ? dnnl_s8 : dnnl_f32;
}

/* ---- preparation ---- */

static bool cut_slice(const struct onednn_slices *m, struct slice *s)
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

static size_t onednn_bytes(dnnl_data_type_t t)
{
	return t == dnnl_f32 ? 4 : t == dnnl_bf16 ? 2 : 1;
}

/* Descriptors have two spatial dims, or three where the window has: dims first .. 2. */
static int first_dim(const struct window *g)
{
	return g->in[0] == 1 && g->kernel[0] == 1 && g->out[0] == 1 && !g->pad[0] ? 1 : 0;
}

static onednn_md *channels_last(const dnnl_dims_t dims, int n, dnnl_data_type_t t)
{
	dnnl_dims_t strides;
	strides[1] = 1;
	int64_t step = dims[1];
	for (int i = n - 1; i >= 2; step *= dims[i--])
		strides[i] = step;
	strides[0] = step;
	return onednn_md_new(n, dims, strides, t);
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

static bool same_layout(const onednn_md *a, const onednn_md *b)
{
	uint64_t x[5], y[5];
	onednn_layout_key(a, x);
	onednn_layout_key(b, y);
	return memcmp(x, y, sizeof x) == 0;
}

/* The window of slice s into d, the shapes of its input and output into x and y; false: the library has no such padding. */
static bool frame_slice(const struct onednn_slices *m, const struct slice *s,
			struct onednn_conv_desc *d, dnnl_dims_t x, dnnl_dims_t y)
{
	const struct window *g = &m->g;
	for (int i = first_dim(g), n = 0; i < 3; i++, n++) {
		int64_t reach = (g->kernel[i] - 1) * g->dilation[i] + 1;
		int64_t end = (g->out[i] - 1) * g->stride[i] + reach - g->in[i] - g->pad[i];
		x[2 + n] = i == m->axis ? s->n_in : g->in[i];
		y[2 + n] = i == m->axis ? s->n : g->out[i];
		d->stride[n] = g->stride[i];
		d->dilation[n] = g->dilation[i] - 1;
		d->pad[n] = i == m->axis ? s->pad : g->pad[i];
		d->pad_end[n] = i == m->axis ? s->pad_end : end > 0 ? end : 0;
		if (g->pad[i] < 0 || g->pad[i] >= reach || d->pad_end[n] >= reach)
			return false;
	}
	return true;
}

/* weights: the layout that another slice's primitive has chosen; NULL: any.  unary: is m's operator in it? */
static bool slice_primitive(const struct onednn_slices *m, const struct slice *s, bool unary,
			    const onednn_md *weights, struct onednn_primitive *made)
{
	const struct window *g = &m->g;
	dnnl_dims_t x = {1, g->groups * g->cin}, y = {1, g->groups * g->cout}, w;
	struct onednn_conv_desc d = {.scale = m->scale,
				     .n_scale = y[1],
				     .grouped = g->groups > 1,
				     .zero = m->zero != 0 ? &m->zero : NULL,
				     .bias = m->bias_desc};
	int n = 5 - first_dim(g);
	if (!frame_slice(m, s, &d, x, y))
		return false;
	if (unary)
		d.eltwise = onednn_unary_of(m->unary, &m->args);
	onednn_md *src = channels_last(x, n, m->src), *dst = channels_last(y, n, m->dst);
	onednn_md *any = weights ? NULL : onednn_md_new(weight_dims(g, w), w, NULL, m->weights);
	d.src = src;
	d.dst = dst;
	d.weights = weights ? weights : any;
	bool ok = (!unary || d.eltwise.is_there) && (!m->bias || m->bias_desc) &&
		  onednn_convolution_new(made, &d);
	onednn_md_free(src);
	onednn_md_free(dst);
	onednn_md_free(any);
	/* Where dilation reaches far, the library has no other for depthwise ones: a product of one row for each channel.  Where
	 * there are three dims, or several outputs a channel, what it has for f32 and bf16 fills up one channel to 8 or 16. */
	bool unfit =
		made->gemm || (!made->depthwise && (m->src == dnnl_f32 || m->src == dnnl_bf16));
	if (ok && unfit && g->groups > 1 && g->cin == 1)
		ok = false;
	/* Where a zero is not code 0, slices with padding may want other weights than those without. */
	ok = ok && (!weights || same_layout(made->weights, weights));
	if (!ok)
		onednn_primitive_release(made);
	return ok;
}

static bool same_form(const struct slice *a, const struct slice *b)
{
	return a->n == b->n && a->n_in == b->n_in && a->pad == b->pad && a->pad_end == b->pad_end;
}

/* Slices of `each` rows; false: the library has no primitive for one of them. */
static bool cut_rows(struct onednn_slices *m, int64_t rows, int64_t each)
{
	m->slice = MEM_NEWN(struct slice, (size_t)((rows + each - 1) / each));
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
		    !slice_primitive(m, s, m->has_unary, i ? m->slice[0].primitive.weights : NULL,
				     &s->primitive))
			return false;
	}
	return true;
}

static void drop_slices(struct onednn_slices *m)
{
	for (int i = 0; i < m->n_slices; i++) {
		onednn_primitive_release(&m->slice[i].primitive);
		onednn_primitive_release(&m->slice[i].plain);
	}
	mem_free(m->slice);
	m->slice = NULL;
	m->n_slices = 0;
}

/* How many slices: their operands and sums fit a cache, but weights that do not are read by few of them; every
 * thread has one. */
static int64_t count_slices(const struct onednn_slices *m, int n_threads)
{
	const struct window *g = &m->g;
	int64_t rows = g->out[m->axis], size = (int64_t)onednn_bytes(m->src);
	int64_t weights = g->groups * g->cin * g->cout * g->taps * size;
	int64_t bytes = g->groups * (g->cin * m->in_inner * size * g->stride[m->axis] +
				     g->cout * m->out_inner * (int64_t)onednn_bytes(m->dst));
	int64_t most = (weights > SLICE_BYTES ? weights : SLICE_BYTES) / bytes, pieces;
	most = most < 1 ? 1 : most;
	pieces = (rows + most - 1) / most;
	if (pieces * g->batch < n_threads)
		pieces = (n_threads + g->batch - 1) / g->batch;
	if (g->batch < n_threads) /* as many for each thread */
		pieces = (pieces + n_threads - 1) / n_threads * n_threads;
	return pieces > rows ? rows : pieces > MAX_SLICES ? MAX_SLICES : pieces;
}

static bool cut(struct onednn_slices *m, int n_threads)
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
	/* A dim before the axis has one output, but perhaps several inputs: no slices then. */
	bool whole = true;
	for (int i = first_dim(g); i < m->axis; i++)
		whole = whole && g->in[i] == 1;
	int64_t pieces = whole ? count_slices(m, n_threads) : 1;
	if (!whole) {
		m->axis = first_dim(g);
		m->in_inner = g->in_plane / g->in[m->axis];
		m->out_inner = g->out_plane / g->out[m->axis];
	}
	/* A short slice may have no primitive that reads the weights as the others do. */
	for (int64_t rows = g->out[m->axis];; pieces /= 2) {
		if (cut_rows(m, rows, (rows + pieces - 1) / pieces))
			return true;
		drop_slices(m);
		if (pieces <= 1)
			return false;
	}
}

struct weights_job {
	const struct window *g;
	const struct tensor *w;
	const onednn_md *to;
	float *f32;
	struct err err;
	int rc;
};

static void fill_weights(void *arg, void *data)
{
	struct weights_job *job = arg;
	dnnl_dims_t dims, strides;
	const void *src = job->w->data;
	int n = weight_dims(job->g, dims);
	int64_t step = 1;
	for (int i = n - 1; i >= 0; step *= dims[i--])
		strides[i] = step;
	onednn_md *from =
		onednn_md_new(n, dims, strides, job->w->elem == EL_I8 ? dnnl_s8 : dnnl_f32);
	if (job->f32) {
		cpu_convert(EL_F32, job->f32, job->w->elem, src, step);
		src = job->f32;
	}
	job->rc = onednn_reorder(from, src, job->to, data, &job->err);
	onednn_md_free(from);
}

int onednn_slices_pack(struct onednn_slices *m, const struct onednn_conv_spec *s, struct cpu_ctx *c,
		       struct err *e)
{
	const struct tensor *w = &s->weights;
	const onednn_md *to = m->slice[0].primitive.weights;
	struct weights_job job = {.g = &m->g, .w = w, .to = to};
	/* Sums behind weights in integers are other ones for signed sources, and for a zero-point, of the same size. */
	uint64_t sums = w->elem == EL_I8 ? 1 + (uint64_t)s->src * 2 + (s->zero != 0) : 0;
	uint64_t layout[6] = {OP_CONVOLUTION | ONEDNN_PACK | sums << 33};
	onednn_layout_key(to, layout + 1);
	if (w->elem != EL_F32 && w->elem != EL_I8 &&
	    !(job.f32 = mem_try((size_t)tensor_elements(w) * sizeof *job.f32)))
		return cpu_no_memory(e);
	m->pack = cpu_pack_get(c->packs, s->key, layout, onednn_md_bytes(to), fill_weights, &job);
	mem_free(job.f32);
	if (!m->pack)
		return cpu_no_memory(e);
	return job.rc < 0 ? err_set(e, ST_RUNTIME, "%s", job.err.msg) : 0;
}

/* ---- all of it ---- */

void onednn_slices_free(struct onednn_slices *m)
{
	if (!m)
		return;
	drop_slices(m);
	cpu_pack_drop(m->pack);
	mem_free(m->scale);
	mem_free(m->bias);
	onednn_md_free(m->bias_desc);
	pthread_mutex_destroy(&m->lock);
	mem_free(m);
}

double onednn_slices_uneven(const struct onednn_slices *m)
{
	int64_t longest = 0, all = 0;
	for (int i = 0; i < m->n_slices; i++) {
		longest = m->slice[i].n > longest ? m->slice[i].n : longest;
		all += m->slice[i].n;
	}
	return (double)(longest * m->n_slices) / (double)all;
}

struct onednn_slices *onednn_slices_new(const struct onednn_conv_spec *s, int n_threads)
{
	struct onednn_slices *m = MEM_NEW(struct onednn_slices);
	size_t n = (size_t)(s->g.groups * s->g.cout);
	m->g = s->g;
	m->has_unary = s->has_unary;
	m->unary = s->unary;
	m->args = s->args;
	m->limits = s->has_unary && onednn_unary_limits(s->unary);
	m->huge_weights = m->limits && onednn_any_huge(&s->weights);
	pthread_mutex_init(&m->lock, NULL);
	m->src = type_of(s->src);
	m->dst = type_of(s->dst);
	m->weights = s->src == EL_U8 || s->src == EL_I8 ? dnnl_s8 : m->src;
	m->scale = s->scale ? mem_copy(s->scale, n, sizeof *s->scale) : NULL;
	m->zero = s->zero;
	m->bias = s->bias ? mem_copy(s->bias, n, sizeof *s->bias) : NULL;
	if (m->bias)
		m->bias_desc = onednn_md_new(1, (const dnnl_dims_t){(int64_t)n},
					     (const dnnl_dims_t){1}, dnnl_f32);
	for (size_t i = 0; m->bias && m->scale && onednn_scales_sums() && i < n; i++)
		m->bias[i] *= m->scale[i];
	if (cut(m, n_threads))
		return m;
	onednn_slices_free(m);
	return NULL;
}

uint64_t onednn_slices_bytes(const struct onednn_slices *m)
{
	uint64_t bytes = m->pack ? m->pack->bytes : 0;
	for (int i = 0; i < m->n_slices; i++)
		bytes += m->slice[i].like == i ? PRIMITIVE_BYTES : 0;
	return bytes;
}

int onednn_slices_count(const struct onednn_slices *m)
{
	return m->n_slices;
}

struct window_slice onednn_slices_at(const struct onednn_slices *m, int i)
{
	const struct slice *s = &m->slice[i];
	return (struct window_slice){s->from * m->in_inner, s->n_in * m->in_inner,
				     s->first * m->out_inner, s->n * m->out_inner,
				     m->slice[s->like].primitive.scratch};
}

static int run_primitive(const struct onednn_slices *m, const struct onednn_primitive *p,
			 const void *x, void *y, void *scratch, struct err *e)
{
	const struct onednn_arg args[] = {{DNNL_ARG_SRC, p->src, x},
					  {DNNL_ARG_DST, p->dst, y},
					  {DNNL_ARG_WEIGHTS, p->weights, m->pack->data},
					  {DNNL_ARG_BIAS, m->bias_desc, m->bias}};
	return onednn_primitive_run(p, args, m->bias ? 4 : 3, scratch, e);
}

static int run_plain(struct onednn_slices *m, int i, const void *x, void *y, struct err *e)
{
	struct slice *s = &m->slice[m->slice[i].like];
	void *scratch = NULL;
	pthread_mutex_lock(&m->lock);
	bool made = s->plain.p ||
		    slice_primitive(m, s, false, m->slice[0].primitive.weights, &s->plain);
	pthread_mutex_unlock(&m->lock);
	if (!made)
		return err_set(e, ST_RUNTIME,
			       "oneDNN has no convolution for numbers that are huge");
	if (s->plain.scratch && !(scratch = mem_try(s->plain.scratch)))
		return cpu_no_memory(e);
	int rc = run_primitive(m, &s->plain, x, y, scratch, e);
	mem_free(scratch);
	if (rc == 0)
		onednn_unary_run(m->unary, &m->args, m->dst == dnnl_bf16, y,
				 m->g.groups * m->g.cout * s->n * m->out_inner);
	return rc;
}

int onednn_slices_run(struct onednn_slices *m, int i, const void *x, void *y, void *scratch,
		      struct err *e)
{
	const struct slice *s = &m->slice[i];
	if (m->limits &&
	    (m->huge_weights ||
	     vec_any_huge(m->src == dnnl_bf16, x, m->g.groups * m->g.cin * s->n_in * m->in_inner)))
		return run_plain(m, i, x, y, e);
	return run_primitive(m, &m->slice[s->like].primitive, x, y, scratch, e);
}
