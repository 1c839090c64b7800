/* write_node.c - a node of a graph as a layer of an IR: attributes, output ports, bodies. */
#include "ir/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct ir_tensor ir_tensor_of(const struct graph *g, uint32_t o)
{
	return (struct ir_tensor){(enum elem)g->out_elem[o], g->out_rank[o], g->dim + g->dim_ptr[o],
				  g->out_names[o]};
}

static void put_variable_shape(struct ir_text *t, const struct graph *g, uint32_t o)
{
	text_puts(t, " variable_shape=\"");
	for (uint32_t i = g->dim_ptr[o]; i < g->dim_ptr[o + 1]; i++)
		text_putf(t, "%s%" PRId64, i > g->dim_ptr[o] ? "," : "", g->dim[i]);
	text_puts(t, "\"");
}

static void put_data(const struct ir_bin *bin, struct ir_text *t, const struct graph *g, uint32_t v,
		     bool fixed)
{
	int64_t c = graph_const(g, v);
	bool parameter = g->kind[v] == OP_PARAMETER;
	struct ir_tensor x = {0};
	if (parameter)
		x = ir_tensor_of(g, g->out_ptr[v]);
	bool known = parameter && x.rank != RANK_DYNAMIC; /* the attribute may say less by now */
	text_puts(t, "<data");
	for (uint32_t i = g->attr_ptr[v]; i < g->attr_ptr[v + 1]; i++) {
		const char *key = g->attr_key[i];
		if (c >= 0 && strcmp(key, "offset") == 0)
			continue;
		if (known && strcmp(key, "shape") == 0)
			continue;
		if (fixed && strcmp(key, "variable_shape") == 0) {
			put_variable_shape(t, g, g->out_ptr[v]);
			continue;
		}
		text_attr(t, key, g->attr_value[i]);
	}
	if (known)
		text_shape(t, &x);
	if (c >= 0) {
		uint64_t offset = g->const_offset[c];
		text_putf(t, " offset=\"%" PRIu64 "\"",
			  bin ? bin->place(bin->arg, offset, g->const_bytes[c]) : offset);
	}
	text_puts(t, "/>\n");
}

const char ir_decompression[] =
	"<rt_info><attribute name=\"ir_decompression\" version=\"0\"/></rt_info>\n";

/* A Convert that only unpacks stored weights says so, and plugins keep the small type. */
static bool is_decompression(const struct graph *g, uint32_t v)
{
	if (g->kind[v] != OP_CONVERT || g->in_ptr[v] == g->in_ptr[v + 1])
		return false;
	uint32_t u = g->in_node[g->in_ptr[v]];
	if (u == GRAPH_NONE || g->kind[u] != OP_CONST)
		return false;
	enum elem from = (enum elem)g->out_elem[g->out_ptr[u]],
		  to = (enum elem)g->out_elem[g->out_ptr[v]];
	return to == EL_F32 && (from == EL_F16 || from == EL_BF16);
}

static void put_map(struct ir_text *t, const struct port_map *m, uint32_t n_in)
{
	int64_t external = m->external < 0 ? -1 : m->external + (m->output ? n_in : 0);
	text_putf(t, "<%s external_port_id=\"%" PRId64 "\" internal_layer_id=\"%u\"",
		  m->output ? "output" : "input", external, m->internal);
	if (m->has_axis)
		text_putf(t,
			  " axis=\"%" PRId64 "\" start=\"%" PRId64 "\" end=\"%" PRId64
			  "\" stride=\"%" PRId64 "\" part_size=\"%" PRId64 "\"",
			  m->axis, m->start, m->end, m->stride, m->part_size);
	if (m->condition || m->counter)
		text_attr(t, "purpose", m->condition ? "execution_condition" : "current_iteration");
	text_puts(t, "/>\n");
}

static void write_graph(const struct ir_bin *bin, struct ir_text *t, const struct graph *g);

static void put_body(const struct ir_bin *bin, struct ir_text *t, const struct graph_body *b,
		     uint32_t n_in)
{
	char prefix[24] = "";
	bool loops = strcmp(b->role, "body") == 0;
	if (!loops)
		snprintf(prefix, sizeof prefix, "%.16s_", b->role);
	text_putf(t, "<%sport_map>\n", prefix);
	for (uint32_t i = 0; i < b->n_maps; i++)
		put_map(t, &b->map[i], n_in);
	text_putf(t, "</%sport_map>\n", prefix);
	if (loops) {
		text_puts(t, "<back_edges>\n");
		for (uint32_t i = 0; i < b->n_back; i++)
			text_putf(t, "<edge from-layer=\"%u\" to-layer=\"%u\"/>\n", b->back_from[i],
				  b->back_to[i]);
		text_puts(t, "</back_edges>\n");
	}
	text_putf(t, "<%sbody>\n", prefix);
	write_graph(bin, t, b->graph);
	text_putf(t, "</%sbody>\n", prefix);
}

void net_node(struct ir_net *n, const struct ir_bin *bin, uint32_t id, const struct graph *g,
	      uint32_t v, bool fixed, uint32_t n_in, const struct ir_text *in)
{
	struct ir_text *t = &n->layers;
	net_open_layer(n, id, g->node_name[v], g->type[v], g->opset[v]);
	put_data(bin, t, g, v, fixed);
	if (is_decompression(g, v))
		text_puts(t, ir_decompression);
	if (n_in > 0) {
		text_puts(t, "<input>\n");
		text_put(t, in->v, in->n);
		text_puts(t, "</input>\n");
	}
	if (g->out_ptr[v + 1] > g->out_ptr[v]) {
		text_puts(t, "<output>\n");
		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++) {
			struct ir_tensor x = ir_tensor_of(g, o);
			text_port(t, n_in + o - g->out_ptr[v], &x);
		}
		text_puts(t, "</output>\n");
	}
	for (uint32_t b, end = graph_bodies(g, v, &b); b < end; b++)
		put_body(bin, t, &g->body[b], n_in);
	text_puts(t, "</layer>\n");
}

/* Connected input ports of node v: those behind the last one are left out. */
static uint32_t connected(const struct graph *g, uint32_t v)
{
	uint32_t n = g->in_ptr[v + 1] - g->in_ptr[v];
	while (n > 0 && g->in_node[g->in_ptr[v] + n - 1] == GRAPH_NONE)
		n--;
	return n;
}

/* A body: all of g, rows as layer ids. */
static void write_graph(const struct ir_bin *bin, struct ir_text *t, const struct graph *g)
{
	struct ir_net n = {0};
	struct ir_text in = {0};
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t n_in = connected(g, v);
		in.n = 0;
		for (uint32_t i = 0; i < n_in; i++) {
			uint32_t u = g->in_node[g->in_ptr[v] + i],
				 port = g->in_port[g->in_ptr[v] + i];
			struct ir_tensor x;
			if (u != GRAPH_NONE) {
				x = ir_tensor_of(g, g->out_ptr[u] + port);
				x.names = "";
				net_edge(&n, u, connected(g, u) + port, v, i);
			}
			text_port(&in, i, u == GRAPH_NONE ? NULL : &x);
		}
		net_node(&n, bin, v, g, v, false, n_in, &in);
	}
	text_net(t, &n);
	mem_free(in.v);
	net_release(&n);
}
