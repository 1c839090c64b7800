/* control_impl.h - shared by control.c (bodies, If), loop.c (iterations), control_port.c (ports),
 * axis_slice.c (slices of tensors along an axis) and shapes_control.c (shapes of bodies).  Not for others. */
#ifndef HSDAG_DYNAMIC_CONTROL_IMPL_H
#define HSDAG_DYNAMIC_CONTROL_IMPL_H

#include "dynamic/subgraph.h"
#include "dynamic/control.h"

/* A body of the operator and what its port maps need between iterations. */
struct arm {
	const struct graph_body *def;
	struct subgraph *subgraph;  /* the body, prepared to run */
	struct dynop_buffer *room;  /* (n_maps) inputs: a slice that is not in one piece; outputs
	                             * of a loop of unknown length: all slices so far */
	struct tensor *slice_shape; /* (n_maps) outputs with an axis */
};

struct control {
	struct op op;
	uint32_t n_arms;
	struct arm arm[2]; /* the loop's body; or then, else */
	int64_t counter;   /* iterations so far, as a value */
	int32_t counter_i32;
};

/* The body has run `rounds` times. */
static inline void control_count(const struct graph_body *b, int64_t rounds)
{
	if (b->runs)
		__atomic_fetch_add(&b->runs->rounds, (uint64_t)rounds, __ATOMIC_RELAXED);
}
/* loop.c: Loop and TensorIterator. */
int control_run_loop(struct control *c, const struct tensor *in, struct tensor *out,
		     const struct dynop_allocator *to, struct err *e) MUST_CHECK;
/* ---- control_port.c ---- */

/* Does a back edge lead to this Parameter? */
bool control_carries(const struct graph_body *b, uint32_t parameter);
/* Output i is a copy of t, in memory that `to` gives. */
int control_copy_out(const struct dynop_allocator *to, uint32_t i, const struct tensor *t,
		     struct tensor *out, struct err *e) MUST_CHECK;

/* ---- axis_slice.c ---- */

/* The axis of a port map on t; -1 and an error when t has none or its elements cannot be cut. */
int axis_slice_axis(const struct port_map *m, const struct tensor *t, struct err *e) MUST_CHECK;
/* How many slices a TensorIterator's input t has; start and end are indices, both included,
 * counted from the end of the dim when negative. */
int axis_slice_count(const struct port_map *m, const struct tensor *t, int64_t *n,
		     struct err *e) MUST_CHECK;
/* Slice i of t: in place when t has nothing outside the axis, else copied to room. */
int axis_slice_get(const struct port_map *m, const struct tensor *t, int64_t i,
		   struct dynop_buffer *room, struct tensor *slice, struct err *e) MUST_CHECK;
/* Put slice i of n into `whole`, from the end with a negative stride. */
void axis_slice_put(const struct port_map *m, const struct tensor *slice, int64_t i, int64_t n,
		    const struct tensor *whole);

#endif
