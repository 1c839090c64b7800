/* cl_lower.c - from a decoded operator to kernel launches, by the functions of cl_operators.h; those of views. */
#include "device/opencl/cl_lowering.h"

int cl_lower_view(struct cl_lowering *p)
{
	int64_t bytes = tensor_bytes(&p->out[0]);
	if (bytes < 0 || bytes != tensor_bytes(&p->in[0]))
		return cl_lower_refuse(p, "sizes of a view differ");
	struct cl_launch *l = cl_lower_launch(p, K_copy);
	cl_lower_buf(l, REF_IN, 0);
	cl_lower_buf(l, REF_OUT, 0);
	l->copy_bytes = cl_bytes(p, &p->out[0]);
	return 0;
}

int cl_lower_shape_of(struct cl_lowering *p)
{
	struct cl_launch *l = cl_lower_launch(p, K_copy);
	cl_lower_buf(l, REF_SHAPE, 0);
	cl_lower_buf(l, REF_OUT, 0);
	l->copy_bytes = cl_bytes(p, &p->out[0]);
	return 0;
}

/* Kernels count elements in 32 bits. */
static bool sizes_fit(struct cl_lowering *p, const struct tensor *t, int n)
{
	for (int i = 0; i < n; i++) {
		int64_t n_elements = tensor_elements(&t[i]);
		if (t[i].elem == EL_DYNAMIC)
			continue;
		if (n_elements < 0)
			return cl_lower_refuse(p, "shapes must be static on an OpenCL device"),
			       false;
		if (n_elements >= INT32_MAX - (1 << 20))
			return cl_lower_refuse(
				       p, "a tensor of %lld elements is too large for the kernels",
				       (long long)n_elements),
			       false;
		if (cl_code(p, t[i].elem) < 0)
			return cl_lower_refuse(p, "element type %s is not supported",
					       elem_name(t[i].elem)),
			       false;
	}
	return true;
}

int cl_lower(struct cl_lowering *p)
{
	static int (*const lower[OP_COUNT])(struct cl_lowering *) = {
#define ROW(kind, fn, ...) [OP_##kind] = cl_lower_##fn,
		CL_OPERATORS(ROW)
#undef ROW
	};
	bool empty = true;
	if (p->op->kind == OP_UNKNOWN)
		return cl_lower_refuse(p, "operator '%s' is not known", p->op->g->type[p->op->v]);
	if (!sizes_fit(p, p->in, p->op->n_in) || !sizes_fit(p, p->out, p->op->n_out))
		return -1;
	if (!lower[p->op->kind])
		return cl_lower_refuse(p, "no OpenCL kernel for operator '%s'",
				       op_info(p->op->kind)->type);
	if (lower[p->op->kind](p))
		return -1;
	/* nothing to compute: no launches */
	for (int i = 0; i < p->op->n_out; i++)
		empty &= tensor_elements(&p->out[i]) == 0;
	if (empty)
		p->n = 0;
	return 0;
}
