/* cpu_gather.c - operators that take or place elements by index.  Negative
 * indices count from the end; an index outside reads zeros and writes nothing. */
#include "kernel/cpu_impl.h"
#include "op/quant.h"
#include "op/slice.h"

#include <string.h>

enum { GRAIN = 1 << 15 }; /* bytes */

static int64_t fix_index(int64_t i, int64_t n)
{
	if (i < 0)
		i += n;
	return i < 0 || i >= n ? -1 : i;
}

static int64_t product(const int64_t *dim, int64_t from, int64_t to)
{
	int64_t n = 1;
	for (; from < to; from++)
		n *= dim[from];
	return n;
}

static int no_size(enum elem t, struct err *e)
{
	return err_set(e, ST_INPUT, "elements of type %s cannot be moved one by one", elem_name(t));
}

/* ---- Gather ---- */

struct gather_run {
	const struct tensor *data, *index, *out;
	int64_t batch, outer, size, n_index,
		inner; /* inner: elements of a slice; size: of the axis */
	int n_tasks;
};

/* Rows: (batch, outer, index). */
static void gather_task(void *arg, int task, int thread)
{
	const struct gather_run *r = arg;
	size_t in_size = cpu_elem_size(r->data->elem), out_size = cpu_elem_size(r->out->elem);
	int64_t lo, hi;
	(void)thread;
	cpu_range(r->batch * r->outer * r->n_index, r->n_tasks, task, &lo, &hi);
	for (int64_t row = lo; row < hi; row++) {
		int64_t i = row % r->n_index, block = row / r->n_index, b = block / r->outer;
		int64_t from = fix_index(tensor_int(r->index, b * r->n_index + i), r->size);
		char *dst = (char *)r->out->data + (size_t)(row * r->inner) * out_size;
		if (from < 0)
			memset(dst, 0, (size_t)r->inner * out_size);
		else if (r->data->quant)
			quant_read(r->data, (block * r->size + from) * r->inner, r->inner,
				   (float *)(void *)dst);
		else
			cpu_convert(r->out->elem, dst, r->data->elem,
				    (const char *)r->data->data +
					    (size_t)((block * r->size + from) * r->inner) * in_size,
				    r->inner);
	}
}

int run_gather(const struct kernel_call *k, struct err *e)
{
	struct gather_run r = {.data = &k->in[0], .index = &k->in[1], .out = &k->out[0]};
	int axis, batch;
	if (op_gather_axes(k->op, k->in, &axis, &batch))
		return err_set(e, ST_INPUT, "axis or batch_dims do not fit");
	if (r.data->quant ? r.out->elem != EL_F32
			  : !cpu_elem_size(r.data->elem) || !cpu_elem_size(r.out->elem))
		return no_size(r.data->elem, e);
	r.batch = product(r.data->dim, 0, batch);
	r.outer = product(r.data->dim, batch, axis);
	r.size = r.data->dim[axis];
	r.n_index = product(r.index->dim, batch, r.index->rank);
	r.inner = product(r.data->dim, axis + 1, r.data->rank);
	r.n_tasks = cpu_tasks(tensor_bytes(r.out), GRAIN);
	if (r.n_tasks > r.batch * r.outer * r.n_index)
		r.n_tasks = (int)(r.batch * r.outer * r.n_index);
	cpu_parallel(k->ctx, r.n_tasks, gather_task, &r);
	return 0;
}

/* Position in the data of element i of indices, when the index replaces the coordinate of `axis`.
 * The other coordinates are those of i in index's shape. */
static int64_t replaced(const struct tensor *data, const struct tensor *index, int axis, int64_t i)
{
	int64_t at = 0, step = 1, rest = i;
	for (uint32_t d = index->rank; d-- > 0; rest /= index->dim[d], step *= data->dim[d]) {
		int64_t p = rest % index->dim[d];
		if ((int)d == axis && (p = fix_index(tensor_int(index, i), data->dim[d])) < 0)
			return -1;
		at += p * step;
	}
	return at;
}

int run_gather_elements(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0], *index = &k->in[1];
	int axis = op_axis(k->op->a.axis.axis, x->rank);
	size_t size = cpu_elem_size(x->elem);
	if (!size)
		return no_size(x->elem, e);
	for (uint32_t d = 0; d < x->rank; d++)
		if ((int)d != axis && index->dim[d] > x->dim[d])
			return err_set(e, ST_INPUT, "indices are larger than the data");
	for (int64_t i = 0; i < tensor_elements(index); i++) {
		int64_t from = replaced(x, index, axis, i);
		char *dst = (char *)k->out[0].data + (size_t)i * size;
		if (from < 0)
			memset(dst, 0, size);
		else
			memcpy(dst, (const char *)x->data + (size_t)from * size, size);
	}
	return 0;
}

/* Offset of the slice of data that the index tuple number t selects, in slices; -1: outside. */
static int64_t tuple_offset(const struct tensor *data, int64_t first_dim,
			    const struct tensor *index, int64_t length, int64_t t)
{
	int64_t at = 0;
	for (int64_t j = 0; j < length; j++) {
		int64_t p = fix_index(tensor_int(index, t * length + j), data->dim[first_dim + j]);
		if (p < 0)
			return -1;
		at = at * data->dim[first_dim + j] + p;
	}
	return at;
}

int run_gather_nd(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0], *index = &k->in[1];
	size_t size = cpu_elem_size(x->elem);
	int64_t batch_dims = k->op->a.axis.batch_dims, length = index->dim[index->rank - 1];
	int64_t batch = product(x->dim, 0, batch_dims),
		tuples = product(index->dim, batch_dims, index->rank - 1);
	int64_t inner = product(x->dim, batch_dims + length, x->rank);
	int64_t slices = product(x->dim, batch_dims, batch_dims + length);
	if (!size)
		return no_size(x->elem, e);
	size_t bytes = (size_t)inner * size;
	for (int64_t t = 0; t < batch * tuples; t++) {
		int64_t from = tuple_offset(x, batch_dims, index, length, t);
		char *dst = (char *)k->out[0].data + (size_t)t * bytes;
		if (from < 0)
			memset(dst, 0, bytes);
		else
			memcpy(dst,
			       (const char *)x->data + (size_t)(t / tuples * slices + from) * bytes,
			       bytes);
	}
	return 0;
}

/* ---- scatter ---- */

static double combine_real(enum op_scatter r, double a, double b)
{
	switch (r) {
	/* clang-format off */
	case SCATTER_SUM: case SCATTER_MEAN: return a + b;
	/* clang-format on */
	case SCATTER_SUB: return a - b;
	case SCATTER_PROD: return a * b;
	case SCATTER_MIN: return a < b ? a : b;
	case SCATTER_MAX: return a > b ? a : b;
	default: return b;
	}
}

static int64_t combine_int(enum op_scatter r, int64_t a, int64_t b)
{
	switch (r) {
	/* clang-format off */
	case SCATTER_SUM: case SCATTER_MEAN: return (int64_t)((uint64_t)a + (uint64_t)b);
	/* clang-format on */
	case SCATTER_SUB: return (int64_t)((uint64_t)a - (uint64_t)b);
	case SCATTER_PROD: return (int64_t)((uint64_t)a * (uint64_t)b);
	case SCATTER_MIN: return a < b ? a : b;
	case SCATTER_MAX: return a > b ? a : b;
	default: return b;
	}
}

/* out[to .. to + n - 1] = combine(out, updates[from ..]). */
static void combine_elements(enum op_scatter r, const struct tensor *out, int64_t to,
			     const struct tensor *updates, int64_t from, int64_t n)
{
	size_t size = cpu_elem_size(out->elem);
	if (r == SCATTER_NONE) {
		memcpy((char *)out->data + (size_t)to * size,
		       (const char *)updates->data + (size_t)from * size, (size_t)n * size);
		return;
	}
	bool bits = out->elem == EL_BOOLEAN;
	for (int64_t i = 0; i < n; i++) {
		if (elem_is_real(out->elem))
			tensor_set_real(out, to + i,
					combine_real(r, tensor_real(out, to + i),
						     tensor_real(updates, from + i)));
		else
			tensor_set_int(out, to + i,
				       combine_int(bits && r == SCATTER_SUM ? SCATTER_MAX : r,
						   tensor_int(out, to + i),
						   tensor_int(updates, from + i)));
	}
}

static double neutral(enum op_scatter r)
{
	return r == SCATTER_PROD  ? 1
	       : r == SCATTER_MIN ? __builtin_inf()
	       : r == SCATTER_MAX ? -__builtin_inf()
				  : 0;
}

/* ScatterElementsUpdate: mean counts what meets in each element, in doubles beside the output. */
static int scatter_elements(const struct kernel_call *k, struct err *e)
{
	const struct tensor *out = &k->out[0], *index = &k->in[1], *updates = &k->in[2];
	enum op_scatter red = k->op->a.scatter.reduction;
	bool use_init = k->op->a.scatter.use_init || red == SCATTER_NONE;
	int axis = op_axis(tensor_int(&k->in[3], 0), out->rank);
	int64_t n = tensor_elements(out), m = tensor_elements(index);
	if (axis < 0 || index->rank != out->rank || !tensor_same_shape(index, updates))
		return err_set(e, ST_INPUT, "indices, updates and axis do not fit");
	double *count = NULL;
	if (red == SCATTER_MEAN &&
	    !(count = cpu_slot_scratch(k->ctx, SLOT_EXTRA, (size_t)n * sizeof *count)))
		return cpu_no_memory(e);
	for (int64_t i = 0; i < n && count; i++)
		count[i] = use_init;
	for (int64_t i = 0; i < m && !use_init; i++) {
		int64_t to = replaced(out, index, axis, i);
		if (to >= 0 && elem_is_real(out->elem))
			tensor_set_real(out, to, neutral(red));
		else if (to >= 0)
			tensor_set_int(out, to,
				       red == SCATTER_PROD  ? 1
				       : red == SCATTER_MIN ? INT32_MAX
				       : red == SCATTER_MAX ? INT32_MIN
							    : 0);
	}
	for (int64_t i = 0; i < m; i++) {
		int64_t to = replaced(out, index, axis, i);
		if (to < 0)
			continue;
		combine_elements(red, out, to, updates, i, 1);
		if (count)
			count[to]++;
	}
	for (int64_t i = 0; i < n && count; i++) {
		if (count[i] > 1 && elem_is_real(out->elem))
			tensor_set_real(out, i, tensor_real(out, i) / count[i]);
		else if (count[i] > 1)
			tensor_set_int(out, i, tensor_int(out, i) / (int64_t)count[i]);
	}
	return 0;
}

static int scatter_nd(const struct kernel_call *k, struct err *e)
{
	const struct tensor *out = &k->out[0], *index = &k->in[1], *updates = &k->in[2];
	if (index->rank < 1)
		return err_set(e, ST_INPUT, "indices are a scalar");
	int64_t length = index->dim[index->rank - 1];
	if (length > out->rank)
		return err_set(e, ST_INPUT, "index tuples are longer than the data's rank");
	int64_t tuples = product(index->dim, 0, index->rank - 1),
		inner = product(out->dim, length, out->rank);
	if (tensor_elements(updates) != tuples * inner)
		return err_set(e, ST_INPUT, "updates do not fit the indices");
	for (int64_t t = 0; t < tuples; t++) {
		int64_t to = tuple_offset(out, 0, index, length, t);
		if (to >= 0)
			combine_elements(k->op->a.scatter.reduction, out, to * inner, updates,
					 t * inner, inner);
	}
	return 0;
}

/* ScatterUpdate: updates (outer, index.., inner) go to slices of the axis. */
static int scatter_slices(const struct kernel_call *k, struct err *e)
{
	const struct tensor *out = &k->out[0], *index = &k->in[1], *updates = &k->in[2];
	int axis = op_axis(tensor_int(&k->in[3], 0), out->rank);
	if (axis < 0)
		return err_set(e, ST_INPUT, "the axis is not there");
	int64_t outer = product(out->dim, 0, axis), inner = product(out->dim, axis + 1, out->rank);
	int64_t m = tensor_elements(index);
	if (tensor_elements(updates) != outer * m * inner)
		return err_set(e, ST_INPUT, "updates do not fit the indices");
	for (int64_t o = 0; o < outer; o++)
		for (int64_t i = 0; i < m; i++) {
			int64_t to = fix_index(tensor_int(index, i), out->dim[axis]);
			if (to >= 0)
				combine_elements(SCATTER_NONE, out,
						 (o * out->dim[axis] + to) * inner, updates,
						 (o * m + i) * inner, inner);
		}
	return 0;
}

int run_scatter(const struct kernel_call *k, struct err *e)
{
	if (!cpu_elem_size(k->out[0].elem))
		return no_size(k->out[0].elem, e);
	if (k->in[2].elem != k->out[0].elem)
		return err_set(e, ST_INPUT, "updates of type %s", elem_name(k->in[2].elem));
	if (run_copy(k, e))
		return -1;
	switch (k->op->kind) {
	case OP_SCATTER_UPDATE: return scatter_slices(k, e);
	case OP_SCATTER_ND_UPDATE: return scatter_nd(k, e);
	default: return scatter_elements(k, e);
	}
}

int run_one_hot(const struct kernel_call *k, struct err *e)
{
	const struct tensor *index = &k->in[0], *out = &k->out[0];
	int axis = op_axis(k->op->a.onehot.axis, out->rank);
	size_t size = cpu_elem_size(out->elem);
	if (axis < 0 || !size)
		return err_set(e, ST_INPUT, "axis or type of OneHot do not fit");
	int64_t depth = out->dim[axis], inner = product(out->dim, axis + 1, out->rank),
		n = tensor_elements(index);
	char *y = out->data;
	for (int64_t i = 0; i < tensor_elements(out); i++)
		memcpy(y + (size_t)i * size, k->in[3].data, size);
	for (int64_t i = 0; i < n; i++) {
		int64_t at = tensor_int(index, i);
		if (at >= 0 || k->op->a.onehot.wrap)
			at = fix_index(at, depth);
		if (at >= 0)
			memcpy(y + (size_t)((i / inner * depth + at) * inner + i % inner) * size,
			       k->in[2].data, size);
	}
	return 0;
}

bool gather_takes(const struct op *op, int i, const struct tensor *t)
{
	if (i != 0)
		return false;
	if (t->quant)
		return op->g->out_elem[op->g->out_ptr[op->v]] == EL_F32;
	return t->elem == EL_F16 || t->elem == EL_BF16;
}
