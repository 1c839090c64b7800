/* graph_facts.h - what passes found out about the graphs of a model, as arrays, kept for as long as the model is open.
 *
 * A pass is a function of a graph, its bodies left out; it runs once for each graph, in the thread that asks first.  It may ask for
 * what other passes found, of the same graph. */
#ifndef HSDAG_KERNEL_GRAPH_FACTS_H
#define HSDAG_KERNEL_GRAPH_FACTS_H

#include "graph/graph.h"
#include "kernel/step_env.h"

struct graph_facts *graph_facts_new(void);
void graph_facts_free(struct graph_facts *x); /* NULL: nothing */

/* What it found; memory from a, which lives as long as the facts do. */
typedef const void *graph_pass(const struct graph *g, const struct step_env *env, struct arena *a);

/* What `pass` found about g, which is the model's graph or a body of it, and stays as it is. */
const void *graph_facts_of(const struct step_env *env, const struct graph *g, graph_pass *pass);

#endif
