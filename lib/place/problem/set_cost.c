/* set_cost.c - what a set costs on a device, from FLOPs and bytes. */
#include <math.h>

#include "op/op.h"
#include "place/problem/placemodel.h"

/* Nodes that take no time when the model runs. */
static bool node_is_free(const struct graph *g, uint32_t v)
{
	enum op_category c = op_info(g->kind[v])->category;

	return c == OPC_SOURCE || c == OPC_SINK || c == OPC_VIEW;
}

static double node_s(const struct graph *g, uint32_t v, const struct device_spec *d)
{
	double compute = (double)op_flops(g, v) / d->flops_per_s;
	double memory = (double)op_bytes(g, v) / d->bytes_per_s;

	return d->overhead_s + fmax(compute, memory);
}

int place_spec_costs(const struct graph *g, const struct spec *s, const char *const *names,
		     uint32_t k, double *set_s, struct err *e)
{
	bool *constant = MEM_NEWN(bool, g->n);

	for (size_t i = 0; i < (size_t)g->n_sets * k; i++)
		set_s[i] = 0;
	op_constant_nodes(g, constant);
	for (uint32_t dev = 0; dev < k; dev++) {
		const struct device_spec *d = spec_find(s, names[dev]);

		if (!d) {
			mem_free(constant);
			return err_set(e, ST_USAGE,
				       "device '%s' is not in the specification; "
				       "--spec names one that has it",
				       names[dev]);
		}
		for (uint32_t v = 0; v < g->n; v++)
			if (!constant[v] && g->set[v] != GRAPH_NONE && !node_is_free(g, v))
				set_s[(size_t)g->set[v] * k + dev] += node_s(g, v, d);
	}
	mem_free(constant);
	return 0;
}
