/* host_memory.h - device memory that is the host's: what device classes whose steps read and write
 * host memory have in their tables as alloc, view, wrap, release and host (device.h). */
#ifndef HSDAG_DEVICE_HOST_MEMORY_H
#define HSDAG_DEVICE_HOST_MEMORY_H

#include "device/device.h"
#include "kernel/nhwc/mem_form.h"

struct devmem {
	void *p;
	bool owned;           /* mem_free by release */
	bool private;         /* device_class.keep was called: form may be another than plain */
	struct mem_form form; /* of what lies there now; set by whoever writes it */
};

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
