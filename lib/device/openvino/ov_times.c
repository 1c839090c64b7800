/* ov_times.c - what each node of a segment takes, as OpenVINO's counters have it.
 *
 * A plugin's nodes are not the model's: most have the name of one that they were made from, and those
 * that others have taken in, as activations, have no time.  What the plugin has added, as changes
 * of layout, has names that the model does not have; its time is everybody's.
 *
 * A product that takes in the bias behind it has the bias's name, not its own.  The plugin's graph lists all names
 * (originalLayersNames), but the C interface has no way to that list (2026.4).  So a product or
 * convolution without a time is looked for in what reads it, and takes its share of that one's, by operations.
 *
 * What a plugin writes anew has drawn names: two LSTMSequence of one direction for one of both.  Products and recurrent
 * cells that are called so have the time of the model's nodes of that type that have none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/openvino/ov_impl.h"
#include "op/op.h"

struct named {
	const char *name;
	uint32_t node; /* of the step */
};

static int by_name(const void *pa, const void *pb)
{
	return strcmp(((const struct named *)pa)->name, ((const struct named *)pb)->name);
}

static double *find(const struct named *list, uint32_t n, const char *name, double *node_s)
{
	struct named key = {.name = name};
	const struct named *x = bsearch(&key, list, n, sizeof *list, by_name);
	return x ? &node_s[x->node] : NULL;
}

/* Operators that plugins give the name of something smaller behind them. */
static bool is_product(const struct step_node *n)
{
	enum op_category c = op_info(n->graph->kind[n->v])->category;
	return c == OPC_MATMUL || c == OPC_CONV || c == OPC_RECURRENT;
}

/* Products have their share of what they are part of.  reader[i]: the first node that reads i, n_nodes: none. */
static void share_with_products(const struct step_spec *s, double *node_s)
{
	uint32_t n = s->n_nodes, *reader = MEM_NEWN(uint32_t, (size_t)n + 1);
	uint32_t *part_of = MEM_NEWN(uint32_t, (size_t)n + 1);
	double *flops = MEM_NEWN(double, (size_t)n + 1), *sum = MEM_NEWN(double, (size_t)n + 1);
	for (uint32_t i = 0; i < n; i++) {
		reader[i] = n;
		flops[i] = (double)op_flops(s->node[i].graph, s->node[i].v);
	}
	for (uint32_t i = n; i-- > 0;)
		for (uint32_t k = 0; k < s->node[i].n_in; k++)
			if (s->node[i].in[k].from == FROM_NODE)
				reader[s->node[i].in[k].index] = i;
	/* Readers come later: what they are part of is known. */
	for (uint32_t i = n; i-- > 0;) {
		bool by_itself = node_s[i] > 0 || reader[i] == n;
		part_of[i] = by_itself ? i : part_of[reader[i]];
		if (part_of[i] != i && node_s[part_of[i]] > 0 && is_product(&s->node[i]))
			sum[part_of[i]] += flops[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t whole = part_of[i];
		if (whole == i || sum[whole] == 0 || !is_product(&s->node[i]))
			continue;
		/* Products come before what they are part of, whose time is still whole. */
		node_s[i] = node_s[whole] * flops[i] / (sum[whole] + flops[whole]);
	}
	for (uint32_t i = 0; i < n; i++)
		if (sum[i] > 0)
			node_s[i] *= flops[i] / (sum[i] + flops[i]);
	mem_free(reader);
	mem_free(part_of);
	mem_free(flops);
	mem_free(sum);
}

/* Time of a node with a drawn name, to those of its type that no name in the list tells of, by operations; false: there are none.
 * named (n_nodes): the others. */
static bool give_to_type(const struct step_spec *s, const char *type, double seconds,
			 const bool *named, double *node_s)
{
	double *flops = MEM_NEWN(double, (size_t)s->n_nodes + 1), sum = 0;
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		const struct step_node *n = &s->node[i];
		if (named[i] || !is_product(n) ||
		    strcmp(op_info(n->graph->kind[n->v])->type, type) != 0)
			continue;
		flops[i] = (double)op_flops(n->graph, n->v);
		sum += flops[i];
	}
	for (uint32_t i = 0; i < s->n_nodes && sum > 0; i++)
		node_s[i] += seconds * flops[i] / sum;
	mem_free(flops);
	return sum > 0;
}

int ov_times_read(const struct ov_state *s, const ov_infer_request *request,
		  const struct step_spec *spec, double *counted_s, struct err *e)
{
	/* Times are cut off to whole microseconds: what ran took half of one more in the mean. */
	static const double CUT_S = 0.5e-6;
	enum { EXECUTED = 2 };
	ov_node_times t = {0};
	uint32_t n = spec->n_nodes;
	ov_status rc = s->ov->ov_infer_request_get_profiling_info(request, &t);
	if (rc != 0)
		return ov_api_error(s->ov, rc, e, "OpenVINO does not tell what nodes take");
	struct named *list = MEM_NEWN(struct named, (size_t)n + 1);
	bool *named = MEM_NEWN(bool, (size_t)n + 1);
	for (uint32_t i = 0; i < n; i++)
		list[i] = (struct named){spec->node[i].graph->node_name[spec->node[i].v], i};
	qsort(list, n, sizeof *list, by_name);
	memset(counted_s, 0, ((size_t)n + 1) * sizeof *counted_s);
	for (size_t i = 0; i < t.size; i++) {
		double *to = find(list, n, t.node[i].node_name, counted_s);
		if (to && t.node[i].status == EXECUTED) {
			*to += (double)t.node[i].real_time * 1e-6 + CUT_S;
			named[to - counted_s] = true;
		}
	}
	for (size_t i = 0; i < t.size; i++) {
		double one_s = (double)t.node[i].real_time * 1e-6 + CUT_S;
		if (t.node[i].status == EXECUTED &&
		    !find(list, n, t.node[i].node_name, counted_s) &&
		    !give_to_type(spec, t.node[i].node_type, one_s, named, counted_s))
			counted_s[n] += one_s;
	}
	mem_free(named);
	mem_free(list);
	s->ov->ov_profiling_info_list_free(&t);
	return 0;
}

/* Of all but the first of n inferences. */
static double but_first(double mean_s, double first_s, int n)
{
	return fmax(0, (n * mean_s - first_s) / (n - 1));
}

int ov_times_share(const struct step_spec *spec, const double *counted_s, const double *first_s,
		   int n, double *node_s, struct err *e)
{
	uint32_t n_nodes = spec->n_nodes;
	double known = 0, added = but_first(counted_s[n_nodes], first_s[n_nodes], n);
	for (uint32_t i = 0; i < n_nodes; i++) {
		node_s[i] = but_first(counted_s[i], first_s[i], n);
		known += node_s[i];
	}
	if (!(known > 0))
		return err_set(e, ST_RUNTIME, "OpenVINO does not tell what nodes take");
	for (uint32_t i = 0; i < n_nodes; i++)
		node_s[i] *= 1 + added / known;
	share_with_products(spec, node_s);
	return 0;
}
