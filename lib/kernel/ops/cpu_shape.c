/* cpu_shape.c - Range, ShapeOf, Eye, NonZero; CumSum and TopK along an axis. */
#include "kernel/cpu_impl.h"
#include "op/slice.h"

#include <stdlib.h>
#include <string.h>

int run_range(const struct kernel_call *k, struct err *e)
{
	const struct tensor *out = &k->out[0];
	(void)e;
	bool real = elem_is_real(k->in[0].elem) || elem_is_real(k->in[2].elem);
	for (int64_t i = 0; i < tensor_elements(out); i++) {
		if (real)
			tensor_set_real(out, i,
					tensor_real(&k->in[0], 0) +
						(double)i * tensor_real(&k->in[2], 0));
		else
			tensor_set_int(out, i,
				       tensor_int(&k->in[0], 0) + i * tensor_int(&k->in[2], 0));
	}
	return 0;
}

int run_shape_of(const struct kernel_call *k, struct err *e)
{
	(void)e;
	for (uint32_t i = 0; i < k->in[0].rank; i++)
		tensor_set_int(&k->out[0], i, k->in[0].dim[i]);
	return 0;
}

int run_eye(const struct kernel_call *k, struct err *e)
{
	const struct tensor *out = &k->out[0];
	int64_t diagonal = tensor_int(&k->in[2], 0), rows = out->dim[out->rank - 2],
		cols = out->dim[out->rank - 1];
	(void)e;
	for (int64_t i = 0; i < tensor_elements(out); i++)
		tensor_set_int(out, i, i % cols - i / cols % rows == diagonal);
	return 0;
}

/* Coordinates of what is not zero, one column each: (rank, n); columns left over are zero. */
int run_non_zero(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0], *out = &k->out[0];
	int64_t n = out->dim[1], at = 0, total = tensor_elements(x);
	(void)e;
	if (k->actual) {
		n = 0;
		for (int64_t i = 0; i < total; i++)
			n += tensor_real(x, i) != 0;
		k->actual[0].dim[1] = n;
	}
	for (int64_t i = 0; i < total && at < n; i++) {
		int64_t rest = i;
		if (tensor_real(x, i) == 0)
			continue;
		for (uint32_t d = x->rank; d-- > 0; rest /= x->dim[d])
			tensor_set_int(out, d * n + at, rest % x->dim[d]);
		at++;
	}
	for (; at < n; at++)
		for (uint32_t d = 0; d < x->rank; d++)
			tensor_set_int(out, d * n + at, 0);
	return 0;
}

/* An axis as lines: element j of line i lies at line_start(i) + j * step. */
struct lines {
	int64_t n, length, step;
};

static struct lines lines_of(const struct tensor *t, int axis)
{
	struct lines l = {1, t->dim[axis], 1};
	for (uint32_t d = 0; d < t->rank; d++) {
		l.n *= (int)d == axis ? 1 : t->dim[d];
		l.step *= (int)d > axis ? t->dim[d] : 1;
	}
	return l;
}

static int64_t line_start(const struct lines *l, int64_t i)
{
	return i / l->step * l->step * l->length + i % l->step;
}

int run_cum_sum(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0], *out = &k->out[0];
	int axis = op_axis(k->op->n_in > 1 ? tensor_int(&k->in[1], 0) : 0, x->rank);
	bool exclusive = k->op->a.axis.exclusive, reverse = k->op->a.axis.reverse;
	if (axis < 0)
		return err_set(e, ST_INPUT, "the axis is not there");
	struct lines l = lines_of(x, axis);
	for (int64_t i = 0; i < l.n; i++) {
		int64_t at = line_start(&l, i), sum = 0, step = l.step;
		double real = 0;
		if (reverse) {
			at += (l.length - 1) * step;
			step = -step;
		}
		for (int64_t j = 0; j < l.length; j++, at += step) {
			double v = tensor_real(x, at);
			int64_t u = elem_is_real(x->elem) ? 0 : tensor_int(x, at);
			if (elem_is_real(x->elem))
				tensor_set_real(out, at, exclusive ? real : real + v);
			else
				tensor_set_int(out, at,
					       exclusive ? sum
							 : (int64_t)((uint64_t)sum + (uint64_t)u));
			real += v;
			sum = (int64_t)((uint64_t)sum + (uint64_t)u);
		}
	}
	return 0;
}

/* ---- TopK ---- */

struct ranked {
	double real;
	int64_t integer, index;
};

static int by_value(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->real != y->real)
		return x->real < y->real ? -1 : 1;
	if (x->integer != y->integer)
		return x->integer < y->integer ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int by_value_down(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->real != y->real)
		return x->real > y->real ? -1 : 1;
	if (x->integer != y->integer)
		return x->integer > y->integer ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int by_index(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	return x->index < y->index ? -1 : x->index > y->index;
}

int run_top_k(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0], *values = &k->out[0], *indices = &k->out[1];
	int axis = op_axis(k->op->a.topk.axis, x->rank);
	size_t size = cpu_elem_size(x->elem);
	if (axis < 0 || !size)
		return err_set(e, ST_INPUT, "axis or type of TopK do not fit");
	struct lines from = lines_of(x, axis), to = lines_of(values, axis);
	struct ranked *line =
		cpu_slot_scratch(k->ctx, SLOT_EXTRA, (size_t)from.length * sizeof *line);
	if (!line)
		return cpu_no_memory(e);
	for (int64_t i = 0; i < from.n; i++) {
		int64_t start = line_start(&from, i), dst = line_start(&to, i);
		for (int64_t j = 0; j < from.length; j++) {
			int64_t at = start + j * from.step;
			line[j] = (struct ranked){tensor_real(x, at),
						  elem_is_real(x->elem) ? 0 : tensor_int(x, at), j};
		}
		qsort(line, (size_t)from.length, sizeof *line,
		      k->op->a.topk.max ? by_value_down : by_value);
		if (k->op->a.topk.by_index)
			qsort(line, (size_t)to.length, sizeof *line, by_index);
		for (int64_t j = 0; j < to.length; j++, dst += to.step) {
			int64_t at = start + line[j].index * from.step;
			if (values->data)
				memcpy((char *)values->data + (size_t)dst * size,
				       (const char *)x->data + (size_t)at * size, size);
			if (indices->data)
				tensor_set_int(indices, dst, line[j].index);
		}
	}
	return 0;
}
