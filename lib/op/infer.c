/* infer.c - shape inference: sources, element-wise operators, reductions and
 * operators on shapes. */
#include "op/opimpl.h"

#include <math.h>
#include <stdlib.h>

int op_ints(const struct tensor *t, int64_t *dst, int max, struct err *e)
{
	int64_t n = tensor_elements(t);
	if (n < 0 || n > max || t->rank > 1)
		return err_set(e, ST_INPUT, "a list of %lld integers where at most %d fit",
			       (long long)n, max);
	for (int64_t i = 0; i < n; i++)
		dst[i] = tensor_int(t, i);
	return (int)n;
}

int op_axis(int64_t axis, uint32_t rank)
{
	if (axis < 0)
		axis += rank;
	return axis < 0 || axis >= (int64_t)rank ? -1 : (int)axis;
}

int op_axes(const struct tensor *t, uint32_t rank, uint32_t *set, struct err *e)
{
	int64_t axes[TENSOR_DIMS];
	int n = op_ints(t, axes, TENSOR_DIMS, e);
	*set = 0;
	for (int i = 0; i < n; i++) {
		int axis = op_axis(axes[i], rank);
		if (axis < 0)
			return err_set(e, ST_INPUT, "axis %lld of a tensor of rank %u",
				       (long long)axes[i], rank);
		*set |= 1u << axis;
	}
	return n < 0 ? -1 : 0;
}

bool op_has_input(const struct op *op, const struct tensor *in, int i)
{
	return i < op->n_in && in[i].elem != EL_DYNAMIC;
}

int infer_unknown(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	(void)in;
	for (int i = 0; i < op->n_out; i++) {
		if (!tensor_describe(op->g, op->g->out_ptr[op->v] + (uint32_t)i, &out[i]) ||
		    !tensor_is_static(&out[i]))
			return err_set(e, ST_INPUT, "no shape inference for operator '%s'",
				       op->g->type[op->v]);
	}
	return 0;
}

int infer_recorded(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	(void)in;
	for (int i = 0; i < op->n_out; i++)
		if (!tensor_describe(op->g, op->g->out_ptr[op->v] + (uint32_t)i, &out[i]) ||
		    !tensor_is_static(&out[i]))
			return err_set(e, ST_INPUT, "its shape is dynamic; give one");
	return 0;
}

void op_like(struct tensor *out, const struct tensor *in)
{
	*out = *in;
	out->data = NULL;
}

int64_t op_mul(int64_t a, int64_t b)
{
	int64_t n;
	return __builtin_mul_overflow(a, b, &n) ? INT64_MAX : n;
}

int op_misfit(const char *what, const struct tensor *t, struct err *e)
{
	char s[120];
	return err_set(e, ST_INPUT, "%s does not fit %s", what, tensor_text(t, s, sizeof s));
}

int infer_same(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	(void)e;
	for (int i = 0; i < op->n_out; i++)
		op_like(&out[i], &in[0]);
	return 0;
}

/* Before opset5 the data comes third. */
int infer_batch_norm(const struct op *op, const struct tensor *in, struct tensor *out,
		     struct err *e)
{
	return infer_same(op, &in[op->version >= 5 ? 0 : 2], out, e);
}

int infer_read_value(const struct op *op, const struct tensor *in, struct tensor *out,
		     struct err *e)
{
	return op->n_in ? infer_same(op, in, out, e) : infer_recorded(op, in, out, e);
}

int infer_convert(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	(void)e;
	op_like(out, in);
	out->elem = op->a.convert.to;
	return 0;
}

int infer_convert_like(const struct op *op, const struct tensor *in, struct tensor *out,
		       struct err *e)
{
	(void)op, (void)e;
	op_like(out, in);
	out->elem = in[1].elem;
	return 0;
}

/* Both inputs in one type: the one that the file has settled on. */
int infer_promote(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	const uint8_t *have = op->g->out_elem + op->g->out_ptr[op->v];
	for (int i = 0; i < 2; i++) {
		op_like(&out[i], &in[i]);
		out[i].elem = in[0].elem == in[1].elem ? in[0].elem : (enum elem)have[i];
	}
	if (out[0].elem != out[1].elem || out[0].elem == EL_DYNAMIC)
		return op_misfit("the common type of ConvertPromoteTypes", &out[0], e);
	return 0;
}

int infer_test(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	(void)op, (void)e;
	op_like(out, in);
	out->elem = EL_BOOLEAN;
	return 0;
}

bool op_broadcast(const struct tensor *a, const struct tensor *b, struct tensor *out)
{
	uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
	out->rank = rank;
	for (uint32_t i = 0; i < rank; i++) { /* from the innermost dim */
		int64_t x = i < a->rank ? a->dim[a->rank - 1 - i] : 1;
		int64_t y = i < b->rank ? b->dim[b->rank - 1 - i] : 1;
		if (x != y && x != 1 && y != 1)
			return false;
		out->dim[rank - 1 - i] = x == 1 ? y : x;
	}
	return true;
}

static int misfit(const struct tensor *a, const struct tensor *b, struct err *e)
{
	char s[120], t[120];
	return err_set(e, ST_INPUT, "%s and %s do not broadcast", tensor_text(a, s, sizeof s),
		       tensor_text(b, t, sizeof t));
}

/* Limits broadcast to the data. */
int infer_fake_quantize(const struct op *op, const struct tensor *in, struct tensor *out,
			struct err *e)
{
	for (int i = 1; i < op->n_in; i++) {
		struct tensor both = {.elem = in[0].elem}, aligned;
		if (tensor_is_static(&in[0]) && tensor_is_static(&in[i]) &&
		    (!op_align(op, &in[0], i, &in[i], &aligned) ||
		     !op_broadcast(&in[0], &aligned, &both) || !tensor_same_shape(&both, &in[0])))
			return misfit(&in[0], &in[i], e);
	}
	return infer_same(op, in, out, e);
}

/* Along the dims of `whole` from `axis` on; -1: the last ones. */
static bool align_pdpd(const struct tensor *whole, int64_t axis, struct tensor *t)
{
	uint32_t rank = t->rank;
	if (axis < 0)
		axis = (int64_t)whole->rank - rank;
	while (rank && t->dim[rank - 1] == 1 && axis + rank > whole->rank)
		rank--;
	if (axis < 0 || axis + rank > whole->rank)
		return false;
	t->rank = whole->rank - (uint32_t)axis;
	for (uint32_t i = rank; i < t->rank; i++)
		t->dim[i] = 1;
	return true;
}

bool op_align(const struct op *op, const struct tensor *whole, int i, const struct tensor *t,
	      struct tensor *aligned)
{
	*aligned = *t;
	if (i == (op->kind == OP_SELECT))
		return true;
	switch (op->kind) {
	case OP_PRELU:
		return t->rank != 1 || whole->rank < 2 || t->dim[0] != whole->dim[1] ||
		       align_pdpd(whole, 1, aligned);
	case OP_FAKE_QUANTIZE:
		return op->a.quantize.bcast != BCAST_PDPD ||
		       align_pdpd(whole, op->a.quantize.axis, aligned);
	case OP_SELECT: break;
	default: /* any other operator: those of two inputs broadcast */
		if (op_n_data(op->kind) != 2)
			return true;
	}
	return op->a.broadcast.bcast != BCAST_PDPD ||
	       align_pdpd(whole, op->a.broadcast.axis, aligned);
}

int infer_binary(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	struct tensor b;
	out->elem = in[0].elem;
	if (!op_align(op, &in[0], 1, &in[1], &b) ||
	    (op->a.broadcast.bcast == BCAST_NONE && !tensor_same_shape(&in[0], &b)) ||
	    !op_broadcast(&in[0], &b, out))
		return misfit(&in[0], &in[1], e);
	return 0;
}

int infer_compare(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	if (infer_binary(op, in, out, e))
		return -1;
	out->elem = EL_BOOLEAN;
	return 0;
}

int infer_prelu(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	(void)op, (void)e;
	op_like(out, in);
	return 0;
}

int infer_select(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	struct tensor values = {.elem = EL_DYNAMIC};
	if (op->a.broadcast.bcast == BCAST_PDPD) {
		struct tensor t, both = {.elem = EL_DYNAMIC};
		for (int i = 0; i < 3; i += 2)
			if (!op_align(op, &in[1], i, &in[i], &t) ||
			    !op_broadcast(&in[1], &t, &both) || !tensor_same_shape(&both, &in[1]))
				return misfit(&in[1], &in[i], e);
		op_like(out, &in[1]);
	} else {
		if (!op_broadcast(&in[1], &in[2], &values))
			return misfit(&in[1], &in[2], e);
		if (!op_broadcast(&values, &in[0], out))
			return misfit(&values, &in[0], e);
	}
	out->elem = in[1].elem;
	return 0;
}

int infer_reduce(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	uint32_t axes;
	if (op_axes(&in[1], in[0].rank, &axes, e))
		return -1;
	out->elem = in[0].elem;
	out->rank = 0;
	for (uint32_t i = 0; i < in[0].rank; i++) {
		if (!(axes >> i & 1))
			out->dim[out->rank++] = in[0].dim[i];
		else if (op->a.reduce.keep_dims)
			out->dim[out->rank++] = 1;
	}
	return 0;
}

int infer_range(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	out->elem = op->a.convert.to == EL_DYNAMIC ? in[0].elem : op->a.convert.to;
	out->rank = 1;
	if (elem_is_real(in[0].elem) || elem_is_real(in[1].elem) || elem_is_real(in[2].elem)) {
		double start = tensor_real(&in[0], 0), stop = tensor_real(&in[1], 0);
		double step = tensor_real(&in[2], 0);
		double n = step != 0 ? ceil((stop - start) / step) : -1;
		if (!(n < 0x1p40) || step == 0)
			return err_set(e, ST_INPUT, "Range from %g to %g by %g", start, stop, step);
		out->dim[0] = n > 0 ? (int64_t)n : 0;
		return 0;
	}
	int64_t start = tensor_int(&in[0], 0), stop = tensor_int(&in[1], 0),
		step = tensor_int(&in[2], 0);
	int64_t span;
	if (step == 0 || step == INT64_MIN || __builtin_sub_overflow(stop, start, &span) ||
	    span == INT64_MIN)
		return err_set(e, ST_INPUT, "Range from %lld to %lld by %lld", (long long)start,
			       (long long)stop, (long long)step);
	out->dim[0] = (span > 0) == (step > 0) && span ? (llabs(span) - 1) / llabs(step) + 1 : 0;
	return 0;
}

int infer_shape_of(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	(void)e;
	*out = (struct tensor){.elem = op->a.convert.to, .rank = 1, .dim = {in[0].rank}};
	return 0;
}

int infer_eye(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	int64_t batch[TENSOR_DIMS - 2];
	int n = op_has_input(op, in, 3) ? op_ints(&in[3], batch, TENSOR_DIMS - 2, e) : 0;
	if (n < 0)
		return -1;
	out->elem = op->a.convert.to;
	for (int i = 0; i < n; i++)
		out->dim[i] = batch[i];
	out->rank = (uint32_t)n + 2;
	out->dim[n] = tensor_int(&in[0], 0);
	out->dim[n + 1] = tensor_int(&in[1], 0);
	return 0;
}

/* A bound: every element. */
int infer_non_zero(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	(void)e;
	*out = (struct tensor){
		.elem = op->a.convert.to, .rank = 2, .dim = {in[0].rank, tensor_elements(&in[0])}};
	return 0;
}
