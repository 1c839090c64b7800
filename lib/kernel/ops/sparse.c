/* sparse.c - SparseFillEmptyRows (opset16): a default value in every row of a sparse matrix
 * that has none, entries in the order of their places. */
#include "kernel/kernel_impl.h"

#include <stdlib.h>
#include <string.h>

struct entry {
	int64_t row, column, i;
};

static int by_place(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->column != y->column)
		return x->column < y->column ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

/* The n entries of index (n, 2), sorted by row and column. */
static int sort_entries(const struct tensor *index, int64_t n, int64_t rows, struct entry *entry,
			struct err *e)
{
	for (int64_t i = 0; i < n; i++) {
		int64_t row = tensor_int(index, 2 * i);
		if (row < 0 || row >= rows)
			return err_set(e, ST_INPUT, "entry %lld lies in row %lld of %lld",
				       (long long)i, (long long)row, (long long)rows);
		entry[i] = (struct entry){row, tensor_int(index, 2 * i + 1), i};
	}
	qsort(entry, (size_t)n, sizeof *entry, by_place);
	return 0;
}

static void write_entry(const struct kernel_call *k, int64_t to, int64_t row, int64_t column,
			const void *value)
{
	size_t size = cpu_elem_size(k->out[1].elem);
	tensor_set_int(&k->out[0], 2 * to, row);
	tensor_set_int(&k->out[0], 2 * to + 1, column);
	memcpy((char *)k->out[1].data + (size_t)to * size, value, size);
}

/* Values (n), shape (2), indices (n, 2), default -> indices (m, 2), values (m), empty rows. */
int run_sparse_fill(const struct kernel_call *k, struct err *e)
{
	const struct tensor *values = &k->in[0], *fallback = &k->in[3];
	int64_t n = tensor_elements(values), rows = k->out[2].dim[0], at = 0, to = 0;
	size_t size = cpu_elem_size(values->elem);
	if (!size || fallback->elem != values->elem || tensor_elements(fallback) != 1)
		return err_set(e, ST_INPUT, "the default of SparseFillEmptyRows does not fit");
	struct entry *entry = cpu_slot_scratch(k->ctx, SLOT_EXTRA, (size_t)(n + 1) * sizeof *entry);
	if (!entry)
		return cpu_no_memory(e);
	if (sort_entries(&k->in[2], n, rows, entry, e))
		return -1;
	for (int64_t row = 0; row < rows; row++) {
		bool empty = at == n || entry[at].row != row;
		tensor_set_int(&k->out[2], row, empty);
		if (empty)
			write_entry(k, to++, row, 0, fallback->data);
		for (; at < n && entry[at].row == row; at++)
			write_entry(k, to++, row, entry[at].column,
				    (const char *)values->data + (size_t)entry[at].i * size);
	}
	if (k->actual) {
		k->actual[0].dim[0] = k->actual[1].dim[0] = to;
		return 0;
	}
	while (to < k->out[1].dim[0])
		write_entry(k, to++, 0, 0, fallback->data);
	return 0;
}
