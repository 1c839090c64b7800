/* check.c - is a graph in memory one that code may trust?  Everything about
 * values: order, ranges, shapes, sets.  That columns are as long as their
 * pointers say is the decoder's part. */
#include "graph/graph.h"

#include <string.h>

static int check_inputs(const struct graph *g, struct err *e)
{
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			uint32_t u = g->in_node[i], p = g->in_port[i];
			if (u == GRAPH_NONE)
				continue;
			if (u >= g->n)
				return err_set(
					e, ST_INPUT,
					"in_node: input %u of node %u comes from node %u of %u",
					i - g->in_ptr[v], v, u, g->n);
			if (u >= v)
				return err_set(e, ST_INPUT,
					       "in_node: input %u of node %u comes from node %u; "
					       "nodes must be in a topological order",
					       i - g->in_ptr[v], v, u);
			if (p >= g->out_ptr[u + 1] - g->out_ptr[u])
				return err_set(
					e, ST_INPUT,
					"in_port: input %u of node %u is output %u of node %u, "
					"which has %u",
					i - g->in_ptr[v], v, p, u,
					g->out_ptr[u + 1] - g->out_ptr[u]);
		}
	return 0;
}

static int check_outputs(const struct graph *g, struct err *e)
{
	for (uint32_t o = 0; o < g->out_ptr[g->n]; o++) {
		uint32_t rank = g->dim_ptr[o + 1] - g->dim_ptr[o];
		bool dynamic = g->out_rank[o] == RANK_DYNAMIC;
		if (g->out_elem[o] >= EL_COUNT)
			return err_set(e, ST_INPUT, "out_elem: output %u has no known element type",
				       o);
		if (rank != (dynamic ? 0 : g->out_rank[o]))
			return err_set(e, ST_INPUT, "out_rank: output %u has %u dims and rank %u",
				       o, rank, g->out_rank[o]);
		for (uint32_t i = g->dim_ptr[o]; i < g->dim_ptr[o + 1]; i++) {
			if (g->dim[i] < DIM_DYNAMIC)
				return err_set(e, ST_INPUT,
					       "dim: output %u has a dimension of %lld", o,
					       (long long)g->dim[i]);
			dynamic |= g->dim[i] == DIM_DYNAMIC;
		}
		if (!dynamic && (graph_out_elements(g, o) < 0 ||
				 (elem_bits(g->out_elem[o]) && graph_out_bytes(g, o) < 0)))
			return err_set(e, ST_INPUT, "dim: output %u has more than 2^63 bytes", o);
	}
	return 0;
}

static int check_consts(const struct graph *g, struct err *e)
{
	uint64_t tail_end;
	if (g->tail_at % GRAPH_TAIL_ALIGN != 0 ||
	    __builtin_add_overflow(g->tail_at, g->tail_bytes, &tail_end) || tail_end > INT64_MAX)
		return err_set(e, ST_INPUT, "tail_at: no page of a file begins there");
	for (uint32_t k = 0; k < g->n_const; k++) {
		uint64_t end;
		if (g->const_node[k] >= g->n)
			return err_set(e, ST_INPUT, "const_node: %u of %u nodes", g->const_node[k],
				       g->n);
		if (k > 0 && g->const_node[k] <= g->const_node[k - 1])
			return err_set(e, ST_INPUT, "const_node: not in ascending order at %u", k);
		if (__builtin_add_overflow(g->const_offset[k], g->const_bytes[k], &end))
			return err_set(e, ST_INPUT,
				       "const_offset: constant %u ends beyond 2^64 bytes", k);
	}
	return 0;
}

/* Each set has a node; arrows between sets go up; what is not placed depends on
 * nothing that is. */
static int check_sets(const struct graph *g, struct err *e)
{
	uint64_t *seen = MEM_NEWN(uint64_t, (size_t)g->n_sets / 64 + 1);
	uint32_t n_seen = 0;
	int rc = 0;
	for (uint32_t v = 0; v < g->n && rc == 0; v++) {
		uint32_t s = g->set[v];
		if (s != GRAPH_NONE && s >= g->n_sets) {
			rc = err_set(e, ST_INPUT, "set: node %u is in set %u of %u", v, s,
				     g->n_sets);
			break;
		}
		if (s != GRAPH_NONE && !(seen[s / 64] >> s % 64 & 1)) {
			seen[s / 64] |= (uint64_t)1 << s % 64;
			n_seen++;
		}
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			uint32_t t =
				g->in_node[i] == GRAPH_NONE ? GRAPH_NONE : g->set[g->in_node[i]];
			if (t == GRAPH_NONE)
				continue;
			if (s == GRAPH_NONE)
				rc = err_set(e, ST_INPUT,
					     "set: node %u is in no set, but its input %u is", v,
					     i - g->in_ptr[v]);
			else if (t > s)
				rc = err_set(e, ST_INPUT,
					     "set: an edge leads from set %u to set %u; "
					     "sets must be in a topological order",
					     t, s);
		}
	}
	if (rc == 0 && n_seen != g->n_sets)
		rc = err_set(e, ST_INPUT, "n_sets: %u sets, of which %u have nodes", g->n_sets,
			     n_seen);
	mem_free(seen);
	return rc;
}

static int check_body(const struct graph *g, const struct graph_body *b, int depth, struct err *e);

static int check_nodes(const struct graph *g, int depth, struct err *e)
{
	if (g->n == 0)
		return err_set(e, ST_INPUT, "id: a graph without nodes");
	if (check_inputs(g, e) < 0 || check_outputs(g, e) < 0 || check_consts(g, e) < 0)
		return -1;
	if (g->n_bodies && depth == GRAPH_MAX_DEPTH)
		return err_set(e, ST_INPUT, "bodies: nested deeper than %d", GRAPH_MAX_DEPTH);
	for (uint32_t b = 1; b < g->n_bodies; b++)
		if (g->body[b].node < g->body[b - 1].node)
			return err_set(e, ST_INPUT, "bodies: %u: node %u behind node %u", b,
				       g->body[b].node, g->body[b - 1].node);
	for (uint32_t b = 0; b < g->n_bodies; b++)
		if (check_body(g, &g->body[b], depth + 1, e) < 0)
			return err_prefix(e, "bodies: %u", b);
	return 0;
}

static int check_body(const struct graph *g, const struct graph_body *b, int depth, struct err *e)
{
	if (b->node >= g->n)
		return err_set(e, ST_INPUT, "node: %u of %u nodes", b->node, g->n);
	if (check_nodes(b->graph, depth, e) < 0)
		return -1;
	uint32_t n_in = g->in_ptr[b->node + 1] - g->in_ptr[b->node];
	uint32_t n_out = g->out_ptr[b->node + 1] - g->out_ptr[b->node];
	for (uint32_t i = 0; i < b->n_maps; i++) {
		const struct port_map *m = &b->map[i];
		if (m->internal >= b->graph->n)
			return err_set(e, ST_INPUT, "maps: %u: internal node %u of %u", i,
				       m->internal, b->graph->n);
		if (m->external < -1 || m->external >= (int64_t)(m->output ? n_out : n_in))
			return err_set(e, ST_INPUT, "maps: %u: %s %lld of node %u, which has %u", i,
				       m->output ? "output" : "input", (long long)m->external,
				       b->node, m->output ? n_out : n_in);
	}
	for (uint32_t i = 0; i < b->n_back; i++)
		if (b->back_from[i] >= b->graph->n || b->back_to[i] >= b->graph->n)
			return err_set(e, ST_INPUT,
				       "back_from: edge %u leads from node %u to node %u of %u", i,
				       b->back_from[i], b->back_to[i], b->graph->n);
	return 0;
}

int graph_check(const struct graph *g, struct err *e)
{
	if (check_nodes(g, 0, e) < 0)
		return -1;
	if (g->n_sets == 0)
		return err_set(e, ST_INPUT, "n_sets: nothing to place");
	return check_sets(g, e);
}
