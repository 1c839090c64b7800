/* scatter.c - operators that place elements by index: ScatterUpdate, ScatterNDUpdate and
 * ScatterElementsUpdate.  Negative indices count from the end; one outside writes nothing. */
#include "kernel/ops/index.h"
#include "op/slice.h"

#include <string.h>

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
	case SCATTER_NONE: return b;
	}
	MISSED(r);
	return 0;
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
	case SCATTER_NONE: return b;
	}
	MISSED(r);
	return 0;
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

static void set_neutral(enum op_scatter r, const struct tensor *out, int64_t to)
{
	if (elem_is_real(out->elem))
		tensor_set_real(out, to, neutral(r));
	else
		tensor_set_int(out, to,
			       r == SCATTER_PROD  ? 1
			       : r == SCATTER_MIN ? INT32_MAX
			       : r == SCATTER_MAX ? INT32_MIN
						  : 0);
}

/* out[place[i]] = combine(out, updates[from + i]) for i < n, where the place is there. */
static void combine_scattered(enum op_scatter r, const struct tensor *out, const int64_t *place,
			      const struct tensor *updates, int64_t from, int64_t n)
{
	float *y = out->data;
	const float *u = (const float *)updates->data + from;
	if (out->elem == EL_F32 && r == SCATTER_NONE) {
		for (int64_t i = 0; i < n; i++)
			if (place[i] >= 0)
				y[place[i]] = u[i];
	} else if (out->elem == EL_F32 && r == SCATTER_SUM) {
		for (int64_t i = 0; i < n; i++)
			if (place[i] >= 0)
				y[place[i]] += u[i];
	} else {
		for (int64_t i = 0; i < n; i++)
			if (place[i] >= 0)
				combine_elements(r, out, place[i], updates, from + i, 1);
	}
}

/* ScatterElementsUpdate: mean counts what meets in each element, in doubles beside the output. */
static int scatter_elements(const struct kernel_call *k, struct err *e)
{
	const struct tensor *out = &k->out[0], *index = &k->in[1], *updates = &k->in[2];
	enum op_scatter red = k->op->a.scatter.reduction;
	bool use_init = k->op->a.scatter.use_init || red == SCATTER_NONE;
	int axis = op_axis(tensor_int(&k->in[3], 0), out->rank);
	int64_t n = tensor_elements(out), m = tensor_elements(index);
	if (axis < 0 || !tensor_same_shape(index, updates) || !index_fits(out, index, axis))
		return err_set(e, ST_INPUT, "indices, updates and axis do not fit");
	double *count = NULL;
	if (red == SCATTER_MEAN &&
	    !(count = cpu_slot_scratch(k->ctx, SLOT_EXTRA, (size_t)n * sizeof *count)))
		return cpu_no_memory(e);
	for (int64_t i = 0; i < n && count; i++)
		count[i] = use_init;
	int64_t place[WALK];
	for (int64_t at = 0; at < m && !use_init; at += WALK) {
		int64_t some = m - at < WALK ? m - at : WALK;
		index_places(out, index, axis, at, at + some, place);
		for (int64_t i = 0; i < some; i++)
			if (place[i] >= 0)
				set_neutral(red, out, place[i]);
	}
	for (int64_t at = 0; at < m; at += WALK) {
		int64_t some = m - at < WALK ? m - at : WALK;
		index_places(out, index, axis, at, at + some, place);
		combine_scattered(red, out, place, updates, at, some);
		for (int64_t i = 0; i < some && count; i++)
			if (place[i] >= 0)
				count[place[i]]++;
	}
	for (int64_t i = 0; i < n && count; i++) {
		if (count[i] > 1 && elem_is_real(out->elem))
			tensor_set_real(out, i, tensor_real(out, i) / count[i]);
		else if (count[i] > 1)
			tensor_set_int(out, i, tensor_int(out, i) / (int64_t)count[i]);
	}
	return 0;
}

/* The slice that tuple t of indices selects; -1: outside. */
static inline int64_t slice_of_tuple(const struct tensor *out, const struct tensor *index,
				     int64_t length, int64_t t)
{
	if (length == 1 && index->elem == EL_I64)
		return index_fix(((const int64_t *)index->data)[t], out->dim[0]);
	return index_tuple(out, 0, index, length, t);
}

/* Slices that follow one another are combined at once, as where a range was assigned to. */
static int scatter_nd(const struct kernel_call *k, struct err *e)
{
	const struct tensor *out = &k->out[0], *index = &k->in[1], *updates = &k->in[2];
	if (index->rank < 1)
		return err_set(e, ST_INPUT, "indices are a scalar");
	int64_t length = index->dim[index->rank - 1];
	if (length > out->rank)
		return err_set(e, ST_INPUT, "index tuples are longer than the data's rank");
	int64_t tuples = index_product(index->dim, 0, index->rank - 1),
		inner = index_product(out->dim, length, out->rank);
	if (tensor_elements(updates) != tuples * inner)
		return err_set(e, ST_INPUT, "updates do not fit the indices");
	int64_t to = tuples > 0 ? slice_of_tuple(out, index, length, 0) : -1, next = -1;
	for (int64_t t = 0, n; t < tuples; t += n, to = next) {
		for (n = 1; t + n < tuples; n++) {
			next = slice_of_tuple(out, index, length, t + n);
			if (to < 0 || next != to + n)
				break;
		}
		if (to >= 0)
			combine_elements(k->op->a.scatter.reduction, out, to * inner, updates,
					 t * inner, n * inner);
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
	int64_t outer = index_product(out->dim, 0, axis),
		inner = index_product(out->dim, axis + 1, out->rank);
	int64_t m = tensor_elements(index);
	if (tensor_elements(updates) != outer * m * inner)
		return err_set(e, ST_INPUT, "updates do not fit the indices");
	for (int64_t o = 0; o < outer; o++)
		for (int64_t i = 0; i < m; i++) {
			int64_t to = index_fix(tensor_int(index, i), out->dim[axis]);
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
		return err_set(e, ST_INPUT, "elements of type %s cannot be moved one by one",
			       elem_name(k->out[0].elem));
	if (k->in[2].elem != k->out[0].elem)
		return err_set(e, ST_INPUT, "updates of type %s", elem_name(k->in[2].elem));
	if (run_copy(k, e))
		return -1;
	switch (k->op->kind) {
	case OP_SCATTER_UPDATE: return scatter_slices(k, e);
	case OP_SCATTER_ND_UPDATE: return scatter_nd(k, e);
	case OP_SCATTER_ELEMENTS_UPDATE: return scatter_elements(k, e);
	default: return err_set(e, ST_INPUT, "no scatter: %s", op_info(k->op->kind)->type);
	}
}
