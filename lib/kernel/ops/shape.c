/* shape.c - Range, ShapeOf, Eye, NonZero; CumSum along an axis. */
#include "kernel/kernel_impl.h"
#include "kernel/ops/lines.h"
#include "op/slice.h"

#include <stdatomic.h>
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

/* flag[i] = is element lo + i not zero?  Their number. */
#define FLAGS(T) \
	do { \
		const T *from = (const T *)x->data + lo; \
		for (int64_t i = 0; i < n; i++) \
			flag[i] = from[i] != 0; \
	} while (0)
static int64_t flag_set(const struct tensor *x, int64_t lo, int64_t n, uint8_t *flag)
{
	int64_t count = 0;
	switch (x->elem) {
	case EL_F32: FLAGS(float); break;
	case EL_BOOLEAN: FLAGS(uint8_t); break;
	case EL_I32: FLAGS(int32_t); break;
	case EL_I64: FLAGS(int64_t); break;
	default: /* any other type */
		for (int64_t i = 0; i < n; i++)
			flag[i] = tensor_real(x, lo + i) != 0;
	}
	for (int64_t i = 0; i < n; i++)
		count += flag[i];
	return count;
}

enum { FLAGGED = 1024 }; /* elements whose flags are found at once */

static int64_t count_set(const struct tensor *x, int64_t lo, int64_t hi)
{
	uint8_t flag[FLAGGED];
	int64_t count = 0;
	for (; lo < hi; lo += FLAGGED)
		count += flag_set(x, lo, hi - lo < FLAGGED ? hi - lo : FLAGGED, flag);
	return count;
}

/* Coordinates of what is not zero, one column each: (rank, n) from column `at` on, for element
 * `first` and those behind it in its row that have flags.  The next column. */
#define COLUMNS_OF(T) \
	do { \
		T *y = out->data; \
		for (int64_t i = 0; i < count && at < n; i++) { \
			if (!flag[i]) \
				continue; \
			for (uint32_t d = 0; d + 1 < x->rank; d++) \
				y[d * n + at] = (T)place[d]; \
			y[(x->rank - 1) * n + at++] = (T)(place[x->rank - 1] + i); \
		} \
	} while (0)
static int64_t put_columns(const struct tensor *x, const struct tensor *out, const uint8_t *flag,
			   int64_t count, const int64_t *place, int64_t at)
{
	int64_t n = out->dim[1];
	if (out->elem == EL_I32)
		COLUMNS_OF(int32_t);
	else
		COLUMNS_OF(int64_t);
	return at;
}

enum { PARTS = 64, PART_ELEMENTS = 1 << 14 };

/* Parts of the elements: how many of each are not zero, then their columns behind those of the parts before. */
struct non_zero_run {
	const struct tensor *x;
	struct tensor out;
	int n_tasks;
	int64_t count[PARTS];
};

static void count_task(void *arg, int task, int thread)
{
	struct non_zero_run *r = arg;
	int64_t lo, hi;
	(void)thread;
	cpu_range(tensor_elements(r->x), r->n_tasks, task, &lo, &hi);
	r->count[task] = count_set(r->x, lo, hi);
}

static void columns_task(void *arg, int task, int thread)
{
	const struct non_zero_run *r = arg;
	const struct tensor *x = r->x;
	int64_t lo, hi, at = 0, count, place[TENSOR_DIMS] = {0}, last = x->dim[x->rank - 1];
	uint8_t flag[FLAGGED];
	(void)thread;
	cpu_range(tensor_elements(x), r->n_tasks, task, &lo, &hi);
	for (int i = 0; i < task; i++)
		at += r->count[i];
	for (int64_t i = lo; i < hi; i += count) {
		int64_t left = last - i % last, rest = i;
		count = left < FLAGGED ? left : FLAGGED;
		count = count < hi - i ? count : hi - i;
		if (!flag_set(x, i, count, flag))
			continue;
		for (uint32_t d = x->rank; d-- > 0; rest /= x->dim[d])
			place[d] = rest % x->dim[d];
		at = put_columns(x, &r->out, flag, count, place, at);
	}
}

/* Columns left over are zero. */
int run_non_zero(const struct kernel_call *k, struct err *e)
{
	struct non_zero_run r = {.x = &k->in[0], .out = k->out[0]};
	int64_t total = tensor_elements(r.x), at = 0;
	(void)e;
	r.n_tasks = cpu_tasks(total, PART_ELEMENTS);
	r.n_tasks = r.n_tasks < PARTS ? r.n_tasks : PARTS;
	cpu_parallel(k->ctx, r.n_tasks, count_task, &r);
	for (int i = 0; i < r.n_tasks; i++)
		at += r.count[i];
	if (k->actual)
		r.out.dim[1] = k->actual[0].dim[1] = at;
	if (r.x->rank && total)
		cpu_parallel(k->ctx, r.n_tasks, columns_task, &r);
	for (; at < r.out.dim[1]; at++)
		for (uint32_t d = 0; d < r.x->rank; d++)
			tensor_set_int(&r.out, d * r.out.dim[1] + at, 0);
	return 0;
}

struct cum_sum_run {
	const struct tensor *in, *out;
	bool exclusive, reverse;
	struct lines l;
	int n_tasks;
};

enum { COLUMNS = 64, TOGETHER = 4 };

/* The sums of `width` lines, `across` elements from each other; S: the type of a sum. */
#define SUMS(T, S) \
	do { \
		const T *x = (const T *)r->in->data + at; \
		T *y = (T *)r->out->data + at; \
		S sum[COLUMNS] = {0}; \
		for (int64_t j = 0; j < r->l.length; j++, x += step, y += step) \
			for (int64_t i = 0; i < width; i++) { \
				S next = sum[i] + (S)x[i * across]; \
				y[i * across] = (T)(r->exclusive ? sum[i] : next); \
				sum[i] = next; \
			} \
		return; \
	} while (0)

static void sum_lines(const struct cum_sum_run *r, int64_t at, int64_t width, int64_t across)
{
	int64_t step = r->l.step;
	if (r->reverse) {
		at += (r->l.length - 1) * step;
		step = -step;
	}
	switch (r->in->elem) {
	case EL_F32: SUMS(float, double);
	case EL_F64: SUMS(double, double);
	case EL_I32: SUMS(int32_t, uint64_t);
	/* clang-format off */
	case EL_I64: case EL_U64: SUMS(int64_t, uint64_t);
	/* clang-format on */
	default: MISSED(r->in->elem);
	}
}

static void cum_sum_task(void *arg, int task, int thread)
{
	const struct cum_sum_run *r = arg;
	int64_t lo, hi, width;
	(void)thread;
	cpu_range(r->l.n, r->n_tasks, task, &lo, &hi);
	for (int64_t i = lo; i < hi; i += width) {
		width = r->l.step - i % r->l.step; /* to the end of what lies side by side */
		width = width > COLUMNS ? COLUMNS : width;
		/* An addition of real numbers waits for the one before: of lines one behind the other several are summed
		 * together. */
		width = r->l.step != 1 ? width : elem_is_real(r->in->elem) ? TOGETHER : 1;
		width = width > hi - i ? hi - i : width;
		sum_lines(r, line_start(&r->l, i), width, r->l.step == 1 ? r->l.length : 1);
	}
}

int run_cum_sum(const struct kernel_call *k, struct err *e)
{
	struct cum_sum_run r = {.in = &k->in[0],
				.out = &k->out[0],
				.exclusive = k->op->a.axis.exclusive,
				.reverse = k->op->a.axis.reverse};
	int axis = op_axis(k->op->n_in > 1 ? tensor_int(&k->in[1], 0) : 0, r.in->rank);
	if (axis < 0)
		return err_set(e, ST_INPUT, "the axis is not there");
	r.l = lines_of(r.in, axis);
	r.n_tasks = cpu_tasks(r.l.n * r.l.length, 8192);
	if (r.n_tasks > r.l.n)
		r.n_tasks = (int)r.l.n;
	cpu_parallel(k->ctx, r.n_tasks, cum_sum_task, &r);
	return 0;
}
