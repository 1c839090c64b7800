/* write.c - OpenVINO IR as text: layers with their ports, edges, bodies. */
#include "ir/write.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct text {
	char *v;
	size_t n, cap;
};

/* A network that is being written: the main one or a body. */
struct net {
	struct text layers, edges;
};

/* The outputs of a layer, for the ports that read them. */
struct layer_out {
	uint32_t first, n_in;
};

struct ir_writer {
	struct net main;
	struct text all;
	char *name;
	const struct ir_bin *bin;
	size_t n_layers, cap_layers;
	struct layer_out *layer; /* of the main network */
	size_t n_outs, cap_outs, n_dims, cap_dims;
	struct kept_tensor {
		enum elem elem;
		uint8_t rank;
		size_t dim;
	} * outs;
	int64_t *dims;
};

/* ---- text ---- */

static void put(struct text *t, const char *s, size_t n)
{
	t->v = mem_grow(t->v, &t->cap, t->n + n + 1, 1);
	memcpy(t->v + t->n, s, n);
	t->n += n;
	t->v[t->n] = '\0';
}

static void puts_to(struct text *t, const char *s)
{
	put(t, s, strlen(s));
}

static void putf(struct text *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void putf(struct text *t, const char *fmt, ...)
{
	char line[400];
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	assert(n >= 0 && (size_t)n < sizeof line);
	put(t, line, (size_t)n);
}

/* As the value of an attribute in double quotes. */
static void put_escaped(struct text *t, const char *s)
{
	for (; *s; s++)
		switch (*s) {
		case '&': puts_to(t, "&amp;"); break;
		case '<': puts_to(t, "&lt;"); break;
		case '>': puts_to(t, "&gt;"); break;
		case '"': puts_to(t, "&quot;"); break;
		case '\t':
		case '\n':
		case '\r': putf(t, "&#%d;", *s); break;
		default: put(t, s, 1);
		}
}

static void put_attr(struct text *t, const char *key, const char *value)
{
	putf(t, " %.100s=\"", key);
	put_escaped(t, value);
	put(t, "\"", 1);
}

/* Sizes as attributes have them; what is not known is "?" or, of unknown rank, "...". */
static void put_shape(struct text *t, const struct ir_tensor *x)
{
	puts_to(t, " shape=\"");
	for (uint32_t i = 0; x->rank != RANK_DYNAMIC && i < x->rank; i++)
		if (x->dim[i] == DIM_DYNAMIC)
			puts_to(t, i ? ",?" : "?");
		else
			putf(t, i ? ",%" PRId64 : "%" PRId64, x->dim[i]);
	puts_to(t, x->rank == RANK_DYNAMIC ? "...\"" : "\"");
}

/* ---- ports ---- */

/* OpenVINO's name of an element type on ports: FP32, I64, BOOL. */
static const char *port_precision(enum elem t, char name[16])
{
	static const struct {
		enum elem t;
		const char *name;
	} odd[] = {{EL_F64, "FP64"},	 {EL_F32, "FP32"}, {EL_F16, "FP16"},
		   {EL_BOOLEAN, "BOOL"}, {EL_U1, "BIN"},   {EL_DYNAMIC, "UNSPECIFIED"}};
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
		if (odd[i].t == t)
			return odd[i].name;
	size_t n = 0;
	for (const char *s = elem_name(t); *s && n < 15; s++)
		name[n++] = *s >= 'a' && *s <= 'z' ? (char)(*s - 'a' + 'A') : *s;
	name[n] = '\0';
	return name;
}

static void put_port(struct text *t, uint32_t id, const struct ir_tensor *x)
{
	char precision[16];
	putf(t, "<port id=\"%u\"", id);
	if (x)
		putf(t, " precision=\"%s\"", port_precision(x->elem, precision));
	if (x && x->names && *x->names)
		put_attr(t, "names", x->names);
	puts_to(t, ">");
	for (uint32_t i = 0; x && x->rank != RANK_DYNAMIC && i < x->rank; i++)
		putf(t, "<dim>%" PRId64 "</dim>", x->dim[i]);
	puts_to(t, "</port>\n");
}

static void open_layer(struct net *n, uint32_t id, const char *name, const char *type,
		       const char *opset)
{
	putf(&n->layers, "<layer id=\"%u\"", id);
	put_attr(&n->layers, "name", name);
	put_attr(&n->layers, "type", type);
	put_attr(&n->layers, "version", opset);
	puts_to(&n->layers, ">\n");
}

static void put_edge(struct net *n, uint32_t from, uint32_t from_port, uint32_t to,
		     uint32_t to_port)
{
	putf(&n->edges,
	     "<edge from-layer=\"%u\" from-port=\"%u\" to-layer=\"%u\" to-port=\"%u\"/>\n", from,
	     from_port, to, to_port);
}

struct ir_tensor ir_tensor_of(const struct graph *g, uint32_t o)
{
	return (struct ir_tensor){(enum elem)g->out_elem[o], g->out_rank[o], g->dim + g->dim_ptr[o],
				  g->out_names[o]};
}

/* ---- nodes of a graph ---- */

/* The constant of node v, or -1. */
static int64_t const_index(const struct graph *g, uint32_t v)
{
	uint32_t lo = 0, hi = g->n_const;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (g->const_node[mid] < v)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < g->n_const && g->const_node[lo] == v ? (int64_t)lo : -1;
}

static void put_data(struct ir_writer *w, struct text *t, const struct graph *g, uint32_t v)
{
	int64_t c = const_index(g, v);
	bool parameter = graph_is_type(g, v, "Parameter");
	struct ir_tensor x = {0};
	if (parameter)
		x = ir_tensor_of(g, g->out_ptr[v]);
	bool known = parameter && x.rank != RANK_DYNAMIC; /* the attribute may say less by now */
	puts_to(t, "<data");
	for (uint32_t i = g->attr_ptr[v]; i < g->attr_ptr[v + 1]; i++) {
		const char *key = g->attr_key[i];
		if (c >= 0 && strcmp(key, "offset") == 0)
			continue;
		if (known && strcmp(key, "shape") == 0)
			continue;
		put_attr(t, key, g->attr_value[i]);
	}
	if (known)
		put_shape(t, &x);
	if (c >= 0) {
		uint64_t offset = g->const_offset[c];
		putf(t, " offset=\"%" PRIu64 "\"",
		     w->bin ? w->bin->place(w->bin->arg, offset, g->const_bytes[c]) : offset);
	}
	puts_to(t, "/>\n");
}

static const char decompression[] =
	"<rt_info><attribute name=\"decompression\" version=\"0\"/></rt_info>\n";

/* A Convert that only unpacks stored weights says so, and plugins keep the small type. */
static bool is_decompression(const struct graph *g, uint32_t v)
{
	if (!graph_is_type(g, v, "Convert") || g->in_ptr[v] == g->in_ptr[v + 1])
		return false;
	uint32_t u = g->in_node[g->in_ptr[v]];
	if (u == GRAPH_NONE || !graph_is_type(g, u, "Const"))
		return false;
	enum elem from = (enum elem)g->out_elem[g->out_ptr[u]],
		  to = (enum elem)g->out_elem[g->out_ptr[v]];
	return to == EL_F32 && (from == EL_F16 || from == EL_BF16);
}

static void put_map(struct text *t, const struct port_map *m, uint32_t n_in)
{
	int64_t external = m->external < 0 ? -1 : m->external + (m->output ? n_in : 0);
	putf(t, "<%s external_port_id=\"%" PRId64 "\" internal_layer_id=\"%u\"",
	     m->output ? "output" : "input", external, m->internal);
	if (m->has_axis)
		putf(t,
		     " axis=\"%" PRId64 "\" start=\"%" PRId64 "\" end=\"%" PRId64
		     "\" stride=\"%" PRId64 "\" part_size=\"%" PRId64 "\"",
		     m->axis, m->start, m->end, m->stride, m->part_size);
	if (m->condition || m->counter)
		put_attr(t, "purpose", m->condition ? "execution_condition" : "current_iteration");
	puts_to(t, "/>\n");
}

static void write_graph(struct ir_writer *w, struct text *t, const struct graph *g);

static void put_body(struct ir_writer *w, struct text *t, const struct graph_body *b, uint32_t n_in)
{
	char prefix[24] = "";
	bool loops = strcmp(b->role, "body") == 0;
	if (!loops)
		snprintf(prefix, sizeof prefix, "%.16s_", b->role);
	putf(t, "<%sport_map>\n", prefix);
	for (uint32_t i = 0; i < b->n_maps; i++)
		put_map(t, &b->map[i], n_in);
	putf(t, "</%sport_map>\n", prefix);
	if (loops) {
		puts_to(t, "<back_edges>\n");
		for (uint32_t i = 0; i < b->n_back; i++)
			putf(t, "<edge from-layer=\"%u\" to-layer=\"%u\"/>\n", b->back_from[i],
			     b->back_to[i]);
		puts_to(t, "</back_edges>\n");
	}
	putf(t, "<%sbody>\n", prefix);
	write_graph(w, t, b->graph);
	putf(t, "</%sbody>\n", prefix);
}

/* All of node v but its input ports, which read tensors that the caller knows: `in` has their
 * text.  Ports are numbered through, inputs first. */
static void put_node(struct ir_writer *w, struct net *n, uint32_t id, const struct graph *g,
		     uint32_t v, uint32_t n_in, const struct text *in)
{
	struct text *t = &n->layers;
	open_layer(n, id, g->node_name[v], g->type[v], g->opset[v]);
	put_data(w, t, g, v);
	if (is_decompression(g, v))
		puts_to(t, decompression);
	if (n_in > 0) {
		puts_to(t, "<input>\n");
		put(t, in->v, in->n);
		puts_to(t, "</input>\n");
	}
	if (g->out_ptr[v + 1] > g->out_ptr[v]) {
		puts_to(t, "<output>\n");
		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++) {
			struct ir_tensor x = ir_tensor_of(g, o);
			put_port(t, n_in + o - g->out_ptr[v], &x);
		}
		puts_to(t, "</output>\n");
	}
	for (uint32_t b = 0; b < g->n_bodies; b++)
		if (g->body[b].node == v)
			put_body(w, t, &g->body[b], n_in);
	puts_to(t, "</layer>\n");
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
static void write_graph(struct ir_writer *w, struct text *t, const struct graph *g)
{
	struct net n = {0};
	struct text in = {0};
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
				put_edge(&n, u, connected(g, u) + port, v, i);
			}
			put_port(&in, i, u == GRAPH_NONE ? NULL : &x);
		}
		put_node(w, &n, v, g, v, n_in, &in);
	}
	puts_to(t, "<layers>\n");
	put(t, n.layers.v ? n.layers.v : "", n.layers.n);
	puts_to(t, "</layers>\n<edges>\n");
	put(t, n.edges.v ? n.edges.v : "", n.edges.n);
	puts_to(t, "</edges>\n");
	mem_free(in.v);
	mem_free(n.layers.v);
	mem_free(n.edges.v);
}

/* ---- the main network ---- */

struct ir_writer *ir_writer_new(const char *name, const struct ir_bin *bin)
{
	struct ir_writer *w = MEM_NEW(struct ir_writer);
	w->name = mem_strdup(name);
	w->bin = bin;
	return w;
}

void ir_writer_free(struct ir_writer *w)
{
	if (!w)
		return;
	mem_free(w->main.layers.v);
	mem_free(w->main.edges.v);
	mem_free(w->all.v);
	mem_free(w->name);
	mem_free(w->layer);
	mem_free(w->outs);
	mem_free(w->dims);
	mem_free(w);
}

/* A new layer with n_in input ports; its outputs are kept as they are added. */
static uint32_t add_layer(struct ir_writer *w, uint32_t n_in)
{
	w->layer = mem_grow(w->layer, &w->cap_layers, w->n_layers + 1, sizeof *w->layer);
	w->layer[w->n_layers] = (struct layer_out){(uint32_t)w->n_outs, n_in};
	return (uint32_t)w->n_layers++;
}

static void keep_output(struct ir_writer *w, const struct ir_tensor *x)
{
	uint32_t rank = x->rank == RANK_DYNAMIC ? 0 : x->rank;
	w->outs = mem_grow(w->outs, &w->cap_outs, w->n_outs + 1, sizeof *w->outs);
	w->dims = mem_grow(w->dims, &w->cap_dims, w->n_dims + rank, sizeof *w->dims);
	w->outs[w->n_outs++] = (struct kept_tensor){x->elem, x->rank, w->n_dims};
	for (uint32_t i = 0; i < rank; i++)
		w->dims[w->n_dims++] = x->dim[i];
}

/* Input ports and edges of layer `id`; how many ports there are. */
static uint32_t put_inputs(struct ir_writer *w, uint32_t id, uint32_t n, const struct ir_value *in,
			   struct text *t)
{
	while (n > 0 && in[n - 1].layer == UINT32_MAX)
		n--;
	for (uint32_t i = 0; i < n; i++) {
		if (in[i].layer == UINT32_MAX) {
			put_port(t, i, NULL);
			continue;
		}
		assert(in[i].layer < id);
		const struct layer_out *l = &w->layer[in[i].layer];
		const struct kept_tensor *k = &w->outs[l->first + in[i].port];
		struct ir_tensor x = {k->elem, k->rank, w->dims + k->dim, ""};
		put_port(t, i, &x);
		put_edge(&w->main, in[i].layer, l->n_in + in[i].port, id, i);
	}
	return n;
}

/* Attributes of a layer, and the text that follows them. */
struct data {
	struct text attr;
	const char *more;
};

static uint32_t put_simple(struct ir_writer *w, const char *type, const char *opset,
			   const char *name, const struct data *data, uint32_t n_in,
			   const struct ir_value *in, const struct ir_tensor *out)
{
	struct text ports = {0}, *t = &w->main.layers;
	uint32_t id = (uint32_t)w->n_layers;
	n_in = put_inputs(w, id, n_in, in, &ports);
	add_layer(w, n_in);
	open_layer(&w->main, id, name, type, opset);
	if (data && data->attr.n) {
		puts_to(t, "<data");
		put(t, data->attr.v, data->attr.n);
		puts_to(t, "/>\n");
	}
	if (data && data->more)
		puts_to(t, data->more);
	if (n_in > 0) {
		puts_to(t, "<input>\n");
		put(t, ports.v, ports.n);
		puts_to(t, "</input>\n");
	}
	if (out) {
		keep_output(w, out);
		puts_to(t, "<output>\n");
		put_port(t, n_in, out);
		puts_to(t, "</output>\n");
	}
	puts_to(t, "</layer>\n");
	mem_free(ports.v);
	return id;
}

uint32_t ir_write_parameter(struct ir_writer *w, const char *name, const struct ir_tensor *x)
{
	struct data data = {0};
	put_shape(&data.attr, x);
	put_attr(&data.attr, "element_type", elem_name(x->elem));
	uint32_t id = put_simple(w, "Parameter", "opset1", name, &data, 0, NULL, x);
	mem_free(data.attr.v);
	return id;
}

uint32_t ir_write_constant(struct ir_writer *w, const char *name, const struct ir_tensor *x,
			   uint64_t offset, uint64_t bytes)
{
	struct data data = {0};
	put_attr(&data.attr, "element_type", elem_name(x->elem));
	put_shape(&data.attr, x);
	putf(&data.attr, " offset=\"%" PRIu64 "\" size=\"%" PRIu64 "\"", offset, bytes);
	uint32_t id = put_simple(w, "Const", "opset1", name, &data, 0, NULL, x);
	mem_free(data.attr.v);
	return id;
}

uint32_t ir_write_operator(struct ir_writer *w, const char *type, const char *opset,
			   const char *name, const char *attributes, uint32_t n_in,
			   const struct ir_value *in, const struct ir_tensor *out)
{
	struct data data = {0};
	if (*attributes) {
		put(&data.attr, " ", 1);
		puts_to(&data.attr, attributes);
	}
	uint32_t id = put_simple(w, type, opset, name, &data, n_in, in, out);
	mem_free(data.attr.v);
	return id;
}

uint32_t ir_write_decompression(struct ir_writer *w, const char *name, struct ir_value in,
				const struct ir_tensor *out)
{
	struct data data = {.more = decompression};
	put_attr(&data.attr, "destination_type", elem_name(out->elem));
	uint32_t id = put_simple(w, "Convert", "opset1", name, &data, 1, &in, out);
	mem_free(data.attr.v);
	return id;
}

uint32_t ir_write_result(struct ir_writer *w, const char *name, struct ir_value in)
{
	return put_simple(w, "Result", "opset1", name, NULL, 1, &in, NULL);
}

uint32_t ir_write_node(struct ir_writer *w, const struct graph *g, uint32_t v,
		       const struct ir_value *in)
{
	struct text ports = {0};
	uint32_t id = (uint32_t)w->n_layers;
	uint32_t n_in = put_inputs(w, id, g->in_ptr[v + 1] - g->in_ptr[v], in, &ports);
	add_layer(w, n_in);
	put_node(w, &w->main, id, g, v, n_in, &ports);
	for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++) {
		struct ir_tensor x = ir_tensor_of(g, o);
		keep_output(w, &x);
	}
	mem_free(ports.v);
	return id;
}

const char *ir_writer_text(struct ir_writer *w, size_t *bytes)
{
	struct text *t = &w->all;
	puts_to(t, "<?xml version=\"1.0\"?>\n<net");
	put_attr(t, "name", w->name);
	puts_to(t, " version=\"11\">\n<layers>\n");
	put(t, w->main.layers.v ? w->main.layers.v : "", w->main.layers.n);
	puts_to(t, "</layers>\n<edges>\n");
	put(t, w->main.edges.v ? w->main.edges.v : "", w->main.edges.n);
	puts_to(t, "</edges>\n</net>\n");
	*bytes = t->n;
	return t->v;
}
