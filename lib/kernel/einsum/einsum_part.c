/* einsum_part.c - operands of Einsum by their labels: where their elements lie, copied and summed. */
#include "kernel/einsum/einsum_op.h"

label_set einsum_labels(const struct einsum_part *p)
{
	label_set set = 0;
	for (int i = 0; i < p->n; i++)
		set |= (label_set)1 << p->label[i];
	return set;
}

int64_t einsum_count(const struct einsum_run *r, label_set labels)
{
	int64_t n = 1;
	for (; labels; labels &= labels - 1)
		n *= r->s.size[__builtin_ctzll(labels)];
	return n;
}

int64_t einsum_bytes(const struct einsum_run *r, int64_t n)
{
	return (n * (int64_t)r->size + 63) & ~(int64_t)63;
}

char *einsum_take(struct einsum_run *r, int64_t n)
{
	char *p = r->room;
	if (r->dry)
		return NULL;
	r->room += einsum_bytes(r, n);
	return p;
}

static int64_t stride_of(const struct einsum_part *p, int label)
{
	for (int i = 0; i < p->n; i++)
		if (p->label[i] == label)
			return p->stride[i];
	return 0;
}

bool einsum_lies(const struct einsum_run *r, const struct einsum_part *p, const int *label, int n)
{
	int64_t step = 1;
	for (int i = n; i-- > 0; step *= r->s.size[label[i]])
		if (stride_of(p, label[i]) != step)
			return false;
	return n == p->n;
}

struct einsum_part einsum_at(const struct einsum_run *r, const int *label, int n, char *data)
{
	struct einsum_part p = {.data = data, .n = n};
	int64_t step = 1;
	for (int i = n; i-- > 0; step *= r->s.size[label[i]]) {
		p.label[i] = label[i];
		p.stride[i] = step;
	}
	return p;
}

/* Dims of those labels, and their strides in p, in bytes. */
static void dims_of(const struct einsum_run *r, const struct einsum_part *p, const int *label,
		    int n, int64_t *dim, int64_t *stride)
{
	for (int i = 0; i < n; i++) {
		dim[i] = r->s.size[label[i]];
		stride[i] = stride_of(p, label[i]) * (int64_t)r->size;
	}
}

struct einsum_part einsum_copy(const struct einsum_run *r, const struct einsum_part *p,
			       const int *label, int n, char *data)
{
	int64_t dim[COPY_DIMS] = {0}, stride[COPY_DIMS] = {0};
	dims_of(r, p, label, n, dim, stride);
	if (!r->dry)
		cpu_copy_strided(r->k->ctx, r->size, (uint32_t)n, dim, stride, p->data, data);
	return einsum_at(r, label, n, data);
}

void einsum_put(const struct einsum_run *r, const int *label, int n, char *data,
		const struct einsum_part *p)
{
	int64_t dim[COPY_DIMS] = {0}, from[COPY_DIMS] = {0}, to[COPY_DIMS] = {0};
	struct einsum_part source = einsum_at(r, label, n, data);
	dims_of(r, &source, label, n, dim, from);
	dims_of(r, p, label, n, dim, to);
	cpu_move_strided(r->k->ctx, r->size, (uint32_t)n, dim, from, data, to, p->data);
}

int einsum_sum(struct einsum_run *r, struct einsum_part *p, label_set kept, char *data,
	       struct err *e)
{
	int label[TENSOR_DIMS], n = 0, n_axes = 0;
	int64_t axes[TENSOR_DIMS];
	if (!einsum_lies(r, p, p->label, p->n))
		*p = einsum_copy(r, p, p->label, p->n,
				 einsum_take(r, einsum_count(r, einsum_labels(p))));
	struct tensor in[2] = {{.elem = r->elem, .rank = (uint32_t)p->n, .data = p->data},
			       {.elem = EL_I64, .rank = 1, .data = axes}};
	struct tensor out = {.elem = r->elem, .data = data};
	for (int i = 0; i < p->n; i++) {
		in[0].dim[i] = r->s.size[p->label[i]];
		if (kept >> p->label[i] & 1) {
			out.dim[out.rank++] = in[0].dim[i];
			label[n++] = p->label[i];
		} else {
			axes[n_axes++] = i;
		}
	}
	in[1].dim[0] = n_axes;
	struct op op = *r->k->op;
	op.kind = OP_REDUCE_SUM;
	op.n_in = 2;
	*p = einsum_at(r, label, n, data);
	return r->dry ? 0
		      : run_reduce(
				&(struct kernel_call){
					.op = &op, .in = in, .out = &out, .ctx = r->k->ctx},
				e);
}
