/* mem_form.h - how the elements of an f32 tensor lie in memory: row-major, or with channels last (NHWC), as f32, bf16 or
 * codes of 8 bits. */
#ifndef HSDAG_KERNEL_NHWC_MEM_FORM_H
#define HSDAG_KERNEL_NHWC_MEM_FORM_H

#include "op/value.h"

struct mem_form {
	/* EL_F32; EL_U8, EL_I8: codes, the value is (code - zero) * scale; EL_BF16: with scale 1 */
	enum elem elem;
	float scale;
	/* Of codes: what FakeQuantize multiplies by and adds before it rounds and, with a sign, takes 128 off. */
	float by, shift;
	/* Channels (dim 1) behind the other dims, images outermost; else row-major, of codes EL_U8 alone and only where products
	 * of matrices read them. */
	bool nhwc;
	/* Of codes with a scale for each channel: (3,n_scales), what stands there in place of scale, by and shift; whoever
	 * writes the tensor owns them.  NULL: none.  Zero is the code nearest to what is added. */
	const float *scales;
	int64_t n_scales;
	/* Of codes without a sign and with one scale, the zero-point; else 0.  A whole number in NHWC. */
	float zero;
};

static inline bool form_is_plain(const struct mem_form *f)
{
	return f->elem == EL_F32 && !f->nhwc;
}

/* A tensor where it lies. */
struct nhwc_tensor {
	void *data;
	struct mem_form form;
};

#endif
