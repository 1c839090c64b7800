/* rows.h - things sorted into rows, the counting sort of compressed rows: row r has thing[ptr[r]] to
 * thing[ptr[r + 1] - 1], in the order in which they came. */
#ifndef HSDAG_GRAPH_ROWS_H
#define HSDAG_GRAPH_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/heap.h"
#include "base/mem.h"

enum { ROWS_STEP = sizeof(uint32_t) }; /* from a key to the next of a plain array */

static inline const uint32_t *rows_key(const uint32_t *key, size_t step, uint32_t i)
{
	return (const uint32_t *)(const void *)((const char *)key + i * step);
}

/* key (n): the rows of n things, `step` bytes from one to the next; UINT32_MAX: in no row.  value: what
 * the things are, in the same steps; NULL: their numbers.  ptr (n_rows + 2): zeros before; thing has room
 * for all that are in a row. */
static inline void rows_sort(const uint32_t *key, const uint32_t *value, size_t step, uint32_t n,
			     uint32_t n_rows, uint32_t *ptr, uint32_t *thing)
{
	/* Counted two places up, so that filling leaves the beginnings. */
	for (uint32_t i = 0; i < n; i++) {
		uint32_t r = *rows_key(key, step, i);
		if (r != UINT32_MAX)
			ptr[r + 2]++;
	}
	for (uint32_t r = 0; r < n_rows; r++)
		ptr[r + 2] += ptr[r + 1];
	for (uint32_t i = 0; i < n; i++) {
		uint32_t r = *rows_key(key, step, i);
		if (r != UINT32_MAX)
			thing[ptr[r + 1]++] = value ? *rows_key(value, step, i) : i;
	}
}

/* Rows of numbers below n the other way round: row r of back has the rows that r is in.  ptr (n + 1);
 * back_ptr (n + 2): zeros before; back (ptr[n]). */
static inline void rows_reverse(const uint32_t *ptr, const uint32_t *thing, uint32_t n,
				uint32_t *back_ptr, uint32_t *back)
{
	for (uint32_t i = 0; i < ptr[n]; i++)
		back_ptr[thing[i] + 2]++;
	for (uint32_t r = 0; r < n; r++)
		back_ptr[r + 2] += back_ptr[r + 1];
	for (uint32_t r = 0; r < n; r++)
		for (uint32_t i = ptr[r]; i < ptr[r + 1]; i++)
			back[back_ptr[thing[i] + 1]++] = r;
}

/* The topological order that has the lowest number wherever there is a choice: order (n) of the rows' numbers.
 * Returns how many come into it: fewer than n where there are cycles, and waits (n, zeros before) is above zero
 * for those on one or behind it. */
static inline uint32_t rows_lowest_first(uint32_t n, const uint32_t *ptr, const uint32_t *thing,
					 struct arena *a, uint32_t *waits, uint32_t *order)
{
	uint64_t *ready = ARENA_NEWN(a, uint64_t, (size_t)n + 1);
	uint32_t n_ready = 0, n_order = 0;
	for (uint32_t i = 0; i < ptr[n]; i++)
		waits[thing[i]]++;
	for (uint32_t v = 0; v < n; v++)
		if (waits[v] == 0)
			heap_push(ready, &n_ready, v);
	while (n_ready > 0) {
		uint32_t v = (uint32_t)heap_pop(ready, &n_ready);
		order[n_order++] = v;
		for (uint32_t i = ptr[v]; i < ptr[v + 1]; i++)
			if (--waits[thing[i]] == 0)
				heap_push(ready, &n_ready, thing[i]);
	}
	return n_order;
}

#endif
