/* search.c - Bucketize, SearchSorted, Unique.  Sources: specifications, opset3, 10, 15. */
#include "kernel/kernel_impl.h"
#include "kernel/ops/radix.h"

#include <stdlib.h>
#include <string.h>

/* a < b, in the type that holds both. */
static int compare(const struct tensor *a, int64_t i, const struct tensor *b, int64_t j)
{
	if (elem_is_real(a->elem) || elem_is_real(b->elem)) {
		double x = tensor_real(a, i), y = tensor_real(b, j);
		return x < y ? -1 : x > y;
	}
	int64_t x = tensor_int(a, i), y = tensor_int(b, j);
	if (a->elem == EL_U64 && b->elem == EL_U64)
		return (uint64_t)x < (uint64_t)y ? -1 : (uint64_t)x > (uint64_t)y;
	return x < y ? -1 : x > y;
}

/* How many of the n sorted values from `first` on are less than value i (or equal, or_equal). */
static int64_t count_below(const struct tensor *sorted, int64_t first, int64_t n,
			   const struct tensor *values, int64_t i, bool or_equal)
{
	int64_t lo = 0, hi = n;
	while (lo < hi) {
		int64_t mid = lo + (hi - lo) / 2;
		int c = compare(sorted, first + mid, values, i);
		if (c < 0 || (or_equal && c == 0))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct search_run {
	const struct tensor *values, *sorted, *out;
	bool or_equal;
	int n_tasks;
};

/* The same of f32 among f32. */
static int64_t count_floats(const float *sorted, int64_t n, float v, bool or_equal)
{
	int64_t lo = 0;
	while (n > 0) {
		int64_t half = n / 2;
		bool below = or_equal ? sorted[lo + half] <= v : sorted[lo + half] < v;
		lo += below ? half + 1 : 0;
		n = below ? n - half - 1 : half;
	}
	return lo;
}

static void search_task(void *arg, int task, int thread)
{
	const struct search_run *r = arg;
	const struct tensor *values = r->values, *sorted = r->sorted;
	int64_t n = sorted->dim[sorted->rank - 1], lo, hi;
	int64_t each = values->rank ? values->dim[values->rank - 1] : 1;
	bool floats = values->elem == EL_F32 && sorted->elem == EL_F32;
	(void)thread;
	cpu_range(tensor_elements(values), r->n_tasks, task, &lo, &hi);
	for (int64_t i = lo; i < hi; i++) {
		int64_t first = sorted->rank > 1 ? i / each * n : 0;
		const float *line = (const float *)sorted->data + (floats ? first : 0);
		tensor_set_int(r->out, i,
			       floats ? count_floats(line, n, ((const float *)values->data)[i],
						     r->or_equal)
				      : count_below(sorted, first, n, values, i, r->or_equal));
	}
}

int run_search(const struct kernel_call *k, struct err *e)
{
	bool buckets = k->op->kind == OP_BUCKETIZE, right = k->op->a.search.right;
	/* A bucket that holds its right bound ends behind what is less. */
	struct search_run r = {.values = &k->in[buckets ? 0 : 1],
			       .sorted = &k->in[buckets ? 1 : 0],
			       .out = &k->out[0],
			       .or_equal = buckets ? !right : right};
	(void)e;
	r.n_tasks = cpu_tasks(tensor_elements(r.values), 2048);
	cpu_parallel(k->ctx, r.n_tasks, search_task, &r);
	return 0;
}

/* ---- Unique ---- */

/* Slices of an axis: slice i has `outer` runs of `inner` elements. */
struct slices {
	const struct tensor *x;
	int64_t n, outer, inner;
};

static int64_t element_of(const struct slices *s, int64_t slice, int64_t j)
{
	return (j / s->inner * s->n + slice) * s->inner + j % s->inner;
}

static int compare_slices(const struct slices *s, int64_t a, int64_t b)
{
	int c = 0;
	for (int64_t j = 0; j < s->outer * s->inner && c == 0; j++)
		c = compare(s->x, element_of(s, a, j), s->x, element_of(s, b, j));
	return c;
}

static int by_slice(const void *a, const void *b, void *arg)
{
	int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
	int c = compare_slices(arg, i, j);
	return c ? c : i < j ? -1 : i > j;
}

static int by_first(const void *a, const void *b, void *arg)
{
	const int64_t *first = arg;
	int64_t i = first[*(const int64_t *)a], j = first[*(const int64_t *)b];
	return i < j ? -1 : i > j;
}

/* ---- slices of one element: sorted by their bits ---- */

/* It ascends with the value. */
static uint64_t key_at(const struct tensor *x, int64_t i)
{
	if (elem_is_real(x->elem))
		return key_of_double(tensor_real(x, i));
	return (uint64_t)tensor_int(x, i) ^ (x->elem == EL_U64 ? 0 : UINT64_C(1) << 63);
}

/* As group_slices; room: 2 n. */
static int64_t group_elements(const struct slices *s, struct keyed64 *room, int64_t *group,
			      int64_t *first, int64_t *count)
{
	int64_t n = 0;
	for (int64_t i = 0; i < s->n; i++)
		room[i] = (struct keyed64){key_at(s->x, i), i};
	const struct keyed64 *sorted = radix_sort64(room, room + s->n, s->n);
	for (int64_t i = 0; i < s->n; i++) {
		if (i == 0 || sorted[i].key != sorted[i - 1].key) {
			first[n] = sorted[i].index;
			count[n++] = 0;
		}
		group[sorted[i].index] = n - 1;
		count[n - 1]++;
	}
	return n;
}

/* order (n): slices sorted; group (n): of each slice; first, count (n): of each group.  The number
 * of groups, in ascending order of their slices. */
static int64_t group_slices(const struct slices *s, int64_t *order, int64_t *group, int64_t *first,
			    int64_t *count)
{
	union {
		const struct slices *c;
		void *p;
	} arg = {s};
	int64_t n = 0;
	for (int64_t i = 0; i < s->n; i++)
		order[i] = i;
	qsort_r(order, (size_t)s->n, sizeof *order, by_slice, arg.p);
	for (int64_t i = 0; i < s->n; i++) {
		if (i == 0 || compare_slices(s, order[i - 1], order[i])) {
			first[n] = order[i];
			count[n++] = 0;
		}
		group[order[i]] = n - 1;
		count[n - 1]++;
	}
	return n;
}

static void put_slices(const struct kernel_call *k, const struct slices *s, const int64_t *place,
		       int64_t n, const int64_t *first)
{
	size_t size = cpu_elem_size(s->x->elem);
	struct slices to = *s;
	to.n = n;
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < s->outer * s->inner; j++)
			memcpy((char *)k->out[0].data + (size_t)element_of(&to, i, j) * size,
			       (const char *)s->x->data +
				       (size_t)element_of(s, first[place[i]], j) * size,
			       size);
}

static void put_ints(const struct tensor *t, int64_t n, const int64_t *v, const int64_t *place)
{
	for (int64_t i = 0; i < t->dim[0] && t->data; i++)
		tensor_set_int(t, i, i >= n ? 0 : place ? v[place[i]] : v[i]);
}

static void zero_behind(const struct tensor *t, int64_t n)
{
	size_t size = cpu_elem_size(t->elem);
	memset((char *)t->data + (size_t)n * size, 0, (size_t)(tensor_elements(t) - n) * size);
}

int run_unique(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0];
	struct slices s = {x, tensor_elements(x), 1, 1};
	int axis = -1;
	if (k->op->n_in > 1 && k->in[1].data) {
		axis = op_axis(tensor_int(&k->in[1], 0), x->rank);
		s.n = x->dim[axis];
		for (int d = 0; d < (int)x->rank; d++)
			*(d < axis ? &s.outer : &s.inner) *= d == axis ? 1 : x->dim[d];
	}
	if (!cpu_elem_size(x->elem))
		return err_set(e, ST_INPUT, "Unique of %s", elem_name(x->elem));
	int64_t *order = cpu_slot_scratch(k->ctx, SLOT_EXTRA, (size_t)(10 * s.n) * sizeof *order);
	if (!order)
		return cpu_no_memory(e);
	int64_t *group = order + s.n, *first = group + s.n, *count = first + s.n,
		*place = count + s.n, *back = place + s.n;
	struct keyed64 *room = (struct keyed64 *)(void *)(back + s.n);
	int64_t n = s.outer * s.inner == 1 ? group_elements(&s, room, group, first, count)
					   : group_slices(&s, order, group, first, count);
	for (int64_t i = 0; i < n; i++)
		place[i] = i;
	if (!k->op->a.search.sorted) /* in the order of first occurrence */
		qsort_r(place, (size_t)n, sizeof *place, by_first, first);
	for (int64_t i = 0; i < n; i++)
		back[place[i]] = i;
	for (int64_t i = 0; i < s.n; i++)
		group[i] = back[group[i]];
	if (k->out[0].data)
		put_slices(k, &s, place, n, first);
	if (k->out[0].data &&
	    !k->actual) /* its shape is a bound: as indices and counts, zeros behind what there is */
		zero_behind(&k->out[0], s.outer * n * s.inner);
	put_ints(&k->out[1], n, first, place);
	put_ints(&k->out[2], s.n, group, NULL);
	put_ints(&k->out[3], n, count, place);
	if (k->actual) {
		k->actual[0].dim[axis < 0 ? 0 : axis] = n;
		k->actual[1].dim[0] = k->actual[3].dim[0] = n;
	}
	return 0;
}
