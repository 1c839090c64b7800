/* varsets.c - variables: what reads and what assigns one of them is placed together.
 *
 * Merging the sets of a variable makes every path from its readers to its writers a circle, so the
 * strongly connected components of what is left are what has to be together: no more than that, and
 * nothing waits for itself. */
#include "base/disjoint.h"
#include "graph/rows.h"
#include "graph/segment.h"

#include <stdlib.h>
#include <string.h>

const char *graph_variable(const struct graph *g, uint32_t v)
{
	return g->kind[v] == OP_READ_VALUE || g->kind[v] == OP_ASSIGN
		       ? graph_attr(g, v, "variable_id")
		       : NULL;
}

struct use {
	const char *id;
	uint32_t v;
};

static int by_id(const void *a, const void *b)
{
	const struct use *x = a, *y = b;
	int order = strcmp(x->id, y->id);
	return order ? order : x->v < y->v ? -1 : x->v > y->v;
}

/* Readers and writers of all variables, those of one beside each other: use (n).  placed: those with a set. */
static uint32_t list_uses(const struct graph *g, bool placed, struct use *use)
{
	uint32_t n = 0;
	for (uint32_t v = 0; v < g->n; v++) {
		bool counts = !placed || g->set[v] != GRAPH_NONE;
		const char *id = counts ? graph_variable(g, v) : NULL;
		if (id)
			use[n++] = (struct use){id, v};
	}
	if (n > 1)
		qsort(use, n, sizeof *use, by_id);
	return n;
}

/* Has what w assigns the shape of output o? */
static bool assigns_shape(const struct graph *g, uint32_t w, uint32_t o)
{
	if (graph_source(g, w, 0) == GRAPH_NONE)
		return true;
	uint32_t from = graph_slot_output(g, g->in_ptr[w]);
	return g->out_rank[from] == g->out_rank[o] &&
	       memcmp(g->dim + g->dim_ptr[from], g->dim + g->dim_ptr[o],
		      g->out_rank[o] * sizeof *g->dim) == 0;
}

bool *graph_fixed_variables(const struct graph *g, struct arena *a)
{
	struct use *use = MEM_NEWN(struct use, (size_t)g->n + 1);
	bool *fixed = ARENA_NEWN(a, bool, (size_t)g->n + 1);
	uint32_t n = list_uses(g, false, use);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && strcmp(use[end].id, use[i].id) == 0;)
			end++;
		for (uint32_t r = i; r < end; r++) {
			uint32_t v = use[r].v, o = g->out_ptr[v];
			fixed[v] = g->kind[v] == OP_READ_VALUE && o < g->out_ptr[v + 1] &&
				   graph_out_elements(g, o) >= 0;
			for (uint32_t w = i; w < end && fixed[v]; w++)
				fixed[v] = g->kind[use[w].v] != OP_ASSIGN ||
					   assigns_shape(g, use[w].v, o);
		}
	}
	mem_free(use);
	return fixed;
}

/* Groups 0 .. n-1 of the sets, by their first sets, whose representatives `joined` has. */
static uint32_t number_groups(uint32_t *joined, uint32_t n_sets, uint32_t *group)
{
	uint32_t n = 0;
	for (uint32_t s = 0; s < n_sets; s++) {
		uint32_t first = disjoint_find(joined, s);
		group[s] = first == s ? n++ : group[first];
	}
	return n;
}

/* The topological order that has the lowest number wherever there is a choice: place[d->n]. */
static void place_lowest_first(const struct digraph *d, struct arena *a, uint32_t *place)
{
	uint32_t *ptr, *adj, *order = ARENA_NEWN(a, uint32_t, d->n);
	digraph_csr(d, false, a, &ptr, &adj);
	uint32_t n = rows_lowest_first(d->n, ptr, adj, a, ARENA_NEWN(a, uint32_t, d->n), order);
	for (uint32_t i = 0; i < n; i++)
		place[order[i]] = i;
}

bool graph_variables_joined(const struct graph *g)
{
	struct use *use = MEM_NEWN(struct use, (size_t)g->n + 1);
	uint32_t n = list_uses(g, false, use);
	bool joined = true;
	for (uint32_t i = 1; i < n; i++)
		joined &= strcmp(use[i - 1].id, use[i].id) != 0 ||
			  g->set[use[i - 1].v] == g->set[use[i].v];
	mem_free(use);
	return joined;
}

void graph_join_variables(struct graph *g)
{
	struct arena *a = arena_new();
	struct use *use = ARENA_NEWN(a, struct use, g->n);
	struct digraph sets, q;
	uint32_t n = list_uses(g, true, use), *joined = disjoint_new(g->n_sets, a);
	uint32_t *group = ARENA_NEWN(a, uint32_t, g->n_sets);
	uint32_t *circle = ARENA_NEWN(a, uint32_t, g->n_sets);
	uint32_t *first = ARENA_NEWN(a, uint32_t, g->n_sets);
	for (uint32_t i = 1; i < n; i++)
		if (strcmp(use[i].id, use[i - 1].id) == 0)
			disjoint_join(joined, g->set[use[i].v], g->set[use[i - 1].v]);
	graph_set_quotient(g, a, &sets);
	uint32_t n_groups = number_groups(joined, g->n_sets, group);
	if (n_groups == g->n_sets) { /* nothing to join */
		arena_free(a);
		return;
	}
	digraph_quotient(&sets, group, n_groups, a, &q);
	digraph_components(&q, circle);
	memset(first, 0xff, n_groups * sizeof *first);
	for (uint32_t s = 0; s < g->n_sets; s++)
		if (first[circle[group[s]]] == GRAPH_NONE)
			first[circle[group[s]]] = s;
		else
			disjoint_join(joined, s, first[circle[group[s]]]);
	n_groups = number_groups(joined, g->n_sets, group);
	digraph_quotient(&sets, group, n_groups, a, &q);
	uint32_t *place = ARENA_NEWN(a, uint32_t, n_groups);
	place_lowest_first(&q, a, place);
	for (uint32_t v = 0; v < g->n; v++)
		if (g->set[v] != GRAPH_NONE)
			g->set[v] = place[group[g->set[v]]];
	g->n_sets = n_groups;
	arena_free(a);
}

/* Dims that are known in both, and differ. */
static bool dims_differ(const struct graph *g, uint32_t o, uint32_t p)
{
	const int64_t *x = g->dim + g->dim_ptr[o], *y = g->dim + g->dim_ptr[p];
	uint8_t rank = g->out_rank[o];
	if (rank == RANK_DYNAMIC || rank != g->out_rank[p])
		return false;
	for (uint32_t i = 0; i < rank; i++)
		if (x[i] >= 0 && y[i] >= 0 && x[i] != y[i])
			return true;
	return false;
}

uint32_t graph_outgrown_variables(const struct graph *g, struct graph_outgrown *one)
{
	struct arena *a = arena_new();
	struct use *use = ARENA_NEWN(a, struct use, g->n);
	uint32_t n = list_uses(g, true, use), count = 0, reader = GRAPH_NONE;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = use[i].v, o;
		if (i == 0 || strcmp(use[i].id, use[i - 1].id) != 0)
			reader = GRAPH_NONE;
		if (g->kind[v] == OP_READ_VALUE) {
			reader = g->out_ptr[v] < g->out_ptr[v + 1] ? v : reader;
			continue;
		}
		if (reader == GRAPH_NONE || graph_source(g, v, 0) == GRAPH_NONE)
			continue;
		o = graph_slot_output(g, g->in_ptr[v]);
		if (dims_differ(g, g->out_ptr[reader], o) && count++ == 0)
			*one = (struct graph_outgrown){reader, v, g->out_ptr[reader], o};
	}
	arena_free(a);
	return count;
}

bool *graph_variable_sets(const struct graph *g, struct arena *a)
{
	bool *has = NULL;
	for (uint32_t v = 0; v < g->n; v++) {
		if (g->set[v] == GRAPH_NONE || !graph_variable(g, v))
			continue;
		if (!has)
			has = ARENA_NEWN(a, bool, g->n_sets);
		has[g->set[v]] = true;
	}
	return has;
}

uint32_t segments_parted(const struct graph *g, const struct segments *x, struct arena *a,
			 struct segment_parted **out)
{
	struct use *use = ARENA_NEWN(a, struct use, g->n);
	uint32_t n = list_uses(g, true, use), n_parted = 0, last = GRAPH_NONE;
	struct segment_parted *p = ARENA_NEWN(a, struct segment_parted, n);
	for (uint32_t i = 0; i < n; i++) {
		if (x->of[use[i].v] == GRAPH_NONE)
			continue;
		if (last != GRAPH_NONE && strcmp(use[last].id, use[i].id) == 0 &&
		    x->of[use[last].v] != x->of[use[i].v] &&
		    (n_parted == 0 || strcmp(p[n_parted - 1].id, use[i].id) != 0))
			p[n_parted++] = (struct segment_parted){use[i].id, use[last].v, use[i].v};
		last = i;
	}
	*out = p;
	return n_parted;
}
