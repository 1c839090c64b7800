/* control.h - TensorIterator, Loop and If: bodies run by the rules of their port maps.
 *
 * Loop and TensorIterator: an iteration's parameters are slices of inputs along an
 * axis, inputs as they are, results of the iteration before (back edges), or the
 * iteration's number; outputs are slices joined along an axis, or a result of the
 * last iteration.  A Loop ends after its trip count (input 0; negative: none) or
 * when its condition (input 1, then a Result of the body) is false.  Without any
 * iteration an output that a back edge carries is the carried input, and a joined
 * one is empty.
 * If: input 0 chooses between two bodies.
 *
 * Source: OpenVINO's specifications of TensorIterator-1, Loop-5, If-8. */
#ifndef HSDAG_DYNAMIC_CONTROL_H
#define HSDAG_DYNAMIC_CONTROL_H

#include "dynamic/dynop.h"

/* Are its bodies there, and can all of them run? */
bool control_supports(const struct op *op, char *why, size_t cap);
/* For dynop_new. */
extern const struct dynop_bodies control_bodies;

#endif
