/* boundary.c - crossing tensors, as Results of a copy of the graph. */
#include "devrun/boundary.h"

#include <string.h>

#include "exec/tensor_dir.h"

void boundary_list(const struct session *s, const uint16_t *device, struct arena *a,
		   struct boundaries *b)
{
	const struct planner *p = &s->planner;
	const struct sched_dag *d = &p->dag;
	uint16_t *on = ARENA_NEWN(a, uint16_t, (size_t)d->n + 1);
	planner_steps(p, device, on);
	b->out = ARENA_NEWN(a, uint32_t, d->n_tensors);
	b->from = ARENA_NEWN(a, const char *, d->n_tensors);
	b->n = 0;
	for (uint32_t t = 0; t < d->n_tensors; t++)
		for (uint32_t u = d->use_ptr[t]; u < d->use_ptr[t + 1]; u++)
			if (on[d->use_task[u]] != on[d->tensor_task[t]]) {
				const char *from = s->devices.dev[on[d->tensor_task[t]]].name;
				b->from[b->n] = arena_printf(a, "%s", from);
				b->out[b->n++] = p->tensor_out[t];
				break;
			}
}

/* ---- the graph ---- */

/* x[n] of `size` bytes each, with room for n + more. */
static void *longer(struct arena *a, const void *x, size_t n, size_t more, size_t size)
{
	void *y = arena_alloc(a, n + more, size);
	if (n)
		memcpy(y, x, n * size);
	return y;
}

/* The interned name of Results. */
static uint32_t any_result(const struct graph *g)
{
	for (uint32_t v = 0; v < g->n; v++)
		if (g->kind[v] == OP_RESULT)
			return v;
	return GRAPH_NONE;
}

/* A copy of g whose last n rows are Results that read outputs out[n].  What it does not change is
 * g's, which must outlive it; memory from a, which owns it.  Its digest and its sets are those of g. */
static struct graph *boundary_graph(const struct graph *g, const uint32_t *out, uint32_t n,
				    struct arena *a)
{
	struct graph *b = ARENA_NEWN(a, struct graph, 1);
	uint32_t like = any_result(g), n_in = g->in_ptr[g->n];
	*b = *g;
	b->arena = a;
	if (n == 0)
		return b;
	b->n = g->n + n;
	b->id = longer(a, g->id, g->n, n, sizeof *g->id);
	b->node_name = longer(a, g->node_name, g->n, n, sizeof *g->node_name);
	b->type = longer(a, g->type, g->n, n, sizeof *g->type);
	b->opset = longer(a, g->opset, g->n, n, sizeof *g->opset);
	b->set = longer(a, g->set, g->n, n, sizeof *g->set);
	b->attr_ptr = longer(a, g->attr_ptr, (size_t)g->n + 1, n, sizeof *g->attr_ptr);
	b->in_ptr = longer(a, g->in_ptr, (size_t)g->n + 1, n, sizeof *g->in_ptr);
	b->out_ptr = longer(a, g->out_ptr, (size_t)g->n + 1, n, sizeof *g->out_ptr);
	b->in_node = longer(a, g->in_node, n_in, n, sizeof *g->in_node);
	b->in_port = longer(a, g->in_port, n_in, n, sizeof *g->in_port);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = g->n + i, from = graph_node_of(g, out[i]);
		b->id[v] = g->id[from];
		b->node_name[v] = g->node_name[from];
		b->type[v] = like == GRAPH_NONE ? "Result" : g->type[like];
		b->opset[v] = like == GRAPH_NONE ? "opset1" : g->opset[like];
		b->set[v] = GRAPH_NONE;
		b->in_node[n_in + i] = from;
		b->in_port[n_in + i] = out[i] - g->out_ptr[from];
		b->attr_ptr[v + 1] = g->attr_ptr[g->n];
		b->in_ptr[v + 1] = n_in + i + 1;
		b->out_ptr[v + 1] = g->out_ptr[g->n];
	}
	graph_finish(b);
	return b;
}

/* ---- files ---- */

struct writer {
	const struct boundaries *b;
	const struct session *s;
};

static int save_one(const struct writer *w, uint32_t i, const void *data, struct tensor_dir *d,
		    struct arena *a, struct err *e)
{
	const struct graph *g = w->s->model.g;
	uint32_t out = w->b->out[i], v = graph_node_of(g, out);
	struct tensor t = result_value(&w->s->model, w->s->model.n_results - w->b->n + i, data);
	return tensor_dir_add(d, g->node_name[v], &t,
			      arena_printf(a, "\t%lld\t%u\t%s", (long long)g->id[v],
					   out - g->out_ptr[v], w->b->from[i]),
			      e);
}

/* The last results are the boundaries. */
static int save_all(void *arg, const void *const *result, struct err *e)
{
	const struct writer *w = arg;
	uint32_t first = w->s->model.n_results - w->b->n;
	struct tensor_dir d;
	if (tensor_dir_open(&d, w->b->dir, e) < 0)
		return -1;
	struct arena *a = arena_new();
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < w->b->n; i++)
		rc = save_one(w, i, result[first + i], &d, a, e);
	arena_free(a);
	return tensor_dir_close(&d, rc, e);
}

/* ---- the run ---- */

int boundary_devices(const struct session *s, struct device_list *l, struct err *e)
{
	const char **names = MEM_NEWN(const char *, (size_t)s->devices.n + 1);
	for (uint32_t d = 0; d < s->devices.n; d++)
		names[d] = s->devices.dev[d].name;
	int rc = device_list_names(names, s->devices.n, l, e);
	mem_free(names);
	return rc;
}

int boundary_run(const struct boundaries *b, const struct graph *g, const uint16_t *device,
		 struct device_list *l, const char *weights, const char *inputs, uint64_t seed,
		 const struct measure_options *o, struct err *e)
{
	struct session s;
	struct writer w = {b, &s};
	struct arena *a = arena_new();
	const struct graph *with = boundary_graph(g, b->out, b->n, a);
	int rc = session_open(&s, with, l, true, weights, inputs, seed, o, e);
	if (rc == 0)
		rc = session_results(&s, device, save_all, &w, e);
	session_close(&s);
	arena_free(a);
	return rc;
}
