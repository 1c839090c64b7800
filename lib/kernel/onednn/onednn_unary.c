/* onednn_unary.c - see onednn_unary.h. */
#include "kernel/onednn/onednn_unary.h"
#include "kernel/kernel_impl.h"
#include "kernel/onednn/onednn_conv.h"

/* The library's name of an operator, and its two arguments.  Not of those with an exponential: its own take longer
 * than cpu_unary's (efficientnet_b0 1.34 of the time with Swish in the convolutions). */
static bool find_eltwise(enum op_kind kind, const struct unary_args *args, dnnl_alg_kind_t *alg,
			 float *alpha, float *beta)
{
	*alpha = *beta = 0;
	switch (kind) {
	case OP_RELU: *alg = dnnl_eltwise_relu; return true;
	case OP_PRELU: /* with one slope */
		*alg = dnnl_eltwise_relu;
		*alpha = args->a;
		return true;
	case OP_CLAMP:
		*alg = dnnl_eltwise_clip;
		*alpha = args->a;
		*beta = args->b;
		return true;
	case OP_HSWISH: *alg = dnnl_eltwise_hardswish; return true;
	default: return false;
	}
}

bool onednn_conv_does(enum op_kind unary, const struct unary_args *args)
{
	dnnl_alg_kind_t alg;
	float alpha, beta;
	return find_eltwise(unary, args, &alg, &alpha, &beta);
}

struct onednn_eltwise onednn_unary_of(enum op_kind kind, const struct unary_args *args)
{
	struct onednn_eltwise f = {0};
	f.is_there = find_eltwise(kind, args, &f.alg, &f.alpha, &f.beta);
	return f;
}

bool onednn_unary_limits(enum op_kind kind)
{
	return kind == OP_RELU || kind == OP_CLAMP;
}

bool onednn_any_huge(const struct tensor *t)
{
	int64_t n = tensor_elements(t);
	const uint16_t *half = t->data;
	bool huge = false;
	if (t->elem == EL_F32 || t->elem == EL_BF16)
		return vec_any_huge(t->elem == EL_BF16, t->data, n);
	for (int64_t i = 0; t->elem == EL_F16 && i < n; i++)
		huge |= (half[i] & 0x7c00) == 0x7c00;
	return huge;
}

void onednn_unary_run(enum op_kind kind, const struct unary_args *args, bool bf16, void *y,
		      int64_t n)
{
	enum { PIECE = 1024 };
	float some[PIECE];
	uint16_t *half = y;
	if (!bf16) {
		cpu_unary_f32(kind, args, y, 1, y, n);
		return;
	}
	for (int64_t i = 0; i < n; i += PIECE) {
		int64_t now = n - i < PIECE ? n - i : PIECE;
		vec_from_bf16(half + i, some, now);
		cpu_unary_f32(kind, args, some, 1, some, now);
		vec_to_bf16(some, half + i, now);
	}
}
