/* jsonproblem_write.c - a problem into graph, devs and cost records. */
#include <stdlib.h>
#include <string.h>

#include "graph/rows.h"
#include "record/graphrec.h"
#include "place/problem/placeinputs.h"
#include "place/problem/jsonproblem.h"

/* ---- the order of nodes ---- */

/* order[i]: the file's row that is node i of the graph. */
static int topological(const struct json_problem *p, uint32_t *order, struct arena *a,
		       struct err *e)
{
	uint32_t *left = ARENA_NEWN(a, uint32_t, p->n);
	uint32_t *ptr = ARENA_NEWN(a, uint32_t, (size_t)p->n + 2);
	uint32_t *dst = ARENA_NEWN(a, uint32_t, p->n_edges);
	char name[200];

	if (p->n_edges)
		rows_sort(&p->edge->src, &p->edge->dst, sizeof(*p->edge), p->n_edges, p->n, ptr,
			  dst);
	uint32_t n = rows_lowest_first(p->n, ptr, dst, a, left, order);
	for (uint32_t v = 0; n < p->n && v < p->n; v++)
		if (left[v])
			return err_set(e, ST_INPUT,
				       "the edges form a circle; node '%s' is on one or behind it",
				       err_escape(name, sizeof(name), p->node_name[v],
						  strlen(p->node_name[v])));
	return 0;
}

/* ---- the graph ---- */

/* An edge with the new numbers of its ends. */
struct port {
	uint32_t src, dst, at; /* at: position in the file */
	uint32_t first;        /* that of the first edge of this source, size and tensor */
	uint64_t bytes;
	uint32_t tensor;
};

/* By source, then size and tensor; what is of one tensor in file order. */
static int by_size(const void *pa, const void *pb)
{
	const struct port *a = pa, *b = pb;

	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? -1 : 1;
	if (a->tensor != b->tensor)
		return a->tensor < b->tensor ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

/* By source, then tensor in file order. */
static int by_tensor(const void *pa, const void *pb)
{
	const struct port *a = pa, *b = pb;

	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

static void sort_ports(struct port *port, uint32_t n)
{
	if (n < 2)
		return;
	qsort(port, n, sizeof(*port), by_size);
	for (uint32_t i = 0; i < n; i++) {
		bool same = i && port[i].src == port[i - 1].src &&
			    port[i].bytes == port[i - 1].bytes &&
			    port[i].tensor == port[i - 1].tensor;

		port[i].first = same ? port[i - 1].first : port[i].at;
	}
	qsort(port, n, sizeof(*port), by_tensor);
}

/* Outputs: one for each size and tensor among a node's edges, by the first of these in the file; one of
 * out_bytes for a node without. */
static void fill_outputs(struct graph *g, const struct json_problem *p, const uint32_t *order,
			 const struct port *port, uint32_t *out_of)
{
	uint32_t n = 0, i = 0;

	g->out_ptr = ARENA_NEWN(g->arena, uint32_t, (size_t)g->n + 1);
	size_t room = (size_t)p->n_edges + g->n;
	g->out_elem = ARENA_NEWN(g->arena, uint8_t, room);
	g->out_rank = ARENA_NEWN(g->arena, uint8_t, room);
	g->out_names = ARENA_NEWN(g->arena, const char *, room);
	g->dim_ptr = ARENA_NEWN(g->arena, uint32_t, room + 1);
	g->dim = ARENA_NEWN(g->arena, int64_t, room);
	for (uint32_t v = 0; v < g->n; v++) {
		if (i == p->n_edges || port[i].src != v)
			g->dim[n++] = (int64_t)p->out_bytes[order[v]];
		for (uint32_t first = i; i < p->n_edges && port[i].src == v; i++) {
			if (i == first || port[i].first != port[i - 1].first)
				g->dim[n++] = (int64_t)port[i].bytes;
			out_of[port[i].at] = n - 1 - g->out_ptr[v];
		}
		g->out_ptr[v + 1] = n;
	}
	for (uint32_t o = 0; o < n; o++) {
		g->out_elem[o] = EL_U8;
		g->out_rank[o] = 1;
		g->out_names[o] = "";
		g->dim_ptr[o + 1] = o + 1;
	}
}

/* Inputs: one for each edge, in file order. */
static void fill_inputs(struct graph *g, const struct json_problem *p, const uint32_t *row_of,
			const uint32_t *out_of)
{
	g->in_ptr = ARENA_NEWN(g->arena, uint32_t, (size_t)g->n + 2);
	g->in_node = ARENA_NEWN(g->arena, uint32_t, p->n_edges);
	g->in_port = ARENA_NEWN(g->arena, uint32_t, p->n_edges);
	for (uint32_t i = 0; i < p->n_edges; i++)
		g->in_ptr[row_of[p->edge[i].dst] + 2]++;
	for (uint32_t v = 0; v < g->n; v++)
		g->in_ptr[v + 2] += g->in_ptr[v + 1];
	for (uint32_t i = 0; i < p->n_edges; i++) {
		uint32_t at = g->in_ptr[row_of[p->edge[i].dst] + 1]++;

		g->in_node[at] = row_of[p->edge[i].src];
		g->in_port[at] = out_of[i];
	}
}

static void fill_graph(struct graph *g, const struct json_problem *p, const uint32_t *order,
		       const uint32_t *row_of)
{
	struct port *port = ARENA_NEWN(g->arena, struct port, p->n_edges);
	uint32_t *out_of = ARENA_NEWN(g->arena, uint32_t, p->n_edges);

	g->name = p->name;
	g->n = g->n_sets = p->n;
	g->id = ARENA_NEWN(g->arena, int64_t, g->n);
	g->node_name = ARENA_NEWN(g->arena, const char *, g->n);
	g->type = ARENA_NEWN(g->arena, const char *, g->n);
	g->opset = ARENA_NEWN(g->arena, const char *, g->n);
	g->attr_ptr = ARENA_NEWN(g->arena, uint32_t, (size_t)g->n + 1);
	g->set = ARENA_NEWN(g->arena, uint32_t, g->n);
	for (uint32_t v = 0; v < g->n; v++) {
		g->id[v] = p->id[order[v]];
		g->node_name[v] = p->node_name[order[v]];
		g->type[v] = p->type[order[v]];
		g->opset[v] = "";
		g->set[v] = v;
	}
	for (uint32_t i = 0; i < p->n_edges; i++)
		port[i] = (struct port){.src = row_of[p->edge[i].src],
					.dst = row_of[p->edge[i].dst],
					.at = i,
					.first = i,
					.bytes = p->edge[i].bytes,
					.tensor = p->edge[i].tensor};
	sort_ports(port, p->n_edges);
	fill_outputs(g, p, order, port, out_of);
	fill_inputs(g, p, row_of, out_of);
	graph_finish(g);
}

/* ---- the records ---- */

static int write_devs(const struct json_problem *p, const uint32_t *order, const struct graph *g,
		      struct rec_writer *w, struct err *e)
{
	struct devs d = p->devs;

	d.graph = g->digest;
	d.n_sets = g->n;
	d.mask = ARENA_NEWN(g->arena, uint8_t, (size_t)g->n * d.k);
	d.links_told = true;
	if (p->together)
		d.together = ARENA_NEWN(g->arena, uint32_t, g->n);
	for (uint32_t v = 0; v < g->n; v++) {
		for (uint32_t i = 0; i < d.k; i++)
			d.mask[(size_t)v * d.k + i] = p->cost_s[(size_t)order[v] * d.k + i] >= 0;
		if (p->together)
			d.together[v] = p->together[order[v]];
	}
	return devs_encode(&d, w, e);
}

static int write_cost(const struct json_problem *p, const uint32_t *order, const struct graph *g,
		      struct rec_writer *w, struct err *e)
{
	uint32_t n = g->n, k = p->devs.k;
	double *set_s = ARENA_NEWN(g->arena, double, (size_t)n *k);
	double *move_s = p->move_s ? ARENA_NEWN(g->arena, double, n) : NULL;
	uint64_t *mem = ARENA_NEWN(g->arena, uint64_t, n);
	struct cost_rec x = {
		.graph = g->digest,
		.n_sets = n,
		.k = k,
		.names = p->devs.names,
		.set_s = set_s,
		.set_mem = mem,
		.move_s = move_s,
		.has_rules = true,
		.contention = p->contention,
		.overlap = p->overlap,
		.order = place_order_names[p->fifo ? PLACE_ORDER_FIFO : PLACE_ORDER_RANK]};

	for (uint32_t v = 0; v < n; v++) {
		memcpy(set_s + (size_t)v * k, p->cost_s + (size_t)order[v] * k, k * sizeof(*set_s));
		mem[v] = p->mem_bytes[order[v]];
		if (move_s)
			move_s[v] = p->move_s[order[v]];
	}
	return cost_encode(&x, w, e);
}

/* All bytes together must stay countable. */
static int check_sizes(const struct json_problem *p, struct err *e)
{
	double sum = 0;

	for (uint32_t v = 0; v < p->n; v++)
		sum += (double)p->mem_bytes[v] + (double)p->out_bytes[v];
	for (uint32_t i = 0; i < p->n_edges; i++)
		sum += (double)p->edge[i].bytes;
	if (sum > JSON_PROBLEM_MAX_BYTES)
		return err_set(e, ST_INPUT, "nodes and edges have more than 2^62 bytes together");
	return 0;
}

int json_problem_write(const struct json_problem *p, struct rec_writer *w, struct err *e)
{
	if (check_sizes(p, e) < 0)
		return -1;
	struct graph *g = graph_new();
	uint32_t *order = ARENA_NEWN(g->arena, uint32_t, p->n);
	uint32_t *row_of = ARENA_NEWN(g->arena, uint32_t, p->n);
	int rc = topological(p, order, g->arena, e);

	if (rc == 0) {
		for (uint32_t v = 0; v < p->n; v++)
			row_of[order[v]] = v;
		fill_graph(g, p, order, row_of);
		rc = graph_check(g, e);
	}
	if (rc == 0 && (graph_encode(g, w, e) < 0 || write_devs(p, order, g, w, e) < 0 ||
			write_cost(p, order, g, w, e) < 0))
		rc = -1;
	graph_free(g);
	return rc;
}
