/* host_memory.h - device memory that is the host's: what device classes whose steps read and write
 * host memory have in their tables as alloc, view, wrap, release and host (device.h). */
#ifndef HSDAG_DEVICE_HOST_MEMORY_H
#define HSDAG_DEVICE_HOST_MEMORY_H

#include "device/device.h"

/* How the elements of an f32 tensor lie in memory. */
struct mem_form {
	/* EL_F32; EL_U8, EL_I8: codes, the value is (code - zero) * scale; EL_BF16: with scale 1 */
	enum elem elem;
	float scale;
	/* Of codes: what FakeQuantize multiplies by and adds before it rounds and, with a sign, takes 128 off. */
	float by, shift;
	/* Channels (dim 1) behind the other dims, images outermost; else row-major, of codes EL_U8 alone and only where products
	 * of matrices read them. */
	bool pixels;
	/* Of codes with a scale for each channel: (3,n_scales), what stands there in place of scale, by and shift; whoever
	 * writes the tensor owns them.  NULL: none.  Zero is the code nearest to what is added. */
	const float *scales;
	int64_t n_scales;
	/* Of codes without a sign and with one scale; else 0.  A whole number in pixels. */
	float zero;
};

struct devmem {
	void *p;
	bool owned;           /* mem_free by release */
	bool private;         /* device_class.keep was called: form may be another than plain */
	struct mem_form form; /* of what lies there now; set by whoever writes it */
};

static inline bool form_is_plain(const struct mem_form *f)
{
	return f->elem == EL_F32 && !f->pixels;
}

int host_memory_alloc(struct device *d, size_t bytes, struct devmem **out, struct err *e);
int host_memory_view(struct device *d, struct devmem *base, size_t offset, size_t bytes,
		     struct devmem **out, struct err *e);
/* As device_class.keep. */
void host_memory_keep(struct device *d, struct devmem *m);
int host_memory_wrap(struct device *d, void *host, size_t bytes, struct devmem **out,
		     struct err *e);
void host_memory_release(struct device *d, struct devmem *m);
void *host_memory_address(struct device *d, struct devmem *m);

#endif
