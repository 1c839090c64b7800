/* test_ov_times.c - what a plugin has counted becomes times of a step's nodes; the plugin is made up. */
#include "device/openvino/ov_impl.h"
#include "graphgen.h"
#include "tap.h"

#include <math.h>

/* Two nodes, one of which the plugin has taken in, and a change of layout. */
static ov_node_time counted[] = {{2, 10, 10, "a", "", "Convolution"},
				 {0, 7, 7, "b", "", "Relu"},
				 {2, 0, 0, "c", "", "Softmax"},
				 {2, 4, 4, "a_abcd_acdb_b", "", "Reorder"}};

static ov_status get_info(const ov_infer_request *request, ov_node_times *t)
{
	(void)request;
	*t = (ov_node_times){counted, sizeof counted / sizeof *counted};
	return 0;
}

static void free_info(ov_node_times *t)
{
	(void)t;
}

static bool is(double s, double us)
{
	return fabs(s * 1e6 - us) < 1e-6;
}

int main(void)
{
	static const char *const names[] = {"a", "b", "c"};
	const struct ov_api api = {.ov_infer_request_get_profiling_info = get_info,
				   .ov_profiling_info_list_free = free_info};
	const struct ov_state s = {.ov = &api};
	struct graph *g = gen_tensors(3, 0);
	struct step_node node[3] = {{0}};
	struct err e = ERR_INIT;
	double t[4], first[4] = {40e-6, 0, 90e-6, 1e-6}, all[4] = {20e-6, 0, 10e-6, 6e-6}, out[3];
	graph_finish(g);
	for (uint32_t v = 0; v < 3; v++) {
		g->node_name[v] = names[v];
		node[v].graph = g;
		node[v].v = v;
	}
	const struct step_spec spec = {.n_nodes = 3, .node = node};
	tap(ov_times_read(&s, NULL, &spec, t, &e) == 0 && is(t[0], 10.5) && is(t[1], 0) &&
		    is(t[2], 0.5) && is(t[3], 4.5),
	    "what ran has half a microsecond more, and what the plugin added is told apart");
	/* Of five without the first: 16, 0, less than nothing, 7. */
	tap(ov_times_share(&spec, all, first, 6, out, &e) == 0 && is(out[0], 23) && is(out[1], 0) &&
		    is(out[2], 0),
	    "the first inference does not count, and what was added is everybody's");
	for (uint32_t i = 0; i < 4; i++)
		all[i] = first[i] = 0;
	tap(ov_times_share(&spec, all, first, 6, out, &e) < 0, "a plugin that tells nothing");
	err_clear(&e);
	graph_free(g);
	return tap_end();
}
