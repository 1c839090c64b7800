/* shapes.h - shapes of all tensors of a graph from those of its inputs.
 *
 * Nodes in order: shape inference (op_infer), with the values of what shapes depend on
 * (ShapeOf, constants and what is computed from them) computed on the host.  What
 * follows from neither stays dynamic, with the dims that hold whatever the
 * unknown ones are.  Bodies are inferred with the shapes that their nodes give
 * them. */
#ifndef HSDAG_DYNAMIC_SHAPES_H
#define HSDAG_DYNAMIC_SHAPES_H

#include "graph/graph.h"

enum { SHAPE_DIMS = 8 };

/* A shape for Parameters (by layer name or a name of their tensor) and variables (by their id);
 * names may have wildcards. */
struct shape_given {
	const char *name; /* "": the only input; * and ? as in file names */
	uint32_t rank;
	int64_t dim[SHAPE_DIMS]; /* DIM_DYNAMIC for "?" or "-1" */
};

struct shape_list {
	uint32_t n;
	struct shape_given *v; /* in an arena */
};

/* Add the shapes of text: "NAME=1,3,224,224", "NAME[1,3,224,224]" or only the dims for a model
 * with one input; several separated by ";" (or "," after a bracket).  ST_USAGE. */
int shapes_parse(const char *text, struct arena *a, struct shape_list *out,
		 struct err *e) MUST_CHECK;

/* Give the inputs and variables of g these shapes and infer all others, in place.  A variable with
 * a given shape begins as zeros of it, whatever its initial value.  Others have the shape of their initial value;
 * with open dims in inputs or given shapes, they have open dims where another shape is assigned to them.  The .bin
 * that g names is read for constants that decide shapes.
 * ST_USAGE: a name that g does not have; the message lists what it has.  ST_INPUT: shapes that
 * do not fit (with the layer's name), constants that are not there. */
int shapes_apply(struct graph *g, const struct shape_list *given, struct err *e) MUST_CHECK;

/* The same with open dims where those of g's cases differ: what g is for all of them, and for others.  g has cases. */
int shapes_open_cases(struct graph *g, struct err *e) MUST_CHECK;

#endif
