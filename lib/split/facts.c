/* facts.c - decoding, and values of constants, computed when they are asked for. */
#include "split/facts.h"

#include <string.h>

#include "graph/strtab.h"
#include "op/slice.h"

enum {
	SMALL = 4096,
	DEPTH = 16
}; /* bytes of a constant that shapes depend on; nodes behind each other */

/* Who reads and who assigns each variable. */
static void find_peers(struct split_facts *f)
{
	const struct graph *g = f->g;
	struct strtab ids = {0};
	uint32_t *n = MEM_NEWN(uint32_t, 2 * (size_t)g->n + 1),
		 *at = MEM_NEWN(uint32_t, 2 * (size_t)g->n + 1);
	f->peer = arena_raw(f->arena, g->n, sizeof *f->peer);
	memset(f->peer, 0xff, g->n * sizeof *f->peer);
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t v = 0; v < g->n; v++) {
			bool reads = g->kind[v] == OP_READ_VALUE;
			const char *id = graph_attr(g, v, "variable_id");
			if (!id || (!reads && g->kind[v] != OP_ASSIGN))
				continue;
			uint32_t k = 2 * strtab_add(&ids, id);
			if (pass == 0) {
				n[k + !reads]++;
				at[k + !reads] = v;
			} else if (n[k] == 1 && n[k + 1] == 1) {
				f->peer[v] = at[k + reads];
			}
		}
	strtab_release(&ids);
	mem_free(n);
	mem_free(at);
}

int split_facts_open(struct split_facts *f, const struct graph *g, struct err *e)
{
	char l[300];
	*f = (struct split_facts){.g = g, .arena = arena_new()};
	f->op = ARENA_NEWN(f->arena, struct op, g->n);
	f->constant = ARENA_NEWN(f->arena, bool, g->n);
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t n_in = g->in_ptr[v + 1] - g->in_ptr[v];
		f->max_in = n_in > f->max_in ? n_in : f->max_in;
		if (op_decode(g, v, &f->op[v], e) < 0)
			return err_prefix(e, "%s", graph_layer(g, v, l, sizeof l));
	}
	op_constant_nodes(g, f->constant);
	find_peers(f);
	if (*g->weights || (g->tail_bytes && weights_size(g) == 0)) {
		if (weights_open(&f->weights, g->weights, g, e) < 0 ||
		    weights_check(&f->weights, g, e) < 0)
			return -1;
		weights_sparse(&f->weights);
	}
	f->ctx = cpu_ctx_new(NULL, NULL);
	host_values_init(&f->values, g, f->weights.data, f->weights.bytes, f->ctx);
	return 0;
}

void split_facts_close(struct split_facts *f)
{
	if (f->ctx) {
		host_values_release(&f->values);
		cpu_ctx_free(f->ctx);
	}
	weights_close(&f->weights);
	if (f->arena)
		arena_free(f->arena);
	*f = (struct split_facts){0};
}

bool split_output_open(const struct split_facts *f, uint32_t v, uint32_t o, struct tensor *t)
{
	return f->g->out_ptr[v] + o < f->g->out_ptr[v + 1] &&
	       tensor_describe(f->g, f->g->out_ptr[v] + o, t) && t->rank <= TENSOR_DIMS;
}

bool split_input_open(const struct split_facts *f, uint32_t v, uint32_t i, struct tensor *t)
{
	return graph_source(f->g, v, i) != GRAPH_NONE &&
	       tensor_describe(f->g, graph_slot_output(f->g, f->g->in_ptr[v] + i), t) &&
	       t->rank <= TENSOR_DIMS;
}

bool split_output(const struct split_facts *f, uint32_t v, uint32_t o, struct tensor *t)
{
	return split_output_open(f, v, o, t) && tensor_is_static(t);
}

bool split_input(const struct split_facts *f, uint32_t v, uint32_t i, struct tensor *t)
{
	return split_input_open(f, v, i, t) && tensor_is_static(t);
}

/* Is output o, of a node that is constant, computed? */
static bool compute(struct split_facts *f, uint32_t o, int depth)
{
	const struct graph *g = f->g;
	uint32_t u = graph_node_of(g, o);
	struct err none = ERR_INIT;
	if (f->values.value[o].data)
		return true;
	int64_t bytes = graph_out_bytes(g, o);
	if (!f->constant[u] || bytes < 0 || bytes > SMALL || depth > DEPTH)
		return false;
	if (f->op[u].kind == OP_CONST && !f->weights.data)
		return false;
	for (uint32_t i = g->in_ptr[u]; i < g->in_ptr[u + 1] && f->op[u].kind != OP_SHAPE_OF; i++)
		if (g->in_node[i] != GRAPH_NONE && !compute(f, graph_slot_output(g, i), depth + 1))
			return false;
	return host_eval_node(&f->values, u, &none) == 0 && f->values.value[o].data;
}

int split_ints(struct split_facts *f, uint32_t v, uint32_t i, int64_t *dst, int max)
{
	struct err none = ERR_INIT;
	if (graph_source(f->g, v, i) == GRAPH_NONE)
		return -1;
	uint32_t o = graph_slot_output(f->g, f->g->in_ptr[v] + i);
	return compute(f, o, 0) ? op_ints(&f->values.value[o], dst, max, &none) : -1;
}
