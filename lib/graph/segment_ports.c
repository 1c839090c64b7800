/* segment_ports.c - the tensors that enter and leave segments. */
#include "graph/segment.h"

#include <stdlib.h>

struct port {
	uint32_t segment, out;
};

static int by_segment(const void *a, const void *b)
{
	const struct port *x = a, *y = b;
	if (x->segment != y->segment)
		return x->segment < y->segment ? -1 : 1;
	return x->out < y->out ? -1 : x->out > y->out;
}

/* Rows from a list of ports, each once. */
static void to_rows(struct port *p, size_t n, uint32_t n_segments, struct arena *a, uint32_t **ptr,
		    uint32_t **item)
{
	uint32_t k = 0;
	qsort(p, n, sizeof *p, by_segment);
	*ptr = ARENA_NEWN(a, uint32_t, (size_t)n_segments + 1);
	*item = arena_raw(a, n, sizeof **item);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || by_segment(&p[i], &p[i - 1]) != 0) {
			(*item)[k++] = p[i].out;
			(*ptr)[p[i].segment + 1] = k;
		}
	for (uint32_t s = 0; s < n_segments; s++)
		if ((*ptr)[s + 1] < (*ptr)[s])
			(*ptr)[s + 1] = (*ptr)[s];
}

void segment_ports_of(const struct graph *g, const struct segments *x, const bool *constant,
		      struct arena *a, struct segment_ports *out)
{
	size_t n_in = 0, n_out = 0, n_edges = g->in_ptr[g->n];
	struct port *in = MEM_NEWN(struct port, n_edges ? n_edges : 1);
	struct port *leaves = MEM_NEWN(struct port, n_edges ? n_edges : 1);
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			uint32_t u = g->in_node[i];
			if (u == GRAPH_NONE || constant[u] || constant[v] || x->of[u] == x->of[v])
				continue;
			uint32_t o = g->out_ptr[u] + g->in_port[i];
			if (x->of[v] != GRAPH_NONE)
				in[n_in++] = (struct port){x->of[v], o};
			if (x->of[u] != GRAPH_NONE)
				leaves[n_out++] = (struct port){x->of[u], o};
		}
	to_rows(in, n_in, x->n, a, &out->in_ptr, &out->in);
	to_rows(leaves, n_out, x->n, a, &out->out_ptr, &out->out);
	mem_free(in);
	mem_free(leaves);
}
