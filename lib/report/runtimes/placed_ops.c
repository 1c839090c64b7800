/* placed_ops.c - operations by name. */
#include "report/runtimes/placed_ops.h"

#include <stdio.h>
#include <string.h>

#include "report/devicemap.h"
#include "report/parts.h"

static bool computes(const struct graph *g, uint32_t v, const bool *constant)
{
	enum op_kind k = g->kind[v];
	return k != OP_CONST && k != OP_PARAMETER && k != OP_RESULT && !(constant && constant[v]);
}

static void list_plain(const struct report_input *in, struct placed_ops *out)
{
	const struct graph *g = out->g;
	for (uint32_t v = 0; v < g->n; v++)
		if (computes(g, v, in->constant))
			out->op[out->n++] = (struct placed_op){g->node_name[v], v,
							       in->p->node_device[v], in->flops[v]};
}

/* Of the whole: the device of most of the work, and of equal ones of the first part. */
static void list_parts(const struct report_input *in, struct arena *a, struct placed_ops *out)
{
	const struct graph *g = in->x->graph, *whole = g->whole;
	double *on = parts_by_operation(g, in->p, in->flops, a);
	uint32_t *first = ARENA_NEWN(a, uint32_t, whole->n), k = in->p->k;
	bool *apart = ARENA_NEWN(a, bool, whole->n);
	memset(first, 0xff, whole->n * sizeof *first);
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t w = g->part_of[v];
		if (w == GRAPH_NONE || !computes(g, v, in->constant))
			continue;
		if (first[w] == GRAPH_NONE)
			first[w] = v;
		apart[w] |= in->p->node_device[v] != in->p->node_device[first[w]];
	}
	for (uint32_t w = 0; w < whole->n; w++) {
		if (first[w] == GRAPH_NONE || !computes(whole, w, NULL))
			continue;
		struct placed_op x = {whole->node_name[w], w, in->p->node_device[first[w]], 0};
		double most = 0;
		for (uint32_t d = 0; d < k; d++) {
			double f = on[(size_t)w * k + d];
			x.flops += f;
			if (f > most) {
				most = f;
				x.device = d;
			}
		}
		out->n_apart += apart[w];
		out->op[out->n++] = x;
	}
}

void placed_ops_list(const struct report_input *in, struct arena *a, struct placed_ops *out)
{
	const struct graph *g = in->x->graph;
	bool cut = g->whole && g->part_of;
	*out = (struct placed_ops){.g = cut ? g->whole : g};
	out->op = ARENA_NEWN(a, struct placed_op, out->g->n);
	if (cut)
		list_parts(in, a, out);
	else
		list_plain(in, out);
	if (out->n_apart) {
		char text[200];
		snprintf(
			text, sizeof text,
			"%u operations are in parts on several devices; each is told where most of "
			"it is",
			out->n_apart);
		in->warn(text);
	}
}

void runtime_names(const struct report_input *in, const char *cpu, const char *accelerator,
		   struct arena *a, struct runtime_names *out)
{
	const struct place_rec *p = &in->x->place;
	uint32_t n = 0;
	*out = (struct runtime_names){.name = ARENA_NEWN(a, const char *, p->k),
				      .is_cpu = ARENA_NEWN(a, bool, p->k)};
	for (uint32_t d = 0; d < p->k; d++) {
		bool renamed = strcmp(in->names[d], p->names[d]) != 0,
		     processor = devicemap_is_cpu(p->names[d], a);
		out->is_cpu[d] = renamed ? strcmp(in->names[d], cpu) == 0 : processor;
		out->name[d] = renamed          ? in->names[d]
			       : out->is_cpu[d] ? cpu
						: arena_printf(a, "%s%u", accelerator, n);
		n += !processor;
		out->n_cpus += out->is_cpu[d] && in->p->sets[d] > 0;
	}
	if (out->n_cpus > 1) {
		char text[200];
		snprintf(text, sizeof text, "%u devices of the placement are one there, %s",
			 out->n_cpus, cpu);
		in->warn(text);
	}
}

int runtime_names_check(const struct runtime_names *x, uint32_t k, const char *marks,
			const char *told, struct err *e)
{
	char text[100];
	for (uint32_t d = 0; d < k; d++)
		if (strpbrk(x->name[d], marks))
			return err_set(
				e, ST_INPUT, "'%s' has %s",
				err_escape(text, sizeof text, x->name[d], strlen(x->name[d])),
				told);
	return 0;
}
