/* heap.h - binary heaps in arrays, the first on top. */
#ifndef HSDAG_BASE_HEAP_H
#define HSDAG_BASE_HEAP_H

#include <stddef.h>
#include <stdint.h>

/* v sinks from place i of n, behind all that is before it. */
#define HEAP_SINK(heap, n, i, v, before) \
	do { \
		for (size_t child_; (child_ = 2 * (size_t)(i) + 1) < (size_t)(n); i = child_) { \
			child_ += child_ + 1 < (size_t)(n) && \
				  before((heap)[child_ + 1], (heap)[child_]); \
			if (!before((heap)[child_], v)) \
				break; \
			(heap)[i] = (heap)[child_]; \
		} \
		(heap)[i] = v; \
	} while (0)

/* name_push(heap, &n, v) and name_pop(heap, &n) of a heap of `type`, where before(a, b) says which of two
 * is nearer to the top.  What before needs is declared behind it, and is the functions' last parameter.
 * The caller's heap has room for one more; of an empty one nothing is taken out. */
#define HEAP(name, type, before, ...) \
	static inline void name##_push(type *heap, uint32_t *n, type v, ##__VA_ARGS__) \
	{ \
		size_t i = (*n)++; \
		for (; i > 0 && before(v, heap[(i - 1) / 2]); i = (i - 1) / 2) \
			heap[i] = heap[(i - 1) / 2]; \
		heap[i] = v; \
	} \
	static inline type name##_pop(type *heap, uint32_t *n, ##__VA_ARGS__) \
	{ \
		type top = heap[0]; \
		type last = heap[--*n]; \
		size_t i = 0; \
		HEAP_SINK(heap, *n, i, last, before); \
		return top; \
	}

/* Numbers, the least on top. */
#define HEAP_LESS(a, b) ((a) < (b))
HEAP(heap, uint64_t, HEAP_LESS)

#endif
