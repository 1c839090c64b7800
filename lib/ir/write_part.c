/* write_part.c - a part of a graph as a network of its own. */
#include "ir/write.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascending.h"

enum { TEXT_DIMS = 16 }; /* of a variable's shape */

struct part {
	struct ir_writer *w;
	const struct ir_bin *bin;
	const struct graph *g;
	const bool *constant;
	const struct ir_part *p;
	struct found {
		uint32_t out, layer;
	} * in;        /* (n_in) sorted by output */
	uint32_t *row; /* (n_rows) constants and nodes, ascending */
	size_t n_rows, cap_rows;
	uint32_t *layer; /* (n_rows) */
};

static void add_row(struct part *x, uint32_t v)
{
	x->row = mem_grow(x->row, &x->cap_rows, x->n_rows + 1, sizeof *x->row);
	x->row[x->n_rows++] = v;
}

static void add_constant(struct part *x, uint32_t u)
{
	if (u != GRAPH_NONE && x->constant[u])
		add_row(x, u);
}

/* Ascending, each once. */
static void sort_rows(struct part *x)
{
	size_t n = 0;
	qsort(x->row, x->n_rows, sizeof *x->row, ascending_u32);
	for (size_t i = 0; i < x->n_rows; i++)
		if (n == 0 || x->row[i] != x->row[n - 1])
			x->row[n++] = x->row[i];
	x->n_rows = n;
}

static int64_t find_row(const struct part *x, uint32_t v)
{
	const uint32_t *at =
		x->n_rows ? bsearch(&v, x->row, x->n_rows, sizeof v, ascending_u32) : NULL;
	return at ? at - x->row : -1;
}

/* The nodes of the part, and all constants that they need, in rows. */
static void collect_rows(struct part *x)
{
	const struct graph *g = x->g;
	const struct ir_part *p = x->p;
	size_t n_before = 0;
	for (uint32_t i = 0; i < p->n_nodes; i++) {
		add_row(x, p->node[i]);
		for (uint32_t k = g->in_ptr[p->node[i]]; k < g->in_ptr[p->node[i] + 1]; k++)
			add_constant(x, g->in_node[k]);
	}
	for (uint32_t i = 0; i < p->n_out; i++)
		add_constant(x, graph_node_of(g, p->out[i]));
	sort_rows(x);
	while (n_before != x->n_rows) { /* constants of constants: a few rounds */
		size_t n = n_before = x->n_rows;
		for (size_t i = 0; i < n; i++)
			if (x->constant[x->row[i]])
				for (uint32_t k = g->in_ptr[x->row[i]];
				     k < g->in_ptr[x->row[i] + 1]; k++)
					add_constant(x, g->in_node[k]);
		sort_rows(x);
	}
	x->layer = MEM_NEWN(uint32_t, x->n_rows ? x->n_rows : 1);
}

/* Name of output `port` of node v. */
static char *boundary_name(const struct graph *g, uint32_t v, uint32_t port)
{
	size_t cap = strlen(g->node_name[v]) + 16;
	char *name = MEM_NEWN(char, cap);
	if (g->out_ptr[v + 1] - g->out_ptr[v] > 1)
		snprintf(name, cap, "%s.%u", g->node_name[v], port);
	else
		snprintf(name, cap, "%s", g->node_name[v]);
	return name;
}

char *ir_list_item(const char *name)
{
	char *item = MEM_NEWN(char, 2 * strlen(name) + 1), *at = item;
	for (; *name; name++) {
		if (*name == ',')
			*at++ = '\\';
		*at++ = *name;
	}
	return item;
}

/* The dims that a variable may have, as its attribute has them: "2,1,?,8".  False: it is not there. */
static bool variable_dims(const char *text, uint8_t *rank, int64_t dim[TEXT_DIMS])
{
	*rank = 0;
	while (text && *text && *rank < TEXT_DIMS) {
		size_t n = strcspn(text, ","), blank = strspn(text, " ");
		char *end;
		long long d = strtoll(text + blank, &end, 10);
		bool whole = end > text + blank && end + strspn(end, " ") == text + n && d >= 0;
		dim[(*rank)++] = whole ? d : DIM_DYNAMIC;
		text += n + (text[n] == ',');
	}
	return text && !*text;
}

/* An initial value whose dims are not known has those of the variable, which OpenVINO compares. */
static void describe_initial(const struct part *x, uint32_t o, struct ir_tensor *t,
			     int64_t dim[TEXT_DIMS])
{
	const struct graph *g = x->g;
	for (uint32_t i = 0; i < x->p->n_nodes; i++) {
		uint32_t v = x->p->node[i];
		uint8_t rank;
		if (g->kind[v] != OP_READ_VALUE || g->in_ptr[v + 1] == g->in_ptr[v] ||
		    graph_source(g, v, 0) == GRAPH_NONE || graph_slot_output(g, g->in_ptr[v]) != o)
			continue;
		if (!variable_dims(graph_attr(g, v, "variable_shape"), &rank, dim) ||
		    (t->rank != RANK_DYNAMIC && t->rank != rank))
			return;
		for (uint32_t k = 0; k < rank && t->rank != RANK_DYNAMIC; k++)
			dim[k] = t->dim[k] < 0 ? dim[k] : t->dim[k];
		t->rank = rank;
		t->dim = dim;
		return;
	}
}

static void write_parameters(struct part *x)
{
	const struct graph *g = x->g;
	x->in = MEM_NEWN(struct found, x->p->n_in ? x->p->n_in : 1);
	for (uint32_t i = 0; i < x->p->n_in; i++) {
		uint32_t o = x->p->in[i], v = graph_node_of(g, o), layer;
		struct ir_tensor t = ir_tensor_of(g, o);
		char *name = boundary_name(g, v, o - g->out_ptr[v]), *item = ir_list_item(name);
		int64_t dim[TEXT_DIMS];
		describe_initial(x, o, &t, dim);
		if (!*t.names)
			t.names = item;
		layer = g->kind[v] == OP_PARAMETER ? ir_write_node(x->w, g, v, NULL)
						   : ir_write_parameter(x->w, name, &t);
		x->in[i] = (struct found){o, layer};
		mem_free(item);
		mem_free(name);
	}
	qsort(x->in, x->p->n_in, sizeof *x->in, ascending_u32); /* out comes first in the struct */
}

static struct ir_value value_of(const struct part *x, uint32_t u, uint32_t port)
{
	uint32_t o = x->g->out_ptr[u] + port;
	int64_t row = find_row(x, u);
	if (row >= 0)
		return (struct ir_value){x->layer[row], port};
	const struct found *f =
		x->p->n_in ? bsearch(&o, x->in, x->p->n_in, sizeof *f, ascending_u32) : NULL;
	assert(f);
	return (struct ir_value){f->layer, 0};
}

/* A ShapeOf that counts as constant although what it reads does not. */
static bool is_known_shape(const struct part *x, uint32_t v)
{
	return x->constant[v] && x->g->kind[v] == OP_SHAPE_OF &&
	       !x->constant[x->g->in_node[x->g->in_ptr[v]]];
}

static uint32_t write_shape(struct part *x, uint32_t v)
{
	const struct graph *g = x->g;
	uint32_t i = g->in_ptr[v], o = g->out_ptr[g->in_node[i]] + g->in_port[i],
		 n = g->out_rank[o];
	const int64_t *dim = g->dim + g->dim_ptr[o];
	struct ir_tensor t = ir_tensor_of(g, g->out_ptr[v]);
	int32_t *small = MEM_NEWN(int32_t, (size_t)n + 1);
	bool wide = t.elem != EL_I32;
	uint64_t bytes = n * (wide ? sizeof *dim : sizeof *small);
	for (uint32_t k = 0; k < n; k++)
		small[k] = (int32_t)dim[k];
	uint64_t at = x->bin->append(x->bin->arg, wide ? (const void *)dim : small, bytes);
	mem_free(small);
	return ir_write_constant(x->w, g->node_name[v], &t, at, bytes);
}

static void write_rows(struct part *x)
{
	const struct graph *g = x->g;
	struct ir_value *in = NULL;
	size_t cap = 0;
	for (size_t i = 0; i < x->n_rows; i++) {
		uint32_t v = x->row[i], n = g->in_ptr[v + 1] - g->in_ptr[v];
		if (is_known_shape(x, v)) {
			x->layer[i] = write_shape(x, v);
			continue;
		}
		in = mem_grow(in, &cap, n + 1, sizeof *in);
		for (uint32_t k = 0; k < n; k++) {
			uint32_t u = g->in_node[g->in_ptr[v] + k];
			in[k] = u == GRAPH_NONE ? IR_NO_VALUE
						: value_of(x, u, g->in_port[g->in_ptr[v] + k]);
		}
		x->layer[i] = ir_write_node(x->w, g, v, in);
	}
	mem_free(in);
}

void ir_write_part(struct ir_writer *w, const struct ir_bin *bin, const struct graph *g,
		   const bool *constant, const struct ir_part *p)
{
	struct part x = {.w = w, .bin = bin, .g = g, .constant = constant, .p = p};
	collect_rows(&x);
	write_parameters(&x);
	write_rows(&x);
	for (uint32_t i = 0; i < p->n_out; i++) {
		uint32_t v = graph_node_of(g, p->out[i]), port = p->out[i] - g->out_ptr[v];
		char *name = boundary_name(g, v, port);
		size_t n = strlen(name);
		name = mem_resize(name, n + 8, 1);
		strcpy(name + n, "/result");
		ir_write_result(w, name, value_of(&x, v, port));
		mem_free(name);
	}
	mem_free(x.in);
	mem_free(x.row);
	mem_free(x.layer);
}
