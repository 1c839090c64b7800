/* strtab.c - string to number, by open addressing. */
#include "graph/strtab.h"
#include "base/mem.h"

#include <string.h>

void strtab_release(struct strtab *t)
{
	mem_free(t->s);
	mem_free(t->slot);
	*t = (struct strtab){0};
}

/* FNV-1a with a final mix, since only the low bits are used. */
static uint64_t hash_of(const char *s)
{
	uint64_t h = 0xcbf29ce484222325u;
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3u;
	return (h ^ h >> 29) * 0xbf58476d1ce4e5b9u >> 16;
}

static size_t find(const struct strtab *t, const char *s)
{
	size_t k = hash_of(s) & (t->n_slots - 1);
	while (t->slot[k] && strcmp(t->s[t->slot[k] - 1], s) != 0)
		k = (k + 1) & (t->n_slots - 1);
	return k;
}

static void rehash(struct strtab *t, size_t n_slots)
{
	mem_free(t->slot);
	t->slot = MEM_NEWN(uint32_t, n_slots);
	t->n_slots = n_slots;
	for (uint32_t i = 0; i < t->n; i++)
		t->slot[find(t, t->s[i])] = i + 1;
}

uint32_t strtab_add(struct strtab *t, const char *s)
{
	if (2 * ((size_t)t->n + 1) > t->n_slots)
		rehash(t, t->n_slots ? 2 * t->n_slots : 64);
	size_t k = find(t, s);
	if (!t->slot[k]) {
		t->s = mem_grow(t->s, &t->cap, (size_t)t->n + 1, sizeof *t->s);
		t->s[t->n++] = s;
		t->slot[k] = t->n;
	}
	return t->slot[k] - 1;
}

uint32_t strtab_find(const struct strtab *t, const char *s)
{
	return t->n ? t->slot[find(t, s)] - 1 : UINT32_MAX;
}
