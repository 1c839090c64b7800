/* model.c - from a graph to the steps that an executor runs. */
#include "exec/model_impl.h"
#include "kernel/graph_facts.h"

#include <stdio.h>
#include <string.h>

char *model_layer(const struct model *m, uint32_t v, char *dst, size_t cap)
{
	return graph_layer(m->g, v, dst, cap);
}

static uint32_t n_outputs(const struct graph *g)
{
	return g->out_ptr[g->n];
}

/* ---- opening ---- */

static int decode(struct model *m, struct err *e)
{
	const struct graph *g = m->g;
	char l[300];
	m->op = ARENA_NEWN(m->arena, struct op, g->n);
	m->constant = ARENA_NEWN(m->arena, bool, g->n);
	for (uint32_t v = 0; v < g->n; v++)
		if (op_decode(g, v, &m->op[v], e) < 0)
			return err_prefix(e, "%s", model_layer(m, v, l, sizeof l));
	op_constant_nodes(g, m->constant);
	op_mark_rounded(g, m->constant, m->op);
	return 0;
}

static void mark_live(struct model *m)
{
	const struct graph *g = m->g;
	m->live = ARENA_NEWN(m->arena, bool, g->n);
	m->used = ARENA_NEWN(m->arena, bool, n_outputs(g));
	m->readers = ARENA_NEWN(m->arena, uint32_t, n_outputs(g));
	m->quant = ARENA_NEWN(m->arena, struct model_quant *, n_outputs(g));
	for (uint32_t k = 0; k < g->consumers.ptr[g->n]; k++)
		m->readers[graph_slot_output(g, g->consumers.slot[k])]++;
	for (uint32_t v = g->n; v-- > 0;) {
		if (model_is(m, v, OP_RESULT) || model_is(m, v, OP_ASSIGN))
			m->live[v] = true;
		for (uint32_t i = g->in_ptr[v]; m->live[v] && i < g->in_ptr[v + 1]; i++)
			if (g->in_node[i] != GRAPH_NONE)
				m->live[g->in_node[i]] = m->used[graph_slot_output(g, i)] = true;
	}
}

/* "'ids' [?,16], 'mask' [?,?]": the inputs whose shapes are not known. */
static int inputs_error(const struct model *m, struct err *e)
{
	const struct graph *g = m->g;
	char text[600] = "", name[100], shape[120];
	size_t n = 0;
	uint32_t count = 0;
	for (uint32_t v = 0; v < g->n && n < sizeof text - 250; v++) {
		struct tensor t;
		if (!model_is(m, v, OP_PARAMETER) ||
		    (tensor_describe(g, g->out_ptr[v], &t) && tensor_is_static(&t)))
			continue;
		if (g->out_rank[g->out_ptr[v]] == RANK_DYNAMIC)
			snprintf(shape, sizeof shape, "of unknown rank");
		else
			tensor_text(&t, shape, sizeof shape);
		n += (size_t)snprintf(
			text + n, sizeof text - n, "%s'%s' %s", count++ ? ", " : "",
			err_escape(name, sizeof name, g->node_name[v], strlen(g->node_name[v])),
			shape);
	}
	return err_set(e, ST_INPUT,
		       "input%s without a static shape: %s; give %s with --shape "
		       "NAME=1,3,... (of ir2dag or place)",
		       count > 1 ? "s" : "", text, count > 1 ? "theirs" : "it");
}

/* Which tensors are dynamic; what cannot be held at all is refused. */
static int check_shapes(struct model *m, struct err *e)
{
	const struct graph *g = m->g;
	char l[300];
	m->dynamic = ARENA_NEWN(m->arena, bool, n_outputs(g));
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++) {
			struct tensor t;
			if (!m->live[v] && !model_is(m, v, OP_PARAMETER))
				continue;
			if (m->constant[v] && !model_is(m, v, OP_CONST))
				continue; /* its value will tell */
			bool ranked = tensor_describe(g, o, &t);
			if (!ranked && t.rank != RANK_DYNAMIC)
				return err_set(
					e, ST_INPUT, "%s: output %u has rank %u; 8 is the highest",
					model_layer(m, v, l, sizeof l), o - g->out_ptr[v], t.rank);
			m->dynamic[o] = !ranked || !tensor_is_static(&t);
			if ((m->dynamic[o] ? elem_bits(t.elem) == 0 : tensor_bytes(&t) < 0) &&
			    !model_is(m, v, OP_CONST))
				return err_set(
					e, ST_INPUT,
					"%s: output %u of type '%s' cannot be held in memory",
					model_layer(m, v, l, sizeof l), o - g->out_ptr[v],
					elem_name(t.elem));
		}
	return 0;
}

/* Constants in f16 that only other constants read (weights that are being unpacked) stay f32. */
static void mark_wide(struct model *m)
{
	const struct graph *g = m->g;
	m->wide = ARENA_NEWN(m->arena, bool, n_outputs(g));
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
			m->wide[o] = m->constant[v] && !model_is(m, v, OP_CONST) &&
				     (g->out_elem[o] == EL_F16 || g->out_elem[o] == EL_BF16);
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t i = g->in_ptr[v]; !m->constant[v] && i < g->in_ptr[v + 1]; i++)
			if (g->in_node[i] != GRAPH_NONE)
				m->wide[graph_slot_output(g, i)] = false;
	for (uint32_t o = 0; o < n_outputs(g); o++)
		if (m->wide[o] && m->values.value[o].elem != EL_DYNAMIC)
			m->values.value[o].elem = EL_F32;
	m->values.wide = m->wide;
}

/* Dynamic tensors are described by their types and what dims are known. */
static void describe_dynamic(struct model *m)
{
	const struct graph *g = m->g;
	for (uint32_t o = 0; o < n_outputs(g); o++) {
		struct tensor *t = &m->values.value[o];
		if (m->dynamic[o] && !tensor_describe(g, o, t))
			*t = (struct tensor){.elem = t->elem, .rank = 1, .dim = {DIM_DYNAMIC}};
	}
}

uint64_t model_bytes(const struct model *m, uint32_t o)
{
	if (m->dynamic[o])
		return sizeof(struct tensor);
	return (uint64_t)tensor_bytes(&m->values.value[o]);
}

bool model_is_dynamic(const struct model *m, uint32_t v)
{
	const struct graph *g = m->g;
	for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
		if (m->dynamic[o])
			return true;
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
		if (g->in_node[i] != GRAPH_NONE && m->dynamic[graph_slot_output(g, i)])
			return true;
	return false;
}

/* Every constant lies inside the file and is as long as its shape says. */
static int check_constants(const struct model *m, struct err *e)
{
	const struct graph *g = m->g;
	char l[300];
	if (weights_check(&m->weights, g, e) < 0)
		return -1;
	for (uint32_t c = 0; c < g->n_const; c++) {
		struct tensor t;
		uint32_t v = g->const_node[c];
		if (!m->live[v] || !tensor_describe(g, g->out_ptr[v], &t) || t.elem == EL_STRING)
			continue;
		int64_t bytes = tensor_bytes(&t);
		if (bytes < 0 || (uint64_t)bytes != g->const_bytes[c])
			return err_set(e, ST_INPUT,
				       "%s: %llu bytes in the .bin, but its shape takes %lld",
				       model_layer(m, v, l, sizeof l),
				       (unsigned long long)g->const_bytes[c], (long long)bytes);
	}
	return 0;
}

/* The node that needs the .bin first, by itself or in a body; GRAPH_NONE: none does. */
static uint32_t needs_weights(const struct graph *g)
{
	for (uint32_t c = 0; c < g->n_const; c++)
		if (!graph_const_in_tail(g, c))
			return g->const_node[c];
	for (uint32_t b = 0; b < g->n_bodies; b++)
		if (needs_weights(g->body[b].graph) != GRAPH_NONE)
			return g->body[b].node;
	return GRAPH_NONE;
}

int model_complete(const struct model *m, struct err *e)
{
	char l[300];
	uint32_t v = needs_weights(m->g);
	for (uint32_t i = 0; i < m->n_params; i++)
		if (m->dynamic[m->g->out_ptr[m->param[i]]])
			return inputs_error(m, e);
	if (v == GRAPH_NONE || m->has_weights)
		return 0;
	return err_set(e, ST_INPUT,
		       "%s: the model has no weights file; give one with --weights or "
		       "make one with irfill",
		       model_layer(m, v, l, sizeof l));
}

static int open_weights(struct model *m, const char *path, struct err *e)
{
	if (!path)
		path = m->g->weights;
	bool needed = needs_weights(m->g) != GRAPH_NONE;
	if (needed ? *path == '\0' : m->g->tail_bytes == 0)
		return 0;
	m->has_weights = true;
	path = needed ? path : "";
	if (weights_open(&m->weights, path, m->g, e) < 0)
		return -1;
	if (check_constants(m, e) < 0) {
		char q[400];
		return err_prefix(e, "weights '%s'", err_escape(q, sizeof q, path, strlen(path)));
	}
	return 0;
}

/* A constant view has a value of its own; one of a dynamic tensor another struct tensor. */
static void find_roots(struct model *m)
{
	const struct graph *g = m->g;
	m->root = ARENA_NEWN(m->arena, uint32_t, n_outputs(g));
	m->node_out = ARENA_NEWN(m->arena, uint32_t, n_outputs(g));
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++) {
			m->node_out[o] = v;
			m->root[o] = o;
			if (!m->constant[v] && op_is_view(&m->op[v]) && !model_is_dynamic(m, v) &&
			    g->in_ptr[v] < g->in_ptr[v + 1] &&
			    g->in_node[g->in_ptr[v]] != GRAPH_NONE)
				m->root[o] = m->root[graph_slot_output(g, g->in_ptr[v])];
		}
}

static void list_steps(struct model *m)
{
	const struct graph *g = m->g;
	m->step_node = ARENA_NEWN(m->arena, uint32_t, g->n);
	m->node_step = ARENA_NEWN(m->arena, uint32_t, g->n);
	m->alone = ARENA_NEWN(m->arena, bool, g->n);
	m->param = ARENA_NEWN(m->arena, uint32_t, g->n);
	m->result = ARENA_NEWN(m->arena, uint32_t, g->n);
	m->result_root = ARENA_NEWN(m->arena, uint32_t, g->n);
	for (uint32_t v = 0; v < g->n; v++) {
		m->node_step[v] = GRAPH_NONE;
		if (model_is(m, v, OP_PARAMETER)) {
			m->param[m->n_params++] = v;
		} else if (model_is(m, v, OP_RESULT)) {
			m->result_root[m->n_results] = m->root[graph_slot_output(g, g->in_ptr[v])];
			m->result[m->n_results++] = v;
		} else if (m->live[v] && !m->constant[v] &&
			   (g->out_ptr[v] == g->out_ptr[v + 1] ||
			    m->root[g->out_ptr[v]] == g->out_ptr[v])) {
			m->node_step[v] = m->n_steps;
			m->alone[m->n_steps] = model_is_dynamic(m, v) ||
					       model_is(m, v, OP_READ_VALUE) ||
					       model_is(m, v, OP_ASSIGN);
			m->step_node[m->n_steps++] = v;
		}
	}
}

/* Host memory for the inputs of m->at_request. */
static int make_inputs(struct model *m, struct err *e)
{
	char l[300];
	m->input = ARENA_NEWN(m->arena, void *, m->n_params);
	m->request[m->at_request].input = m->input;
	for (uint32_t i = 0; i < m->n_params; i++) {
		struct tensor t;
		if (m->dynamic[m->g->out_ptr[m->param[i]]])
			continue;
		if (!tensor_describe(m->g, m->g->out_ptr[m->param[i]], &t) || tensor_bytes(&t) < 0)
			return err_set(e, ST_INPUT,
				       "%s: an input needs a static shape and a numeric type",
				       model_layer(m, m->param[i], l, sizeof l));
		size_t bytes = (size_t)tensor_bytes(&t);
		if (!(m->input[i] = mem_try(bytes ? bytes : 1)))
			return err_set(e, ST_RUNTIME, "%s: no memory for %zu bytes",
				       model_layer(m, m->param[i], l, sizeof l), bytes);
		memset(m->input[i], 0, bytes);
	}
	return 0;
}

/* One request more, with this env, and the one that m is at. */
static void add_request(struct model *m, const struct step_env *env)
{
	size_t cap = m->n_requests;
	m->request = mem_grow(m->request, &cap, (size_t)m->n_requests + 1, sizeof *m->request);
	m->env = ARENA_NEWN(m->arena, struct step_env, 1);
	*m->env = *env;
	m->at_request = m->n_requests++;
	m->request[m->at_request] = (struct model_request){.env = m->env};
}

int model_request(struct model *m, uint32_t i, struct err *e)
{
	while (m->n_requests <= i) {
		struct step_env env = *m->request[0].env;
		env.variables = variables_new(m->g);
		env.variables->keep = m->request[0].env->variables->keep;
		add_request(m, &env);
		if (make_inputs(m, e) < 0)
			return -1;
	}
	m->at_request = i;
	m->input = m->request[i].input;
	m->env = m->request[i].env;
	return 0;
}

/* The recorded shapes of every live node follow from those of its inputs, as far as can be
 * said from small constants: views and kernels rely on it. */
static int check_nodes(struct model *m, struct err *e)
{
	const struct graph *g = m->g;
	struct tensor *in = NULL;
	size_t cap = 0;
	int rc = 0;
	char l[300];
	for (uint32_t v = 0; v < g->n && rc == 0; v++) {
		uint32_t first = g->in_ptr[v], n = g->in_ptr[v + 1] - first;
		if (!m->live[v] || m->constant[v] || model_is(m, v, OP_PARAMETER) ||
		    model_is(m, v, OP_RESULT) || model_is(m, v, OP_READ_VALUE) ||
		    model_is_dynamic(m, v))
			continue;
		bool told = true;
		in = mem_grow(in, &cap, (size_t)n + 1, sizeof *in);
		for (uint32_t i = 0; i < n && rc == 0; i++) {
			in[i] = (struct tensor){0};
			if (g->in_node[first + i] == GRAPH_NONE)
				continue;
			uint32_t o = graph_slot_output(g, first + i);
			/* Of a constant with open dims (NonZero) the value tells which. */
			bool open = graph_out_bytes(g, o) < 0;
			if (!m->constant[g->in_node[first + i]])
				open = false;
			else if (model_is_small(m, o) || (open && m->has_weights))
				rc = model_value(m, o, e);
			told = told && (!open || m->has_weights);
			in[i] = m->values.value[o];
		}
		if (rc == 0 && told &&
		    op_check(&m->op[v], in, m->values.value + g->out_ptr[v], e) < 0)
			rc = err_prefix(e, "%s", model_layer(m, v, l, sizeof l));
	}
	mem_free(in);
	return rc;
}

int model_open(struct model *m, const struct graph *g, const char *weights, struct err *e)
{
	*m = (struct model){.g = g, .arena = arena_new(), .ctx = cpu_ctx_new(NULL, NULL)};
	if (decode(m, e) < 0)
		return -1;
	mark_live(m);
	if (check_shapes(m, e) < 0 || open_weights(m, weights, e) < 0)
		return -1;
	host_values_init(&m->values, g, m->weights.data, m->weights.bytes, m->ctx);
	mark_wide(m);
	describe_dynamic(m);
	add_request(m, &(struct step_env){m->weights.data, m->weights.bytes, variables_new(g),
					  m->weights.path, graph_facts_new()});
	find_roots(m);
	list_steps(m);
	return check_nodes(m, e) < 0 ? -1 : make_inputs(m, e);
}

void model_close(struct model *m)
{
	if (!m->arena)
		return;
	for (uint32_t r = 0; r < m->n_requests; r++) {
		struct model_request *x = &m->request[r];
		for (uint32_t i = 0; x->input && i < m->n_params; i++)
			mem_free(x->input[i]);
		variables_free(x->env->variables);
	}
	if (m->values.value)
		host_values_release(&m->values);
	if (m->n_requests)
		graph_facts_free(m->request[0].env->facts);
	mem_free(m->request);
	cpu_ctx_free(m->ctx);
	weights_close(&m->weights);
	arena_free(m->arena);
	*m = (struct model){0};
}
