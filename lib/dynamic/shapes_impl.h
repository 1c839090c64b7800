/* shapes_impl.h - shared by shapes.c (names and the whole), shapes_parse.c, shapes_walk.c (nodes in
 * order), shapes_control.c (bodies), shapes_probe.c (what holds for all sizes of open dims), shapes_state.c (what is
 * known), shapes_variables.c (variables that grow) and phases.c (names of
 * language models).  Not for others. */
#ifndef HSDAG_DYNAMIC_SHAPES_IMPL_H
#define HSDAG_DYNAMIC_SHAPES_IMPL_H

#include "dynamic/host_eval.h"
#include "dynamic/shapes.h"

/* Shapes of a graph as they become known: h.value[o] has type and dims, which may be
 * DIM_DYNAMIC; rank RANK_DYNAMIC: not even the rank.  Data where shapes depend on it. */
struct shapes {
	struct graph *g;
	struct host_values h;
	struct op *op;                  /* (n) */
	bool *wanted;                   /* (n) shapes depend on its value, which can be known */
	struct shapes **body;           /* (n_bodies) inferred with; NULL: left as it is */
	const struct shape_list *given; /* of the whole model; NULL in bodies */
	const struct tensor *grown; /* (n) of a ReadValue: shapes_open_variables; NULL in bodies */
	struct shapes **
		probe; /* (n_probes) the same graph with sizes for open dims of inputs; NULL: none */
	int n_probes;
	int size_of_probe; /* in such a graph: which sizes, else -1 */
	uint32_t n_open;   /* and how many dims have had one */
};

/* All outputs, but of Parameters, which are set. */
typedef int shapes_walk_fn(struct shapes *s, struct err *e) MUST_CHECK;

/* ---- shapes_state.c ---- */

struct shapes *shapes_new(struct graph *g, const void *weights, uint64_t weights_bytes,
			  struct cpu_ctx *ctx, struct err *e) MUST_CHECK;
void shapes_free(struct shapes *s);
void shapes_free_probes(struct shapes *s);
/* Nothing but what the file says of the rank: of output o, of all outputs of node v. */
void shapes_set_unknown(struct shapes *s, uint32_t o);
void shapes_set_all_unknown(struct shapes *s, uint32_t v);
/* Shapes into the graph and its bodies. */
void shapes_store(struct shapes *s);

/* Is `name` the given one?  '*' and '?' in the latter stand for any text and any character. */
bool shape_is_for(const char *given, const char *name);
/* Is the given name that of node v: of a Parameter the layer's or its tensor's, of a ReadValue the variable's? (shapes.c) */
bool shape_names(const struct graph *g, uint32_t v, const char *name);
/* The given shape of a variable, or NULL. */
const struct shape_given *shapes_find(const struct shape_list *l, const char *name);

/* ---- shapes_variables.c ---- */

/* The graph has been walked: opens dims of variables in grown (n; rank 0 where a variable has its initial shape), and says whether there are
 * new ones. */
bool shapes_open_variables(const struct shapes *s, struct tensor *grown);

/* ---- shapes_probe.c ---- */

/* Walks the graph, whose Parameters are set, with sizes for their open dims. */
void shapes_probe(struct shapes *s, shapes_walk_fn *walk);
/* A shape of which all open dims have the sizes of this graph. */
void shapes_fill(struct shapes *s, struct tensor *t);
/* Are there open dims in inputs or given shapes? */
bool shapes_open(const struct shapes *s);
/* What all sizes agree on in the outputs of node v is known. */
void shapes_agree(struct shapes *s, uint32_t v);

/* ---- shapes_walk.c, shapes_control.c ---- */

shapes_walk_fn shapes_walk;
/* The node v has bodies, to be walked so: shapes of its outputs. */
int shapes_control(struct shapes *s, uint32_t v, shapes_walk_fn *walk, struct err *e) MUST_CHECK;

/* a without data, and without the dims (or the rank) in which b differs. */
static inline struct tensor shape_common(const struct tensor *a, const struct tensor *b)
{
	struct tensor t = *a;
	t.data = NULL;
	if (a->rank != b->rank || a->rank == RANK_DYNAMIC) {
		t.rank = RANK_DYNAMIC;
		return t;
	}
	for (uint32_t d = 0; d < t.rank; d++)
		if (a->dim[d] != b->dim[d])
			t.dim[d] = DIM_DYNAMIC;
	return t;
}

static inline bool shape_known(const struct tensor *t)
{
	return t->rank <= TENSOR_DIMS && tensor_is_static(t);
}

#endif
