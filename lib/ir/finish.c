/* finish.c - from layers and edges in document order to the columns of a graph:
 * edges resolved, unreachable layers dropped, rows in topological order. */
#include "graph/rows.h"
#include "ir/raw.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct work {
	const struct raw_net *net;
	const struct raw_source *src;
	struct arena *tmp;
	uint32_t n;          /* layers */
	uint32_t *from;      /* (inputs) layer that feeds each input port */
	uint32_t *from_port; /* (inputs) and which of its outputs */
	bool *keep;          /* (n) */
	uint32_t n_keep;
	uint32_t *order; /* (n_keep) layers by row */
	uint32_t *row;   /* (n) row of each layer kept */
};

static int connect(struct work *w, struct err *e)
{
	const struct raw_net *net = w->net;
	w->from = ARENA_NEWN(w->tmp, uint32_t, net->in.n);
	w->from_port = ARENA_NEWN(w->tmp, uint32_t, net->in.n);
	memset(w->from, 0xff, net->in.n * sizeof *w->from);
	for (size_t i = 0; i < net->edge.n; i++) {
		const struct raw_edge *d = &net->edge.v[i];
		uint32_t from = raw_find_layer(net, d->from), to = raw_find_layer(net, d->to);
		if (to == GRAPH_NONE)
			return raw_error(w->src, net, from, d->line, e,
					 "edge to layer %" PRId64 ", which does not exist", d->to);
		if (from == GRAPH_NONE)
			return raw_error(w->src, net, to, d->line, e,
					 "edge from layer %" PRId64 ", which does not exist",
					 d->from);
		int64_t out = raw_find_out(net, from, d->from_port),
			in = raw_find_in(net, to, d->to_port);
		if (out < 0)
			return raw_error(w->src, net, from, d->line, e,
					 "edge from output port %" PRId64
					 ", which the layer does not have",
					 d->from_port);
		if (in < 0)
			return raw_error(w->src, net, to, d->line, e,
					 "edge to input port %" PRId64
					 ", which the layer does not have",
					 d->to_port);
		uint32_t slot = net->layer.v[to].in + (uint32_t)in;
		if (w->from[slot] != GRAPH_NONE)
			return raw_error(w->src, net, to, d->line, e,
					 "a second edge to input port %" PRId64, d->to_port);
		w->from[slot] = from;
		w->from_port[slot] = (uint32_t)out;
	}
	return 0;
}

/* Keep Parameters and all that a Result or Assign depends on. */
static int mark(struct work *w, struct err *e)
{
	const struct raw_net *net = w->net;
	uint32_t *stack = ARENA_NEWN(w->tmp, uint32_t, w->n), top = 0;
	w->keep = ARENA_NEWN(w->tmp, bool, w->n);
	for (uint32_t i = 0; i < w->n; i++) {
		enum raw_kind k = net->layer.v[i].kind;
		if (k == RAW_RESULT || k == RAW_ASSIGN)
			stack[top++] = i;
		w->keep[i] = k == RAW_RESULT || k == RAW_ASSIGN || k == RAW_PARAMETER;
		w->n_keep += w->keep[i];
	}
	if (top == 0)
		return raw_error(w->src, net, GRAPH_NONE, w->n ? net->layer.v[0].line : 0, e,
				 "no Result layer; nothing would be computed");
	while (top) {
		uint32_t v = stack[--top];
		for (uint32_t s = net->layer.v[v].in; s < raw_in_end(net, v); s++) {
			uint32_t u = w->from[s];
			if (u == GRAPH_NONE)
				return raw_error(w->src, net, v, net->layer.v[v].line, e,
						 "input port %" PRId64 " is not connected",
						 net->in.v[s]);
			if (!w->keep[u]) {
				w->keep[u] = true;
				w->n_keep++;
				stack[top++] = u;
			}
		}
	}
	*w->src->n_dropped += w->n - w->n_keep;
	return 0;
}

static bool in_order(const struct work *w)
{
	for (uint32_t v = 0; v < w->n; v++)
		for (uint32_t s = w->net->layer.v[v].in; w->keep[v] && s < raw_in_end(w->net, v);
		     s++)
			if (w->from[s] >= v)
				return false;
	return true;
}

/* Name the layers of one cycle among those that still wait for an input. */
static int report_cycle(struct work *w, const uint32_t *waits, struct err *e)
{
	enum { SHOWN = 8 };
	const struct raw_net *net = w->net;
	uint32_t *seen = ARENA_NEWN(w->tmp, uint32_t, w->n),
		 *path = ARENA_NEWN(w->tmp, uint32_t, w->n);
	uint32_t v = 0, n = 0;
	while (!w->keep[v] || waits[v] == 0)
		v++;
	/* Against the edges, always to a layer that waits too, until one comes again. */
	for (; !seen[v]; n++) {
		seen[v] = n + 1;
		path[n] = v;
		uint32_t s = net->layer.v[v].in;
		while (waits[w->from[s]] == 0)
			s++;
		v = w->from[s];
	}
	char text[350] = "";
	uint32_t first = seen[v] - 1, length = n - first;
	for (uint32_t i = 0; i < length && i < SHOWN; i++) {
		const struct raw_layer *l = &net->layer.v[path[n - 1 - i]];
		char name[40];
		size_t at = strlen(text);
		err_escape(name, sizeof name, l->name, strlen(l->name));
		snprintf(text + at, sizeof text - at, "%" PRId64 " '%s' -> ", l->id, name);
	}
	const struct raw_layer *l = &net->layer.v[path[n - 1]];
	size_t at = strlen(text);
	if (length > SHOWN)
		snprintf(text + at, sizeof text - at, "... (%u layers)", length);
	else
		snprintf(text + at, sizeof text - at, "%" PRId64, l->id);
	return raw_error(w->src, net, path[n - 1], l->line, e, "is on a cycle: %s", text);
}

/* The least topological order by document position (Kahn, with a heap). */
static int sort_layers(struct work *w, struct err *e)
{
	const struct raw_net *net = w->net;
	uint32_t *waits = ARENA_NEWN(w->tmp, uint32_t, w->n),
		 *ptr = ARENA_NEWN(w->tmp, uint32_t, w->n + 2);
	uint32_t *dst = ARENA_NEWN(w->tmp, uint32_t, net->in.n);
	uint32_t *order = ARENA_NEWN(w->tmp, uint32_t, w->n);
	for (uint32_t v = 0; v < w->n; v++)
		for (uint32_t s = net->layer.v[v].in; w->keep[v] && s < raw_in_end(net, v); s++)
			ptr[w->from[s] + 2]++;
	for (uint32_t v = 0; v < w->n; v++)
		ptr[v + 2] += ptr[v + 1];
	for (uint32_t v = 0; v < w->n; v++)
		for (uint32_t s = net->layer.v[v].in; w->keep[v] && s < raw_in_end(net, v); s++)
			dst[ptr[w->from[s] + 1]++] = v;
	uint32_t n_order = rows_lowest_first(w->n, ptr, dst, w->tmp, waits, order);
	for (uint32_t i = 0, n = 0; i < n_order; i++)
		if (w->keep[order[i]])
			w->order[n++] = order[i];
	return n_order == w->n ? 0 : report_cycle(w, waits, e);
}

static int order_layers(struct work *w, struct err *e)
{
	w->order = ARENA_NEWN(w->tmp, uint32_t, w->n_keep);
	w->row = ARENA_NEWN(w->tmp, uint32_t, w->n);
	if (in_order(w)) {
		for (uint32_t v = 0, n = 0; v < w->n; v++)
			if (w->keep[v])
				w->order[n++] = v;
	} else if (sort_layers(w, e) < 0) {
		return -1;
	}
	for (uint32_t i = 0; i < w->n_keep; i++)
		w->row[w->order[i]] = i;
	return 0;
}

/* ---- columns ---- */

static uint32_t attr_end(const struct raw_net *net, uint32_t i)
{
	return i + 1 < net->layer.n ? net->layer.v[i + 1].attr : (uint32_t)net->attr.n;
}

static void emit_nodes(const struct work *w, struct graph *g)
{
	const struct raw_net *net = w->net;
	struct arena *a = g->arena;
	uint32_t n_attr = 0, n_in = 0, n_out = 0;
	g->n = w->n_keep;
	g->id = arena_raw(a, g->n, sizeof *g->id);
	g->node_name = arena_raw(a, g->n, sizeof *g->node_name);
	g->type = arena_raw(a, g->n, sizeof *g->type);
	g->opset = arena_raw(a, g->n, sizeof *g->opset);
	g->attr_ptr = ARENA_NEWN(a, uint32_t, g->n + 1);
	g->in_ptr = ARENA_NEWN(a, uint32_t, g->n + 1);
	g->out_ptr = ARENA_NEWN(a, uint32_t, g->n + 1);
	for (uint32_t r = 0; r < g->n; r++) {
		uint32_t i = w->order[r];
		const struct raw_layer *l = &net->layer.v[i];
		g->id[r] = l->id;
		g->node_name[r] = l->name;
		g->type[r] = l->type;
		g->opset[r] = l->opset;
		g->attr_ptr[r + 1] = n_attr += attr_end(net, i) - l->attr;
		g->in_ptr[r + 1] = n_in += raw_in_end(net, i) - l->in;
		g->out_ptr[r + 1] = n_out += raw_out_end(net, i) - l->out;
	}
	g->attr_key = arena_raw(a, n_attr, sizeof *g->attr_key);
	g->attr_value = arena_raw(a, n_attr, sizeof *g->attr_value);
	g->in_node = arena_raw(a, n_in, sizeof *g->in_node);
	g->in_port = arena_raw(a, n_in, sizeof *g->in_port);
	for (uint32_t r = 0; r < g->n; r++) {
		const struct raw_layer *l = &net->layer.v[w->order[r]];
		for (uint32_t k = 0; k < g->attr_ptr[r + 1] - g->attr_ptr[r]; k++) {
			g->attr_key[g->attr_ptr[r] + k] = net->attr.v[l->attr + k].key;
			g->attr_value[g->attr_ptr[r] + k] = net->attr.v[l->attr + k].value;
		}
		for (uint32_t k = 0; k < g->in_ptr[r + 1] - g->in_ptr[r]; k++) {
			g->in_node[g->in_ptr[r] + k] = w->row[w->from[l->in + k]];
			g->in_port[g->in_ptr[r] + k] = w->from_port[l->in + k];
		}
	}
}

static void emit_outputs(const struct work *w, struct graph *g)
{
	const struct raw_net *net = w->net;
	struct arena *a = g->arena;
	uint32_t n_out = g->out_ptr[g->n], n_dim = 0, o = 0;
	g->out_elem = arena_raw(a, n_out, sizeof *g->out_elem);
	g->out_rank = arena_raw(a, n_out, sizeof *g->out_rank);
	g->out_names = arena_raw(a, n_out, sizeof *g->out_names);
	g->dim_ptr = ARENA_NEWN(a, uint32_t, n_out + 1);
	g->dim = arena_raw(a, net->dim.n, sizeof *g->dim);
	for (uint32_t r = 0; r < g->n; r++)
		for (uint32_t k = 0; k < g->out_ptr[r + 1] - g->out_ptr[r]; k++, o++) {
			const struct raw_out *p = &net->out.v[net->layer.v[w->order[r]].out + k];
			uint32_t rank = p->rank == RANK_DYNAMIC ? 0 : p->rank;
			g->out_elem[o] = (uint8_t)p->elem;
			g->out_rank[o] = p->rank;
			g->out_names[o] = p->names;
			if (rank)
				memcpy(g->dim + n_dim, net->dim.v + p->dim, rank * sizeof *g->dim);
			g->dim_ptr[o + 1] = n_dim += rank;
		}
}

/* Sizes that nothing can hold are refused here, where the layer is known. */
static int check_sizes(const struct work *w, const struct graph *g, struct err *e)
{
	for (uint32_t r = 0; r < g->n; r++)
		for (uint32_t o = g->out_ptr[r]; o < g->out_ptr[r + 1]; o++) {
			bool dynamic = g->out_rank[o] == RANK_DYNAMIC;
			for (uint32_t i = g->dim_ptr[o]; i < g->dim_ptr[o + 1]; i++)
				dynamic |= g->dim[i] == DIM_DYNAMIC;
			bool sized = elem_bits(g->out_elem[o]) > 0;
			if (!dynamic &&
			    (sized ? graph_out_bytes(g, o) : graph_out_elements(g, o)) < 0)
				return raw_error(w->src, w->net, w->order[r],
						 w->net->layer.v[w->order[r]].line, e,
						 "output %u has more than 2^63 bytes",
						 o - g->out_ptr[r]);
		}
	return 0;
}

static void emit_constants(const struct work *w, struct graph *g)
{
	const struct raw_net *net = w->net;
	uint32_t *of_row = ARENA_NEWN(w->tmp, uint32_t, g->n), n = 0;
	for (uint32_t c = 0; c < net->constant.n; c++)
		if (w->keep[net->constant.v[c].layer]) {
			of_row[w->row[net->constant.v[c].layer]] = c + 1;
			n++;
		}
	g->n_const = n;
	g->const_node = arena_raw(g->arena, n, sizeof *g->const_node);
	g->const_offset = arena_raw(g->arena, n, sizeof *g->const_offset);
	g->const_bytes = arena_raw(g->arena, n, sizeof *g->const_bytes);
	n = 0;
	for (uint32_t r = 0; r < g->n; r++) {
		if (!of_row[r])
			continue;
		const struct raw_const *c = &net->constant.v[of_row[r] - 1];
		g->const_node[n] = r;
		g->const_offset[n] = c->offset;
		g->const_bytes[n++] = c->bytes;
	}
}

static void emit_bodies(const struct work *w, struct graph *g)
{
	const struct raw_net *net = w->net;
	uint32_t *first = ARENA_NEWN(w->tmp, uint32_t, w->n), n = 0;
	for (uint32_t b = (uint32_t)net->body.n; b-- > 0;)
		first[net->body.v[b].node] = b + 1; /* bodies of a layer are adjacent */
	g->body = ARENA_NEWN(g->arena, struct graph_body, net->body.n);
	for (uint32_t r = 0; r < g->n; r++)
		for (uint32_t b = first[w->order[r]];
		     b && b <= net->body.n && net->body.v[b - 1].node == w->order[r]; b++) {
			g->body[n] = net->body.v[b - 1];
			g->body[n++].node = r;
		}
	g->n_bodies = n;
}

int raw_finish(struct raw_net *net, const struct raw_source *src, struct graph *g, struct err *e)
{
	struct work w = {.net = net, .src = src, .n = (uint32_t)net->layer.n};
	uint32_t again = 0;
	if (!raw_index_layers(net, &again))
		return raw_error(src, net, again, net->layer.v[again].line, e,
				 "another layer has the same id");
	w.tmp = arena_new();
	int rc = connect(&w, e);
	if (rc == 0)
		rc = mark(&w, e);
	if (rc == 0)
		rc = order_layers(&w, e);
	if (rc == 0) {
		g->arena = src->arena;
		emit_nodes(&w, g);
		emit_outputs(&w, g);
		emit_constants(&w, g);
		emit_bodies(&w, g);
		graph_finish(g);
		open_ranks(g);
		rc = check_sizes(&w, g, e);
	}
	arena_free(w.tmp);
	return rc;
}
