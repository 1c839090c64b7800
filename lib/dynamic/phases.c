/* phases.c - names of inputs of language models, as transformers and optimum export them. */
#include "dynamic/phases.h"

#include <stdio.h>
#include <string.h>

#include "dynamic/shapes_impl.h"

/* Dims of an input: R rows, T tokens that come in, A tokens in all, * as the file says. */
struct role {
	const char *name, *dims;
};
static const struct role roles[] = {
	{"input_ids", "RT"},        {"inputs_embeds", "RT*"}, {"decoder_input_ids", "RT"},
	{"token_type_ids", "RT"},   {"position_ids", "RT"},   {"position_ids", "*RT"},
	{"attention_mask", "RA"},   {"cache_position", "T"},  {"beam_idx", "R"},
	{"past_key_values*", NULL}, {"cache_params*", NULL},
};
enum { N_ROLES = sizeof roles / sizeof *roles, OF_TOKENS = 3 }; /* the first are tokens */

static const char looked_for[] =
	"input_ids or inputs_embeds, and besides attention_mask, position_ids, token_type_ids, "
	"cache_position, beam_idx, past_key_values*";

/* The role of Parameter v; N_ROLES: none is known. */
static uint32_t role_of(const struct graph *g, uint32_t v)
{
	uint32_t o = g->out_ptr[v], rank = g->out_rank[o];
	for (uint32_t i = 0; i < N_ROLES; i++)
		if (shape_names(g, v, roles[i].name) &&
		    (!roles[i].dims || strlen(roles[i].dims) == rank))
			return i;
	return N_ROLES;
}

static int64_t filled(char dim, const struct phase *p, int64_t in_file)
{
	return dim == 'R'   ? p->rows
	       : dim == 'T' ? p->tokens
	       : dim == 'A' ? p->past + p->tokens
			    : in_file;
}

/* The shape of node v with these dims; NULL: a cache's.  Returns how many stay open. */
static uint32_t fill(const struct graph *g, uint32_t v, const char *dims, const struct phase *p,
		     struct shape_given *out)
{
	uint32_t o = g->out_ptr[v], n_open = 0, left = 0;
	out->rank = g->out_rank[o];
	for (uint32_t i = 0; i < out->rank; i++) {
		int64_t d = g->dim[g->dim_ptr[o] + i];
		if (dims)
			d = filled(dims[i], p, d);
		else if (d == DIM_DYNAMIC && n_open < 2)
			d = n_open++ ? p->past : p->rows;
		left += d == DIM_DYNAMIC;
		out->dim[i] = d;
	}
	return left;
}

static bool is_open(const struct graph *g, uint32_t v)
{
	uint32_t o = g->out_ptr[v];
	bool open = g->out_rank[o] == RANK_DYNAMIC;
	for (uint32_t i = 0; !open && i < g->out_rank[o]; i++)
		open = g->dim[g->dim_ptr[o] + i] == DIM_DYNAMIC;
	return open;
}

static int not_known(const struct graph *g, uint32_t v, struct err *e)
{
	char q[100];
	return err_set(
		e, ST_USAGE,
		"the phases of a language model: input '%s' has open dims, and its name does "
		"not tell whose; known are %s; --case takes any shapes",
		err_escape(q, sizeof q, g->node_name[v], strlen(g->node_name[v])), looked_for);
}

/* The inputs that there are instead of what was looked for. */
static int no_tokens(const struct graph *g, struct err *e)
{
	char text[400], q[80];
	size_t n = 0;
	*text = '\0';
	for (uint32_t v = 0; v < g->n && n + 100 < sizeof text; v++)
		if (g->kind[v] == OP_PARAMETER)
			n += (size_t)snprintf(
				text + n, sizeof text - n, "%s'%s'", n ? ", " : "",
				err_escape(q, sizeof q, g->node_name[v], strlen(g->node_name[v])));
	return err_set(e, ST_USAGE,
		       "the phases of a language model: looked for inputs %s, and found %s; --case "
		       "takes any shapes",
		       looked_for, n ? text : "none");
}

static int no_cache(struct err *e)
{
	return err_set(e, ST_USAGE,
		       "the phases of a language model: it has no caches, so that each token needs "
		       "all before it; looked for inputs past_key_values* and variables with open "
		       "dims; export it with a cache, or give --case for each length");
}

static void add(struct shape_list *out, struct shape_given x, struct arena *a)
{
	struct shape_given *v = ARENA_NEWN(a, struct shape_given, out->n + 1);
	if (out->n)
		memcpy(v, out->v, out->n * sizeof *v);
	v[out->n++] = x;
	out->v = v;
}

int phase_shapes(const struct graph *g, const struct phase *p, struct arena *a,
		 struct shape_list *out, struct err *e)
{
	bool tokens = false, caches = false;
	for (uint32_t v = 0; v < g->n; v++) {
		struct shape_given x = {.name = g->node_name[v]};
		if (g->kind[v] == OP_READ_VALUE && is_open(g, v)) {
			x.name = graph_variable(g, v);
			caches = true;
			/* A cache of nothing begins as the model says. */
			if (p->past > 0 && x.name && g->out_rank[g->out_ptr[v]] <= SHAPE_DIMS &&
			    fill(g, v, NULL, p, &x) == 0)
				add(out, x, a);
		}
		if (g->kind[v] != OP_PARAMETER)
			continue;
		uint32_t role = role_of(g, v);
		tokens |= role < OF_TOKENS;
		caches |= role < N_ROLES && !roles[role].dims;
		if (role == N_ROLES && !is_open(g, v))
			continue;
		if (role == N_ROLES || fill(g, v, roles[role].dims, p, &x) > 0)
			return not_known(g, v, e);
		add(out, x, a);
	}
	if (!tokens)
		return no_tokens(g, e);
	return caches || p->past == 0 ? 0 : no_cache(e);
}
