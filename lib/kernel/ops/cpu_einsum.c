/* cpu_einsum.c - Einsum: a sum over the labels that the output has not, of products of inputs.
 * Two inputs of f32 become a stack of matrix products.  Otherwise the last summed label is the
 * inner loop; inputs are read by strides. */
#include "kernel/cpu_impl.h"
#include "op/einsum.h"

#include <string.h>

struct einsum_run {
	const struct kernel_call *k;
	int n_in, n_out, n_sum;
	int64_t out_dim[TENSOR_DIMS], sum_dim[EINSUM_LABELS];
	int64_t out_stride[EINSUM_INPUTS][TENSOR_DIMS], sum_stride[EINSUM_INPUTS][EINSUM_LABELS];
	int64_t n_sums; /* product of all summed dims but the last */
	int n_tasks;
};

static int64_t stride_of(const struct tensor *t, const int *labels, int label)
{
	int64_t stride = 0, step = 1;
	for (uint32_t d = t->rank; d-- > 0; step *= t->dim[d])
		if (labels[d] == label && t->dim[d] != 1)
			stride += step; /* a repeated label walks the diagonal */
	return stride;
}

static void einsum_init(struct einsum_run *r, const struct einsum *s)
{
	bool kept[EINSUM_LABELS] = {false};
	r->n_in = s->n_in;
	r->n_out = s->n_out;
	for (int i = 0; i < s->n_out; i++) {
		kept[s->out[i]] = true;
		r->out_dim[i] = s->size[s->out[i]];
		for (int j = 0; j < s->n_in; j++)
			r->out_stride[j][i] = stride_of(&r->k->in[j], s->label[j], s->out[i]);
	}
	for (int l = 0; l < EINSUM_LABELS; l++) {
		if (!s->used[l] || kept[l])
			continue;
		r->sum_dim[r->n_sum] = s->size[l];
		for (int j = 0; j < s->n_in; j++)
			r->sum_stride[j][r->n_sum] = stride_of(&r->k->in[j], s->label[j], l);
		r->n_sum++;
	}
	if (r->n_sum == 0)
		r->sum_dim[r->n_sum++] = 1;
	r->n_sums = 1;
	for (int i = 0; i + 1 < r->n_sum; i++)
		r->n_sums *= r->sum_dim[i];
}

static double inner_real(const struct einsum_run *r, const int64_t *at)
{
	const float *p[EINSUM_INPUTS];
	int64_t step[EINSUM_INPUTS], n = r->sum_dim[r->n_sum - 1];
	double sum = 0;
	for (int j = 0; j < r->n_in; j++) {
		p[j] = (const float *)r->k->in[j].data + at[j];
		step[j] = r->sum_stride[j][r->n_sum - 1];
	}
	if (r->n_in == 2) {
		for (int64_t i = 0; i < n; i++)
			sum += (double)p[0][i * step[0]] * (double)p[1][i * step[1]];
		return sum;
	}
	for (int64_t i = 0; i < n; i++) {
		double v = 1;
		for (int j = 0; j < r->n_in; j++)
			v *= (double)p[j][i * step[j]];
		sum += v;
	}
	return sum;
}

static int64_t inner_int(const struct einsum_run *r, const int64_t *at)
{
	uint64_t sum = 0;
	for (int64_t i = 0; i < r->sum_dim[r->n_sum - 1]; i++) {
		uint64_t v = 1;
		for (int j = 0; j < r->n_in; j++)
			v *= (uint64_t)tensor_int(&r->k->in[j],
						  at[j] + i * r->sum_stride[j][r->n_sum - 1]);
		sum += v;
	}
	return (int64_t)sum;
}

static void einsum_task(void *arg, int task, int thread)
{
	const struct einsum_run *r = arg;
	const struct tensor *out = &r->k->out[0];
	int64_t lo, hi, base[EINSUM_INPUTS], at[EINSUM_INPUTS];
	(void)thread;
	cpu_range(tensor_elements(out), r->n_tasks, task, &lo, &hi);
	for (int64_t o = lo; o < hi; o++) {
		double real = 0;
		uint64_t whole = 0;
		for (int j = 0; j < r->n_in; j++)
			base[j] = cpu_offset(o, r->n_out, r->out_dim, r->out_stride[j]);
		for (int64_t s = 0; s < r->n_sums; s++) {
			for (int j = 0; j < r->n_in; j++)
				at[j] = base[j] +
					cpu_offset(s, r->n_sum - 1, r->sum_dim, r->sum_stride[j]);
			if (out->elem == EL_F32)
				real += inner_real(r, at);
			else
				whole += (uint64_t)inner_int(r, at);
		}
		if (out->elem == EL_F32)
			((float *)out->data)[o] = (float)real;
		else
			tensor_set_int(out, o, (int64_t)whole);
	}
}

/* ---- as a matrix product ---- */

/* What a label of two inputs is to A (batch, m, k) B (batch, n, k) = C (batch, m, n). */
enum part { PART_BATCH, PART_M, PART_N, PART_K, PARTS };

struct as_product {
	int n[PARTS], label[PARTS][EINSUM_LABELS];
	int64_t size[PARTS];
};

static bool has_label(const int *labels, int n, int label)
{
	for (int i = 0; i < n; i++)
		if (labels[i] == label)
			return true;
	return false;
}

/* False: labels that are repeated, broadcast, or summed in one input alone. */
static bool find_product(struct as_product *p, const struct einsum *s, const struct tensor *in)
{
	*p = (struct as_product){.size = {1, 1, 1, 1}};
	for (int j = 0; j < 2; j++)
		for (uint32_t d = 0; d < in[j].rank; d++) {
			int label = s->label[j][d];
			if (in[j].dim[d] != s->size[label] || in[j].dim[d] == 0 ||
			    has_label(s->label[j], (int)d, label))
				return false;
		}
	for (int j = 0; j < 2; j++)
		for (uint32_t d = 0; d < in[j].rank; d++) {
			int label = s->label[j][d];
			bool both = has_label(s->label[!j], (int)in[!j].rank, label);
			bool kept = has_label(s->out, s->n_out, label);
			if (!both && !kept)
				return false;
			if (both && j == 1)
				continue;
			enum part part = both ? (kept ? PART_BATCH : PART_K) : j ? PART_N : PART_M;
			p->label[part][p->n[part]++] = label;
			p->size[part] *= s->size[label];
		}
	return true;
}

/* Dims of a tensor whose axes are those labels of three parts, in that order: their sizes, and their
 * strides in t, in bytes. */
static int order_dims(const struct as_product *p, const struct einsum *s, const enum part *part,
		      const struct tensor *t, const int *labels, int64_t *dim, int64_t *stride)
{
	int n = 0;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < p->n[part[i]]; j++) {
			int label = p->label[part[i]][j];
			dim[n] = s->size[label];
			stride[n++] = stride_of(t, labels, label) * (int64_t)sizeof(float);
		}
	return n;
}

/* Has t those axes in that order as it lies? */
static bool has_order(const struct as_product *p, const struct einsum *s, const enum part *part,
		      const struct tensor *t, const int *labels)
{
	int64_t dim[EINSUM_LABELS], stride[EINSUM_LABELS], step = sizeof(float);
	for (int n = order_dims(p, s, part, t, labels, dim, stride); n-- > 0; step *= dim[n])
		if (dim[n] != 1 && stride[n] != step)
			return false;
	return true;
}

/* A matrix of a product: (batch, rows, cols) in memory, and what it is in the equation. */
struct matrix {
	enum part part[3];
	const struct tensor *t;
	const int *labels;
	bool copied; /* t has another order */
};

static struct matrix matrix_of(const struct as_product *p, const struct einsum *s,
			       const struct tensor *t, const int *labels, enum part rows,
			       enum part cols)
{
	struct matrix m = {{PART_BATCH, rows, cols}, t, labels, false};
	struct matrix turned = {{PART_BATCH, cols, rows}, t, labels, false};
	if (has_order(p, s, m.part, t, labels))
		return m;
	if (has_order(p, s, turned.part, t, labels))
		return turned;
	m.copied = true;
	return m;
}

static int64_t copy_floats(const struct as_product *p, const struct matrix *m)
{
	int64_t n = p->size[m->part[0]] * p->size[m->part[1]] * p->size[m->part[2]];
	return m->copied ? (n + 15) / 16 * 16 : 0;
}

static struct tensor tensor_of(const struct as_product *p, const struct matrix *m, float *copy)
{
	struct tensor t = {.elem = EL_F32, .rank = 3, .data = m->copied ? copy : m->t->data};
	for (int i = 0; i < 3; i++)
		t.dim[i] = p->size[m->part[i]];
	return t;
}

/* Whatever lies in the order of a product, or of a transposed one, is not copied. */
static int run_as_product(const struct kernel_call *k, const struct einsum *s,
			  const struct as_product *p, struct err *e)
{
	struct matrix c = matrix_of(p, s, &k->out[0], s->out, PART_M, PART_N);
	bool swapped = c.part[1] == PART_N; /* B^T A^T = (A B)^T */
	struct matrix m[2] = {
		matrix_of(p, s, &k->in[swapped], s->label[swapped], c.part[1], PART_K),
		matrix_of(p, s, &k->in[!swapped], s->label[!swapped], c.part[2], PART_K)};
	int64_t n_a = copy_floats(p, &m[0]), n_b = copy_floats(p, &m[1]), dim[EINSUM_LABELS],
		stride[EINSUM_LABELS], step = sizeof(float), to[EINSUM_LABELS];
	float *a = cpu_slot_scratch(k->ctx, SLOT_EXTRA,
				    (size_t)(n_a + n_b + copy_floats(p, &c)) * sizeof *a);
	if (!a)
		return cpu_no_memory(e);
	struct tensor in[2] = {tensor_of(p, &m[0], a), tensor_of(p, &m[1], a + n_a)};
	struct tensor out = tensor_of(p, &c, a + n_a + n_b);
	for (int j = 0; j < 2; j++) {
		int n = order_dims(p, s, m[j].part, m[j].t, m[j].labels, dim, stride);
		if (m[j].copied)
			cpu_copy_strided(k->ctx, sizeof *a, (uint32_t)n, dim, stride, m[j].t->data,
					 in[j].data);
	}
	struct op op = *k->op;
	op.kind = OP_MATMUL;
	op.n_in = 2;
	op.a.matmul.transpose_a = m[0].part[1] == PART_K;
	op.a.matmul.transpose_b = m[1].part[2] == PART_K;
	struct kernel_call call = {.op = &op, .in = in, .out = &out, .ctx = k->ctx};
	if (run_matmul(&call, e))
		return -1;
	if (!c.copied)
		return 0;
	int n = order_dims(p, s, c.part, c.t, c.labels, dim, to);
	for (int i = n; i-- > 0; step *= dim[i])
		stride[i] = step;
	cpu_move_strided(k->ctx, sizeof *a, (uint32_t)n, dim, stride, out.data, to, k->out[0].data);
	return 0;
}

int run_einsum(const struct kernel_call *k, struct err *e)
{
	struct as_product p;
	struct einsum s;
	struct einsum_run r = {.k = k};
	if (einsum_parse(&s, graph_attr(k->op->g, k->op->v, "equation"), k->in, k->op->n_in, e))
		return -1;
	if (s.n_in == 2 && k->out[0].elem == EL_F32 && find_product(&p, &s, k->in) &&
	    p.n[PART_BATCH] + p.n[PART_M] + p.n[PART_N] + p.n[PART_K] <= COPY_DIMS)
		return run_as_product(k, &s, &p, e);
	einsum_init(&r, &s);
	for (int i = 0; i < r.n_sum; i++)
		if (r.sum_dim[i] == 0) {
			memset(k->out[0].data, 0, (size_t)tensor_bytes(&k->out[0]));
			return 0;
		}
	int64_t n = tensor_elements(&k->out[0]);
	r.n_tasks = cpu_tasks(n * r.n_sums * r.sum_dim[r.n_sum - 1], 1 << 16);
	if (r.n_tasks > n)
		r.n_tasks = (int)n;
	cpu_parallel(k->ctx, r.n_tasks, einsum_task, &r);
	return 0;
}
