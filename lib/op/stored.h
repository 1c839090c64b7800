/* stored.h - what weights behind conversions take on a device that keeps some types as they are stored, and computes with what it
 * makes of them, and widens others once: scales and zeros included, through Convert, Subtract, Multiply and what only moves. */
#ifndef HSDAG_OP_STORED_H
#define HSDAG_OP_STORED_H

#include "graph/graph.h"

typedef uint64_t op_keeps; /* bit t: elements of type t are kept as they are stored */

/* Those of at most 8 bits, as op_stored_bytes has it. */
op_keeps op_keeps_usual(void);

/* op_stored_bytes (op.h) of such a device: output o, where only constants are behind it. */
uint64_t op_stored_bytes_on(const struct graph *g, uint32_t o, op_keeps keeps);
/* op_bytes of such a device. */
uint64_t op_bytes_on(const struct graph *g, uint32_t v, op_keeps keeps);

#endif
