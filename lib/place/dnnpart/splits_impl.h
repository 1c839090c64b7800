/* splits_impl.h - what splits*.c share; not for others. */
#ifndef HSDAG_PLACE_DNNPART_SPLITS_IMPL_H
#define HSDAG_PLACE_DNNPART_SPLITS_IMPL_H

#include "place/dnnpart/splits.h"

static inline uint32_t splits_unit(const struct splits *p, uint32_t task)
{
	return p->u->of_set[p->u->m->tasks.task_set[task]];
}

static inline uint32_t splits_item(const struct splits *p, uint32_t task)
{
	return p->of_unit[splits_unit(p, task)];
}

/* Fill succ with the distinct edges between items, as p->fold has it.  pred too. */
void splits_order(struct splits *p, struct arena *a);
/* Fill pred from succ: the edges by their heads. */
void splits_reverse_edges(struct splits *p, struct arena *a);
/* Are there items that depend on each other? */
bool splits_in_circle(const struct splits *p);

/* One round of gluing: items go to neighbours that stay, into of_unit and n; nothing else of p is
 * right after it.  room: everything fits on every device.  false: none could. */
bool splits_glue(struct splits *p, bool room);

#endif
