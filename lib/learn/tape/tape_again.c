/* tape_again.c - rows made in parts on a tape beside this one, and made again on the way back: time for
 * memory (Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016). */
#include "learn/tape/tape_op.h"

#include <assert.h>
#include <string.h>

struct again {
	tape_again_part *part;
	const void *arg;
	uint32_t most, n;
	struct mat *const *x; /* (n) */
};

/* Rows [first, first + n), on a tape that begins anew. */
static struct mat *make_part(struct tape *inner, const struct again *a, float *const *grad,
			     uint32_t first, uint32_t n)
{
	tape_begin(inner, grad != NULL, NULL);
	struct mat **in = ARENA_NEWN(tape_arena(inner), struct mat *, a->n);
	for (uint32_t i = 0; i < a->n; i++)
		in[i] = tape_param(inner, a->x[i]->v, grad ? grad[i] : NULL, a->x[i]->rows,
				   a->x[i]->cols);
	struct mat *y = a->part(inner, a->arg, in, first, n);
	assert(y->rows == n);
	return y;
}

static uint32_t part_rows(const struct again *a, const struct mat *y, uint32_t first)
{
	return y->rows - first < a->most ? y->rows - first : a->most;
}

static void again_back(struct tape *t, struct tape_op *o)
{
	const struct again *a = o->index[0];
	struct tape *inner = tape_inner(t);
	float **grad = ARENA_NEWN(tape_arena(t), float *, a->n);
	for (uint32_t i = 0; i < a->n; i++)
		grad[i] = tape_grad_add(t, a->x[i]);
	for (uint32_t first = 0, n; first < o->y->rows; first += n) {
		n = part_rows(a, o->y, first);
		struct mat *y = make_part(inner, a, grad, first, n);
		tape_back_from(inner, y, o->y->g + (size_t)first * o->y->cols);
	}
}

struct mat *tape_again(struct tape *t, uint32_t rows, uint32_t cols, uint32_t most,
		       tape_again_part *part, const void *arg, uint32_t n, struct mat *const *x)
{
	struct mat *wants = NULL;
	for (uint32_t i = 0; i < n; i++)
		wants = x[i]->wants ? x[i] : wants;
	float *v;
	struct tape_op *o;
	struct mat *y = tape_op_new(t, rows, cols, &v, &o, again_back, TAPE_IN(wants));
	struct again *a = ARENA_NEWN(tape_arena(t), struct again, 1);
	*a = (struct again){part, arg, most, n, x};
	o->index[0] = a;
	for (uint32_t first = 0, some; first < rows; first += some) {
		some = part_rows(a, y, first);
		const struct mat *p = make_part(tape_inner(t), a, NULL, first, some);
		assert(p->cols == cols);
		memcpy(v + (size_t)first * cols, p->v, (size_t)some * cols * sizeof *v);
	}
	return y;
}
