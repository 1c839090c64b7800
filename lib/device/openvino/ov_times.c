/* ov_times.c - what each node of a segment takes, as OpenVINO's counters have it.
 *
 * A plugin's nodes are not the model's: most have the name of one that they were made from, and those
 * that others have taken in, as activations, have no time.  What the plugin has added, as changes
 * of layout, has names that the model does not have; its time is everybody's. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/openvino/ov_impl.h"

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

int ov_times_read(const struct ov_state *s, const ov_infer_request *request,
		  const struct step_spec *spec, double *node_s, struct err *e)
{
	ov_node_times t = {0};
	ov_status rc = s->ov->ov_infer_request_get_profiling_info(request, &t);
	if (rc != 0)
		return ov_api_error(s->ov, rc, e, "OpenVINO does not tell what nodes take");
	struct named *list = MEM_NEWN(struct named, (size_t)spec->n_nodes + 1);
	double known = 0, all = 0;
	for (uint32_t i = 0; i < spec->n_nodes; i++) {
		const struct step_node *n = &spec->node[i];
		list[i] = (struct named){n->graph->node_name[n->v], i};
		node_s[i] = 0;
	}
	qsort(list, spec->n_nodes, sizeof *list, by_name);
	for (size_t i = 0; i < t.size; i++) {
		double seconds = t.node[i].status == 0 ? 0 : (double)t.node[i].real_time * 1e-6;
		double *to = find(list, spec->n_nodes, t.node[i].node_name, node_s);
		all += seconds;
		known += to ? seconds : 0;
		if (to)
			*to += seconds;
	}
	for (uint32_t i = 0; i < spec->n_nodes && known > 0; i++)
		node_s[i] *= all / known;
	mem_free(list);
	s->ov->ov_profiling_info_list_free(&t);
	return known > 0 ? 0 : err_set(e, ST_RUNTIME, "OpenVINO does not tell what nodes take");
}
