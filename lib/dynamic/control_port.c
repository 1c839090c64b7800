/* control_port.c - what ports of operators with bodies carry. */
#include "dynamic/control_impl.h"

#include <string.h>

bool control_carries(const struct graph_body *b, uint32_t parameter)
{
	for (uint32_t i = 0; i < b->n_back; i++)
		if (b->back_to[i] == parameter)
			return true;
	return false;
}

int control_copy_out(const struct dynop_allocator *to, uint32_t i, const struct tensor *t,
		     struct tensor *out, struct err *e)
{
	out[i] = *t;
	if (to->alloc(to->arg, i, &out[i], e) < 0)
		return -1;
	int64_t bytes = tensor_bytes(t);
	if (bytes > 0)
		memcpy(out[i].data, t->data, (size_t)bytes);
	return 0;
}
