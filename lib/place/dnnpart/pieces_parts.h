/* pieces_parts.h - what the files of pieces.h share; not for others. */
#ifndef HSDAG_PLACE_DNNPART_PIECES_PARTS_H
#define HSDAG_PLACE_DNNPART_PIECES_PARTS_H

#include "place/dnnpart/pieces.h"

static inline uint32_t pieces_unit(const struct pieces *p, uint32_t task)
{
	return p->u->of_set[p->u->m->tasks.task_set[task]];
}

static inline uint32_t pieces_item(const struct pieces *p, uint32_t task)
{
	return p->of_unit[pieces_unit(p, task)];
}

/* Fill succ with the distinct edges between items, as p->fold has it.  pred too. */
void pieces_order(struct pieces *p, struct arena *a);
/* Fill pred from succ: the edges by their heads. */
void pieces_reverse_edges(struct pieces *p, struct arena *a);
/* Are there items that depend on each other? */
bool pieces_in_circle(const struct pieces *p);

/* One round of gluing: items go to neighbours that stay, into of_unit and n; nothing else of p is
 * right after it.  room: everything fits on every device.  false: none could. */
bool pieces_glue(struct pieces *p, bool room);

#endif
