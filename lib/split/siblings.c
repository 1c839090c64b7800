/* siblings.c - classes of nodes by depth, operator and shapes, and which part has each. */
#include "split/siblings.h"

#include <string.h>

#include "base/pairmap.h"

static uint64_t mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * UINT64_C(1099511628211);
	return h ^ h >> 32;
}

static uint64_t mix_output(uint64_t h, const struct graph *g, uint32_t o)
{
	h = mix(h, (uint64_t)g->out_elem[o] << 8 | g->out_rank[o]);
	for (uint32_t i = g->dim_ptr[o]; i < g->dim_ptr[o + 1]; i++)
		h = mix(h, (uint64_t)g->dim[i]);
	return h;
}

/* What siblings have in common beside their depth. */
static uint64_t look_of(const struct graph *g, uint32_t v)
{
	uint64_t h = mix(UINT64_C(14695981039346656037), (uint64_t)g->kind[v]);
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
		h = g->in_node[i] == GRAPH_NONE ? mix(h, 0)
						: mix_output(h, g, graph_slot_output(g, i));
	for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
		h = mix_output(h, g, o);
	return h;
}

static bool may_move(const struct split_facts *f, uint32_t v)
{
	struct tensor t;
	enum op_category c = op_info(f->op[v].kind)->category;
	return !f->constant[v] && f->op[v].kind != OP_UNKNOWN && c != OPC_SOURCE && c != OPC_SINK &&
	       c != OPC_CONTROL && split_output(f, v, 0, &t);
}

/* The part that has number i of n; all nodes still have the same shares. */
static uint8_t part_with(const struct split_plan *plan, uint32_t n, uint32_t i)
{
	uint32_t p = 0;
	while ((int64_t)i >= split_border(plan, 0, n, 1, p + 1))
		p++;
	return (uint8_t)p;
}

/* like (n) and n_like (n) of first ones. */
static void find_classes(struct split_facts *f, uint32_t *like, uint32_t *n_like, struct arena *a)
{
	const struct graph *g = f->g;
	struct pairmap class = {0};
	uint32_t *depth = ARENA_NEWN(a, uint32_t, g->n);
	for (uint32_t v = 0; v < g->n; v++) {
		like[v] = v;
		if (f->constant[v])
			continue;
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			uint32_t u = g->in_node[i];
			if (u != GRAPH_NONE && !f->constant[u] && depth[u] >= depth[v])
				depth[v] = depth[u] + 1;
		}
		if (!may_move(f, v))
			continue;
		uint64_t look = look_of(g, v);
		const uint64_t *known = pairmap_get(&class, look, depth[v]);
		if (known)
			like[v] = (uint32_t)*known;
		else
			pairmap_put(&class, look, depth[v], v);
		n_like[like[v]]++;
	}
	pairmap_release(&class);
}

struct split_siblings split_find_siblings(struct split_facts *f, const struct split_plan *plan,
					  struct arena *a)
{
	const struct graph *g = f->g;
	uint32_t *n_like = ARENA_NEWN(a, uint32_t, g->n), *rank = ARENA_NEWN(a, uint32_t, g->n);
	struct split_siblings s = {.home = arena_raw(a, g->n, 1),
				   .like = ARENA_NEWN(a, uint32_t, g->n),
				   .count = ARENA_NEWN(a, uint32_t, (size_t)g->n * plan->ways),
				   .at = arena_raw(a, g->out_ptr[g->n], 1)};
	memset(s.home, SPLIT_NO_HOME, g->n);
	memset(s.at, SPLIT_NO_HOME, g->out_ptr[g->n]);
	find_classes(f, s.like, n_like, a);
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t first = s.like[v], n = n_like[first],
			 n_out = g->out_ptr[v + 1] - g->out_ptr[v];
		if (n < plan->ways) {
			bool outputs = f->op[v].kind == OP_SPLIT && n_out >= plan->ways;
			for (uint32_t i = 0; outputs && i < n_out; i++)
				s.at[g->out_ptr[v] + i] = part_with(plan, n_out, i);
			continue;
		}
		uint8_t home = part_with(plan, n, rank[first]++);
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			if (g->in_node[i] == GRAPH_NONE || f->constant[g->in_node[i]])
				continue;
			uint8_t at = s.at[graph_slot_output(g, i)];
			if (at == SPLIT_NO_HOME)
				continue;
			home = at;
			break;
		}
		s.home[v] = home;
		s.count[(size_t)first * plan->ways + home]++;
		memset(s.at + g->out_ptr[v], home, n_out);
	}
	return s;
}
