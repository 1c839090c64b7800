/* pairmap.c - open addressing, at most half full. */
#include "base/pairmap.h"
#include "base/mem.h"

#include <assert.h>

/* The place of (a, b), or the free one where it belongs. */
static struct pairmap_slot *find(const struct pairmap *m, uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ (b * 0xc2b2ae3d27d4eb4fu)) * 0x9e3779b97f4a7c15u;
	for (size_t i = h >> 32;; i++) {
		struct pairmap_slot *s = &m->slot[i & (m->n_slots - 1)];
		if (!s->used || (s->a == a && s->b == b))
			return s;
	}
}

static void grow(struct pairmap *m)
{
	struct pairmap old = *m;
	m->n_slots = old.n_slots ? 2 * old.n_slots : 64;
	m->slot = MEM_NEWN(struct pairmap_slot, m->n_slots);
	for (size_t i = 0; i < old.n_slots; i++)
		if (old.slot[i].used)
			*find(m, old.slot[i].a, old.slot[i].b) = old.slot[i];
	mem_free(old.slot);
}

uint64_t *pairmap_get(const struct pairmap *m, uint64_t a, uint64_t b)
{
	struct pairmap_slot *s = m->n_slots ? find(m, a, b) : NULL;
	return s && s->used ? &s->value : NULL;
}

void pairmap_put(struct pairmap *m, uint64_t a, uint64_t b, uint64_t value)
{
	if (2 * (m->n + 1) > m->n_slots)
		grow(m);
	struct pairmap_slot *s = find(m, a, b);
	assert(!s->used);
	*s = (struct pairmap_slot){a, b, value, true};
	m->n++;
}

void pairmap_release(struct pairmap *m)
{
	mem_free(m->slot);
	*m = (struct pairmap){0};
}
