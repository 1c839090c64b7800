/* act.c - parameters of element-wise operators with one data input, from attributes and from constant inputs. */
#include "op/op.h"

#include "op/value.h"

struct op_act_args op_act_args(const struct op *op, const struct tensor *in1,
			       const struct tensor *in2)
{
	struct op_act_args p = {.a = 1};
	switch (op->kind) {
	case OP_CLAMP:
		p.a = op->a.act.lo;
		p.b = op->a.act.hi;
		break;
	case OP_ELU: p.a = op->a.act.alpha; break;
	case OP_GELU: p.gelu_tanh = op->a.act.gelu == GELU_TANH; break;
	case OP_ROUND: p.half_away = op->a.act.round == ROUND_HALF_AWAY; break;
	case OP_IS_INF:
		p.neg_inf = op->a.act.lo > 0;
		p.pos_inf = op->a.act.hi > 0;
		break;
	/* clang-format off */
	case OP_HARD_SIGMOID: case OP_SELU: case OP_SWISH:
		/* clang-format on */
		p.a = in1 && in1->data ? (float)tensor_real(in1, 0) : 1;
		p.b = in2 && in2->data ? (float)tensor_real(in2, 0) : 0;
		break;
	default: /* has none */ break;
	}
	return p;
}
