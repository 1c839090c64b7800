/* gather.c - operators that take elements by index, and OneHot.  Negative indices count from
 * the end; an index outside reads zeros. */
#include "kernel/ops/index.h"
#include "op/quant.h"
#include "op/slice.h"

#include <string.h>

enum { GRAIN = 1 << 15 }; /* bytes */

static int no_size(enum elem t, struct err *e)
{
	return err_set(e, ST_INPUT, "elements of type %s cannot be moved one by one", elem_name(t));
}

/* y[i] = x[from[i]] of elements of some bytes; from -1: 0. */
#define TAKE(T) \
	do { \
		const T *x_ = x; \
		T *y_ = y; \
		for (int64_t i = 0; i < n; i++) \
			y_[i] = from[i] < 0 ? 0 : x_[from[i]]; \
	} while (0)

static void take(size_t bytes, const void *x, const int64_t *from, int64_t n, void *y)
{
	switch (bytes) {
	case 1: TAKE(uint8_t); break;
	case 2: TAKE(uint16_t); break;
	case 4: TAKE(uint32_t); break;
	case 8: TAKE(uint64_t); break;
	default: MISSED(bytes);
	}
}

/* ---- Gather ---- */

struct gather_run {
	const struct tensor *data, *index, *out;
	int64_t batch, outer, size, n_index,
		inner;  /* inner: elements of a slice; size: of the axis */
	int64_t pieces; /* of a slice, where slices are few and long */
	int n_tasks;
};

enum {
	FEW_INDICES = 1024,
	LEAST_RUN = 8 /* elements one behind the other, on average: worth a call */
};

/* Places that indices stand for, and how many from each of them on follow one behind the other. */
struct few_indices {
	int64_t from[FEW_INDICES];
	int run[FEW_INDICES], n_runs;
};

static void find_runs(const struct gather_run *r, struct few_indices *f)
{
	f->n_runs = 0;
	for (int64_t i = 0; i < r->n_index; i++)
		f->from[i] = index_fix(tensor_int(r->index, i), r->size);
	for (int64_t i = r->n_index - 1; i >= 0; i--) {
		bool goes_on =
			i + 1 < r->n_index && f->from[i] >= 0 && f->from[i + 1] == f->from[i] + 1;
		f->run[i] = goes_on ? f->run[i + 1] + 1 : 1;
		f->n_runs += !goes_on;
	}
}

/* Pieces of one block, those of indices i .. i + n - 1. */
static void copy_runs(const struct few_indices *f, const char *block, int64_t i, int64_t n,
		      size_t bytes, char *dst)
{
	for (int64_t len, end = i + n; i < end; i += len, dst += (size_t)len * bytes) {
		len = f->run[i] < end - i ? f->run[i] : end - i;
		if (f->from[i] < 0)
			memset(dst, 0, bytes);
		else
			memcpy(dst, block + (size_t)f->from[i] * bytes, (size_t)len * bytes);
	}
}

/* The same with a row a piece, elements that stay as they are, and few indices for all: these are read once. */
static void few_task(void *arg, int task, int thread)
{
	const struct gather_run *r = arg;
	size_t bytes = (size_t)r->inner * cpu_elem_size(r->data->elem);
	int64_t lo, hi;
	struct few_indices f;
	(void)thread;
	cpu_range(r->outer * r->n_index, r->n_tasks, task, &lo, &hi);
	find_runs(r, &f);
	const char *block =
		(const char *)r->data->data + (size_t)(lo / r->n_index * r->size) * bytes;
	char *dst = (char *)r->out->data + (size_t)lo * bytes;
	if (f.n_runs == 1 && r->n_index == r->size && f.from[0] == 0) {
		memcpy(dst, (const char *)r->data->data + (size_t)lo * bytes,
		       (size_t)(hi - lo) * bytes);
		return;
	}
	bool singles = r->inner == 1 && f.n_runs * LEAST_RUN > r->n_index;
	for (int64_t n; lo < hi; lo += n) {
		int64_t i = lo % r->n_index;
		n = r->n_index - i < hi - lo ? r->n_index - i : hi - lo;
		if (singles)
			take(bytes, block, f.from + i, n, dst);
		else
			copy_runs(&f, block, i, n, bytes, dst);
		dst += (size_t)n * bytes;
		block += (size_t)r->size * bytes;
	}
}

/* The same with elements for rows, and many indices: some at a time. */
static void single_task(void *arg, int task, int thread)
{
	const struct gather_run *r = arg;
	size_t size = cpu_elem_size(r->data->elem);
	const struct tensor line = {.elem = r->data->elem, .rank = 1, .dim = {r->size}};
	struct tensor index = *r->index;
	int64_t lo, hi, from[WALK];
	(void)thread;
	index.rank = 1;
	index.dim[0] = r->n_index;
	cpu_range(r->outer * r->n_index, r->n_tasks, task, &lo, &hi);
	for (int64_t n; lo < hi; lo += n) {
		int64_t i = lo % r->n_index, block = lo / r->n_index;
		n = hi - lo < WALK ? hi - lo : WALK;
		n = r->n_index - i < n ? r->n_index - i : n;
		index_places(&line, &index, 0, i, i + n, from);
		take(size, (const char *)r->data->data + (size_t)(block * r->size) * size, from, n,
		     (char *)r->out->data + (size_t)lo * size);
	}
}

/* Rows: (batch, outer, index), each in pieces. */
static void gather_task(void *arg, int task, int thread)
{
	const struct gather_run *r = arg;
	size_t in_size = cpu_elem_size(r->data->elem), out_size = cpu_elem_size(r->out->elem);
	int64_t lo, hi;
	(void)thread;
	cpu_range(r->batch * r->outer * r->n_index * r->pieces, r->n_tasks, task, &lo, &hi);
	for (; lo < hi; lo++) {
		int64_t row = lo / r->pieces, first, end;
		int64_t i = row % r->n_index, block = row / r->n_index, b = block / r->outer;
		int64_t from = index_fix(tensor_int(r->index, b * r->n_index + i), r->size);
		cpu_range(r->inner, (int)r->pieces, (int)(lo % r->pieces), &first, &end);
		int64_t at = (block * r->size + from) * r->inner + first, n = end - first;
		char *dst = (char *)r->out->data + (size_t)(row * r->inner + first) * out_size;
		if (from < 0)
			memset(dst, 0, (size_t)n * out_size);
		else if (r->data->quant)
			quant_read(r->data, at, n, (float *)(void *)dst);
		else
			cpu_convert(r->out->elem, dst, r->data->elem,
				    (const char *)r->data->data + (size_t)at * in_size, n);
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
	r.batch = index_product(r.data->dim, 0, batch);
	r.outer = index_product(r.data->dim, batch, axis);
	r.size = r.data->dim[axis];
	r.n_index = index_product(r.index->dim, batch, r.index->rank);
	r.inner = index_product(r.data->dim, axis + 1, r.data->rank);
	r.n_tasks = cpu_tasks(tensor_bytes(r.out), GRAIN);
	int64_t rows = r.batch * r.outer * r.n_index;
	r.pieces = 1;
	if (rows > 0 && r.n_tasks > rows && !r.data->quant)
		r.pieces = (r.n_tasks + rows - 1) / rows;
	if (r.n_tasks > rows * r.pieces)
		r.n_tasks = (int)(rows * r.pieces);
	bool plain = r.batch == 1 && r.pieces == 1 && !r.data->quant && r.data->elem == r.out->elem;
	if (plain && r.n_index <= FEW_INDICES && r.outer > 1)
		cpu_parallel(k->ctx, r.n_tasks, few_task, &r);
	else if (plain && r.inner == 1)
		cpu_parallel(k->ctx, r.n_tasks, single_task, &r);
	else
		cpu_parallel(k->ctx, r.n_tasks, gather_task, &r);
	return 0;
}

struct elements_run {
	const struct tensor *x, *index, *out;
	int axis;
	int n_tasks;
};

static void gather_elements_task(void *arg, int task, int thread)
{
	const struct elements_run *r = arg;
	int64_t lo, hi, from[WALK];
	(void)thread;
	cpu_range(tensor_elements(r->index), r->n_tasks, task, &lo, &hi);
	for (int64_t at = lo; at < hi; at += WALK) {
		int64_t n = hi - at < WALK ? hi - at : WALK;
		index_places(r->x, r->index, r->axis, at, at + n, from);
		size_t size = cpu_elem_size(r->x->elem);
		take(size, r->x->data, from, n, (char *)r->out->data + (size_t)at * size);
	}
}

int run_gather_elements(const struct kernel_call *k, struct err *e)
{
	struct elements_run r = {.x = &k->in[0], .index = &k->in[1], .out = &k->out[0]};
	const struct tensor *x = r.x, *index = r.index;
	r.axis = op_axis(k->op->a.axis.axis, x->rank);
	if (!cpu_elem_size(x->elem))
		return no_size(x->elem, e);
	if (!index_fits(x, index, r.axis))
		return err_set(e, ST_INPUT, "indices are larger than the data");
	r.n_tasks = cpu_tasks(tensor_elements(index), 16384);
	cpu_parallel(k->ctx, r.n_tasks, gather_elements_task, &r);
	return 0;
}

struct gather_nd {
	const struct tensor *x, *index;
	char *to;
	int64_t batch_dims, length; /* of x that indices do not select from; of an index tuple */
	int64_t tuples, slices;     /* in a batch: of indices, of x */
	size_t bytes;               /* of a slice */
	int n_tasks;
};

/* Slices of one size, which the compiler knows. */
static inline __attribute__((always_inline)) void copy_slices(const struct gather_nd *r,
							      size_t bytes, int64_t lo, int64_t hi)
{
	const char *x = r->x->data;
	for (int64_t t = lo; t < hi; t++) {
		int64_t from = r->length == 1 && r->index->elem == EL_I64
				       ? index_fix(((const int64_t *)r->index->data)[t],
						   r->x->dim[r->batch_dims])
				       : index_tuple(r->x, r->batch_dims, r->index, r->length, t);
		char *dst = r->to + (size_t)t * bytes;
		if (from < 0)
			memset(dst, 0, bytes);
		else
			memcpy(dst, x + (size_t)(t / r->tuples * r->slices + from) * bytes, bytes);
	}
}

static void gather_nd_task(void *arg, int task, int thread)
{
	const struct gather_nd *r = arg;
	int64_t lo, hi;
	(void)thread;
	cpu_range(index_product(r->index->dim, 0, r->index->rank - 1), r->n_tasks, task, &lo, &hi);
	switch (r->bytes) {
	case 4: copy_slices(r, 4, lo, hi); break;
	case 8: copy_slices(r, 8, lo, hi); break;
	case 16: copy_slices(r, 16, lo, hi); break;
	default: /* any other size */ copy_slices(r, r->bytes, lo, hi); break;
	}
}

int run_gather_nd(const struct kernel_call *k, struct err *e)
{
	enum { TUPLE = 16 }; /* reading an index takes as long as so many bytes */
	const struct tensor *x = &k->in[0], *index = &k->in[1];
	struct gather_nd r = {.x = x,
			      .index = index,
			      .to = k->out[0].data,
			      .batch_dims = k->op->a.axis.batch_dims,
			      .length = index->dim[index->rank - 1]};
	size_t size = cpu_elem_size(x->elem);
	if (!size)
		return no_size(x->elem, e);
	r.tuples = index_product(index->dim, r.batch_dims, index->rank - 1);
	r.slices = index_product(x->dim, r.batch_dims, r.batch_dims + r.length);
	r.bytes = (size_t)index_product(x->dim, r.batch_dims + r.length, x->rank) * size;
	int64_t n = index_product(index->dim, 0, index->rank - 1);
	r.n_tasks = cpu_tasks(n * ((int64_t)r.bytes + TUPLE), GRAIN);
	r.n_tasks = r.n_tasks > n ? (int)n : r.n_tasks;
	cpu_parallel(k->ctx, r.n_tasks, gather_nd_task, &r);
	return 0;
}

/* Every element of y is *value: as bytes where they are all alike. */
static void fill_with(struct cpu_ctx *c, char *y, int64_t n, const char *value, size_t size)
{
	size_t i = 1;
	while (i < size && value[i] == value[0])
		i++;
	if (i == size) {
		memset(y, value[0], (size_t)n * size);
		return;
	}
	int64_t stride = 0;
	cpu_copy_strided(c, size, 1, &n, &stride, value, y);
}

int run_one_hot(const struct kernel_call *k, struct err *e)
{
	const struct tensor *index = &k->in[0], *out = &k->out[0];
	int axis = op_axis(k->op->a.onehot.axis, out->rank);
	size_t size = cpu_elem_size(out->elem);
	if (axis < 0 || !size)
		return err_set(e, ST_INPUT, "axis or type of OneHot do not fit");
	int64_t depth = out->dim[axis], inner = index_product(out->dim, axis + 1, out->rank),
		n = tensor_elements(index);
	char *y = out->data;
	fill_with(k->ctx, y, tensor_elements(out), k->in[3].data, size);
	for (int64_t i = 0; i < n; i++) {
		int64_t at = tensor_int(index, i);
		if (at >= 0 || k->op->a.onehot.wrap)
			at = index_fix(at, depth);
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
