/* body_times.h - how often bodies of If and loops run, as a user says who knows the inputs. */
#ifndef HSDAG_GRAPH_BODY_TIMES_H
#define HSDAG_GRAPH_BODY_TIMES_H

#include "graph/graph.h"

/* "NAME:then=P" or "NAME:else=P": of the Ifs called so, in g and in bodies, the share of runs that take this branch, 0 to 1; * and ?
 * in NAME as in file names.  ST_USAGE: not of that form, no If called so; the message lists what there is. */
int body_tell_branch(struct graph *g, const char *text, struct err *e) MUST_CHECK;
/* "NAME=N": of Loops and TensorIterators the rounds of a run, above 0. */
int body_tell_trips(struct graph *g, const char *text, struct err *e) MUST_CHECK;

/* Was anything told of node v, or within its bodies? */
bool body_is_told(const struct graph *g, uint32_t v);

/* Count runs of bodies from now on, in memory of g's arena, where something was told.  A node that runs once adds 1 to
 * the runs of each of its bodies, and to the rounds of one how often it runs. */
void body_count_runs(struct graph *g);

#endif
