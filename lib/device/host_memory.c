/* host_memory.c - see host_memory.h. */
#include "device/host_memory.h"
#include "base/mem.h"

static struct devmem *new_mem(void *p, bool owned)
{
	struct devmem *m = MEM_NEW(struct devmem);
	*m = (struct devmem){.p = p, .owned = owned, .form = {.elem = EL_F32}};
	return m;
}

int host_memory_alloc(struct device *d, size_t bytes, struct devmem **out, struct err *e)
{
	void *p = mem_try(bytes ? bytes : 1);
	(void)d;
	if (!p)
		return err_set(e, ST_RUNTIME, "no memory for %zu bytes", bytes);
	*out = new_mem(p, true);
	return 0;
}

int host_memory_view(struct device *d, struct devmem *base, size_t offset, size_t bytes,
		     struct devmem **out, struct err *e)
{
	(void)d, (void)bytes, (void)e;
	*out = new_mem((char *)base->p + offset, false);
	return 0;
}

int host_memory_wrap(struct device *d, void *host, size_t bytes, struct devmem **out, struct err *e)
{
	(void)d, (void)bytes, (void)e;
	*out = new_mem(host, false);
	return 0;
}

void host_memory_release(struct device *d, struct devmem *m)
{
	(void)d;
	if (m->owned)
		mem_free(m->p);
	mem_free(m);
}

void host_memory_keep(struct device *d, struct devmem *m)
{
	(void)d;
	m->private = true;
}

void *host_memory_address(struct device *d, struct devmem *m)
{
	(void)d;
	return m->p;
}
