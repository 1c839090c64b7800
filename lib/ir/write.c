/* write.c - a network of OpenVINO IR, layer by layer, and the tensors between them. */
#include "ir/write.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "ir/text.h"

/* The outputs of a layer, for the ports that read them. */
struct layer_out {
	uint32_t first, n_in;
};

struct ir_writer {
	struct ir_net main;
	struct ir_text all;
	char *name;
	const struct ir_bin *bin;
	const bool *fixed; /* NULL: none */
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

struct ir_writer *ir_writer_new(const char *name, const struct ir_bin *bin)
{
	struct ir_writer *w = MEM_NEW(struct ir_writer);
	w->name = mem_strdup(name);
	w->bin = bin;
	return w;
}

void ir_writer_variables(struct ir_writer *w, const bool *fixed)
{
	w->fixed = fixed;
}

void ir_writer_free(struct ir_writer *w)
{
	if (!w)
		return;
	net_release(&w->main);
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
			   struct ir_text *t)
{
	while (n > 0 && in[n - 1].layer == UINT32_MAX)
		n--;
	for (uint32_t i = 0; i < n; i++) {
		if (in[i].layer == UINT32_MAX) {
			text_port(t, i, NULL);
			continue;
		}
		assert(in[i].layer < id);
		const struct layer_out *l = &w->layer[in[i].layer];
		const struct kept_tensor *k = &w->outs[l->first + in[i].port];
		struct ir_tensor x = {k->elem, k->rank, w->dims + k->dim, ""};
		text_port(t, i, &x);
		net_edge(&w->main, in[i].layer, l->n_in + in[i].port, id, i);
	}
	return n;
}

/* Attributes of a layer, and the text that follows them. */
struct data {
	struct ir_text attr;
	const char *more;
};

static uint32_t put_simple(struct ir_writer *w, const char *type, const char *opset,
			   const char *name, const struct data *data, uint32_t n_in,
			   const struct ir_value *in, const struct ir_tensor *out)
{
	struct ir_text ports = {0}, *t = &w->main.layers;
	uint32_t id = (uint32_t)w->n_layers;
	n_in = put_inputs(w, id, n_in, in, &ports);
	add_layer(w, n_in);
	net_open_layer(&w->main, id, name, type, opset);
	if (data && data->attr.n) {
		text_puts(t, "<data");
		text_put(t, data->attr.v, data->attr.n);
		text_puts(t, "/>\n");
	}
	if (data && data->more)
		text_puts(t, data->more);
	if (n_in > 0) {
		text_puts(t, "<input>\n");
		text_put(t, ports.v, ports.n);
		text_puts(t, "</input>\n");
	}
	if (out) {
		keep_output(w, out);
		text_puts(t, "<output>\n");
		text_port(t, n_in, out);
		text_puts(t, "</output>\n");
	}
	text_puts(t, "</layer>\n");
	mem_free(ports.v);
	return id;
}

uint32_t ir_write_parameter(struct ir_writer *w, const char *name, const struct ir_tensor *x)
{
	struct data data = {0};
	text_shape(&data.attr, x);
	text_attr(&data.attr, "element_type", elem_name(x->elem));
	uint32_t id = put_simple(w, "Parameter", "opset1", name, &data, 0, NULL, x);
	mem_free(data.attr.v);
	return id;
}

uint32_t ir_write_constant(struct ir_writer *w, const char *name, const struct ir_tensor *x,
			   uint64_t offset, uint64_t bytes)
{
	struct data data = {0};
	text_attr(&data.attr, "element_type", elem_name(x->elem));
	text_shape(&data.attr, x);
	text_putf(&data.attr, " offset=\"%" PRIu64 "\" size=\"%" PRIu64 "\"", offset, bytes);
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
		text_put(&data.attr, " ", 1);
		text_puts(&data.attr, attributes);
	}
	uint32_t id = put_simple(w, type, opset, name, &data, n_in, in, out);
	mem_free(data.attr.v);
	return id;
}

uint32_t ir_write_decompression(struct ir_writer *w, const char *name, struct ir_value in,
				const struct ir_tensor *out)
{
	struct data data = {.more = ir_decompression};
	text_attr(&data.attr, "destination_type", elem_name(out->elem));
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
	struct ir_text ports = {0};
	uint32_t id = (uint32_t)w->n_layers;
	uint32_t n_in = put_inputs(w, id, g->in_ptr[v + 1] - g->in_ptr[v], in, &ports);
	add_layer(w, n_in);
	net_node(&w->main, w->bin, id, g, v, w->fixed && w->fixed[v], n_in, &ports);
	for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++) {
		struct ir_tensor x = ir_tensor_of(g, o);
		keep_output(w, &x);
	}
	mem_free(ports.v);
	return id;
}

const char *ir_writer_text(struct ir_writer *w, size_t *bytes)
{
	struct ir_text *t = &w->all;
	text_puts(t, "<?xml version=\"1.0\"?>\n<net");
	text_attr(t, "name", w->name);
	text_puts(t, " version=\"11\">\n");
	text_net(t, &w->main);
	text_puts(t, "</net>\n");
	*bytes = t->n;
	return t->v;
}
