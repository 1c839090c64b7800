/* set_cost.c - what a set costs on a device, from FLOPs and bytes. */
#include "op/op.h"
#include "place/problem/placemodel.h"

/* Nodes that take no time when the model runs. */
static bool node_is_free(const struct graph *g, uint32_t v)
{
	enum op_category c = op_info(g->kind[v])->category;

	return c == OPC_SOURCE || c == OPC_SINK || c == OPC_VIEW;
}

/* Slices and joins that dagsplit added, where they are one piece of memory: a device sends a range of what it has, and
 * what comes is written where it belongs. */
static bool is_one_piece(const struct graph *g, uint32_t v)
{
	const uint32_t in = g->out_ptr[v];
	if (!g->part || g->part[v] == GRAPH_NONE || g->part_of[v] != GRAPH_NONE ||
	    (g->kind[v] != OP_CONCAT && g->kind[v] != OP_SLICE))
		return false;
	/* Which axis that is follows from the shapes: in front of it there are only ones. */
	uint32_t o = graph_slot_output(g, g->in_ptr[v]), rank = g->out_rank[in], i = 0;
	if (rank == RANK_DYNAMIC || g->out_rank[o] != rank)
		return false;
	while (i < rank && g->dim[g->dim_ptr[in] + i] == 1 && g->dim[g->dim_ptr[o] + i] == 1)
		i++;
	for (i++; i < rank; i++)
		if (g->dim[g->dim_ptr[in] + i] != g->dim[g->dim_ptr[o] + i])
			return false;
	return true;
}

int place_spec_node_costs(const struct graph *g, const struct spec *s, const char *const *names,
			  uint32_t k, double *work_s, struct err *e)
{
	bool *constant = MEM_NEWN(bool, g->n);
	int rc = 0;

	op_constant_nodes(g, constant);
	for (uint32_t dev = 0; dev < k && rc == 0; dev++) {
		const struct device_spec *d = spec_find(s, names[dev]);

		if (!d)
			rc = err_set(e, ST_USAGE,
				     "device '%s' is not in the specification; "
				     "--spec names one that has it",
				     names[dev]);
		for (uint32_t v = 0; d && v < g->n; v++) {
			bool runs = !constant[v] && g->set[v] != GRAPH_NONE &&
				    !node_is_free(g, v) && !is_one_piece(g, v) &&
				    !graph_joins_result(g, v);

			work_s[(size_t)v * k + dev] =
				runs ? spec_roofline_s(d, (double)op_flops(g, v),
						       (double)op_bytes_on(g, v, d->keeps))
				     : 0;
		}
	}
	mem_free(constant);
	return rc;
}

int place_spec_costs(const struct graph *g, const struct spec *s, const char *const *names,
		     uint32_t k, double *set_s, struct err *e)
{
	double *work_s = MEM_NEWN(double, (size_t)g->n *k);
	int rc = place_spec_node_costs(g, s, names, k, work_s, e);

	for (size_t i = 0; i < (size_t)g->n_sets * k; i++)
		set_s[i] = 0;
	for (size_t i = 0; i < (size_t)g->n * k && rc == 0; i++)
		if (g->set[i / k] != GRAPH_NONE)
			set_s[(size_t)g->set[i / k] * k + i % k] += work_s[i];
	mem_free(work_s);
	return rc;
}
