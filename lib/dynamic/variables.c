/* variables.c - values that outlast an inference. */
#include "dynamic/variables.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static bool is_variable(const struct graph *g, uint32_t v)
{
	enum op_kind k = g->kind[v];
	return k == OP_READ_VALUE || k == OP_ASSIGN;
}

static const char *variable_name(const struct graph *g, uint32_t v)
{
	const char *s = graph_attr(g, v, "variable_id");
	return s ? s : "";
}

static int by_name(const void *a, const void *b)
{
	const struct variable *x = a, *y = b;
	return strcmp(x->name, y->name);
}

struct variables *variables_new(const struct graph *g)
{
	struct variables *vs = MEM_NEW(struct variables);
	size_t cap = 0;
	uint32_t n = 0;
	for (uint32_t v = 0; v < g->n; v++) {
		if (!is_variable(g, v))
			continue;
		vs->v = mem_grow(vs->v, &cap, (size_t)n + 1, sizeof *vs->v);
		vs->v[n++] = (struct variable){.name = variable_name(g, v)};
	}
	if (n)
		qsort(vs->v, n, sizeof *vs->v, by_name);
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || strcmp(vs->v[i].name, vs->v[vs->n - 1].name) != 0)
			vs->v[vs->n++] = vs->v[i];
		vs->v[vs->n - 1].n_uses++;
	}
	return vs;
}

void variables_free(struct variables *vs)
{
	if (!vs)
		return;
	for (uint32_t i = 0; i < vs->n; i++) {
		mem_free(vs->v[i].mem_now);
		mem_free(vs->v[i].mem_next);
	}
	mem_free(vs->v);
	mem_free(vs);
}

struct variable *variables_find(const struct variables *vs, const struct op *op)
{
	const struct variable key = {.name = variable_name(op->g, op->v)};
	return vs && vs->n ? bsearch(&key, vs->v, vs->n, sizeof key, by_name) : NULL;
}

void variables_reset(struct variables *vs)
{
	vs->n_resets++;
	for (uint32_t i = 0; i < vs->n; i++)
		vs->v[i].now.data = vs->v[i].next.data = NULL;
}

/* What was assigned becomes the value; the memory of the old one is for the next. */
static void advance(struct variable *x)
{
	struct variable was = *x;
	if (!was.next.data)
		return;
	x->now = was.next;
	x->mem_now = was.mem_next;
	x->cap_now = was.cap_next;
	x->next.data = NULL;
	x->mem_next = was.mem_now;
	x->cap_next = was.cap_now;
}

void variables_begin(struct variables *vs, const void *user)
{
	if (!vs->keep || vs->user != user)
		variables_reset(vs);
	vs->user = user;
	for (uint32_t i = 0; i < vs->n; i++)
		advance(&vs->v[i]);
}

int variable_assign(struct variable *x, const struct tensor *t, struct err *e)
{
	int64_t bytes = tensor_bytes(t);
	size_t need = bytes > 0 ? (size_t)bytes : 1;
	if (bytes < 0)
		return err_set(e, ST_INPUT, "variable '%s': a value of type %s cannot be kept",
			       x->name, elem_name(t->elem));
	if (need > x->cap_next) {
		mem_free(x->mem_next);
		x->cap_next = 0;
		if (!(x->mem_next = mem_try(need)))
			return err_set(e, ST_RUNTIME, "variable '%s': no memory for %zu bytes",
				       x->name, need);
		x->cap_next = need;
	}
	x->next = *t;
	x->next.data = x->mem_next;
	if (bytes)
		memcpy(x->mem_next, t->data, (size_t)bytes);
	return 0;
}
