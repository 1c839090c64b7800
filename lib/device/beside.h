/* beside.h - what sets cost on cores that work beside each other: the model in halves, one on each
 * core, and then the other way round. */
#ifndef HSDAG_DEVICE_BESIDE_H
#define HSDAG_DEVICE_BESIDE_H

#include "device/session.h"

/* Where two or more cpu devices have cores of their own: replace, in their columns of set_s
 * (n_sets, k), what a set takes when the device is alone by what it takes while the others run other
 * sets of the same inference.  (Two whole inferences at once would do for no device what a
 * placement does: they read the same weights, one from memory and the other from the cache that
 * cores share.)  step_set (n_steps): the set that a step's time belongs to, GRAPH_NONE: none.
 * Models with variables, and sets that one of the devices cannot run, leave everything as it is.
 * -1: a run failed, or memory (ST_RUNTIME). */
int beside_measure(struct session *s, const uint32_t *step_set, struct interval *set_s,
		   struct err *e) MUST_CHECK;

#endif
