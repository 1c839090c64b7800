/* task_heap.h - a binary heap of tasks and moments, the earliest on top.  Entries are not taken out
 * of the middle: users drop an entry that has become useless when it comes up.  (base/heap.h has
 * plain numbers.) */
#ifndef HSDAG_PLACE_HEURISTIC_TASK_HEAP_H
#define HSDAG_PLACE_HEURISTIC_TASK_HEAP_H

#include "base/mem.h"

/* All zero is an empty one; mem_free(entry) ends it. */
struct task_heap {
	/* ascending, of equal moments by task: a number, or a place in an order of tasks */
	struct task_heap_entry {
		double at;
		uint32_t task;
	} * entry; /* the first: entry[0], where n > 0 */
	size_t n, cap;
};

static inline bool task_heap_before(const struct task_heap_entry *a,
				    const struct task_heap_entry *b)
{
	return a->at < b->at || (a->at == b->at && a->task < b->task);
}

static inline void task_heap_add(struct task_heap *q, double at, uint32_t task)
{
	const struct task_heap_entry x = {at, task};
	size_t i = q->n++;

	q->entry = mem_grow(q->entry, &q->cap, q->n, sizeof(*q->entry));
	for (; i > 0 && task_heap_before(&x, &q->entry[(i - 1) / 2]); i = (i - 1) / 2)
		q->entry[i] = q->entry[(i - 1) / 2];
	q->entry[i] = x;
}

/* Without its first entry. */
static inline void task_heap_drop(struct task_heap *q)
{
	struct task_heap_entry x = q->entry[--q->n];
	size_t i = 0, child;

	for (; (child = 2 * i + 1) < q->n; i = child) {
		child += child + 1 < q->n &&
			 task_heap_before(&q->entry[child + 1], &q->entry[child]);
		if (!task_heap_before(&q->entry[child], &x))
			break;
		q->entry[i] = q->entry[child];
	}
	q->entry[i] = x;
}

#endif
