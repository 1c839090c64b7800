/* op.c - the decoding of a node, the shapes of its outputs, and checks of both. */
#include "op/opimpl.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	int (*attrs)(struct op *op, struct err *e);
	infer_fn *infer;
} table[OP_COUNT] = {[OP_UNKNOWN] = {attr_none, infer_unknown},
#define OP(kind, type, category, min, max, out, values, scalars, cost, w, flags, attrs, shapes) \
	[OP_##kind] = {attr_##attrs, infer_##shapes},
		     OP_LIST(OP)
#undef OP
};

static int check_counts(const struct op *op, struct err *e)
{
	const struct op_info *info = op_info(op->kind);
	if (op->n_in < info->min_in || (info->max_in >= 0 && op->n_in > info->max_in))
		return err_set(e, ST_INPUT, "%s has %d inputs, not %d to %d", info->type, op->n_in,
			       info->min_in, info->max_in);
	if (info->n_out >= 0 && op->n_out != info->n_out)
		return err_set(e, ST_INPUT, "%s has %d outputs, not %d", info->type, op->n_out,
			       info->n_out);
	for (int i = 0; i < info->min_in; i++)
		if (op->g->in_node[op->g->in_ptr[op->v] + (uint32_t)i] == GRAPH_NONE)
			return err_set(e, ST_INPUT, "input %d of %s is not connected", i,
				       info->type);
	return 0;
}

static int prefix_node(const struct op *op, struct err *e)
{
	const char *name = op->g->node_name[op->v];
	char text[200];
	err_escape(text, sizeof text, name, strlen(name));
	return err_prefix(e, "node '%s'", text);
}

int op_decode(const struct graph *g, uint32_t v, struct op *op, struct err *e)
{
	memset(op, 0, sizeof *op);
	op->kind = op_kind_listed(g->kind[v]);
	op->g = g;
	op->v = v;
	op->n_in = (int)(g->in_ptr[v + 1] - g->in_ptr[v]);
	op->n_out = (int)(g->out_ptr[v + 1] - g->out_ptr[v]);
	const char *set = g->opset[v];
	if (!strncmp(set, "opset", 5))
		op->version = atoi(set + 5);
	if (op->kind != OP_UNKNOWN && (check_counts(op, e) || table[op->kind].attrs(op, e)))
		return prefix_node(op, e);
	return 0;
}

static int check_scalars(const struct op *op, const struct tensor *in, struct err *e)
{
	uint32_t mask = op_info(op->kind)->scalars;
	for (int i = 0; i < op->n_in && i < 32; i++)
		if (mask >> i & 1 && in[i].elem != EL_DYNAMIC && tensor_elements(&in[i]) != 1)
			return err_set(e, ST_INPUT, "input %d of %s is not a single value", i,
				       op_info(op->kind)->type);
	return 0;
}

static bool values_known(const struct op *op, const struct tensor *in)
{
	uint32_t mask = op_info(op->kind)->values;
	for (int i = 0; i < op->n_in && i < 32; i++)
		if (mask >> i & 1 && in[i].elem != EL_DYNAMIC && !in[i].data &&
		    tensor_elements(&in[i]) != 0)
			return false;
	return true;
}

static bool shape_agrees(const struct op *op, const struct tensor *want, const struct tensor *have)
{
	if (!op_is_bounded(op))
		return tensor_same_shape(want, have);
	for (uint32_t i = 0; i < have->rank && i < want->rank; i++)
		if (have->dim[i] > want->dim[i])
			return false;
	return have->rank == want->rank;
}

/* Is there a constant in few bits, which stands for f32 whatever its codes are? */
static bool any_quant(const struct op *op, const struct tensor *in)
{
	for (int i = 0; i < op->n_in; i++)
		if (in[i].quant)
			return true;
	return false;
}

int op_check(const struct op *op, const struct tensor *in, const struct tensor *out, struct err *e)
{
	enum { MAX_OUT = 64 };
	struct tensor few[MAX_OUT], *want = few;
	char a[120], b[120];
	if (!values_known(op, in))
		return 0;
	if (op->n_out > MAX_OUT)
		want = MEM_NEWN(struct tensor, (size_t)op->n_out);
	int rc = op_infer(op, in, want, e) ? -1 : 1;
	for (int i = 0; i < op->n_out && rc == 1; i++) {
		bool weight =
			out[i].elem == EL_F32 &&
			(want[i].elem == EL_F16 || want[i].elem == EL_BF16 || any_quant(op, in));
		if (!shape_agrees(op, &want[i], &out[i]) ||
		    (want[i].elem != out[i].elem && want[i].elem != EL_DYNAMIC && !weight)) {
			err_set(e, ST_INPUT, "output %d of %s is %s, but its inputs make %s", i,
				op_info(op->kind)->type, tensor_text(&out[i], a, sizeof a),
				tensor_text(&want[i], b, sizeof b));
			rc = prefix_node(op, e);
		}
	}
	if (want != few)
		mem_free(want);
	return rc;
}

int op_infer(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	const struct op_info *info = op_info(op->kind);
	for (int i = 0; i < op->n_out; i++)
		out[i] = (struct tensor){.elem = EL_DYNAMIC};
	for (int i = 0; i < op->n_in && i < 32; i++)
		if (info->values >> i & 1 && in[i].elem != EL_DYNAMIC && !in[i].data &&
		    tensor_elements(&in[i]) != 0) {
			err_set(e, ST_INPUT, "the value of input %d of %s must be known", i,
				info->type);
			return prefix_node(op, e);
		}
	if (check_scalars(op, in, e) || table[op->kind].infer(op, in, out, e))
		return prefix_node(op, e);
	for (int i = 0; i < op->n_out; i++)
		if (tensor_elements(&out[i]) < 0) {
			err_set(e, ST_INPUT, "%s has an output of impossible size", info->type);
			return prefix_node(op, e);
		}
	return 0;
}
