/* dag.c - tasks, tensors and uses from a list of edges; mean costs and upward
 * ranks.  The scheduler itself is in sched.c. */
#include <math.h>
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

double sched_copy_s(const struct sched_links *l, uint32_t src, uint32_t dst, uint64_t bytes)
{
	size_t i = (size_t)src * l->k + dst;

	return l->latency_s[i] + (double)bytes / l->bytes_per_s[i];
}

double sched_mean_copy_s(const struct sched_links *l, uint64_t bytes)
{
	double sum = 0;
	uint32_t pairs = 0;

	for (uint32_t i = 0; i < l->k; i++)
		for (uint32_t j = 0; j < l->k; j++)
			if (i != j && l->latency_s[(size_t)i * l->k + j] >= 0) {
				sum += sched_copy_s(l, i, j, bytes);
				pairs++;
			}
	return pairs ? sum / pairs : 0;
}

/* Mean copy time of a tensor over the pairs of devices on which its maker and
 * one consumer can run and that can exchange data. */
static double mean_copy_s(const double *cost_src, const double *cost_dst,
			  const struct sched_links *l, uint64_t bytes)
{
	double sum = 0;
	uint32_t pairs = 0;

	for (uint32_t i = 0; i < l->k; i++) {
		for (uint32_t j = 0; j < l->k; j++) {
			if (cost_src[i] < 0 || cost_dst[j] < 0)
				continue;
			if (i != j && l->latency_s[(size_t)i * l->k + j] < 0)
				continue;
			sum += i == j ? 0 : sched_copy_s(l, i, j, bytes);
			pairs++;
		}
	}
	return pairs ? sum / pairs : 0;
}

void sched_mean_costs(const struct sched_dag *d, const double *cost_s, const struct sched_links *l,
		      double *task_s, double *use_s)
{
	uint32_t k = l->k;

	for (uint32_t v = 0; v < d->n; v++) {
		const double *c = cost_s + (size_t)v * k;
		double sum = 0;
		uint32_t devices = 0;

		for (uint32_t i = 0; i < k; i++)
			if (c[i] >= 0) {
				sum += c[i];
				devices++;
			}
		task_s[v] = devices ? sum / devices : 0;
	}
	for (uint32_t u = 0; u < d->n_uses; u++) {
		uint32_t t = d->use_tensor[u];

		use_s[u] = mean_copy_s(cost_s + (size_t)d->tensor_task[t] * k,
				       cost_s + (size_t)d->use_task[u] * k, l, d->tensor_bytes[t]);
	}
}

void sched_upward_rank(const struct sched_dag *d, const double *task_s, const double *use_s,
		       double *rank)
{
	for (uint32_t v = d->n; v-- > 0;) {
		double longest = 0;

		for (uint32_t u = d->use_ptr[d->out_ptr[v]]; u < d->use_ptr[d->out_ptr[v + 1]]; u++)
			longest = fmax(longest, use_s[u] + rank[d->use_task[u]]);
		rank[v] = task_s[v] + longest;
	}
}
