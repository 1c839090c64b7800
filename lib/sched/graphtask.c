/* graphtask.c - from a computation graph to tasks, tensors and uses. */
#include <string.h>

#include "sched/graphtask.h"

/* What becomes a task: a co-location set, or a node.  Used while tasks are numbered. */
struct task_units {
	uint32_t n;
	uint32_t *of;   /* (g->n) unit of each node; GRAPH_NONE: runs nothing */
	uint32_t *task; /* (n) task of each unit; GRAPH_NONE: none of its nodes runs anything */
	const uint32_t *root; /* as graph_tasks_init has it */
};

static int find_units(struct task_units *x, const struct graph *g, const bool *idle, bool by_set,
		      struct arena *a, struct err *e)
{
	x->n = by_set ? g->n_sets : g->n;
	x->of = ARENA_NEWN(a, uint32_t, g->n);
	x->task = ARENA_NEWN(a, uint32_t, x->n);
	for (uint32_t v = 0; v < g->n; v++) {
		char name[100];

		x->of[v] = idle[v] ? GRAPH_NONE : by_set ? g->set[v] : v;
		if (!idle[v] && g->set[v] == GRAPH_NONE)
			return err_set(e, ST_INPUT, "node '%s' (%s) has to run but is in no set",
				       err_escape(name, sizeof(name), g->node_name[v],
						  strlen(g->node_name[v])),
				       g->type[v]);
	}
	return 0;
}

/* Edges between different units, as a digraph of units; true when every one
 * goes to a larger unit. */
static bool unit_edges(const struct task_units *x, const struct graph *g, struct arena *a,
		       struct digraph *d)
{
	bool ascending = true;
	uint32_t n_in = g->in_ptr[g->n];

	*d = (struct digraph){.n = x->n};
	d->src = ARENA_NEWN(a, uint32_t, n_in);
	d->dst = ARENA_NEWN(a, uint32_t, n_in);
	for (uint32_t v = 0; v < g->n; v++) {
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			uint32_t o = graph_read_output(g, x->root, i), from, to = x->of[v];

			if (o == GRAPH_NONE || to == GRAPH_NONE)
				continue;
			from = x->of[graph_node_of(g, o)];
			if (from == GRAPH_NONE || from == to)
				continue;
			ascending &= from < to;
			d->src[d->m] = from;
			d->dst[d->m++] = to;
		}
	}
	return ascending;
}

/* Give units with work task numbers in a topological order. */
static int number_units(const struct task_units *x, const struct graph *g, struct arena *a,
			uint32_t *n_tasks, struct err *e)
{
	uint32_t *order = ARENA_NEWN(a, uint32_t, x->n);
	struct digraph d;

	for (uint32_t u = 0; u < x->n; u++) {
		order[u] = u;
		x->task[u] = GRAPH_NONE;
	}
	if (!unit_edges(x, g, a, &d) && !digraph_toposort(&d, a, order))
		return err_set(e, ST_INPUT, "co-located sets depend on each other in a circle");
	for (uint32_t v = 0; v < g->n; v++)
		if (x->of[v] != GRAPH_NONE)
			x->task[x->of[v]] = 0;
	*n_tasks = 0;
	for (uint32_t i = 0; i < x->n; i++)
		if (x->task[order[i]] == 0)
			x->task[order[i]] = (*n_tasks)++;
	return 0;
}

/* Lists of nodes per task. */
static void index_nodes(struct graph_tasks *t, const struct graph *g, uint32_t n_tasks,
			struct arena *a)
{
	t->task_set = ARENA_NEWN(a, uint32_t, n_tasks);
	t->task_ptr = ARENA_NEWN(a, uint32_t, (size_t)n_tasks + 1);
	t->task_node = ARENA_NEWN(a, uint32_t, g->n);
	for (uint32_t v = 0; v < g->n; v++)
		if (t->node_task[v] != GRAPH_NONE) {
			t->task_ptr[t->node_task[v] + 1]++;
			t->task_set[t->node_task[v]] = g->set[v];
		}
	for (uint32_t i = 0; i < n_tasks; i++)
		t->task_ptr[i + 1] += t->task_ptr[i];
	uint32_t *at = ARENA_NEWN(a, uint32_t, n_tasks);
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t i = t->node_task[v];

		if (i != GRAPH_NONE)
			t->task_node[t->task_ptr[i] + at[i]++] = v;
	}
}

/* Outputs that no task reads.  In a graph that is not from IR they are results, and stay in memory
 * to the end; in IR they are outputs of an operator that nobody uses. */
static size_t collect_unread(const struct graph_tasks *t, const struct graph *g,
			     struct sched_edge *edges, size_t n)
{
	bool *read = MEM_NEWN(bool, g->out_ptr[g->n]);

	for (size_t i = 0; i < n; i++)
		read[edges[i].key] = true;
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
			if (!read[o] && t->node_task[v] != GRAPH_NONE && graph_out_bytes(g, o) >= 0)
				edges[n++] = (struct sched_edge){t->node_task[v], SCHED_NONE, o,
								 (uint64_t)graph_out_bytes(g, o)};
	mem_free(read);
	return n;
}

/* One edge per input port that another task fills; the key is the output's number. */
static size_t collect_edges(const struct graph_tasks *t, const struct task_units *x,
			    const struct graph *g, struct sched_edge *edges)
{
	size_t n = 0;

	for (uint32_t v = 0; v < g->n; v++) {
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			uint32_t o = graph_read_output(g, x->root, i), from, to = t->node_task[v];

			if (o == GRAPH_NONE || to == GRAPH_NONE)
				continue;
			from = t->node_task[graph_node_of(g, o)];
			if (from == GRAPH_NONE || from == to)
				continue;
			int64_t bytes = graph_out_bytes(g, o);

			edges[n++] =
				(struct sched_edge){from, to, o, bytes > 0 ? (uint64_t)bytes : 0};
		}
	}
	return n;
}

int graph_tasks_init(struct graph_tasks *t, const struct graph *g, const bool *idle,
		     const uint32_t *root, bool by_set, struct arena *a, struct err *e)
{
	struct task_units x = {.root = root};
	uint32_t n_tasks = 0, n_out = g->out_ptr[g->n];

	memset(t, 0, sizeof(*t));
	if (find_units(&x, g, idle, by_set, a, e) < 0 || number_units(&x, g, a, &n_tasks, e) < 0)
		return -1;
	t->node_task = ARENA_NEWN(a, uint32_t, g->n);
	for (uint32_t v = 0; v < g->n; v++)
		t->node_task[v] = x.of[v] == GRAPH_NONE ? GRAPH_NONE : x.task[x.of[v]];
	index_nodes(t, g, n_tasks, a);

	struct sched_edge *edges = MEM_NEWN(struct sched_edge, (size_t)g->in_ptr[g->n] + n_out);
	size_t n_edges = collect_edges(t, &x, g, edges);
	if (g->ir_version == 0)
		n_edges = collect_unread(t, g, edges, n_edges);
	sched_dag_build(&t->dag, n_tasks, edges, n_edges, a);
	t->out_tensor = ARENA_NEWN(a, uint32_t, n_out);
	t->tensor_out = ARENA_NEWN(a, uint32_t, t->dag.n_tensors);
	for (uint32_t o = 0; o < n_out; o++)
		t->out_tensor[o] = GRAPH_NONE;
	/* Edges are sorted now: the distinct (src, key) in order are the tensors. */
	for (size_t i = 0, tensor = 0; i < n_edges; i++) {
		uint32_t o = (uint32_t)edges[i].key;

		if (t->out_tensor[o] == GRAPH_NONE) {
			t->tensor_out[tensor] = o;
			t->out_tensor[o] = (uint32_t)tensor++;
		}
	}
	mem_free(edges);
	return 0;
}
