/* dot_graph.c - the placed graph in DOT, for Graphviz and for json2dag. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/runtimes/placed_ops.h"

/* A text in quotes.  DOT has \" for "; \\ stays two in a name and is one in a label, and an odd \ would hide the quote at the end. */
static void quote(FILE *out, const char *s)
{
	fputc('"', out);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fputc('\\', out);
		fputc((unsigned char)*s < ' ' ? ' ' : *s, out);
	}
	fputc('"', out);
}

/* Hues apart from each other: multiples of the golden angle. */
static double hue(uint32_t d)
{
	double h = 0.58 + 0.381966 * d;
	return h - (double)(uint32_t)h;
}

static bool is_drawn(const struct report_input *in, uint32_t v)
{
	return in->x->graph->kind[v] != OP_CONST && !in->constant[v];
}

static void write_node(FILE *out, const struct report_input *in, uint32_t v)
{
	const struct graph *g = in->x->graph;
	fprintf(out, "  n%u [label=", v);
	quote(out, g->node_name[v]);
	fputs(", type=", out);
	quote(out, g->type[v]);
	fputs(", device=", out);
	quote(out, in->names[in->p->node_device[v]]);
	fprintf(out, ", flops=\"%.0f\", fillcolor=\"%.3f 0.30 1.0\"];\n", in->flops[v],
		hue(in->p->node_device[v]));
}

static int write_dot(FILE *out, const struct report_input *in, struct err *e)
{
	const struct graph *g = in->x->graph;
	(void)e;
	fputs("digraph ", out);
	quote(out, g->name);
	fputs(" {\n  node [shape=box, style=filled];\n", out);
	for (uint32_t v = 0; v < g->n; v++)
		if (is_drawn(in, v))
			write_node(out, in, v);
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			uint32_t u = g->in_node[i];
			if (u == GRAPH_NONE || !is_drawn(in, u) || !is_drawn(in, v))
				continue;
			int64_t bytes = graph_out_bytes(g, graph_slot_output(g, i));
			bool copied = in->p->node_device[u] != in->p->node_device[v];
			fprintf(out, "  n%u -> n%u [bytes=%" PRId64 "%s];\n", u, v,
				bytes < 0 ? 0 : bytes, copied ? ", color=red, penwidth=2" : "");
		}
	fputs("}\n", out);
	in->warn("constants are left out, and dynamic tensors have 0 bytes");
	return 0;
}

const struct report_format format_dot = {
	.name = "dot",
	.about = "the graph in DOT: operations with device, FLOPs, a colour; edges\n"
		 "with bytes, red where they are copied. json2dag reads it. Not\n"
		 "told: constants, bytes of dynamic tensors",
	.write = write_dot,
};
