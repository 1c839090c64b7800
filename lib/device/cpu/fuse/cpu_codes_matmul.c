/* cpu_codes_matmul.c - which MatMuls are products of codes: those whose left input lies on a grid and whose right one is a constant
 * matrix on one for each column of the output. */
#include "device/cpu/fuse/cpu_codes_forms.h"
#include "kernel/gemm/product.h"
#include "kernel/onednn/onednn_codes_matmul.h"
#include "op/quant.h"

#include <string.h>

/* Weights as rows of codes, one for each column of the output, and their scales. */
struct codes {
	int64_t n, k;
	int8_t *code; /* (n,k) */
	float *scale; /* (n) */
};

/* Signed bytes with one scale a column of the output, or one for all, are codes as they lie. */
static bool copy_codes(const struct operand *b, bool turned, struct codes *c)
{
	const struct tensor *t = b->t;
	const struct quant *q = t->quant;
	if (!q || q->codes.elem != EL_I8 || q->zero.elem != EL_DYNAMIC ||
	    q->scale.elem == EL_DYNAMIC || !tensor_same_shape(&q->codes, t))
		return false;
	int64_t scales = tensor_elements(&q->scale), step = b->col;
	uint32_t d = turned ? 1 : 0; /* columns of the output, as a dim from the right */
	if (scales != 1 &&
	    (scales != c->n || q->scale.rank <= d || q->scale.dim[q->scale.rank - 1 - d] != c->n))
		return false;
	for (int64_t j = 0; j < c->n; j++)
		c->scale[j] = quant_scale(q, j * step);
	const int8_t *from = t->data;
	if (turned)
		memcpy(c->code, from, (size_t)(c->n * c->k));
	for (int64_t j = 0; j < c->n && !turned; j++)
		for (int64_t i = 0; i < c->k; i++)
			c->code[j * c->k + i] = from[i * b->row + j * b->col];
	return true;
}

/* Any other weights, where their values are such codes. */
static int find_codes(const struct operand *b, struct codes *c, struct err *e)
{
	int64_t count = c->n * c->k;
	float *w = mem_try((size_t)count * 2 * sizeof *w), *turned = w + count;
	if (!w)
		return cpu_no_memory(e);
	if (b->t->quant)
		quant_read(b->t, 0, count, w);
	else
		cpu_convert(EL_F32, w, b->t->elem, b->t->data, count);
	for (int64_t j = 0; j < c->n; j++)
		for (int64_t i = 0; i < c->k; i++)
			turned[j * c->k + i] = w[i * b->row + j * b->col];
	int rc = codes_of_weights(turned, c->n, c->k, c->code, c->scale);
	mem_free(w);
	return rc;
}

static bool is_matrix(const struct tensor *t)
{
	return t && t->data && tensor_is_static(t) && t->rank >= 2 && tensor_elements(t) > 0 &&
	       tensor_elements(t) == t->dim[t->rank - 1] * t->dim[t->rank - 2] &&
	       (t->quant || t->elem == EL_F32 || t->elem == EL_F16 || t->elem == EL_BF16);
}

static int codes_matmul(const struct step_how *how, const struct step_node *n,
			struct cpu_prep **prep, struct err *e)
{
	const struct code_grid *grid = grid_of_values(how->graph, graph_source(n->graph, n->v, 0));
	if (!grid || n->n_in != 2 || n->in[0].from == FROM_CONST || n->in[1].from != FROM_CONST ||
	    !is_matrix(n->in[1].tensor) || !tensor_is_static(n->in[0].tensor) ||
	    n->in[0].tensor->elem != EL_F32 || n->out[0].elem != EL_F32)
		return 0;
	struct operand b = operand_of(n->in[1].tensor, n->op->a.matmul.transpose_b, false);
	int64_t elements = tensor_elements(n->in[0].tensor);
	if (elements % b.rows || !onednn_codes_pay(elements / b.rows, b.cols, b.rows))
		return 0;
	struct codes c = {.n = b.cols, .k = b.rows};
	c.code = mem_try((size_t)(c.n * c.k));
	c.scale = MEM_NEWN(float, (size_t)c.n);
	int rc = !c.code                                           ? cpu_no_memory(e)
		 : copy_codes(&b, n->op->a.matmul.transpose_b, &c) ? 1
								   : find_codes(&b, &c, e);
	if (rc > 0) {
		const struct tensor in[] = {*n->in[0].tensor, *n->in[1].tensor};
		const struct codes_matmul_spec spec = {.op = n->op,
						       .in = in,
						       .out = n->out,
						       .grid = *grid,
						       .weights = c.code,
						       .scale = c.scale};
		rc = onednn_codes_matmul(&spec, how->ctx, prep, e);
	}
	mem_free(c.code);
	mem_free(c.scale);
	return rc;
}

const struct codes_form codes_matmul_form = {OP_MATMUL, codes_matmul};
