/* model_step.c - steps of a model as devices see them, and which device can run which. */
#include "exec/model_impl.h"

#include <stdio.h>
#include <string.h>

static int fill_arg(struct model *m, const struct op *op, uint32_t i, struct device *d,
		    enum model_data data, struct step_arg *a, struct err *e)
{
	const struct graph *g = m->g;
	uint32_t slot = g->in_ptr[op->v] + i;
	*a = (struct step_arg){.from = FROM_NONE};
	if (g->in_node[slot] == GRAPH_NONE)
		return 0;
	uint32_t o = graph_slot_output(g, slot);
	a->from = m->constant[g->in_node[slot]] ? FROM_CONST : FROM_INPUT;
	if (a->from == FROM_CONST)
		return model_constant(m, o, op, i, d, data, &a->tensor, e);
	a->tensor = &m->values.value[o];
	return 0;
}

int model_spec(struct model *m, uint32_t s, struct device *d, enum model_data data, struct arena *a,
	       struct step_spec *out, struct err *e)
{
	uint32_t v = m->step_node[s];
	const struct graph *g = m->g;
	uint32_t n_in = g->in_ptr[v + 1] - g->in_ptr[v], n_out = g->out_ptr[v + 1] - g->out_ptr[v];
	struct step_arg *in = ARENA_NEWN(a, struct step_arg, n_in);
	const struct tensor **ins = ARENA_NEWN(a, const struct tensor *, n_in);
	struct step_out *outs = ARENA_NEWN(a, struct step_out, n_out);
	struct step_node *node = ARENA_NEWN(a, struct step_node, 1);
	uint32_t n = 0;
	for (uint32_t i = 0; i < n_in; i++) {
		if (fill_arg(m, &m->op[v], i, d, data, &in[i], e) < 0)
			return -1;
		if (in[i].from == FROM_INPUT) {
			in[i].index = n;
			ins[n++] = in[i].tensor;
		}
	}
	for (uint32_t i = 0; i < n_out; i++)
		outs[i] = (struct step_out){0, i};
	*node = (struct step_node){.graph = g,
				   .v = v,
				   .op = &m->op[v],
				   .n_in = n_in,
				   .n_out = n_out,
				   .in = in,
				   .out = m->values.value + g->out_ptr[v],
				   .used = m->used + g->out_ptr[v],
				   .env = m->env};
	*out = (struct step_spec){1, node, n, n_out, ins, outs};
	return 0;
}

int model_supports(struct model *m, uint32_t s, struct device *d, char *why, size_t cap,
		   struct err *e)
{
	if (model_is_dynamic(m, m->step_node[s]) && !d->class->dynamic) {
		snprintf(why, cap, "dynamic shape");
		return 0;
	}
	struct arena *a = arena_new();
	struct step_spec spec;
	int rc = model_spec(m, s, d, MODEL_FEW, a, &spec, e);
	if (rc == 0)
		rc = d->class->supports(d, &spec, why, cap);
	arena_free(a);
	return rc;
}

int model_mask(struct model *m, const struct device_list *l, uint8_t *mask, struct err *e)
{
	const struct graph *g = m->g;
	char why[200], layer[300];
	memset(mask, 1, (size_t)g->n_sets * l->n);
	for (uint32_t s = 0; s < m->n_steps; s++) {
		uint32_t v = m->step_node[s], able = 0;
		for (uint32_t d = 0; d < l->n; d++) {
			int ok = model_supports(m, s, &l->dev[d], why, sizeof why, e);
			if (ok < 0)
				return -1;
			able += (uint32_t)ok;
			if (!ok && g->set[v] != GRAPH_NONE)
				mask[(size_t)g->set[v] * l->n + d] = 0;
		}
		if (able == 0)
			return err_set(e, ST_INPUT,
				       "operator '%s-%s' of %s can run on none of the devices: %s",
				       g->type[v], g->opset[v],
				       model_layer(m, v, layer, sizeof layer), why);
	}
	return 0;
}
