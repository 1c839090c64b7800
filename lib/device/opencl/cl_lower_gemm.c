/* cl_lower_gemm.c - launches of matrix products, and of convolutions as
 * products of the weights and the image seen through the window. */
#include "device/opencl/cl_lowering.h"

/* So few rows of A that B is best read straight from memory. */
static int thin_rows(const struct cl_state *s)
{
	return s->shape.ls == 1 ? 10 : 16;
}

static int64_t round_up(int64_t x, int64_t step)
{
	return (x + step - 1) / step * step;
}

/* Floats of one packed operand of m rows (or columns) and k products. */
static int64_t packed_size(int64_t m, int64_t k, int step)
{
	return round_up(m, step) * k;
}

int64_t cl_lower_packed_a(const struct cl_state *s, int64_t m, int64_t k)
{
	return s->place.bf16 ? packed_size(k, m, BF16_STEP) : packed_size(m, k, s->shape.mr);
}

static size_t parts(int64_t n, int64_t size)
{
	return (size_t)((n + size - 1) / size);
}

/* On a GPU: where there are fewer work-groups than its units can hold at once, two each, the products are
 * split.  A split costs a pass over its sums, so both parts and products are not few. */
static void split_products(const struct cl_state *s, struct gemm_args *a, size_t n_groups,
			   int least, int step)
{
	enum { MOST = 16 };
	int64_t n = n_groups ? (int64_t)(2 * s->place.units / n_groups) : 1;
	n = n < a->k / least ? n : a->k / least;
	n = n < MOST ? n : MOST;
	a->splits = 1;
	a->k_chunk = a->k;
	if (n < 2 || a->k < 4 * least || n_groups > (size_t)s->shape.counts)
		return;
	a->k_chunk = (int)round_up((a->k + n - 1) / n, step);
	a->splits = (int)parts(a->k, a->k_chunk);
}

/* Tiles of 128 where they take less time than tiles of 64, two groups of which a unit works on at once, in 5/8 of the
 * time of a large one (an H100: large products run at 1.25 times the speed with tiles of 128). */
static void share_tiles(const struct cl_state *s, struct cl_launch *l, int64_t n_batch)
{
	struct gemm_args *a = &l->args.gemm;
	size_t big = parts(a->m, 128) * parts(a->n, 128) * (size_t)n_batch;
	size_t small = parts(a->m, 64) * parts(a->n, 64) * (size_t)n_batch;
	int64_t units = s->place.units ? (int64_t)s->place.units : 1;
	bool large = 8 * parts((int64_t)big, units) < 5 * parts((int64_t)small, 2 * units);
	int tile = large ? 128 : 64;
	if (s->place.bf16)
		l->kernel = large ? K_mma_128 : K_mma_64;
	else
		l->kernel = large ? K_tile_128 : K_tile_64;
	split_products(s, a, large ? big : small, 64, 32);
	l->groups[0] = parts(a->n, tile);
	l->groups[1] = parts(a->m, tile);
	l->groups[2] = (size_t)n_batch * (size_t)a->splits;
}

/* On a CPU: panels of C, and of these parts of their rows. */
static void share_panels(const struct cl_state *s, struct cl_launch *l, int64_t n_batch)
{
	struct gemm_args *a = &l->args.gemm;
	size_t panels = parts(a->n, s->shape.nr) * (size_t)n_batch;
	size_t blocks = parts(a->m, s->shape.mr);
	/* A panel of B is fetched again for every chunk: as few as keep the units busy. */
	size_t want = s->place.units > 1 ? 3 * s->place.units : 1;
	size_t chunks = panels && panels < want ? parts((int64_t)want, (int64_t)panels) : 1;
	if (chunks > (blocks + 3) / 4)
		chunks = (blocks + 3) / 4;
	size_t per = chunks ? (blocks + chunks - 1) / chunks : 1,
	       most = (size_t)s->shape.mc / (size_t)s->shape.mr;
	per = per < most ? per
			 : parts((int64_t)blocks, (int64_t)parts((int64_t)blocks, (int64_t)most));
	a->m_chunk = (int)per * s->shape.mr;
	l->groups[0] = parts(a->n, s->shape.nr);
	l->groups[1] = (blocks + per - 1) / per;
	l->groups[2] = (size_t)n_batch;
}

static void share_product(struct cl_lowering *p, struct cl_launch *l, int64_t n_batch)
{
	struct gemm_args *a = &l->args.gemm;
	if (a->ow < 1)
		a->ow = 1;
	a->splits = 1;
	a->k_chunk = a->k;
	l->kernel = K_gemm;
	if (a->b_mode == B_PACKED && !a->a_packed && a->m <= thin_rows(p->s))
		l->kernel = K_thin;
	if (l->kernel == K_thin) {
		/* on a GPU a group has 16 columns, and 256 or 512 products are under way at once */
		l->groups[0] = parts(a->n, p->s->shape.ls > 1 ? 16 : p->s->shape.nr);
		if (p->s->shape.ls > 1)
			split_products(p->s, a, l->groups[0] * (size_t)n_batch, 768, 256);
		l->groups[2] = (size_t)n_batch * (size_t)a->splits;
	} else if (p->s->shape.ls > 1) {
		share_tiles(p->s, l, n_batch);
	} else {
		share_panels(p->s, l, n_batch);
	}
}

/* The product's buffer number 3 + OPERANDS: counts and parts of sums (cl_split.cl). */
static void add_parts(struct cl_lowering *p, int64_t n_batch)
{
	struct cl_launch *l = &p->launch[p->n - 1];
	const struct gemm_args *a = &l->args.gemm;
	if (l->kernel == K_gemm)
		return;
	if (a->splits == 1) {
		l->buf[l->n_buf++] = l->buf[2];
		return;
	}
	l->buf[l->n_buf++] = (struct cl_ref){REF_TEMP, CL_PARTS, 0};
	size_t sums = (size_t)n_batch * (size_t)a->splits * (size_t)a->m * (size_t)((a->n + 3) / 4);
	size_t bytes = (size_t)p->s->shape.counts * sizeof(cl_int) + sums * sizeof(cl_float4);
	p->temp[CL_PARTS] = p->temp[CL_PARTS] > bytes ? p->temp[CL_PARTS] : bytes;
}

static int finish_product(struct cl_lowering *p, struct cl_launch *l, int64_t n_batch)
{
	share_product(p, l, n_batch);
	if (cl_chain_fill(p, l, &l->args.gemm.chain, l->args.gemm.at))
		return -1;
	add_parts(p, n_batch);
	return 0;
}

void cl_lower_product(struct cl_lowering *p, const struct gemm_args *g, int64_t n_batch,
		      const struct cl_ref *refs, int n_refs)
{
	struct cl_launch *l = cl_lower_launch(p, K_gemm);
	l->args.gemm = *g;
	for (int i = 0; i < 3 + OPERANDS; i++)
		l->buf[l->n_buf++] = refs[i < n_refs ? i : 2];
	for (int i = 0; i < OPERANDS; i++)
		if (!l->args.gemm.at[i].zd)
			l->args.gemm.at[i].zd = l->args.gemm.at[i].zm = 1;
	share_product(p, l, n_batch);
	add_parts(p, n_batch);
}

/* ---- MatMul ---- */

/* A vector is a row of A, or a column of B, and has no batch. */
struct cl_matrices cl_matrices_of(const struct tensor *t, bool transpose, bool is_b)
{
	struct cl_matrices o = {0};
	if (t->rank == 1) {
		o.rows = is_b ? t->dim[0] : 1;
		o.cols = is_b ? 1 : t->dim[0];
		o.rs = o.cs = 1;
		return o;
	}
	o.n_batch = (int)t->rank - 2;
	o.batch = t->dim;
	o.rows = t->dim[t->rank - 2];
	o.cols = t->dim[t->rank - 1];
	o.rs = o.cols;
	o.cs = 1;
	if (transpose) {
		o.rs = 1;
		o.cs = o.cols;
		o.cols = o.rows;
		o.rows = t->dim[t->rank - 1];
	}
	return o;
}

int64_t cl_lower_batches(struct cl_lowering *p, const struct cl_matrices *a,
			 const struct cl_matrices *b, int64_t as, int64_t bs, struct gemm_args *g)
{
	int rank = a->n_batch > b->n_batch ? a->n_batch : b->n_batch;
	int64_t dim[TENSOR_DIMS], sa[TENSOR_DIMS], sb[TENSOR_DIMS], n = 1;
	struct cl_loops loops = {.n_arrays = 2};
	for (int d = rank - 1; d >= 0; d--) {
		int da = d - rank + a->n_batch, db = d - rank + b->n_batch;
		int64_t na = da >= 0 ? a->batch[da] : 1, nb = db >= 0 ? b->batch[db] : 1;
		if (na != nb && na != 1 && nb != 1)
			return cl_lower_refuse(p, "batches of MatMul do not broadcast");
		dim[d] = na == 1 ? nb : na;
		sa[d] = na == 1 ? 0 : as;
		sb[d] = nb == 1 ? 0 : bs;
		as *= na;
		bs *= nb;
		n *= dim[d];
		if (as > INT32_MAX || bs > INT32_MAX)
			return cl_lower_refuse(p,
					       "operands of MatMul are too large for the kernels");
	}
	for (int d = 0; d < rank; d++)
		cl_loops_add(&loops, dim[d], (int64_t[]){sa[d], sb[d]});
	cl_loops_merge(&loops);
	g->n_batch = loops.rank;
	for (int d = 0; d < loops.rank; d++) {
		g->batch[d] = (int)loops.dim[d];
		g->as[d] = (int)loops.stride[0][d];
		g->bs[d] = (int)loops.stride[1][d];
	}
	return n;
}

int cl_lower_matmul(struct cl_lowering *p)
{
	const struct op *op = p->op;
	const struct cl_shape *h = &p->s->shape;
	if (p->out[0].elem != EL_F32 || p->in[0].elem != EL_F32 || p->in[1].elem != EL_F32)
		return cl_lower_refuse(p, "MatMul of %s is not supported",
				       elem_name(p->out[0].elem));
	struct cl_matrices a = cl_matrices_of(&p->in[0], op->a.matmul.transpose_a, false);
	struct cl_matrices b = cl_matrices_of(&p->in[1], op->a.matmul.transpose_b, true);
	if (a.cols != b.rows)
		return cl_lower_refuse(p, "inner dimensions of MatMul differ");
	if (a.cols == 0)
		return cl_lower_refuse(p, "MatMul over nothing");
	if (!op->a.matmul.transpose_a && b.n_batch == 0 && a.n_batch) {
		/* one matrix B for all: the batch is more rows of A */
		for (int d = 0; d < a.n_batch; d++)
			a.rows *= a.batch[d];
		a.n_batch = 0;
	}
	struct cl_launch *l = cl_lower_launch(p, K_gemm);
	struct gemm_args *g = &l->args.gemm;
	g->m = (int)a.rows;
	g->n = (int)b.cols;
	g->k = (int)a.cols;
	g->ars = (int)a.rs;
	g->acs = (int)a.cs;
	g->brs = (int)b.rs;
	g->bcs = (int)b.cs;
	g->a_packed = p->constant[0];
	g->b_mode = p->constant[1] ? B_PACKED : B_STRIDED;
	int64_t as = g->a_packed ? cl_lower_packed_a(p->s, a.rows, a.cols) : a.rows * a.cols;
	int64_t bs = g->b_mode == B_PACKED ? packed_size(b.cols, b.rows, h->nr) : b.rows * b.cols;
	int64_t n = cl_lower_batches(p, &a, &b, as, bs, g);
	if (n < 0)
		return -1;
	g->b_half = g->b_mode == B_PACKED && p->half[1];
	g->size = (int)(b.rows * b.cols);
	cl_lower_buf(l, g->a_packed ? REF_PACK_A : REF_IN, 0);
	cl_lower_buf(l, g->b_mode == B_PACKED ? REF_PACK_B : REF_IN, 1);
	cl_lower_buf(l, REF_OUT, 0);
	return finish_product(p, l, n);
}

/* ---- Convolution ---- */

/* The product of the weights and an image of g's window in two dimensions: input 0, or, unless -1, temporary memory number
 * `temp`. */
static int lower_product(struct cl_lowering *p, const struct window *w, int temp)
{
	int64_t m = w->cout, k = w->cin * w->taps;
	bool plain = w->taps == 1 && w->stride[1] == 1 && w->stride[2] == 1 && !w->pad[1] &&
		     !w->pad[2] && w->out[1] == w->in[1] && w->out[2] == w->in[2];
	/* rows that begin anywhere: kernel `mma` fetches neighbouring columns side by side of images alone */
	if (p->s->place.bf16 && w->out_plane % 4)
		plain = false;
	struct cl_launch *l = cl_lower_launch(p, K_gemm);
	struct gemm_args *g = &l->args.gemm;
	*g = (struct gemm_args){.b_mode = plain ? B_STRIDED : B_IMAGE,
				.h = (int)w->in[1],
				.w = (int)w->in[2],
				.ow = (int)w->out[2],
				.kh = (int)w->kernel[1],
				.kw = (int)w->kernel[2],
				.sh = (int)w->stride[1],
				.sw = (int)w->stride[2],
				.ph = (int)w->pad[1],
				.pw = (int)w->pad[2],
				.dh = (int)w->dilation[1],
				.dw = (int)w->dilation[2],
				.size = (int)(w->cin * w->in_plane)};
	g->m = (int)m;
	g->n = (int)w->out_plane;
	g->k = (int)k;
	g->ars = (int)k;
	g->acs = 1;
	g->brs = g->n;
	g->bcs = 1;
	g->a_packed = p->constant[1];
	int64_t as = g->a_packed ? cl_lower_packed_a(p->s, m, k) : m * k;
	g->n_batch = 2;
	g->batch[0] = (int)w->batch;
	g->batch[1] = (int)w->groups;
	g->as[0] = 0;
	g->as[1] = (int)as;
	g->bs[0] = (int)(w->groups * w->cin * w->in_plane);
	g->bs[1] = g->size;
	cl_lower_buf(l, g->a_packed ? REF_PACK_A : REF_IN, 1);
	cl_lower_buf(l, temp < 0 ? REF_IN : REF_TEMP, temp < 0 ? 0 : temp);
	cl_lower_buf(l, REF_OUT, 0);
	return finish_product(p, l, w->batch * w->groups);
}

/* In three dimensions: the window's places become channels of an image that is one row. */
static int lower_conv_cube(struct cl_lowering *p, const struct window *g)
{
	struct window row = {.batch = g->batch,
			     .groups = g->groups,
			     .cin = g->cin * g->taps,
			     .cout = g->cout,
			     .in = {1, 1, g->out_plane},
			     .out = {1, 1, g->out_plane},
			     .kernel = {1, 1, 1},
			     .stride = {1, 1, 1},
			     .dilation = {1, 1, 1},
			     .in_plane = g->out_plane,
			     .out_plane = g->out_plane,
			     .taps = 1};
	int temp = cl_lower_unfold(p, g);
	return temp < 0 ? -1 : lower_product(p, &row, temp);
}

int cl_lower_conv(struct cl_lowering *p)
{
	const struct op *op = p->op;
	const struct tensor *x = &p->in[0], *w = &p->in[1], *o = &p->out[0];
	int n = (int)x->rank - 2;
	struct window g;
	if (x->elem != EL_F32 || w->elem != EL_F32)
		return cl_lower_refuse(p, "%s of %s is not supported", op_info(op->kind)->type,
				       elem_name(x->elem));
	if (n < 1 || n > 3)
		return cl_lower_refuse(p, "%s in %d dimensions is not supported",
				       op_info(op->kind)->type, n);
	int64_t groups = op->a.window.grouped ? w->dim[0] : 1;
	if (groups < 1 || x->dim[1] % groups || o->dim[1] % groups)
		return cl_lower_refuse(p, "channels are not a multiple of the groups");
	cpu_window_init(&g, op, x, w, o);
	if (n == 3)
		return lower_conv_cube(p, &g);
	if (g.cin == 1 && g.cout == 1)
		return cl_lower_depthwise(p, &g);
	return lower_product(p, &g, -1);
}
