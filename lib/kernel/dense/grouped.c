/* grouped.c - GroupedMatMul (opset17): each group of rows times the matrix of its own. */
#include "kernel/dense/affine.h"

#include <inttypes.h>
#include <string.h>

bool supports_grouped(const struct op *op, const char **reason)
{
	const struct graph *g = op->g;
	if (elem_is_real((enum elem)g->out_elem[g->out_ptr[op->v]]))
		return true;
	*reason = "products of integers in groups";
	return false;
}

/* y (rows, n) = x (rows, k) times the transpose of w (n, k). */
static int multiply(const struct kernel_call *k, const float *w, const float *x, int64_t rows,
		    float *y, struct err *e)
{
	const struct tensor *b = &k->in[1];
	struct affine_weights a = {.rows = b->dim[1], .n = b->dim[2], .f32 = w};
	if (rows == 0 || a.rows == 0)
		return 0;
	float *room = cpu_slot_scratch(k->ctx, SLOT_WHOLE,
				       (size_t)cpu_affine_floats(k->ctx, &a, rows) * sizeof *room);
	if (!room)
		return cpu_no_memory(e);
	cpu_affine(k->ctx, &a, x, NULL, rows, y, room);
	return 0;
}

int run_grouped_matmul(const struct kernel_call *k, struct err *e)
{
	const struct tensor *a = &k->in[0], *b = &k->in[1];
	int64_t groups = b->dim[0], n = b->dim[1], depth = b->dim[2], first = 0;
	int64_t rows = a->dim[a->rank - 2], all = a->rank == 3 ? groups * rows : rows;
	const float *x = a->data, *w = b->data;
	float *y = k->out[0].data;
	if (depth == 0) {
		memset(y, 0, (size_t)(all * n) * sizeof *y);
		return 0;
	}
	for (int64_t g = 0; g < groups; g++) {
		int64_t end = a->rank == 3 ? (g + 1) * rows : tensor_int(&k->in[2], g);
		if (end < first || end > all)
			return err_set(e, ST_INPUT,
				       "group %" PRId64 " ends at row %" PRId64
				       ", behind row %" PRId64 " of %" PRId64,
				       g, end, first, all);
		if (multiply(k, w + g * n * depth, x + first * depth, end - first, y + first * n,
			     e) < 0)
			return -1;
		first = end;
	}
	memset(y + first * n, 0, (size_t)((all - first) * n) * sizeof *y); /* rows of no group */
	return 0;
}
