/* held.c - see held.h. */
#include <string.h>

#include "place/simulate/held.h"

/* Lists of shared values by unit; several readers of one in a unit count once. */
static void list_shared(struct held *x, struct arena *a)
{
	const struct place_units *u = x->u;
	const struct place_model *m = u->m;
	uint32_t *last = MEM_NEWN(uint32_t, u->n), n_all = 0;

	for (uint32_t i = 0; i < m->n_shared; i++)
		n_all += m->shared[i].n;
	/* Counted two places up, so that filling leaves the beginnings. */
	x->ptr = ARENA_NEWN(a, uint32_t, (size_t)u->n + 2);
	x->shared = ARENA_NEWN(a, uint32_t, n_all);
	for (int fill = 0; fill < 2; fill++) {
		memset(last, 0xff, u->n * sizeof(*last));
		for (uint32_t i = 0; i < m->n_shared; i++)
			for (uint32_t j = 0; j < m->shared[i].n; j++) {
				uint32_t t = m->weight_task[m->shared[i].first + j];
				uint32_t unit = u->of_set[m->tasks.task_set[t]];

				if (last[unit] == i)
					continue;
				last[unit] = i;
				if (fill)
					x->shared[x->ptr[unit + 1]++] = i;
				else
					x->ptr[unit + 2]++;
			}
		for (uint32_t i = 0; !fill && i < u->n; i++)
			x->ptr[i + 2] += x->ptr[i + 1];
	}
	mem_free(last);
}

void held_init(struct held *x, const struct place_units *u, struct arena *a)
{
	*x = (struct held){.u = u};
	x->users = ARENA_NEWN(a, uint32_t, (size_t)u->m->n_shared * u->m->k);
	x->bytes = ARENA_NEWN(a, uint64_t, u->m->k);
	list_shared(x, a);
}

uint64_t held_more(const struct held *x, uint32_t i, uint32_t dev)
{
	const struct place_model *m = x->u->m;
	uint64_t sum = x->u->mem_on[(size_t)i * m->k + dev];

	for (uint32_t j = x->ptr[i]; j < x->ptr[i + 1]; j++)
		if (!x->users[(size_t)x->shared[j] * m->k + dev])
			sum += m->shared[x->shared[j]].bytes[dev];
	return sum;
}

bool held_pool_fits(const struct held *x, uint32_t dev, uint64_t more)
{
	const struct place_pools *p = &x->u->m->pools;
	uint64_t sum = more;

	if (p->n == 0 || p->of[dev] == p->n || !p->pool[p->of[dev]].mem_limit)
		return true;
	for (uint32_t d = 0; d < x->u->m->k; d++)
		sum += p->of[d] == p->of[dev] ? x->bytes[d] : 0;
	return sum <= p->pool[p->of[dev]].mem_limit;
}

bool held_fits(const struct held *x, uint32_t i, uint32_t dev)
{
	uint64_t limit = x->u->m->mem_limit[dev], more = limit ? held_more(x, i, dev) : 0;

	/* A device in a pool with a limit has one itself. */
	return !limit || (x->bytes[dev] + more <= limit && held_pool_fits(x, dev, more));
}

void held_add(struct held *x, uint32_t i, uint32_t dev)
{
	x->bytes[dev] += held_more(x, i, dev);
	for (uint32_t j = x->ptr[i]; j < x->ptr[i + 1]; j++)
		x->users[(size_t)x->shared[j] * x->u->m->k + dev]++;
}

void held_remove(struct held *x, uint32_t i, uint32_t dev)
{
	for (uint32_t j = x->ptr[i]; j < x->ptr[i + 1]; j++)
		x->users[(size_t)x->shared[j] * x->u->m->k + dev]--;
	x->bytes[dev] -= held_more(x, i, dev);
}
