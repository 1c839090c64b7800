/* bodies.c - how the bodies of TensorIterator, Loop and If connect to their layer:
 * port maps and back edges, from ids of the file to rows and positions. */
#include "ir/raw.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "record/graphrec.h"

struct row_of_id {
	int64_t id;
	uint32_t row;
};

static int by_id(const void *a, const void *b)
{
	const struct row_of_id *x = a, *y = b;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Parameters and Results of a body, sorted by id. */
static struct row_of_id *body_ends(const struct graph *g, struct arena *tmp, uint32_t *n)
{
	struct row_of_id *x = ARENA_NEWN(tmp, struct row_of_id, g->n);
	*n = 0;
	for (uint32_t v = 0; v < g->n; v++)
		if (g->kind[v] == OP_PARAMETER || g->kind[v] == OP_RESULT)
			x[(*n)++] = (struct row_of_id){g->id[v], v};
	qsort(x, *n, sizeof *x, by_id);
	return x;
}

/* Row of the Parameter or Result with this id; GRAPH_NONE when it is not one. */
static uint32_t find_end(const struct graph *g, const struct row_of_id *x, uint32_t n, int64_t id,
			 bool result)
{
	const struct row_of_id key = {id, 0};
	const struct row_of_id *p = n ? bsearch(&key, x, n, sizeof key, by_id) : NULL;
	return p && g->kind[p->row] == (result ? OP_RESULT : OP_PARAMETER) ? p->row : GRAPH_NONE;
}

/* If of early converters counts its outputs from 0 instead of naming port ids. */
static bool outputs_by_position(const struct raw_net *net, uint32_t layer)
{
	uint32_t n_out = raw_out_end(net, layer) - net->layer.v[layer].out;
	bool position = true, id = true;
	for (size_t i = 0; i < net->map.n; i++) {
		const struct port_map *m = &net->map.v[i].map;
		if (!m->output || m->external < 0)
			continue;
		position &= m->external < n_out;
		id &= raw_find_out(net, layer, m->external) >= 0;
	}
	return position && !id;
}

static int resolve_map(const struct raw_net *net, const struct raw_source *src, uint32_t layer,
		       const struct raw_map *m, bool by_position, struct port_map *out,
		       struct err *e)
{
	const char *what = m->map.output ? "output" : "input";
	*out = m->map;
	if (m->map.external < 0) {
		if (!m->map.condition && !m->map.counter)
			return raw_error(src, net, layer, m->line, e,
					 "port map: %s without an external port needs a purpose",
					 what);
		out->external = -1;
		return 0;
	}
	if (m->map.output && by_position)
		return 0;
	out->external = m->map.output ? raw_find_out(net, layer, m->map.external)
				      : raw_find_in(net, layer, m->map.external);
	if (out->external < 0)
		return raw_error(src, net, layer, m->line, e,
				 "port map: the layer has no %s port %" PRId64, what,
				 m->map.external);
	return 0;
}

static int connect_maps(const struct raw_net *net, const struct raw_source *src,
			struct graph_body *b, const struct row_of_id *ends, uint32_t n_ends,
			struct err *e)
{
	bool by_position = outputs_by_position(net, b->node);
	b->map = ARENA_NEWN(src->arena, struct port_map, net->map.n);
	for (size_t i = 0; i < net->map.n; i++) {
		const struct raw_map *m = &net->map.v[i];
		if (strcmp(m->role, b->role) != 0)
			continue;
		struct port_map *out = &b->map[b->n_maps++];
		if (resolve_map(net, src, b->node, m, by_position, out, e) < 0)
			return -1;
		out->internal = find_end(b->graph, ends, n_ends, m->internal, out->output);
		if (out->internal == GRAPH_NONE)
			return raw_error(src, net, b->node, m->line, e,
					 "port map: the %s has no %s %" PRId64, b->role,
					 out->output ? "Result" : "Parameter", m->internal);
	}
	return 0;
}

static int connect_back(const struct raw_net *net, const struct raw_source *src,
			struct graph_body *b, const struct row_of_id *ends, uint32_t n_ends,
			struct err *e)
{
	b->back_from = ARENA_NEWN(src->arena, uint32_t, net->back.n);
	b->back_to = ARENA_NEWN(src->arena, uint32_t, net->back.n);
	for (size_t i = 0; i < net->back.n; i++) {
		const struct raw_back *k = &net->back.v[i];
		uint32_t from = find_end(b->graph, ends, n_ends, k->from, true);
		uint32_t to = find_end(b->graph, ends, n_ends, k->to, false);
		if (from == GRAPH_NONE || to == GRAPH_NONE)
			return raw_error(src, net, b->node, k->line, e,
					 "back edge: the body has no %s %" PRId64,
					 from == GRAPH_NONE ? "Result" : "Parameter",
					 from == GRAPH_NONE ? k->from : k->to);
		b->back_from[b->n_back] = from;
		b->back_to[b->n_back++] = to;
	}
	return 0;
}

int raw_finish_bodies(struct raw_net *net, const struct raw_source *src, struct err *e)
{
	uint32_t layer = (uint32_t)net->layer.n - 1;
	const struct raw_layer *l = &net->layer.v[layer];
	bool is_if = l->kind == RAW_IF, loops = l->kind == RAW_LOOP;
	if (net->pending.n != (is_if ? 2u : loops ? 1u : net->pending.n))
		return raw_error(src, net, layer, l->line, e, "%s needs %s", l->type,
				 is_if ? "a <then_body> and an <else_body>" : "one <body>");
	int rc = 0;
	struct arena *tmp = arena_new();
	for (size_t i = 0; rc == 0 && i < net->pending.n; i++) {
		struct graph_body *b = VEC_ADD(net->body);
		uint32_t n_ends;
		*b = (struct graph_body){.node = layer,
					 .role = net->pending.v[i].role,
					 .graph = net->pending.v[i].graph};
		const struct row_of_id *ends = body_ends(b->graph, tmp, &n_ends);
		rc = connect_maps(net, src, b, ends, n_ends, e);
		if (rc == 0 && strcmp(b->role, "body") == 0)
			rc = connect_back(net, src, b, ends, n_ends, e);
	}
	arena_free(tmp);
	net->map.n = net->back.n = net->pending.n = 0;
	return rc;
}
