/* hearing.c - lists of who hears whom, and who is reached. */
#include "learn/tape/hearing.h"

#include <stdlib.h>

static int by_key(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
	return (a > b) - (a < b);
}

/* Lists of the second halves of the distinct keys, by the first. */
static void lists(uint64_t *key, size_t m, uint32_t n, struct arena *a, const uint32_t **ptr,
		  const uint32_t **node)
{
	uint32_t *p = ARENA_NEWN(a, uint32_t, (size_t)n + 1), *v = arena_raw(a, m, sizeof *v),
		 k = 0;
	qsort(key, m, sizeof *key, by_key);
	for (size_t i = 0; i < m; i++)
		if (i == 0 || key[i] != key[i - 1]) {
			v[k++] = (uint32_t)key[i];
			p[(key[i] >> 32) + 1]++;
		}
	for (uint32_t i = 0; i < n; i++)
		p[i + 1] += p[i];
	*ptr = p;
	*node = v;
}

void hearing_of_groups(struct hearing *out, const struct ugraph *g, const uint32_t *group,
		       uint32_t n_groups, struct arena *a)
{
	*out = (struct hearing){.n = n_groups};
	for (int way = 0; way < 2; way++) {
		uint64_t *key = arena_raw(a, g->m, sizeof *key);
		size_t m = 0;
		for (uint32_t e = 0; e < g->m; e++) {
			uint64_t from = group[g->u[e]], to = group[g->v[e]];
			if (from != to)
				key[m++] = way == 0 ? to << 32 | from : from << 32 | to;
		}
		lists(key, m, n_groups, a, &out->ptr[way], &out->node[way]);
	}
}

void hearing_reach(const struct hearing *h, int way, uint32_t node, uint8_t *reached,
		   uint32_t *list)
{
	uint32_t n = 0;
	for (uint32_t at = node, i = 0;; at = list[i++]) {
		for (uint32_t e = h->ptr[way][at]; e < h->ptr[way][at + 1]; e++) {
			uint32_t to = h->node[way][e];
			if (!reached[to]) {
				reached[to] = 1;
				list[n++] = to;
			}
		}
		if (i == n)
			return;
	}
}
