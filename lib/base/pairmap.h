/* pairmap.h - a hash table from two numbers (an address and a size, an offset and a type) to a
 * third.  Entries are added or changed, never taken away. */
#ifndef HSDAG_BASE_PAIRMAP_H
#define HSDAG_BASE_PAIRMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pairmap {
	struct pairmap_slot {
		uint64_t a, b, value;
		bool used;
	} * slot;
	size_t n, n_slots; /* entries; places for them: 0 or a power of two */
};

/* The value of (a, b), to read or to change until the next pairmap_put; NULL when it has none. */
uint64_t *pairmap_get(const struct pairmap *m, uint64_t a, uint64_t b);

/* Give (a, b), which has none, a value. */
void pairmap_put(struct pairmap *m, uint64_t a, uint64_t b, uint64_t value);

void pairmap_release(struct pairmap *m);

#endif
