/* ov_model.c - a step as the text of an IR that OpenVINO reads from memory.
 *
 * Constants come with the operators that the model computes them from, if they start at
 * Consts of its file; values of others are added behind the file (ov_weights.c).  Where a view lies
 * between two nodes of the step, which is no node of it, a Reshape to the shape that the reader
 * sees stands for it. */
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/mem.h"
#include "base/pairmap.h"
#include "device/openvino/ov_impl.h"
#include "ir/write.h"

enum { IN_SUBGRAPH = 32 }; /* operators between Consts and the node that reads them */

struct text {
	const struct step_spec *s;
	struct ov_weights *weights;
	bool by_content; /* digests stand for offsets */
	struct ir_writer *w;
	struct ir_value *input; /* (n_in) */
	uint32_t *layer;        /* (n_nodes) */
	struct pairmap done;    /* constants written so far */
	uint64_t weight_bytes;
	uint32_t n_names;
};

static struct ir_tensor describe(const struct tensor *t)
{
	return (struct ir_tensor){t->elem, (uint8_t)t->rank, t->dim, ""};
}

/* ---- constants ---- */

static bool is_in_file(const struct text *x, const struct graph *g, int64_t c)
{
	uint64_t bytes = ov_weights_file_bytes(x->weights);
	return g->const_bytes[c] <= bytes && g->const_offset[c] <= bytes - g->const_bytes[c];
}

/* What the text says of where bytes are that the file does not have. */
static int place_bytes(const struct text *x, const void *data, uint64_t bytes, uint64_t *offset,
		       struct err *e)
{
	if (!x->by_content)
		return ov_weights_add(x->weights, data, bytes, offset, e);
	*offset = digest_of(data, bytes, 0);
	return 0;
}

static uint64_t place_by_content(void *arg, uint64_t offset, uint64_t bytes)
{
	return ov_weights_digest(arg, offset, bytes);
}

/* Does node u depend on Consts of the file alone, by at most *visits nodes? */
static bool is_writable(const struct text *x, const struct graph *g, uint32_t u, int *visits)
{
	int64_t c = graph_const(g, u);
	if (c >= 0)
		return is_in_file(x, g, c);
	uint32_t n = g->in_ptr[u + 1] - g->in_ptr[u];
	if (--*visits < 0 || n == 0 || n > IN_SUBGRAPH || strncmp(g->opset[u], "opset", 5) != 0)
		return false;
	for (uint32_t i = g->in_ptr[u]; i < g->in_ptr[u + 1]; i++)
		if (g->in_node[i] != GRAPH_NONE && !is_writable(x, g, g->in_node[i], visits))
			return false;
	return true;
}

/* What was written for a tensor as a type, or for a node of the graph (its id's address). */
static void add_done(struct text *x, const void *key, enum elem elem, struct ir_value value)
{
	pairmap_put(&x->done, (uintptr_t)key, elem, (uint64_t)value.layer << 32 | value.port);
}

static bool was_done(const struct text *x, const void *key, enum elem elem, struct ir_value *value)
{
	const uint64_t *done = pairmap_get(&x->done, (uintptr_t)key, elem);
	if (done)
		*value = (struct ir_value){(uint32_t)(*done >> 32), (uint32_t)*done};
	return done != NULL;
}

/* Node u and what it depends on, as the model has them: plugins find quantised weights by
 * the operators that unpack them. */
static uint32_t put_constant_node(struct text *x, const struct graph *g, uint32_t u)
{
	struct ir_value done, in[IN_SUBGRAPH];
	if (was_done(x, &g->id[u], EL_COUNT, &done))
		return done.layer;
	uint32_t n = g->in_ptr[u + 1] - g->in_ptr[u];
	for (uint32_t i = 0; i < n; i++) {
		uint32_t slot = g->in_ptr[u] + i, from = g->in_node[slot];
		in[i] = from == GRAPH_NONE ? IR_NO_VALUE
					   : (struct ir_value){put_constant_node(x, g, from),
							       g->in_port[slot]};
	}
	uint32_t layer = ir_write_node(x->w, g, u, in);
	add_done(x, &g->id[u], EL_COUNT, (struct ir_value){layer, 0});
	return layer;
}

/* A computed value, as the type that the node expects. */
static int put_value(struct text *x, const struct tensor *t, enum elem expected,
		     struct ir_value *out, struct err *e)
{
	uint64_t offset, bytes = (uint64_t)tensor_bytes(t);
	char name[40];
	if (was_done(x, t, expected, out))
		return 0;
	if (place_bytes(x, t->data, bytes, &offset, e) < 0)
		return -1;
	snprintf(name, sizeof name, "constant/%u", x->n_names++);
	struct ir_tensor shown = describe(t);
	struct ir_value value = {ir_write_constant(x->w, name, &shown, offset, bytes), 0};
	if (expected != t->elem) {
		shown.elem = expected;
		value.layer = ir_write_decompression(x->w, strcat(name, "/f"), value, &shown);
	}
	add_done(x, t, expected, value);
	*out = value;
	return 0;
}

/* The type that input i of n has in the model. */
static enum elem expected_elem(const struct step_node *n, uint32_t i)
{
	const struct graph *g = n->graph;
	uint32_t slot = g->in_ptr[n->v] + i;
	return (enum elem)g->out_elem[g->out_ptr[g->in_node[slot]] + g->in_port[slot]];
}

/* Constant input i of n: with what the model computes it from, where that is in the file. */
static int put_constant(struct text *x, const struct step_node *n, uint32_t i, struct ir_value *out,
			struct err *e)
{
	const struct graph *g = n->graph;
	const struct tensor *t = n->in[i].tensor;
	uint32_t slot = g->in_ptr[n->v] + i;
	int visits = IN_SUBGRAPH;
	x->weight_bytes += elem_is_real(t->elem) ? (uint64_t)tensor_elements(t) * sizeof(float)
						 : (uint64_t)tensor_bytes(t);
	if (!is_writable(x, g, g->in_node[slot], &visits))
		return put_value(x, t, expected_elem(n, i), out, e);
	*out = (struct ir_value){put_constant_node(x, g, g->in_node[slot]), g->in_port[slot]};
	return 0;
}

/* ---- types ---- */

/* Where the executor keeps a tensor in another type than the model says (f32 for f16). */
static struct ir_value put_type(struct text *x, enum elem have, enum elem want,
				const struct tensor *t, struct ir_value from)
{
	char name[40], attribute[60];
	if (have == want)
		return from;
	struct ir_tensor result = describe(t);
	result.elem = want;
	snprintf(name, sizeof name, "type/%u", x->n_names++);
	snprintf(attribute, sizeof attribute, "destination_type=\"%s\"", elem_name(want));
	return (struct ir_value){
		ir_write_operator(x->w, "Convert", "opset1", name, attribute, 1, &from, &result),
		0};
}

/* ---- views ---- */

/* `from`, which has the shape of `have`, in the shape of `want`. */
static int put_view(struct text *x, const struct tensor *have, const struct tensor *want,
		    struct ir_value from, struct ir_value *out, struct err *e)
{
	char name[40];
	uint64_t offset;
	*out = from;
	if (have->rank == want->rank &&
	    memcmp(have->dim, want->dim, have->rank * sizeof *have->dim) == 0)
		return 0;
	const int64_t rank = want->rank;
	const struct ir_tensor shape = {EL_I64, 1, &rank, ""}, result = describe(want);
	if (place_bytes(x, want->dim, want->rank * sizeof *want->dim, &offset, e) < 0)
		return -1;
	snprintf(name, sizeof name, "view/%u", x->n_names++);
	uint32_t c = ir_write_constant(x->w, name, &shape, offset, want->rank * sizeof *want->dim);
	struct ir_value in[2] = {from, {c, 0}};
	*out = (struct ir_value){ir_write_operator(x->w, "Reshape", "opset1", strcat(name, "/r"),
						   "special_zero=\"false\"", 2, in, &result),
				 0};
	return 0;
}

/* ---- nodes ---- */

static int put_argument(struct text *x, const struct step_node *n, uint32_t i, struct ir_value *out,
			struct err *e)
{
	const struct step_arg *a = &n->in[i];
	*out = IR_NO_VALUE;
	switch (a->from) {
	case FROM_NONE: return 0;
	case FROM_CONST: return put_constant(x, n, i, out, e);
	case FROM_NODE: break;
	case FROM_INPUT:
		if (put_view(x, x->s->in[a->index], a->tensor, x->input[a->index], out, e) < 0)
			return -1;
		*out = put_type(x, a->tensor->elem, expected_elem(n, i), a->tensor, *out);
		return 0;
	}
	return put_view(x, &x->s->node[a->index].out[a->port], a->tensor,
			(struct ir_value){x->layer[a->index], a->port}, out, e);
}

static int put_nodes(struct text *x, struct err *e)
{
	struct ir_value *in = NULL;
	size_t cap = 0;
	int rc = 0;
	for (uint32_t k = 0; k < x->s->n_nodes && rc == 0; k++) {
		const struct step_node *n = &x->s->node[k];
		in = mem_grow(in, &cap, (size_t)n->n_in + 1, sizeof *in);
		for (uint32_t i = 0; i < n->n_in && rc == 0; i++)
			rc = put_argument(x, n, i, &in[i], e);
		if (rc == 0)
			x->layer[k] = ir_write_node(x->w, n->graph, n->v, in);
	}
	mem_free(in);
	return rc;
}

/* graph_fixed_variables of the graph that the step is of; NULL: it has no variables. */
static const bool *fixed_variables(const struct step_spec *s, struct arena *a)
{
	const struct graph *g = s->n_nodes ? s->node[0].graph : NULL;
	bool any = false;
	for (uint32_t k = 0; k < s->n_nodes; k++) {
		if (s->node[k].graph != g) /* bodies, which have no variables */
			return NULL;
		any = any || graph_variable(g, s->node[k].v);
	}
	return any ? graph_fixed_variables(g, a) : NULL;
}

int ov_model_text(const struct step_spec *s, struct ov_weights *w, bool by_content, char **text,
		  size_t *bytes, uint64_t *weight_bytes, struct err *e)
{
	const struct ir_bin digests = {.place = place_by_content, .arg = w};
	struct text x = {.s = s,
			 .weights = w,
			 .by_content = by_content,
			 .w = ir_writer_new("step", by_content ? &digests : NULL)};
	char name[40];
	struct arena *a = arena_new();
	ir_writer_variables(x.w, fixed_variables(s, a));
	x.input = MEM_NEWN(struct ir_value, (size_t)s->n_in + 1);
	x.layer = MEM_NEWN(uint32_t, (size_t)s->n_nodes + 1);
	for (uint32_t i = 0; i < s->n_in; i++) {
		struct ir_tensor t = describe(s->in[i]);
		snprintf(name, sizeof name, "hsdag/in/%u", i);
		t.names = name;
		x.input[i] = (struct ir_value){ir_write_parameter(x.w, name, &t), 0};
	}
	int rc = put_nodes(&x, e);
	for (uint32_t i = 0; i < s->n_out && rc == 0; i++) {
		const struct step_node *n = &s->node[s->out[i].node];
		const struct tensor *t = &n->out[s->out[i].port];
		struct ir_value value = {x.layer[s->out[i].node], s->out[i].port};
		enum elem made =
			(enum elem)n->graph->out_elem[n->graph->out_ptr[n->v] + s->out[i].port];
		snprintf(name, sizeof name, "hsdag/out/%u", i);
		ir_write_result(x.w, name, put_type(&x, made, t->elem, t, value));
	}
	if (rc == 0) {
		const char *whole = ir_writer_text(x.w, bytes);
		*text = mem_copy(whole, *bytes + 1, 1);
		*weight_bytes = x.weight_bytes;
	}
	ir_writer_free(x.w);
	arena_free(a);
	mem_free(x.input);
	mem_free(x.layer);
	pairmap_release(&x.done);
	return rc;
}
