/* jsonproblem_dnnpart.c - instances of dnn-partitioning (Tarnawski et al., "Efficient algorithms
 * for device placement of DNN graph operators", NeurIPS 2020), whose times are in ms.
 *
 * Devices are cpu:0 .. (type cpu) and acc:0 .. (type accelerator).  The format says what a node's
 * output costs between an accelerator and DRAM, not its bytes: that time becomes move_s, which the
 * dnnpart models of devsim use.  For all else outputs get as many bytes as a link of
 * LINK_BYTES_PER_S moves in it; two accelerators exchange through DRAM, at half of that. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "place/problem/jsonproblem_keys.h"

static const double LINK_BYTES_PER_S = 16e9, SAME_BYTES_PER_S = 1e18, MS = 1e-3;
static const double SAME_COST_MS = 1e-6; /* how far costs of one source may differ */

static int read_devices(const struct val *json, struct arena *a, struct json_problem *p,
			uint32_t *n_cpus, struct err *e)
{
	struct devs *d = &p->devs;
	uint64_t cpus, accs, limit = 0;

	if (get_uint(json, "maxCPUs", 0, DEVS_MAX, &cpus, e) < 0 ||
	    get_uint(json, "maxFPGAs", 0, DEVS_MAX, &accs, e) < 0 ||
	    json_problem_limit(json, "maxSizePerFPGA", &limit, e) < 0)
		return -1;
	if (cpus + accs == 0 || cpus + accs > DEVS_MAX)
		return err_set(e, ST_INPUT,
			       "maxCPUs and maxFPGAs: %" PRIu64 " devices, not 1 to %d",
			       cpus + accs, DEVS_MAX);
	d->k = (uint32_t)(cpus + accs);
	d->names = ARENA_NEWN(a, const char *, d->k);
	d->types = ARENA_NEWN(a, const char *, d->k);
	d->mem_bytes = ARENA_NEWN(a, uint64_t, d->k);
	d->link = ARENA_NEWN(a, struct dev_link, (size_t)d->k * d->k);
	*n_cpus = (uint32_t)cpus;
	for (uint32_t i = 0; i < d->k; i++) {
		bool cpu = i < cpus;

		d->names[i] = arena_printf(a, "%s:%u", cpu ? "cpu" : "acc", cpu ? i : i - *n_cpus);
		d->types[i] = cpu ? "cpu" : "accelerator";
		d->mem_bytes[i] = cpu ? 0 : limit;
	}
	for (uint32_t i = 0; i < d->k; i++)
		for (uint32_t j = 0; j < d->k; j++) {
			int ends = (i >= cpus) + (j >= cpus);

			if (i != j)
				d->link[d->n_links++] = (struct dev_link){
					.src = i,
					.dst = j,
					.bytes_per_s =
						ends ? LINK_BYTES_PER_S / ends : SAME_BYTES_PER_S};
		}
	return 0;
}

/* A bool, or 0 or 1; absent: *out is left alone. */
static int read_flag(const struct val *map, const char *key, bool *out, struct err *e)
{
	const struct val *v = val_get(map, key);
	uint64_t x;

	if (!v || val_bool(v, out))
		return 0;
	if (!val_uint(v, &x) || x > 1)
		return err_set(e, ST_INPUT, "key '%s' is neither a bool nor 0 or 1", key);
	*out = x;
	return 0;
}

static int read_node(const struct val *node, uint32_t v, uint32_t n_cpus, struct arena *a,
		     struct id_table *ids, struct json_problem *p, struct err *e)
{
	double *row = p->cost_s + (size_t)v * p->devs.k, cpu_ms, acc_ms;
	bool is_new, supported = true, backward = false;

	if (get_int(node, "id", INT64_MIN, INT64_MAX, &p->id[v], e) < 0 ||
	    json_problem_number(node, "cpuLatency", true, &cpu_ms, e) < 0 ||
	    json_problem_number(node, "fpgaLatency", true, &acc_ms, e) < 0 ||
	    json_problem_bytes(node, "size", &p->mem_bytes[v], e) < 0 ||
	    read_flag(node, "supportedOnFpga", &supported, e) < 0 ||
	    read_flag(node, "isBackwardNode", &backward, e) < 0)
		return -1;
	id_table_add(ids, val_get(node, "id"), &is_new);
	if (!is_new)
		return err_set(e, ST_INPUT, "id %" PRId64 " was there before", p->id[v]);
	p->node_name[v] = arena_printf(a, "%" PRId64, p->id[v]);
	p->type[v] = backward ? "Backward" : "Forward";
	if (json_problem_text(node, "name", a, &p->node_name[v], e) < 0)
		return -1;
	for (uint32_t i = 0; i < p->devs.k; i++)
		row[i] = i < n_cpus ? cpu_ms * MS : supported ? acc_ms * MS : -1;
	return 0;
}

static int read_nodes(const struct val *json, uint32_t n_cpus, struct arena *a,
		      struct id_table *ids, struct json_problem *p, struct err *e)
{
	struct id_table *colours = id_table_new(a);
	const struct val *list;
	uint32_t n, n_together = 0;
	int rc = json_problem_list(json, "nodes", &list, &n, e);

	if (rc == 0) {
		json_problem_alloc(p, n, a);
		p->together = ARENA_NEWN(a, uint32_t, n);
		p->move_s = ARENA_NEWN(a, double, n);
	}
	for (uint32_t v = 0; rc == 0 && v < n; v++) {
		const struct val *colour = val_get(val_at(list, v), "colorClass");
		bool is_new = true;

		p->together[v] = n + v;
		if (colour && val_type(colour) != VAL_NIL)
			p->together[v] = id_table_add(colours, colour, &is_new);
		n_together += !is_new;
		rc = read_node(val_at(list, v), v, n_cpus, a, ids, p, e);
		if (rc < 0)
			err_prefix(e, "nodes[%u]", v);
	}
	if (rc == 0 && n_together == 0)
		p->together = NULL;
	id_table_free(colours);
	return rc;
}

static int read_edge(const struct val *map, struct id_table *ids, struct json_problem *p,
		     bool *seen, struct json_problem_edge *x, struct err *e)
{
	double cost_ms;

	x->src = id_table_find(ids, val_get(map, "sourceId"));
	x->dst = id_table_find(ids, val_get(map, "destId"));
	if (x->src == UINT32_MAX || x->dst == UINT32_MAX)
		return err_set(e, ST_INPUT, "'%s' is not the id of a node",
			       x->src == UINT32_MAX ? "sourceId" : "destId");
	if (json_problem_number(map, "cost", true, &cost_ms, e) < 0)
		return -1;
	if (cost_ms > 1e12)
		return err_set(e, ST_INPUT, "key 'cost' is more than 1e12 ms");
	if (seen[x->src] && fabs(p->move_s[x->src] - cost_ms * MS) > SAME_COST_MS * MS)
		return err_set(e, ST_INPUT,
			       "the cost differs from that of an earlier edge of node %" PRId64,
			       p->id[x->src]);
	if (!seen[x->src])
		p->move_s[x->src] = cost_ms * MS;
	seen[x->src] = true;
	p->out_bytes[x->src] = (uint64_t)(p->move_s[x->src] * LINK_BYTES_PER_S + 0.5);
	x->bytes = p->out_bytes[x->src];
	return 0;
}

int json_problem_read_dnnpart(const struct val *json, struct arena *a, struct json_problem *p,
			      struct err *e)
{
	struct id_table *ids = id_table_new(a);
	const struct val *list;
	uint32_t n_cpus = 0;
	int rc = 0;

	*p = (struct json_problem){.name = "", .contention = true, .overlap = true};
	if (json_problem_text(json, "name", a, &p->name, e) < 0 ||
	    read_devices(json, a, p, &n_cpus, e) < 0 ||
	    read_nodes(json, n_cpus, a, ids, p, e) < 0 ||
	    json_problem_list(json, "edges", &list, &p->n_edges, e) < 0)
		rc = -1;
	if (rc == 0) {
		bool *seen = ARENA_NEWN(a, bool, p->n);

		p->edge = ARENA_NEWN(a, struct json_problem_edge, p->n_edges);
		for (uint32_t i = 0; rc == 0 && i < p->n_edges; i++)
			if (read_edge(val_at(list, i), ids, p, seen, &p->edge[i], e) < 0)
				rc = err_prefix(e, "edges[%u]", i);
	}
	id_table_free(ids);
	return rc;
}
