/* dag.c - tasks, tensors and uses from a list of edges. */
#include <stdlib.h>
#include <string.h>

#include "sched/sched.h"

static int edge_compare(const void *pa, const void *pb)
{
	const struct sched_edge *a = pa, *b = pb;

	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->dst > b->dst) - (a->dst < b->dst);
}

/* Fill in_ptr and in_use from use_task. */
static void index_inputs(struct sched_dag *d, struct arena *a)
{
	d->in_ptr = ARENA_NEWN(a, uint32_t, (size_t)d->n + 1);
	d->in_use = ARENA_NEWN(a, uint32_t, d->n_uses);
	for (uint32_t u = 0; u < d->n_uses; u++)
		d->in_ptr[d->use_task[u] + 1]++;
	for (uint32_t v = 0; v < d->n; v++)
		d->in_ptr[v + 1] += d->in_ptr[v];
	uint32_t *at = mem_copy(d->in_ptr, (size_t)d->n + 1, sizeof(*at));
	for (uint32_t u = 0; u < d->n_uses; u++)
		d->in_use[at[d->use_task[u]]++] = u;
	mem_free(at);
}

void sched_dag_build(struct sched_dag *d, uint32_t n, struct sched_edge *edges, size_t n_edges,
		     struct arena *a)
{
	if (n_edges > 1)
		qsort(edges, n_edges, sizeof(*edges), edge_compare);
	memset(d, 0, sizeof(*d));
	d->n = n;
	d->out_ptr = ARENA_NEWN(a, uint32_t, (size_t)n + 1);
	d->tensor_bytes = ARENA_NEWN(a, uint64_t, n_edges);
	d->tensor_task = ARENA_NEWN(a, uint32_t, n_edges);
	d->use_ptr = ARENA_NEWN(a, uint32_t, n_edges + 1);
	d->use_task = ARENA_NEWN(a, uint32_t, n_edges);
	d->use_tensor = ARENA_NEWN(a, uint32_t, n_edges);
	for (size_t i = 0; i < n_edges; i++) {
		const struct sched_edge *x = &edges[i], *y = i ? x - 1 : NULL;

		if (!y || y->src != x->src || y->key != x->key) {
			d->tensor_task[d->n_tensors] = x->src;
			d->use_ptr[d->n_tensors++] = d->n_uses;
			d->out_ptr[x->src + 1] = d->n_tensors;
			y = NULL;
		}
		uint32_t t = d->n_tensors - 1;
		if (x->bytes > d->tensor_bytes[t])
			d->tensor_bytes[t] = x->bytes;
		if (x->dst == SCHED_NONE || (y && y->dst == x->dst))
			continue;
		d->use_task[d->n_uses] = x->dst;
		d->use_tensor[d->n_uses++] = t;
	}
	d->use_ptr[d->n_tensors] = d->n_uses;
	for (uint32_t v = 0; v < n; v++)
		if (d->out_ptr[v + 1] < d->out_ptr[v])
			d->out_ptr[v + 1] = d->out_ptr[v];
	index_inputs(d, a);
}
