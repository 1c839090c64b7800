/* task_heap.h - a binary heap of tasks and moments, the earliest on top.  Entries are not taken out
 * of the middle: users drop an entry that has become useless when it comes up. */
#ifndef HSDAG_PLACE_HEURISTIC_TASK_HEAP_H
#define HSDAG_PLACE_HEURISTIC_TASK_HEAP_H

#include "base/heap.h"
#include "base/mem.h"

/* All zero is an empty one; mem_free(entry) ends it. */
struct task_heap {
	/* ascending, of equal moments by task: a number, or a place in an order of tasks */
	struct task_heap_entry {
		double at;
		uint32_t task;
	} * entry; /* the first: entry[0], where n > 0 */
	uint32_t n;
	size_t cap;
};

static inline bool task_heap_before(const struct task_heap_entry *a,
				    const struct task_heap_entry *b)
{
	return a->at < b->at || (a->at == b->at && a->task < b->task);
}

#define TASK_HEAP_BEFORE(a, b) task_heap_before(&(a), &(b))
HEAP(task_entries, struct task_heap_entry, TASK_HEAP_BEFORE)

static inline void task_heap_add(struct task_heap *q, double at, uint32_t task)
{
	q->entry = mem_grow(q->entry, &q->cap, (size_t)q->n + 1, sizeof(*q->entry));
	task_entries_push(q->entry, &q->n, (struct task_heap_entry){at, task});
}

/* Without its first entry. */
static inline void task_heap_drop(struct task_heap *q)
{
	task_entries_pop(q->entry, &q->n);
}

#endif
