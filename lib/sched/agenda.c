/* agenda.c - slots of a device, by time. */
#include "sched/agenda.h"
#include "base/mem.h"

#include <math.h>
#include <string.h>

double agenda_earliest_s(const struct agenda *a, double ready, double cost, size_t *at)
{
	size_t i = a->n;
	double start = ready;

	/* Slots that end before `ready` cannot matter: search back from the end. */
	while (i > 0 && a->slot[i - 1].end_s > ready)
		i--;
	for (; i < a->n && start + cost > a->slot[i].start_s; i++)
		start = fmax(start, a->slot[i].end_s);
	*at = i;
	return start;
}

void agenda_insert(struct agenda *a, size_t at, struct agenda_slot slot)
{
	a->slot = mem_grow(a->slot, &a->cap, a->n + 1, sizeof(*a->slot));
	memmove(a->slot + at + 1, a->slot + at, (a->n - at) * sizeof(*a->slot));
	a->slot[at] = slot;
	a->n++;
}

void agenda_remove(struct agenda *a, size_t at)
{
	memmove(a->slot + at, a->slot + at + 1, (a->n - at - 1) * sizeof(*a->slot));
	a->n--;
}

void agenda_release(struct agenda *a)
{
	mem_free(a->slot);
	*a = (struct agenda){0};
}
