/* reach.c - ancestors and descendants of every task. */
#include <math.h>

#include "place/simulate/dnnpart.h"
#include "place/bound/bound_parts.h"
#include "place/bound/reach.h"

static void collect_edges(struct reach *x, const struct sched_dag *d)
{
	for (uint32_t i = 0; i < d->n_uses; i++) {
		uint32_t to = d->use_task[i], from = d->tensor_task[d->use_tensor[i]];

		reach_set(reach_row(x, x->reads, to), from);
		reach_set(reach_row(x, x->read_by, from), to);
	}
}

/* Rows of bits as lists. */
static void list_rows(const struct reach *x, uint64_t *bits, uint32_t *ptr, uint32_t *list)
{
	uint32_t m = 0;

	for (uint32_t t = 0; t < x->n; t++) {
		const uint64_t *row = reach_row(x, bits, t);

		for (uint32_t w = 0; w < x->words; w++)
			for (uint64_t b = row[w]; b; b &= b - 1)
				list[m++] = 64 * w + (uint32_t)__builtin_ctzll(b);
		ptr[t + 1] = m;
	}
}

static void close_row(const struct reach *x, uint64_t *bits, uint32_t t, const uint32_t *ptr,
		      const uint32_t *list)
{
	uint64_t *row = reach_row(x, bits, t);

	reach_set(row, t);
	for (uint32_t i = ptr[t]; i < ptr[t + 1]; i++)
		for (uint32_t w = 0; w < x->words; w++)
			row[w] |= reach_row(x, bits, list[i])[w];
}

static void find_costs(struct reach *x, const struct bound_view *v)
{
	for (uint32_t t = 0; t < x->n; t++) {
		x->cpu_s[t] = x->acc_s[t] = INFINITY;
		x->move_s[t] = v->m->move_s[v->m->tasks.task_set[t]];
		for (uint32_t d = 0; d < v->k; d++) {
			double *s = dnnpart_is_cpu(v->m, d) ? &x->cpu_s[t] : &x->acc_s[t];

			*s = fmin(*s, v->task_s[(size_t)t * v->k + d]);
		}
	}
	for (uint32_t d = 0; d < v->k; d++) {
		if (dnnpart_is_cpu(v->m, d))
			continue;
		x->limit = v->limit[d] > x->limit ? v->limit[d] : x->limit;
		x->room += v->limit[d] < UINT64_MAX ? (double)v->limit[d] : INFINITY;
	}
}

void reach_init(struct reach *x, const struct bound_view *v, struct arena *a)
{
	uint32_t words = v->n / 64 + 1;
	size_t bits = (size_t)v->n * words, n = (size_t)v->n + 1;

	*x = (struct reach){.n = v->n, .words = words};
	uint64_t *mem = ARENA_NEWN(a, uint64_t, n);
	for (size_t i = 0; i < (size_t)v->n * v->k; i++)
		if (i % v->k == 0 || v->m->task_mem[i] < mem[i / v->k])
			mem[i / v->k] = v->m->task_mem[i];
	x->mem = mem;
	x->before = ARENA_NEWN(a, uint64_t, bits);
	x->behind = ARENA_NEWN(a, uint64_t, bits);
	x->reads = ARENA_NEWN(a, uint64_t, bits);
	x->read_by = ARENA_NEWN(a, uint64_t, bits);
	x->cpu_s = ARENA_NEWN(a, double, n);
	x->acc_s = ARENA_NEWN(a, double, n);
	x->move_s = ARENA_NEWN(a, double, n);
	x->pred_ptr = ARENA_NEWN(a, uint32_t, n);
	x->succ_ptr = ARENA_NEWN(a, uint32_t, n);
	x->pred = ARENA_NEWN(a, uint32_t, v->d->n_uses);
	x->succ = ARENA_NEWN(a, uint32_t, v->d->n_uses);
	collect_edges(x, v->d);
	list_rows(x, x->reads, x->pred_ptr, x->pred);
	list_rows(x, x->read_by, x->succ_ptr, x->succ);
	for (uint32_t t = 0; t < x->n; t++)
		close_row(x, x->before, t, x->pred_ptr, x->pred);
	for (uint32_t t = x->n; t-- > 0;)
		close_row(x, x->behind, t, x->succ_ptr, x->succ);
	find_costs(x, v);
}
