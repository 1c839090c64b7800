/* heap.h - a binary heap of numbers, the least on top. */
#ifndef HSDAG_BASE_HEAP_H
#define HSDAG_BASE_HEAP_H

#include <stdint.h>

/* heap has *n numbers, and room for one more. */
static inline void heap_push(uint64_t *heap, uint32_t *n, uint64_t v)
{
	uint32_t i = (*n)++;

	for (; i > 0 && heap[(i - 1) / 2] > v; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = v;
}

/* The least, taken out; *n > 0. */
static inline uint64_t heap_pop(uint64_t *heap, uint32_t *n)
{
	uint64_t top = heap[0], last = heap[--*n];
	uint32_t i = 0;

	for (uint32_t c; (c = 2 * i + 1) < *n; i = c) {
		c += c + 1 < *n && heap[c + 1] < heap[c];
		if (heap[c] >= last)
			break;
		heap[i] = heap[c];
	}
	heap[i] = last;
	return top;
}

#endif
