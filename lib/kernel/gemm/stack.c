/* stack.c - see stack.h. */
#include "kernel/gemm/stack.h"
#include "kernel/epilogue.h"
#include "kernel/gemm/vnni_gemm.h"

#include <stdatomic.h>

enum {
	SMALL = 1 << 20, /* multiply-adds of a product */
	GRAIN = 1 << 17, /* of a task */
	FEW_ROWS = 4     /* up to these, packing takes longer than products */
};

bool stack_fits(const struct cpu_ctx *c, const struct operand *a, const struct operand *b)
{
	bool rows = b->col == 1 && b->row == b->cols, columns = b->row == 1 && b->col == b->rows;
	return c->bf16_products && pairs_there() && a->t->elem == EL_F32 && b->t->elem == EL_F32 &&
	       a->cols == b->rows && a->cols > 0 && a->col == 1 && a->row == a->cols &&
	       (rows || columns) && a->rows > FEW_ROWS && b->cols > 0 && b->cols < SMALL &&
	       a->cols < SMALL && a->rows <= SMALL / a->cols / b->cols &&
	       tensor_elements(&b->batch) > 1;
}

struct stack {
	const struct kernel_call *k;
	const struct operand *a, *b;
	const struct tensor *batch;
	int64_t n; /* products */
	int n_tasks;
	atomic_bool failed;
};

static void stack_task(void *arg, int task, int thread)
{
	struct stack *s = arg;
	const struct operand *a = s->a, *b = s->b;
	int64_t m = a->rows, n = b->cols, k = a->cols, lo, hi, packed = -1;
	int64_t a_elements = pairs_a_elements(m, k);
	uint16_t *x = cpu_thread_scratch(s->k->ctx, thread,
					 (size_t)(a_elements + pairs_b_elements(k, n)) * sizeof *x);
	if (!x) {
		s->failed = true;
		return;
	}
	uint16_t *y = x + a_elements;
	cpu_range(s->n, s->n_tasks, task, &lo, &hi);
	for (int64_t i = lo; i < hi; i++) {
		int64_t right = operand_batch(s->batch, &b->batch, i);
		float *c = (float *)s->k->out[0].data + i * m * n;
		pairs_pack_a(x,
			     (const float *)a->t->data +
				     operand_batch(s->batch, &a->batch, i) * m * k,
			     m, k, 1);
		if (right != packed)
			pairs_pack_b(y, (const float *)b->t->data + right * k * n, k, n,
				     b->col != 1);
		packed = right;
		pairs_multiply(x, y, m, n, k, c, n);
		if (s->k->post)
			cpu_epilogue_tile(s->k->post, c, n, i * m, m, 0, n);
	}
}

int stack_run(const struct kernel_call *k, const struct operand *a, const struct operand *b,
	      const struct tensor *batch, struct err *e)
{
	struct stack s = {.k = k, .a = a, .b = b, .batch = batch, .n = tensor_elements(batch)};
	s.n_tasks = cpu_tasks(s.n * a->rows * b->cols * a->cols, GRAIN);
	if (s.n_tasks > s.n)
		s.n_tasks = (int)s.n;
	cpu_parallel(k->ctx, s.n_tasks, stack_task, &s);
	return s.failed ? cpu_no_memory(e) : 0;
}
