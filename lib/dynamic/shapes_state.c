/* shapes_state.c - shapes of a graph while they become known: made, set, stored; and which are given. */
#include "dynamic/shapes_impl.h"
#include "base/mem.h"

#include <fnmatch.h>
#include <string.h>

bool shape_is_for(const char *given, const char *name)
{
	return strcmp(given, name) == 0 || (*given && fnmatch(given, name, FNM_NOESCAPE) == 0);
}

const struct shape_given *shapes_find(const struct shape_list *l, const char *name)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (shape_is_for(l->v[i].name, name))
			return &l->v[i];
	return NULL;
}

void shapes_set_unknown(struct shapes *s, uint32_t o)
{
	struct tensor t;
	tensor_describe(s->g, o, &t);
	t.data = NULL;
	if (t.rank > TENSOR_DIMS)
		t.rank = RANK_DYNAMIC;
	for (uint32_t i = 0; i < t.rank && t.rank != RANK_DYNAMIC; i++)
		t.dim[i] = DIM_DYNAMIC;
	host_values_set(&s->h, o, &t);
}

void shapes_set_all_unknown(struct shapes *s, uint32_t v)
{
	for (uint32_t o = s->g->out_ptr[v]; o < s->g->out_ptr[v + 1]; o++)
		shapes_set_unknown(s, o);
}

struct shapes *shapes_new(struct graph *g, const void *weights, uint64_t weights_bytes,
			  struct cpu_ctx *ctx, struct err *e)
{
	struct shapes *s = MEM_NEW(struct shapes);
	s->g = g;
	s->size_of_probe = -1;
	s->op = MEM_NEWN(struct op, (size_t)g->n + 1);
	s->wanted = MEM_NEWN(bool, (size_t)g->n + 1);
	s->body = MEM_NEWN(struct shapes *, (size_t)g->n_bodies + 1);
	host_values_init(&s->h, g, weights, weights_bytes, ctx);
	for (uint32_t v = 0; v < g->n; v++)
		if (op_decode(g, v, &s->op[v], e) < 0) {
			shapes_free(s);
			return NULL;
		}
	for (uint32_t v = 0; v < g->n; v++)
		if (s->op[v].kind != OP_CONST)
			shapes_set_all_unknown(s, v);
	return s;
}

void shapes_free_probes(struct shapes *s)
{
	for (int k = 0; k < s->n_probes; k++)
		shapes_free(s->probe[k]);
	mem_free(s->probe);
	s->probe = NULL;
	s->n_probes = 0;
}

void shapes_free(struct shapes *s)
{
	if (!s)
		return;
	shapes_free_probes(s);
	for (uint32_t b = 0; b < s->g->n_bodies; b++)
		shapes_free(s->body[b]);
	host_values_release(&s->h);
	mem_free(s->op);
	mem_free(s->wanted);
	mem_free(s->body);
	mem_free(s);
}

static void store_dims(struct shapes *s)
{
	struct graph *g = s->g;
	uint32_t n_out = g->out_ptr[g->n], n = 0;
	for (uint32_t o = 0; o < n_out; o++)
		n += s->h.value[o].rank == RANK_DYNAMIC ? 0 : s->h.value[o].rank;
	g->dim_ptr = ARENA_NEWN(g->arena, uint32_t, (size_t)n_out + 1);
	g->dim = ARENA_NEWN(g->arena, int64_t, (size_t)n + 1);
	uint8_t *rank = g->out_rank = ARENA_NEWN(g->arena, uint8_t, (size_t)n_out + 1);
	for (uint32_t o = 0, at = 0; o < n_out; o++) {
		const struct tensor *t = &s->h.value[o];
		rank[o] = (uint8_t)t->rank;
		for (uint32_t d = 0; t->rank != RANK_DYNAMIC && d < t->rank; d++)
			g->dim[at++] = t->dim[d];
		g->dim_ptr[o + 1] = at;
	}
}

void shapes_store(struct shapes *s)
{
	store_dims(s);
	for (uint32_t b = 0; b < s->g->n_bodies; b++)
		if (s->body[b])
			shapes_store(s->body[b]);
}
