/* adapt.c - the conversion of element types around kernels. */
#include "kernel/adapt.h"

enum elem cpu_native_elem(enum native n, enum elem t)
{
	if (n == NATIVE_ANY || t == EL_DYNAMIC || t == EL_F32)
		return t;
	if (n == NATIVE_MOVE)
		return elem_is_packed(t) ? EL_U8 : t;
	if (n == NATIVE_F32)
		return EL_F32;
	if (n == NATIVE_TEST && t == EL_BOOLEAN)
		return t;
	if (n == NATIVE_REAL)
		return elem_is_real(t) ? EL_F32 : t;
	switch (t) {
	/* clang-format off */
	case EL_F64: case EL_I32: case EL_I64: case EL_U64:
		return t;
	/* clang-format on */
	default: /* what is narrower */ return elem_is_real(t) ? EL_F32 : EL_I64;
	}
}

/* Axes and shapes are read through tensor_int by the kernels: only data inputs are converted. */
static bool is_data(const struct op *op, int i)
{
	return !(op_info(op->kind)->values >> i & 1);
}

/* Outputs that need conversion: MaxPool writes its indices in the type that they have. */
static int converted_outputs(const struct op *op)
{
	return op->kind == OP_MAX_POOL ? 1 : op->n_out;
}

static int64_t bytes_as(const struct tensor *t, enum elem as)
{
	return (tensor_elements(t) * (int64_t)cpu_elem_size(as) + 63) & ~(int64_t)63;
}

/* Arithmetic of i8 and u8 stays within the type's range, as in OpenVINO's CPU plugin; that of wider
 * integers wraps. */
static bool saturates(const struct op *op, enum elem to, enum elem from)
{
	enum op_category c = op_info(op->kind)->category;
	return (to == EL_I8 || to == EL_U8) && !elem_is_real(from) &&
	       !(op_info(op->kind)->flags & OPF_BITWISE) &&
	       (c == OPC_BINARY || c == OPC_REDUCE || c == OPC_UNARY);
}

/* n elements from src to dst as a kernel of this kind sees them, or back: codes stay codes where it only moves them. */
static void convert(enum native n, enum elem to, void *dst, const struct tensor *src)
{
	int64_t count = tensor_elements(src);
	if (n != NATIVE_MOVE) {
		cpu_convert(to, dst, src->elem, src->data, count);
		return;
	}
	struct tensor packed = elem_is_packed(to) ? (struct tensor){.elem = to, .data = dst} : *src;
	uint8_t *codes = packed.data == dst ? src->data : dst;
	for (int64_t i = 0; i < count; i++) {
		if (packed.data == dst)
			tensor_set_code(&packed, i, codes[i]);
		else
			codes[i] = (uint8_t)tensor_code(&packed, i);
	}
}

/* Scratch memory for whatever may be converted. */
static int64_t converted_bytes(const struct kernel *k, const struct kernel_call *call)
{
	int64_t bytes = 0;
	for (int i = 0; i < call->op->n_in; i++)
		bytes += is_data(call->op, i)
				 ? bytes_as(&call->in[i],
					    cpu_native_elem(k->native, call->in[i].elem))
				 : 0;
	for (int i = 0; i < converted_outputs(call->op); i++)
		bytes += bytes_as(&call->out[i], cpu_native_elem(k->native, call->out[i].elem));
	return bytes;
}

/* in: the inputs as the kernel sees them, converted into memory from p on.  Returns its end. */
static char *convert_inputs(const struct kernel *k, const struct kernel_call *call,
			    struct tensor *in, char *p)
{
	for (int i = 0; i < call->op->n_in; i++) {
		enum elem as = cpu_native_elem(k->native, call->in[i].elem);
		in[i] = call->in[i];
		if (as == in[i].elem || !is_data(call->op, i) || !in[i].data ||
		    cpu_prep_owns(call->prep, i))
			continue;
		convert(k->native, as, p, &in[i]);
		in[i].elem = as;
		in[i].data = p;
		p += bytes_as(&in[i], as);
	}
	return p;
}

/* out: the outputs as the kernel writes them; those of another type into memory from p on. */
static void redirect_outputs(const struct kernel *k, const struct kernel_call *call,
			     struct tensor *out, char *p)
{
	for (int i = 0; i < call->op->n_out; i++) {
		enum elem as = cpu_native_elem(k->native, call->out[i].elem);
		out[i] = call->out[i];
		if (as == out[i].elem || i >= converted_outputs(call->op))
			continue;
		out[i].elem = as;
		out[i].data = p;
		p += bytes_as(&out[i], as);
	}
}

/* What the kernel wrote to out, in the types of the call's outputs. */
static void convert_outputs(const struct kernel *k, const struct kernel_call *call,
			    const struct tensor *out)
{
	for (int i = 0; i < converted_outputs(call->op); i++) {
		const struct tensor *to = &call->out[i];
		int64_t n = tensor_elements(to);
		bool integer = !elem_is_real(to->elem) && to->elem != EL_BOOLEAN;
		if (integer && out[i].elem == EL_F32)
			cpu_convert_rounded(to->elem, to->data, out[i].data, n);
		else if (out[i].elem != to->elem && saturates(call->op, to->elem, out[i].elem))
			cpu_convert_saturated(to->elem, to->data, out[i].elem, out[i].data, n);
		else if (out[i].elem != to->elem)
			convert(k->native, to->elem, to->data, &out[i]);
	}
}

int cpu_run_adapted(const struct kernel *k, const struct kernel_call *call, struct err *e)
{
	const struct op *op = call->op;
	size_t tensors = (size_t)(op->n_in + op->n_out) * sizeof(struct tensor);
	char *p = cpu_slot_scratch(call->ctx, SLOT_CONVERT,
				   (size_t)converted_bytes(k, call) + tensors + 64);
	if (!p)
		return cpu_no_memory(e);
	struct tensor *in = (struct tensor *)(void *)p, *out = in + op->n_in;
	p = convert_inputs(k, call, in, p + (tensors + 63) / 64 * 64);
	redirect_outputs(k, call, out, p);
	struct kernel_call inner = {.op = op,
				    .prep = call->prep,
				    .in = in,
				    .out = out,
				    .ctx = call->ctx,
				    .actual = call->actual,
				    .post = call->post};
	if (k->run(&inner, e))
		return -1;
	convert_outputs(k, call, out);
	return 0;
}

bool cpu_adapts(const struct kernel *k, const struct kernel_call *c)
{
	if (k->native == NATIVE_ANY)
		return false;
	for (int i = 0; i < c->op->n_in; i++)
		if (is_data(c->op, i) && !cpu_prep_owns(c->prep, i) &&
		    cpu_native_elem(k->native, c->in[i].elem) != c->in[i].elem)
			return true;
	for (int i = 0; i < converted_outputs(c->op); i++)
		if (cpu_native_elem(k->native, c->out[i].elem) != c->out[i].elem)
			return true;
	return false;
}
