/* cl_lower_attention.c - launches of ScaledDotProductAttention: a product with scale and mask as
 * its chain, softmax, a product. */
#include "device/opencl/cl_lowering.h"

#include <math.h>

#include "op/slice.h"
#include "op/value.h"

/* A boolean mask as what is added: 0, or minus infinity where it is false. */
static struct cl_ref added_mask(struct cl_lowering *p, const struct tensor *mask)
{
	int64_t n = tensor_elements(mask);
	int temp = cl_lower_temp(p, (size_t)n * sizeof(float));
	struct cl_launch *l = cl_lower_launch(p, K_mask);
	cl_lower_buf(l, REF_IN, 3);
	cl_lower_buf(l, REF_TEMP, temp);
	l->groups[0] = cl_rows_share(p->s, 1, n, &l->args.elem.r);
	return (struct cl_ref){REF_TEMP, temp, 0};
}

/* Scale and mask of the scores (.., l, s). */
static int fill_chain(struct cl_lowering *p, const struct tensor *scores, struct gemm_args *g,
		      struct cl_ref *refs, int *n_refs)
{
	const struct tensor *mask = &p->in[3];
	bool causal = p->op->a.attention.causal;
	double scale = 1 / sqrt((double)p->in[0].dim[p->in[0].rank - 1]);
	if (op_has_input(p->op, p->in, 4)) {
		if (!cl_lower_known(p, 4))
			return -1;
		scale = tensor_real(&p->in[4], 0);
	}
	if (op_has_input(p->op, p->in, 5))
		return cl_lower_refuse(p, "attention with a sink is not supported");
	g->chain.post[g->chain.n++] =
		(struct post){.op = E_AFFINE, .from = NO_OPERAND, .alpha = (float)scale};
	if (causal || !op_has_input(p->op, p->in, 3))
		return 0;
	if (mask->elem != EL_F32 && mask->elem != EL_BOOLEAN)
		return cl_lower_refuse(p, "a mask of %s is not supported", elem_name(mask->elem));
	g->chain.post[g->chain.n++] = (struct post){.op = E_ADD, .from = 0};
	if (!cl_chain_operand(mask, scores, (int)scores->rank - 2, 1, &g->at[0]))
		return cl_lower_refuse(p, "the mask does not broadcast to the scores");
	refs[(*n_refs)++] =
		mask->elem == EL_F32 ? (struct cl_ref){REF_IN, 3, 0} : added_mask(p, mask);
	return 0;
}

static struct gemm_args product_args(const struct cl_matrices *a, const struct cl_matrices *b)
{
	return (struct gemm_args){.m = (int)a->rows,
				  .n = (int)b->cols,
				  .k = (int)a->cols,
				  .ars = (int)a->rs,
				  .acs = (int)a->cs,
				  .brs = (int)b->rs,
				  .bcs = (int)b->cs,
				  .size = (int)(b->rows * b->cols)};
}

int cl_lower_attention(struct cl_lowering *p)
{
	const struct tensor *q = &p->in[0], *k = &p->in[1], *v = &p->in[2];
	int rank = (int)q->rank;
	for (int i = 0; i < 3; i++)
		if (p->in[i].elem != EL_F32 || p->in[i].rank != q->rank || rank < 3)
			return cl_lower_refuse(p, "this attention is not supported");
	struct cl_matrices mq = cl_matrices_of(q, false, false), mk = cl_matrices_of(k, true, true);
	struct cl_matrices mv = cl_matrices_of(v, false, true), ms;
	struct gemm_args g = product_args(&mq, &mk);
	int64_t z = cl_lower_batches(p, &mq, &mk, mq.rows * mq.cols, mk.rows * mk.cols, &g);
	if (z < 0)
		return -1;
	struct tensor scores = p->out[0];
	scores.dim[rank - 2] = mq.rows;
	scores.dim[rank - 1] = mk.cols;
	if (tensor_elements(&scores) != z * g.m * g.n || tensor_elements(&scores) >= INT32_MAX ||
	    mq.cols != mk.rows || mv.rows != mk.cols)
		return cl_lower_refuse(p, "shapes of attention that the kernels do not take");
	int temp = cl_lower_temp(p, (size_t)tensor_elements(&scores) * sizeof(float)), n_refs = 3;
	struct cl_ref refs[3 + OPERANDS] = {{REF_IN, 0, 0}, {REF_IN, 1, 0}, {REF_TEMP, temp, 0}};
	if (fill_chain(p, &scores, &g, refs, &n_refs))
		return -1;
	cl_lower_product(p, &g, z, refs, n_refs);
	struct cl_launch *l = cl_lower_launch(p, K_softmax);
	l->args.norm = (struct norm_args){.n_rows = (int)z * g.m,
					  .n = g.n,
					  .inner = 1,
					  .masked = 1,
					  .causal = p->op->a.attention.causal ? g.m : 0};
	l->groups[0] = (size_t)z * (size_t)g.m;
	cl_lower_buf(l, REF_TEMP, temp);
	cl_lower_buf(l, REF_TEMP, temp);
	ms = cl_matrices_of(&scores, false, false);
	g = product_args(&ms, &mv);
	z = cl_lower_batches(p, &ms, &mv, ms.rows * ms.cols, mv.rows * mv.cols, &g);
	if (z < 0)
		return -1;
	struct cl_ref out[] = {{REF_TEMP, temp, 0}, {REF_IN, 2, 0}, {REF_OUT, 0, 0}};
	cl_lower_product(p, &g, z, out, 3);
	return 0;
}
