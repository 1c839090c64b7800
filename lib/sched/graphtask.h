/* graphtask.h - the tasks of a computation graph.
 *
 * A task is one co-location set, or one node.  Constants, and nodes that depend
 * on constants alone, are folded when a model is loaded: they are no tasks and
 * live with their consumers. */
#ifndef HSDAG_SCHED_GRAPHTASK_H
#define HSDAG_SCHED_GRAPHTASK_H

#include "graph/graph.h"
#include "sched/sched.h"

struct graph_tasks {
	struct sched_dag dag;
	uint32_t *node_task;     /* (g->n) GRAPH_NONE: folded */
	uint32_t *task_set;      /* (dag.n) the set whose device the task runs on */
	uint32_t *task_ptr;      /* (dag.n+1) */
	uint32_t *task_node;     /* nodes of each task, ascending (a topological order) */
	uint32_t *out_tensor;    /* (outputs of g) GRAPH_NONE: no other task reads it */
	uint32_t *tensor_out;    /* (dag.n_tensors) output of g */
};

/* Tasks of g by set (by_set) or by node.  constant (g->n): the nodes that are
 * folded (op_constant_nodes).  Memory from a.  An output that no other task
 * reads makes no tensor; Results make none.  Sizes of dynamic outputs count as
 * 0.  -1 (ST_INPUT) when a node that must run is in no set, or the sets depend on
 * each other in a circle. */
int graph_tasks_init(struct graph_tasks *t, const struct graph *g, const bool *constant,
		     bool by_set, struct arena *a, struct err *e) MUST_CHECK;

#endif
