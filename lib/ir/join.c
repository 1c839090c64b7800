/* join.c - several models as one IR. */
#include "ir/join.h"

#include <string.h>

#include "base/newfile.h"
#include "ir/new_bin.h"
#include "ir/write.h"

struct joiner {
	struct ir_writer *w;
	const struct graph *g;
	struct graph shown; /* g with the names of a copy: what is written */
	const char *prefix;
	uint32_t *layer; /* (n) of the copy that is written; constants are those of the first */
	struct arena *a;
};

/* Names of tensors, which commas part that no backslash is in front of, each with the prefix. */
static const char *prefix_list(const struct joiner *x, const char *list)
{
	char *item = ir_list_item(x->prefix);
	const char *text = "";

	for (const char *s = list, *end; *s; s = *end ? end + 1 : end) {
		for (end = s; *end && *end != ','; end++)
			end += *end == '\\' && end[1];
		text = arena_printf(x->a, "%s%s%s/%.*s", text, *text ? "," : "", item,
				    (int)(end - s), s);
	}
	mem_free(item);
	return text;
}

/* Inputs and outputs are called after what makes them where their tensors have no names. */
static const char *tensor_names(const struct joiner *x, uint32_t v, uint32_t o, bool at_end)
{
	const struct graph *g = x->g;
	const char *names = g->out_names[o];

	if (!*names && at_end) {
		bool several = g->out_ptr[v + 1] - g->out_ptr[v] > 1;
		char *item = ir_list_item(g->node_name[v]);

		names = several ? arena_printf(x->a, "%s.%u", item, o - g->out_ptr[v])
				: arena_printf(x->a, "%s", item);
		mem_free(item);
	}
	return *names ? prefix_list(x, names) : "";
}

static void name_copy(struct joiner *x)
{
	const struct graph *g = x->g;
	uint32_t n_out = g->out_ptr[g->n], n_attr = g->attr_ptr[g->n];
	bool *at_end = ARENA_NEWN(x->a, bool, n_out);

	x->shown = *g;
	x->shown.node_name = ARENA_NEWN(x->a, const char *, g->n);
	x->shown.out_names = ARENA_NEWN(x->a, const char *, n_out);
	x->shown.attr_value = ARENA_NEWN(x->a, const char *, n_attr);
	for (uint32_t i = 0; i < n_attr; i++)
		x->shown.attr_value[i] = g->attr_value[i];
	for (uint32_t v = 0; v < g->n; v++) {
		if (g->kind[v] == OP_PARAMETER)
			at_end[g->out_ptr[v]] = true;
		if (g->kind[v] == OP_RESULT && g->in_node[g->in_ptr[v]] != GRAPH_NONE)
			at_end[graph_slot_output(g, g->in_ptr[v])] = true;
	}
	for (uint32_t v = 0; v < g->n; v++) {
		x->shown.node_name[v] = arena_printf(x->a, "%s/%s", x->prefix, g->node_name[v]);
		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
			x->shown.out_names[o] = tensor_names(x, v, o, at_end[o]);
		for (uint32_t i = g->attr_ptr[v]; i < g->attr_ptr[v + 1]; i++)
			if (graph_variable(g, v) && strcmp(g->attr_key[i], "variable_id") == 0)
				x->shown.attr_value[i] =
					arena_printf(x->a, "%s/%s", x->prefix, g->attr_value[i]);
	}
}

/* first: constants are written, too. */
static void write_copy(struct joiner *x, bool first)
{
	const struct graph *g = x->g;
	struct ir_value *in = ARENA_NEWN(x->a, struct ir_value, g->in_ptr[g->n]);

	name_copy(x);
	for (uint32_t v = 0; v < g->n; v++) {
		if (graph_const(g, v) >= 0 && !first)
			continue;
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
			in[i] = g->in_node[i] == GRAPH_NONE
					? IR_NO_VALUE
					: (struct ir_value){x->layer[g->in_node[i]], g->in_port[i]};
		x->layer[v] = ir_write_node(x->w, &x->shown, v, in + g->in_ptr[v]);
	}
}

const char *ir_joined_name(const struct ir_joined *x, uint32_t i, struct arena *a)
{
	return x->copies == 1 ? x->name : arena_printf(a, "%s.%u", x->name, i + 1);
}

static void write_part(const struct ir_joined *part, struct ir_writer *w, struct new_bin *bin)
{
	struct joiner x = {.w = w, .g = part->g, .a = arena_new()};

	new_bin_from(bin, part->weights);
	ir_writer_variables(w, graph_fixed_variables(x.g, x.a));
	x.layer = ARENA_NEWN(x.a, uint32_t, x.g->n);
	for (uint32_t i = 0; i < part->copies; i++) {
		x.prefix = ir_joined_name(part, i, x.a);
		write_copy(&x, i == 0);
	}
	arena_free(x.a);
}

int ir_join(const char *xml, const char *bin, const struct ir_joined *part, uint32_t n,
	    struct err *e)
{
	struct arena *a = arena_new();
	const char *name = "", *text;
	struct new_bin b;
	size_t bytes;

	for (uint32_t i = 0; i < n; i++)
		name = arena_printf(a, "%s%s%s", name, i ? "+" : "", part[i].name);
	if (new_bin_open(&b, bin, part[0].weights, e) < 0) {
		arena_free(a);
		return -1;
	}
	struct ir_writer *w = ir_writer_new(name, &b.to);
	for (uint32_t i = 0; i < n && !b.outside; i++)
		write_part(&part[i], w, &b);
	text = ir_writer_text(w, &bytes);
	/* The file that names the other one is the last. */
	int rc = new_bin_commit(&b, bin, part[0].g, e);
	if (rc == 0)
		rc = newfile_write(xml, text, bytes, e);
	ir_writer_free(w);
	arena_free(a);
	return rc;
}
