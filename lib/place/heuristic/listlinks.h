/* listlinks.h - links of a list heuristic's schedule that carry one copy at a time: a copy takes
 * the first gap, of its link and of its ports, after its tensor is made (Sinnen, Sousa, "Communication contention in task
 * scheduling", IEEE TPDS 16(6), 2005, section 4, edges scheduled on links with insertion).  A
 * tensor is copied once to each device.  What was placed cannot be taken back. */
#ifndef HSDAG_PLACE_HEURISTIC_LISTLINKS_H
#define HSDAG_PLACE_HEURISTIC_LISTLINKS_H

#include "place/heuristic/listsched.h"

struct listlinks;

/* The links of x, empty; listlinks_free ends them. */
struct listlinks *listlinks_new(const struct listsched *x);
void listlinks_free(struct listlinks *y);

/* When all inputs of v whose tasks are placed could be on dev; INFINITY: one has no way there. */
double listlinks_ready_s(struct listlinks *y, const struct listsched *x, uint32_t v, uint32_t dev);
/* v goes to dev: its inputs' copies take their gaps. */
void listlinks_place(struct listlinks *y, const struct listsched *x, uint32_t v, uint32_t dev);

#endif
