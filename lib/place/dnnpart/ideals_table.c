/* ideals_table.c - ideals by their bits, and by size. */
#include <math.h>
#include <string.h>

#include "place/dnnpart/ideals_table.h"

static uint64_t hash_bits(const uint64_t *bits, uint32_t words)
{
	uint64_t h = 0;

	for (uint32_t i = 0; i < words; i++) {
		h = (h ^ bits[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 32;
	}
	return h;
}

/* The cell of these bits, or the free one where they belong. */
static uint32_t *cell_of(const struct ideals_table *t, const uint64_t *bits)
{
	uint64_t h = hash_bits(bits, t->words);

	for (;; h++) {
		uint32_t *c = &t->cell[h & (t->n_cells - 1)];

		if (*c == IDEALS_TABLE_NONE ||
		    memcmp(t->bits + (size_t)*c * t->words, bits, t->words * sizeof(*bits)) == 0)
			return c;
	}
}

static void widen(struct ideals_table *t, uint32_t n_cells)
{
	mem_free(t->cell);
	t->n_cells = n_cells;
	t->cell = MEM_NEWN(uint32_t, n_cells);
	memset(t->cell, 0xff, n_cells * sizeof(*t->cell));
	for (uint32_t i = 0; i < t->n; i++)
		*cell_of(t, t->bits + (size_t)i * t->words) = i;
}

void ideals_table_init(struct ideals_table *t, uint32_t n_items, uint32_t n_used)
{
	*t = (struct ideals_table){.n_used = n_used,
				   .words = n_items / 64 + 1,
				   .bucket = MEM_NEWN(uint32_t, (size_t)n_items + 1)};
	memset(t->bucket, 0xff, ((size_t)n_items + 1) * sizeof(*t->bucket));
	widen(t, 1 << 10);
}

uint64_t ideals_table_row_bytes(const struct ideals_table *t)
{
	size_t used = sizeof(*t->value) + sizeof(*t->from) + sizeof(*t->how);

	return t->words * sizeof(*t->bits) + t->n_used * used + 2 * sizeof(uint32_t);
}

uint32_t ideals_table_find(struct ideals_table *t, const uint64_t *bits)
{
	uint32_t *c = cell_of(t, bits), size = 0, i = t->n;

	if (*c != IDEALS_TABLE_NONE)
		return *c;
	*c = t->n++;
	size_t values = (size_t)t->n * t->n_used;
	t->bits = mem_grow(t->bits, &t->cap_bits, (size_t)t->n * t->words, sizeof(*t->bits));
	t->value = mem_grow(t->value, &t->cap_value, values, sizeof(*t->value));
	t->from = mem_grow(t->from, &t->cap_from, values, sizeof(*t->from));
	t->how = mem_grow(t->how, &t->cap_how, values, sizeof(*t->how));
	t->next = mem_grow(t->next, &t->cap_next, t->n, sizeof(*t->next));
	memcpy(t->bits + (size_t)i * t->words, bits, t->words * sizeof(*bits));
	for (uint32_t s = 0; s < t->n_used; s++)
		t->value[(size_t)i * t->n_used + s] = INFINITY;
	for (uint32_t w = 0; w < t->words; w++)
		size += (uint32_t)__builtin_popcountll(bits[w]);
	t->next[i] = t->bucket[size];
	t->bucket[size] = i;
	if (t->n > t->n_cells / 2)
		widen(t, 2 * t->n_cells);
	return i;
}

void ideals_table_release(struct ideals_table *t)
{
	void *own[] = {t->bits, t->value, t->from, t->how, t->next, t->bucket, t->cell};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		mem_free(own[i]);
}
