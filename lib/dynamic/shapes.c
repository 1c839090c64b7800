/* shapes.c - shapes given by a user into a graph. */
#include "dynamic/shapes_impl.h"
#include "base/mem.h"
#include "ir/weights.h"

#include <stdio.h>
#include <string.h>

/* Is one of the comma-separated names of output o given? */
static bool has_tensor_name(const struct graph *g, uint32_t o, const char *given)
{
	char name[300];
	for (const char *s = g->out_names[o]; *s;) {
		size_t len = strcspn(s, ",");
		snprintf(name, sizeof name, "%.*s", (int)len, s);
		if (shape_is_for(given, name))
			return true;
		s += len + (s[len] == ',');
	}
	return false;
}

static bool is_parameter(const struct graph *g, uint32_t v)
{
	return g->kind[v] == OP_PARAMETER;
}

bool shape_names(const struct graph *g, uint32_t v, const char *name)
{
	if (is_parameter(g, v))
		return shape_is_for(name, g->node_name[v]) ||
		       has_tensor_name(g, g->out_ptr[v], name);
	if (g->kind[v] != OP_READ_VALUE)
		return false;
	const char *id = graph_attr(g, v, "variable_id");
	return id && shape_is_for(name, id);
}

/* The names that --shape may have, into text[cap]. */
static void list_names(const struct graph *g, char *text, size_t cap)
{
	char q[100];
	size_t n = 0;
	*text = '\0';
	for (uint32_t v = 0; v < g->n && n + 130 < cap; v++)
		if (is_parameter(g, v))
			n += (size_t)snprintf(
				text + n, cap - n, "%s'%s'", n ? ", " : "",
				err_escape(q, sizeof q, g->node_name[v], strlen(g->node_name[v])));
}

static int no_such(const struct graph *g, const struct shape_given *x, struct err *e)
{
	char names[700], known[720], q[100];
	struct err_near near = {.name = x->name};
	list_names(g, names, sizeof names);
	if (*x->name == '\0')
		return err_set(
			e, ST_USAGE,
			"a shape without a name, but the inputs are %s; write NAME=DIMS;NAME=DIMS",
			names);
	snprintf(known, sizeof known, "the inputs are %s", names);
	for (uint32_t v = 0; v < g->n; v++)
		if (is_parameter(g, v))
			err_offer(&near, g->node_name[v]);
	return err_unknown(e, ST_USAGE, &near, known, "no input or variable '%s'",
			   err_escape(q, sizeof q, x->name, strlen(x->name)));
}

static void set_shape(struct shapes *s, uint32_t v, uint32_t rank, const int64_t *dim)
{
	uint32_t o = s->g->out_ptr[v];
	struct tensor t = {.elem = (enum elem)s->g->out_elem[o], .rank = rank};
	memcpy(t.dim, dim, rank * sizeof *dim);
	host_values_set(&s->h, o, &t);
}

/* Shapes of all Parameters: given, or as the file says. */
static int set_inputs(struct shapes *s, const struct shape_list *l, struct err *e)
{
	const struct graph *g = s->g;
	uint32_t n_params = 0;
	for (uint32_t v = 0; v < g->n; v++)
		n_params += is_parameter(g, v);
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t found = 0;
		bool only = *l->v[i].name == '\0';
		for (uint32_t v = 0; v < g->n && !(only && n_params != 1); v++)
			found += only ? is_parameter(g, v) : shape_names(g, v, l->v[i].name);
		if (found == 0)
			return no_such(g, &l->v[i], e);
	}
	for (uint32_t v = 0; v < g->n; v++) {
		const struct shape_given *x = NULL;
		struct tensor t;
		if (!is_parameter(g, v))
			continue;
		for (uint32_t i = 0; i < l->n; i++)
			if (*l->v[i].name == '\0' || shape_names(g, v, l->v[i].name))
				x = &l->v[i];
		if (x)
			set_shape(s, v, x->rank, x->dim);
		else if (tensor_describe(g, g->out_ptr[v], &t))
			set_shape(s, v, t.rank, t.dim);
	}
	return 0;
}

/* What the message of a failed walk should begin with: an input with another number of dims than in the file, where there is one. */
static int walk(struct shapes *s, struct err *e)
{
	const struct graph *g = s->g;
	char name[100];
	shapes_probe(s, shapes_walk);
	if (shapes_walk(s, e) == 0)
		return 0;
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t o = g->out_ptr[v],
			 rank = is_parameter(g, v) ? g->out_rank[o] : RANK_DYNAMIC;
		const struct tensor *t = &s->h.value[o];
		if (rank != RANK_DYNAMIC && t->rank != rank)
			return err_prefix(e, "input '%s' has %u dim%s in the model, and %u here",
					  err_escape(name, sizeof name, g->node_name[v],
						     strlen(g->node_name[v])),
					  rank, rank == 1 ? "" : "s", t->rank);
	}
	return err_prefix(e, "with these shapes");
}

/* All shapes of g, walked again as long as that opens dims of variables.  NULL: error. */
static struct shapes *infer_all(struct graph *g, const struct shape_list *given,
				const struct weights *w, struct cpu_ctx *ctx, struct err *e)
{
	struct tensor *grown = MEM_NEWN(struct tensor, (size_t)g->n + 1);
	struct shapes *s = NULL;
	do {
		shapes_free(s);
		if (!(s = shapes_new(g, w->data, w->bytes, ctx, e)))
			break;
		s->given = given;
		s->grown = grown;
		if (set_inputs(s, given, e) < 0 || walk(s, e) < 0) {
			shapes_free(s);
			s = NULL;
		}
	} while (s && shapes_open_variables(s, grown));
	mem_free(grown);
	return s;
}

int shapes_apply(struct graph *g, const struct shape_list *given, struct err *e)
{
	struct weights w = {0};
	if (*g->weights && weights_open(&w, g->weights, g, e) < 0)
		return -1;
	struct cpu_ctx *ctx = cpu_ctx_new(NULL, NULL);
	struct shapes *s = NULL;
	int rc = weights_check(&w, g, e);
	if (rc < 0 && !*g->weights)
		rc = err_prefix(e, "--shape needs the weights file");
	if (rc == 0)
		rc = (s = infer_all(g, given, &w, ctx, e)) ? 0 : -1;
	if (rc == 0)
		shapes_store(s);
	shapes_free(s);
	cpu_ctx_free(ctx);
	weights_close(&w);
	return rc;
}

/* The shape of v's output in all cases: dims that differ are open.  Do any? */
static bool common_shape(const struct graph *g, uint32_t v, struct shape_given *out)
{
	uint32_t o = g->out_ptr[v];
	bool differs = false;
	out->rank = g->out_rank[o];
	if (out->rank > SHAPE_DIMS) /* not known, or too many */
		return false;
	memcpy(out->dim, g->dim + g->dim_ptr[o], out->rank * sizeof *out->dim);
	for (uint32_t i = 1; i < g->n_cases; i++) {
		const struct graph *h = g->cases[i].graph;
		if (h->out_rank[h->out_ptr[v]] != out->rank)
			return false;
		for (uint32_t d = 0; d < out->rank; d++)
			if (out->dim[d] != h->dim[h->dim_ptr[h->out_ptr[v]] + d]) {
				out->dim[d] = DIM_DYNAMIC;
				differs = true;
			}
	}
	return differs;
}

int shapes_open_cases(struct graph *g, struct err *e)
{
	struct shape_list l = {.v = MEM_NEWN(struct shape_given, (size_t)g->n + 1)};
	for (uint32_t v = 0; v < g->n; v++) {
		struct shape_given *x = &l.v[l.n];
		x->name = is_parameter(g, v)            ? g->node_name[v]
			  : g->kind[v] == OP_READ_VALUE ? graph_attr(g, v, "variable_id")
							: NULL;
		l.n += x->name && common_shape(g, v, x);
	}
	int rc = shapes_apply(g, &l, e);
	mem_free(l.v);
	return rc;
}
