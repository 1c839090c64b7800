/* prep.c - what a kernel has prepared for a node, and what it asks of the graph. */
#include "kernel/kernel_impl.h"

void cpu_prep_free(struct cpu_prep *p)
{
	if (!p)
		return;
	cpu_pack_drop(p->pack);
	if (p->more_free)
		p->more_free(p->more);
	mem_free(p);
}

uint64_t cpu_prep_bytes(const struct cpu_prep *p)
{
	return p ? (p->pack ? p->pack->bytes : 0) + p->more_bytes : 0;
}

bool cpu_prep_owns(const struct cpu_prep *p, int i)
{
	return p && p->owns >> i & 1;
}

bool cpu_output_used(const struct op *op, int i)
{
	const struct graph *g = op->g;
	uint32_t o = g->out_ptr[op->v] + (uint32_t)i;
	const struct consumers *readers = &g->consumers;
	for (uint32_t k = readers->ptr[op->v]; k < readers->ptr[op->v + 1]; k++)
		if (graph_slot_output(g, readers->slot[k]) == o)
			return true;
	return false;
}
