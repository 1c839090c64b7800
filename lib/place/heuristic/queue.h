/* queue.h - tasks that wait for a moment, the first on top: a binary heap, from which what has
 * become useless meanwhile is dropped when it comes up. */
#ifndef HSDAG_PLACE_HEURISTIC_QUEUE_H
#define HSDAG_PLACE_HEURISTIC_QUEUE_H

#include "base/mem.h"

/* All zero is an empty one; mem_free(entry) ends it. */
struct queue {
	/* ascending, of equal moments by task: a number, or a place in an order of tasks */
	struct queue_entry {
		double at;
		uint32_t task;
	} * entry; /* the first: entry[0], where n > 0 */
	size_t n, cap;
};

static inline bool queue_before(const struct queue_entry *a, const struct queue_entry *b)
{
	return a->at < b->at || (a->at == b->at && a->task < b->task);
}

static inline void queue_add(struct queue *q, double at, uint32_t task)
{
	const struct queue_entry x = {at, task};
	size_t i = q->n++;

	q->entry = mem_grow(q->entry, &q->cap, q->n, sizeof(*q->entry));
	for (; i > 0 && queue_before(&x, &q->entry[(i - 1) / 2]); i = (i - 1) / 2)
		q->entry[i] = q->entry[(i - 1) / 2];
	q->entry[i] = x;
}

/* Without its first entry. */
static inline void queue_drop(struct queue *q)
{
	struct queue_entry x = q->entry[--q->n];
	size_t i = 0, child;

	for (; (child = 2 * i + 1) < q->n; i = child) {
		child += child + 1 < q->n && queue_before(&q->entry[child + 1], &q->entry[child]);
		if (!queue_before(&q->entry[child], &x))
			break;
		q->entry[i] = q->entry[child];
	}
	q->entry[i] = x;
}

#endif
