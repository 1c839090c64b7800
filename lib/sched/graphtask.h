/* graphtask.h - the tasks of a computation graph.
 *
 * A task is one co-location set, or one node.  What runs nothing is no task and lives with its
 * consumers: constants, nodes that depend on constants alone, which are folded when a model is
 * loaded, and what else the caller says. */
#ifndef HSDAG_SCHED_GRAPHTASK_H
#define HSDAG_SCHED_GRAPHTASK_H

#include "graph/graph.h"
#include "sched/sched.h"

struct graph_tasks {
	struct sched_dag dag;
	uint32_t *node_task;  /* (g->n) GRAPH_NONE: runs nothing */
	uint32_t *task_set;   /* (dag.n) the set whose device the task runs on */
	uint32_t *task_ptr;   /* (dag.n+1) */
	uint32_t *task_node;  /* nodes of each task, ascending (a topological order) */
	uint32_t *out_tensor; /* (outputs of g) GRAPH_NONE: no other task reads it */
	uint32_t *tensor_out; /* (dag.n_tensors) output of g */
};

/* Tasks of g by set (by_set) or by node.  idle (g->n): the nodes that run nothing.  root (outputs
 * of g): the output whose bytes an output has, itself but for those of views that are idle; NULL:
 * itself. Memory from a.  An output that no other task reads makes no tensor; Results make none.
 * Sizes of dynamic outputs count as 0.  -1 (ST_INPUT) when a node that must run is in no set, or
 * the sets depend on each other in a circle. */
int graph_tasks_init(struct graph_tasks *t, const struct graph *g, const bool *idle,
		     const uint32_t *root, bool by_set, struct arena *a, struct err *e) MUST_CHECK;

#endif
