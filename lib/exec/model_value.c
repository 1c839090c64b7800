/* model_value.c - the constants of a model: computed once, kept as devices take them. */
#include "exec/model_impl.h"
#include "op/quant.h"

/* A constant in few bits. */
struct model_quant {
	struct quant quant;
	struct tensor tensor; /* EL_DYNAMIC: the constant is none */
};

/* Constants that nothing but constants read go when these are computed, unless they serve
 * several. */
static void drop_inputs(struct model *m, uint32_t v)
{
	const struct graph *g = m->g;
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
		if (g->in_node[i] != GRAPH_NONE && m->readers[graph_slot_output(g, i)] == 1 &&
		    !model_is(m, g->in_node[i], OP_CONST))
			host_values_drop(&m->values, graph_slot_output(g, i));
}

int model_value(struct model *m, uint32_t o, struct err *e)
{
	const struct graph *g = m->g;
	uint32_t v = m->node_out[o];
	if (m->values.value[o].data)
		return 0;
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
		uint32_t u = g->in_node[i];
		if (u != GRAPH_NONE && m->constant[u] &&
		    model_value(m, graph_slot_output(g, i), e) < 0)
			return -1;
	}
	if (host_eval_node(&m->values, v, e) < 0)
		return -1;
	drop_inputs(m, v);
	return 0;
}

static bool is_small(const struct model *m, uint32_t o, int depth)
{
	const struct graph *g = m->g;
	uint32_t v = m->node_out[o];
	int64_t bytes = graph_out_bytes(g, o);
	if (bytes < 0 || bytes > MODEL_SMALL || depth > 16 || !m->has_weights)
		return false;
	if (model_is(m, v, OP_SHAPE_OF))
		return true;
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
		if (g->in_node[i] != GRAPH_NONE && !is_small(m, graph_slot_output(g, i), depth + 1))
			return false;
	return true;
}

bool model_is_small(const struct model *m, uint32_t o)
{
	return is_small(m, o, 0);
}

/* The f16 constant behind a Convert to f32, when the device takes it as it is. */
static uint32_t unconverted(const struct model *m, uint32_t o, const struct op *op, uint32_t i,
			    struct device *d)
{
	const struct graph *g = m->g;
	uint32_t v = m->node_out[o];
	if (!model_is(m, v, OP_CONVERT) || g->out_elem[o] != EL_F32)
		return o;
	uint32_t src = graph_slot_output(g, g->in_ptr[v]);
	if (m->wide[src])
		return src; /* it is f32 */
	const struct tensor *t = &m->values.value[src];
	return d->class->takes(d, op, i, t) ? src : o;
}

/* Values of the parts, which are constants of the file. */
static int quant_values(struct model *m, const struct quant_parts *p, struct err *e)
{
	if (!m->has_weights)
		return 0;
	return model_value(m, p->codes, e) < 0 ||
			       (p->zero != GRAPH_NONE && model_value(m, p->zero, e) < 0) ||
			       (p->scale != GRAPH_NONE && model_value(m, p->scale, e) < 0)
		       ? -1
		       : 0;
}

/* *t: constant o in few bits, or NULL. */
static int in_few_bits(struct model *m, uint32_t o, const struct tensor **t, struct err *e)
{
	struct quant_parts p;
	*t = NULL;
	if (!m->quant[o]) {
		struct model_quant *q = ARENA_NEWN(m->arena, struct model_quant, 1);
		q->tensor.elem = EL_DYNAMIC;
		if (quant_find(m->g, m->op, o, &p)) {
			if (quant_values(m, &p, e) < 0)
				return -1;
			quant_describe(&p, m->values.value, o, &q->quant, &q->tensor);
		}
		m->quant[o] = q;
	}
	if (m->quant[o]->tensor.elem != EL_DYNAMIC)
		*t = &m->quant[o]->tensor;
	return 0;
}

int model_constant(struct model *m, uint32_t o, const struct op *op, uint32_t i, struct device *d,
		   enum model_data data, const struct tensor **out, struct err *e)
{
	if (d->class->takes) {
		if (in_few_bits(m, o, out, e) < 0)
			return -1;
		if (*out && d->class->takes(d, op, i, *out))
			return 0;
		o = unconverted(m, o, op, i, d);
	}
	if ((data == MODEL_ALL || is_small(m, o, 0)) && model_value(m, o, e) < 0)
		return -1;
	*out = &m->values.value[o];
	return 0;
}

/* ---- what stays in the host's memory ---- */

struct computed_user {
	const struct model *m;
	void (*fn)(void *arg, const void *key, uint64_t bytes);
	void *arg;
};

/* Output o and all that it was computed from. */
static void tell_computed(const struct computed_user *x, uint32_t o)
{
	const struct model *m = x->m;
	const struct graph *g = m->g;
	uint32_t v = m->node_out[o];
	int64_t bytes = m->values.owned[o] ? tensor_bytes(&m->values.value[o]) : 0;
	if (bytes > 0)
		x->fn(x->arg, m->values.value[o].data, (uint64_t)bytes);
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
		if (g->in_node[i] != GRAPH_NONE && m->constant[g->in_node[i]])
			tell_computed(x, graph_slot_output(g, i));
}

static void tell_parts(const struct computed_user *x, uint32_t o)
{
	struct quant_parts p;
	if (!quant_find(x->m->g, x->m->op, o, &p))
		return;
	tell_computed(x, p.codes);
	if (p.zero != GRAPH_NONE)
		tell_computed(x, p.zero);
	if (p.scale != GRAPH_NONE)
		tell_computed(x, p.scale);
}

void model_computed(struct model *m, uint32_t s, struct device *d,
		    void (*fn)(void *arg, const void *key, uint64_t bytes), void *arg)
{
	const struct graph *g = m->g;
	const struct computed_user x = {m, fn, arg};
	uint32_t v = m->step_node[s];
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
		const struct tensor *t = NULL;
		struct err e = ERR_INIT;
		if (g->in_node[i] == GRAPH_NONE || !m->constant[g->in_node[i]])
			continue;
		uint32_t o = graph_slot_output(g, i);
		if (model_constant(m, o, &m->op[v], i - g->in_ptr[v], d, MODEL_FEW, &t, &e) < 0)
			err_clear(&e);
		else if (t->quant)
			tell_parts(&x, o);
		else
			tell_computed(&x, (uint32_t)(t - m->values.value));
	}
}
