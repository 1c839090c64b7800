/* cl_const.c - constants on an OpenCL device: each once in every form that kernels want it in. */
#include "device/opencl/cl_impl.h"

#include "op/value.h"

/* A constant on the device. */
struct cl_const {
	const struct tensor *tensor;
	struct cl_const_form form;
	cl_mem mem;
};

void cl_consts_release(struct cl_state *s)
{
	for (size_t i = 0; i < s->n_consts; i++)
		clReleaseMemObject(s->consts[i].mem);
	mem_free(s->consts);
}

static float value_f32(const struct tensor *t, int64_t i)
{
	return t->elem == EL_F16 ? half_to_float(((const uint16_t *)t->data)[i])
				 : ((const float *)t->data)[i];
}

/* All matrices of t into blocks of `step` rows, (blocks, k, step), padded with zeros; f32, f16 or bf16. */
static void *pack(const struct tensor *t, const struct cl_const_form *c, size_t *bytes)
{
	int64_t blocks = ((int64_t)c->count + c->step - 1) / c->step;
	int64_t matrix = (int64_t)c->count * c->k;
	int64_t n = matrix ? tensor_elements(t) / matrix : 0, packed = blocks * c->step * c->k;
	*bytes = (size_t)(n * packed) * (c->elem == EL_F32 ? sizeof(float) : sizeof(uint16_t));
	void *all = mem_try(*bytes ? *bytes : 4);
	float *dst = all;
	uint16_t *dst16 = all;
	struct tensor narrow = {.elem = c->elem, .rank = 1, .dim = {n * packed}, .data = all};
	int64_t to = 0;
	for (int64_t z = 0; all && z < n; z++)
		for (int64_t b = 0; b < blocks; b++)
			for (int64_t k = 0; k < c->k; k++)
				for (int64_t i = b * c->step; i < (b + 1) * c->step; i++) {
					int64_t at = z * matrix + i * c->s_count + k * c->s_k;
					bool in = i < c->count;
					if (c->elem == EL_F32)
						dst[to++] = in ? value_f32(t, at) : 0.0f;
					else if (c->elem == EL_BF16)
						dst16[to++] =
							in ? bf16_from_float(value_f32(t, at)) : 0;
					else if (t->elem == EL_F32)
						tensor_set_real(&narrow, to++,
								in ? value_f32(t, at) : 0.0);
					else
						dst16[to++] =
							in ? ((const uint16_t *)t->data)[at] : 0;
				}
	return all;
}

/* t as it is in the device's memory: f32 or f16. */
static void *change_type(const struct tensor *t, enum elem to, size_t *bytes)
{
	struct tensor all = *t;
	int64_t n = tensor_elements(t);
	all.elem = to;
	*bytes = (size_t)tensor_bytes(&all);
	all.data = mem_try(*bytes ? *bytes : 4);
	for (int64_t i = 0; all.data && i < n; i++)
		if (to == EL_F32)
			((float *)all.data)[i] = value_f32(t, i);
		else
			tensor_set_real(&all, i, value_f32(t, i));
	return all.data;
}

int cl_const_make(struct cl_state *s, const struct tensor *t, const struct cl_const_form *want,
		  bool f32, cl_mem *out, struct err *e)
{
	struct cl_const_form form = *want;
	size_t bytes = (size_t)tensor_bytes(t);
	void *changed = NULL;
	enum elem to = s->half ? EL_F16 : EL_F32;
	bool change = form.step || (f32 && t->elem != to);
	if (s->half)
		form.elem = EL_F16;
	if (change)
		changed = form.step ? pack(t, &form, &bytes) : change_type(t, to, &bytes);
	if (change && !changed)
		return err_set(e, ST_RUNTIME, "out of memory: %zu bytes for a packed constant",
			       bytes);
	int rc = cl_memory_constant(s, change ? changed : t->data, bytes, out, e);
	mem_free(changed);
	return rc;
}

int cl_const_get(struct cl_state *s, const struct tensor *t, const struct cl_const_form *want,
		 bool f32, cl_mem *out, struct err *e)
{
	for (size_t i = 0; i < s->n_consts; i++) {
		const struct cl_const_form *c = &s->consts[i].form;
		if (s->consts[i].tensor == t && c->step == want->step && c->count == want->count &&
		    c->k == want->k && c->s_count == want->s_count && c->s_k == want->s_k) {
			*out = s->consts[i].mem;
			return 0;
		}
	}
	if (cl_const_make(s, t, want, f32, out, e))
		return -1;
	s->consts = mem_grow(s->consts, &s->cap_consts, s->n_consts + 1, sizeof *s->consts);
	s->consts[s->n_consts++] = (struct cl_const){t, *want, *out};
	return 0;
}
