/* dynop_buffer.c - memory that only grows. */
#include "base/mem.h"
#include "dynamic/dynop.h"

int dynop_buffer_grow(struct dynop_buffer *b, int64_t need, struct err *e)
{
	size_t bytes = need > 0 ? (size_t)need : 1;
	if (need >= 0 && bytes <= b->cap)
		return 0;
	if (need < 0)
		return err_set(e, ST_INPUT, "a tensor of impossible size");
	mem_free(b->p);
	*b = (struct dynop_buffer){0};
	if (!(b->p = mem_try(bytes)))
		return err_set(e, ST_RUNTIME,
			       "%zu bytes of memory needed; the machine has %llu left", bytes,
			       (unsigned long long)mem_available());
	b->cap = bytes;
	return 0;
}
