/* cpu_einsum.c - Einsum: a sum over the labels that the output has not, of products of inputs.
 * The last summed label is the inner loop; inputs are read by strides. */
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

int run_einsum(const struct kernel_call *k, struct err *e)
{
	struct einsum s;
	struct einsum_run r = {.k = k};
	if (einsum_parse(&s, graph_attr(k->op->g, k->op->v, "equation"), k->in, k->op->n_in, e))
		return -1;
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
