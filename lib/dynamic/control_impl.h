/* control_impl.h - shared by control.c (bodies, If), loop.c (iterations) and part.c (slices of
 * tensors along an axis).  Not for others. */
#ifndef HSDAG_DYNAMIC_CONTROL_IMPL_H
#define HSDAG_DYNAMIC_CONTROL_IMPL_H

#include "dynamic/body.h"
#include "dynamic/control.h"

/* A body and what its port maps need between iterations. */
struct arm {
	const struct graph_body *def;
	struct body *body;
	struct flex_buffer *slice; /* (n_maps) of inputs that are not in one piece; joined
	                              * outputs of a loop of unknown length */
	struct tensor *part;       /* (n_maps) outputs with an axis: shape of a part */
};

struct control {
	struct op op;
	uint32_t n_arms;
	struct arm arm[2]; /* body; or then, else */
	int64_t counter;   /* iterations so far, as a value */
	int32_t counter_i32;
};

/* Does a back edge lead to this Parameter? */
bool control_carries(const struct graph_body *b, uint32_t parameter);
/* loop.c: Loop and TensorIterator. */
int control_run_loop(struct control *c, const struct tensor *in, struct tensor *out,
		     const struct flex_place *to, struct err *e) MUST_CHECK;
/* Output i is a copy of t, in memory that `to` gives. */
int control_copy_out(const struct flex_place *to, uint32_t i, const struct tensor *t,
		     struct tensor *out, struct err *e) MUST_CHECK;

/* ---- part.c ---- */

/* The axis of a port map on t; -1 and an error when t has none or its elements cannot be parted. */
int part_axis(const struct port_map *m, const struct tensor *t, struct err *e) MUST_CHECK;
/* How many parts a TensorIterator's input t has; start and end are indices, both included,
 * counted from the end of the dim when negative. */
int part_count(const struct port_map *m, const struct tensor *t, int64_t *n,
	       struct err *e) MUST_CHECK;
/* Part i of t: in place when t has nothing outside the axis, else copied to room. */
int part_take(const struct port_map *m, const struct tensor *t, int64_t i, struct flex_buffer *room,
	      struct tensor *part, struct err *e) MUST_CHECK;
/* Put part i of n into `whole`, from the end with a negative stride. */
void part_put(const struct port_map *m, const struct tensor *part, int64_t i, int64_t n,
	      const struct tensor *whole);

#endif
