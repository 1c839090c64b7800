/* history.c - the list of updates. */
#include "learn/train/history.h"

void history_add(struct history *h, const struct update_rec *u)
{
	h->u = mem_grow(h->u, &h->cap, h->n + 1, sizeof *h->u);
	h->u[h->n++] = *u;
}

void history_release(struct history *h)
{
	mem_free(h->u);
	*h = (struct history){0};
}
