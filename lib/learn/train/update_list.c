/* update_list.c - the list of updates. */
#include "learn/train/update_list.h"

void update_list_add(struct update_list *h, const struct update_rec *u)
{
	h->u = mem_grow(h->u, &h->cap, h->n + 1, sizeof *h->u);
	h->u[h->n++] = *u;
}

void update_list_release(struct update_list *h)
{
	mem_free(h->u);
	*h = (struct update_list){0};
}
