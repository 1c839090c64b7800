/* attention_op.c - ScaledDotProductAttention: what its inputs are to attention.h. */
#include "kernel/dense/attention.h"
#include "op/slice.h"

#include <math.h>

/* Input `in`, whose last `own` dims are not of the batch, as numbers for each matrix; false: it does not fit scores
 * (batch, l, n). */
static bool stack_of(const struct tensor *in, uint32_t own, const struct tensor *batch, int64_t l,
		     int64_t n, struct attention_stack *x)
{
	struct tensor scores = *batch, both = {.elem = EL_F32};
	scores.dim[scores.rank++] = l;
	scores.dim[scores.rank++] = n;
	if (!op_broadcast(&scores, in, &both) || !tensor_same_shape(&scores, &both))
		return false;
	*x = (struct attention_stack){.data = in->data, .over = *batch, .batch = *in};
	x->batch.rank = in->rank > own ? in->rank - own : 0;
	return true;
}

/* Input 3.  False: it does not fit. */
static bool take_mask(const struct kernel_call *k, struct attention *a)
{
	const struct op *op = k->op;
	const struct tensor *t = &k->in[3];
	struct attention_mask *m = &a->mask[0];
	if (op->n_in <= 3 || t->rank < 2)
		return true;
	if (!stack_of(t, 2, &a->batch, a->q.rows, a->key.rows, &m->at))
		return false;
	int in = op->g->in_ptr[op->v] + 3;
	m->boolean = op->g->out_elem[op->g->out_ptr[op->g->in_node[in]] + op->g->in_port[in]] ==
		     EL_BOOLEAN;
	m->rows = t->dim[t->rank - 2];
	m->cols = t->dim[t->rank - 1];
	a->n_masks = t->data && !a->causal;
	return true;
}

/* Inputs of one dim are rows of one, as operand_of has them. */
static struct attention_rows rows_of_input(const struct tensor *t, bool left)
{
	struct operand o = operand_of(t, false, left);
	struct tensor two = o.batch;
	two.dim[two.rank++] = o.rows;
	two.dim[two.rank++] = o.cols;
	struct attention_rows x = attention_rows_of(&two);
	x.data = t->data;
	return x;
}

int run_attention(const struct kernel_call *k, struct err *e)
{
	struct attention a = {.grids = k->prep ? k->prep->more : NULL,
			      .causal = k->op->a.attention.causal};
	struct tensor qk;
	a.q = rows_of_input(&k->in[0], true);
	a.key = rows_of_input(&k->in[1], false);
	a.v = rows_of_input(&k->in[2], false);
	if (!op_broadcast(&a.q.batch, &a.key.batch, &qk) ||
	    !op_broadcast(&qk, &a.v.batch, &a.batch))
		return err_set(e, ST_INPUT, "shapes do not fit");
	a.v_batch = a.batch;
	struct tensor y = a.batch;
	y.dim[y.rank++] = a.q.rows;
	y.dim[y.rank++] = a.v.cols;
	a.y = attention_rows_of(&y);
	a.y.data = k->out[0].data;
	if (!take_mask(k, &a))
		return err_set(e, ST_INPUT, "the mask does not fit");
	if (op_has_input(k->op, k->in, 5)) {
		const struct tensor *sink = &k->in[5];
		if (!stack_of(sink, 2, &a.batch, a.q.rows, 1, &a.sink))
			return err_set(e, ST_INPUT, "the sink does not fit");
		a.sink_rows = sink->rank > 1 ? sink->dim[sink->rank - 2] : 1;
	}
	a.scale = k->op->n_in > 4 && k->in[4].data ? (float)tensor_real(&k->in[4], 0)
						   : 1 / sqrtf((float)a.q.cols);
	return attention_run(&a, k->ctx, e);
}
