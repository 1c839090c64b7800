/* plan_contract.c - the graph of tasks when groups of steps are tasks, and the schedule that
 * is predicted for it. */
#include "exec/plan_build.h"

#include "graph/segment.h"
#include "sched/order.h"

#include <math.h>
#include <string.h>

static const double LEAST_S = 1e-9;

/* ---- groups before any fusing ---- */

/* Every step by itself. */
static void singles(struct builder *b, struct contraction *c)
{
	uint32_t n = b->p->dag.n, *step = ARENA_NEWN(b->plan->arena, uint32_t, n);
	*c = (struct contraction){.n = n,
				  .group = ARENA_NEWN(b->plan->arena, struct fusion_group, n),
				  .group_of = ARENA_NEWN(b->a, uint32_t, n)};
	for (uint32_t s = 0; s < n; s++) {
		step[s] = c->group_of[s] = s;
		c->group[s] =
			(struct fusion_group){.dev = b->step_dev[s], .n = 1, .step = &step[s]};
	}
}

static bool takes_segments(const struct builder *b, uint32_t d)
{
	return dev_of(b, d)->class->segments && b->fuse != FUSE_NONE;
}

/* Edges between steps, each pair once. */
static void step_edges(const struct builder *b, struct digraph *g)
{
	const struct sched_dag *d = &b->p->dag;
	*g = (struct digraph){.n = d->n,
			      .src = ARENA_NEWN(b->a, uint32_t, d->n_uses),
			      .dst = ARENA_NEWN(b->a, uint32_t, d->n_uses)};
	uint32_t *seen = ARENA_NEWN(b->a, uint32_t, d->n);
	for (uint32_t s = 0; s < d->n; s++)
		for (uint32_t u = d->use_ptr[d->out_ptr[s]]; u < d->use_ptr[d->out_ptr[s + 1]];
		     u++) {
			uint32_t w = d->use_task[u];
			if (seen[w] == s + 1)
				continue;
			seen[w] = s + 1;
			g->src[g->m] = s;
			g->dst[g->m++] = w;
		}
}

/* Reads or assigns a variable, of known shape. */
static bool is_variable(const struct model *m, uint32_t s)
{
	const struct graph *g = m->g;
	uint32_t v = m->step_node[s];
	bool known = graph_variable(g, v) != NULL;
	for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
		known = known && !m->dynamic[o];
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
		known = known &&
			(g->in_node[i] == GRAPH_NONE || !m->dynamic[graph_slot_output(g, i)]);
	return known;
}

/* Steps of sets that read or assign variables stay together; NULL: there are none. */
static uint32_t *variable_wholes(const struct builder *b, const uint16_t *label)
{
	const struct model *m = b->p->m;
	const bool *has = graph_variable_sets(m->g, b->a);
	uint32_t n = b->p->dag.n, *whole = has ? ARENA_NEWN(b->a, uint32_t, n) : NULL;
	uint32_t *first = has ? ARENA_NEWN(b->a, uint32_t, m->g->n_sets) : NULL;
	for (uint32_t s = 0; has && s < n; s++) {
		uint32_t set = m->g->set[m->step_node[s]];
		bool is_whole = set != GRAPH_NONE && has[set] && label[s] < SEGMENT_ALONE;
		if (is_whole && first[set] == 0)
			first[set] = s + 1;
		whole[s] = is_whole ? first[set] - 1 : GRAPH_NONE;
	}
	return whole;
}

/* What a step may be in one segment with: its device, or its device and set. */
static void segment_labels(const struct builder *b, uint16_t *label)
{
	const struct model *m = b->p->m;
	for (uint32_t s = 0; s < b->p->dag.n; s++) {
		uint32_t set = m->g->set[m->step_node[s]];
		label[s] = SEGMENT_ALONE;
		bool is_alone = m->alone[s] && !is_variable(m, s);
		if (!takes_segments(b, b->step_dev[s]) || is_alone)
			continue;
		if (b->fuse == FUSE_ALL)
			label[s] = b->step_dev[s];
		else if (set < SEGMENT_ALONE)
			label[s] = (uint16_t)set;
	}
}

/* Segment s of x in pieces of at most `most` steps, in topological order. */
static void cut(struct builder *b, const struct segments *x, uint32_t s, struct contraction *c)
{
	uint32_t dev = b->step_dev[x->node[x->ptr[s]]], most = dev_of(b, dev)->class->max_nodes;
	for (uint32_t i = x->ptr[s], n; i < x->ptr[s + 1]; i += n) {
		n = x->ptr[s + 1] - i < most || most == 0 ? x->ptr[s + 1] - i : most;
		uint32_t *step = ARENA_NEWN(b->plan->arena, uint32_t, n);
		for (uint32_t j = 0; j < n; j++) {
			step[j] = x->node[i + j];
			c->group_of[step[j]] = c->n;
		}
		c->group[c->n++] = (struct fusion_group){.dev = dev, .n = n, .step = step};
	}
}

/* Segments on the devices that take them, single steps elsewhere. */
static void segments(struct builder *b, struct contraction *c)
{
	uint32_t n = b->p->dag.n;
	struct digraph g;
	struct segments x;
	uint16_t *label = ARENA_NEWN(b->a, uint16_t, n);
	*c = (struct contraction){.group = ARENA_NEWN(b->plan->arena, struct fusion_group, n),
				  .group_of = ARENA_NEWN(b->a, uint32_t, n)};
	step_edges(b, &g);
	segment_labels(b, label);
	segments_of_wholes(&g, label, variable_wholes(b, label), false, b->a, &x);
	for (uint32_t s = 0; s < x.n; s++)
		cut(b, &x, s, c);
	b->plan->n_splits = x.n - x.n_pieces;
}

/* ---- the graph of groups ---- */

static void find_ports(struct builder *b, struct contraction *c)
{
	struct planner *p = b->p;
	for (uint32_t i = 0; i < c->n; i++) {
		struct fusion_group *g = &c->group[i];
		for (uint32_t j = 0; j < g->n; j++)
			p->local[g->step[j]] = j;
		fusion_group_ports(p->m, &p->dag, p->is_result, p->local, p->mark, g,
				   b->plan->arena);
		for (uint32_t j = 0; j < g->n; j++)
			p->local[g->step[j]] = GRAPH_NONE;
	}
}

/* Tensors are the outputs that leave a group. */
static void build_dag(struct builder *b, struct contraction *c)
{
	const struct planner *p = b->p;
	const struct sched_dag *d = &p->dag;
	struct sched_edge *edge = MEM_NEWN(struct sched_edge, (size_t)d->n_tensors + d->n_uses + 1);
	size_t n = 0;
	for (uint32_t i = 0; i < c->n; i++)
		for (uint32_t j = 0; j < c->group[i].n_out; j++) {
			uint32_t o = c->group[i].out[j], t = p->out_tensor[o];
			edge[n++] = (struct sched_edge){i, SCHED_NONE, o, d->tensor_bytes[t]};
			for (uint32_t u = d->use_ptr[t]; u < d->use_ptr[t + 1]; u++)
				if (c->group_of[d->use_task[u]] != i)
					edge[n++] =
						(struct sched_edge){i, c->group_of[d->use_task[u]],
								    o, d->tensor_bytes[t]};
		}
	sched_dag_build(&c->dag, c->n, edge, n, b->a);
	c->tensor_out = ARENA_NEWN(b->a, uint32_t, c->dag.n_tensors);
	for (size_t i = 0, t = 0; i < n; i++)
		if (i == 0 || edge[i - 1].src != edge[i].src || edge[i - 1].key != edge[i].key)
			c->tensor_out[t++] = (uint32_t)edge[i].key;
	mem_free(edge);
}

/* A group takes what its steps take, and some time in any case: so the order of starts is one in which
 * groups can wait for each other (add_turns, plan_memory.c). */
static const double *group_costs(const struct builder *b, const struct contraction *c)
{
	uint32_t k = n_devices(b);
	double *x = ARENA_NEWN(b->a, double, (size_t)c->n *k);
	for (uint32_t i = 0; i < c->n; i++)
		for (uint32_t d = 0; d < k; d++)
			for (uint32_t j = 0; j < c->group[i].n; j++) {
				double s = b->p->step_s[(size_t)c->group[i].step[j] * k + d];
				double *sum = &x[(size_t)i * k + d];
				*sum = s < 0 || *sum < 0 ? -1 : *sum + fmax(s, LEAST_S);
			}
	return x;
}

/* A step that the device of its task cannot run. */
static int cannot_run(struct builder *b, const struct contraction *c, struct err *e)
{
	char why[200] = "", l[300];
	struct model *m = b->p->m;
	const struct fusion_group *g = &c->group[c->tl->bad_task];
	uint32_t d = c->tl->bad_dev, s = g->step[0];
	for (uint32_t j = 0; j < g->n; j++)
		if (b->p->step_s[(size_t)g->step[j] * n_devices(b) + d] < 0)
			s = g->step[j];
	if (model_supports(m, s, dev_of(b, d), why, sizeof why, e) < 0)
		return -1;
	return err_set(e, ST_INPUT, "%s cannot run on '%s': %s",
		       model_layer(m, m->step_node[s], l, sizeof l), dev_of(b, d)->name, why);
}

/* Does the placement bring an order, and use several devices? */
static bool is_ordered(const struct builder *b, const struct contraction *c)
{
	bool several = false;
	for (uint32_t i = 1; i < c->n; i++)
		several = several || c->group[i].dev != c->group[0].dev;
	return b->p->order && several;
}

/* A group is where the first of its sets is in the placement's order. */
static enum timeline_status run_in_order(struct builder *b, struct contraction *c,
					 const uint16_t *dev)
{
	const struct planner *p = b->p;
	uint32_t n_sets = p->m->g->n_sets, *set = ARENA_NEWN(b->a, uint32_t, p->dag.n);
	uint32_t *at = ARENA_NEWN(b->a, uint32_t, n_sets),
		 *first = ARENA_NEWN(b->a, uint32_t, c->n);
	uint32_t *sequence = ARENA_NEWN(b->a, uint32_t, c->n);
	uint32_t *delayed_by = ARENA_NEWN(b->a, uint32_t, c->n);
	double *rank = ARENA_NEWN(b->a, double, c->n);
	planner_step_sets(p, set);
	for (uint32_t i = 0; i < n_sets; i++)
		at[i] = SCHED_NONE;
	for (uint32_t i = 0; i < p->n_order; i++)
		at[p->order[i]] = i;
	for (uint32_t i = 0; i < c->n; i++) {
		first[i] = SCHED_NONE;
		for (uint32_t j = 0; j < c->group[i].n; j++) {
			uint32_t of = set[c->group[i].step[j]];
			if (of != GRAPH_NONE && at[of] < first[i])
				first[i] = at[of];
		}
	}
	order_sequence(&c->dag, first, sequence);
	order_keep(c->n, dev, sequence, rank, delayed_by);
	return timeline_run_in(c->timeliner, dev, rank, delayed_by, &c->tl);
}

static int schedule(struct builder *b, struct contraction *c, struct err *e)
{
	uint16_t *dev = ARENA_NEWN(b->a, uint16_t, c->n);
	find_ports(b, c);
	build_dag(b, c);
	c->costs = b->p->costs;
	c->costs.task_s = group_costs(b, c);
	c->costs.policy = SCHED_IMPROVED;
	for (uint32_t i = 0; i < c->n; i++)
		dev[i] = (uint16_t)c->group[i].dev;
	c->timeliner = timeliner_new(&c->dag, &c->costs, true);
	enum timeline_status s = is_ordered(b, c) ? run_in_order(b, c, dev)
						  : timeline_run(c->timeliner, dev, &c->tl);
	if (s != TIMELINE_OK)
		return cannot_run(b, c, e);
	c->rank = c->tl->rank;
	c->delayed_by = c->tl->delayed_by;
	return 0;
}

int plan_contract(struct builder *b, struct err *e)
{
	bool any_segments = false, any_fuses = false;
	struct contraction *c = &b->c, fused;
	for (uint32_t s = 0; s < b->p->dag.n; s++) {
		any_segments = any_segments || takes_segments(b, b->step_dev[s]);
		any_fuses = any_fuses || dev_of(b, b->step_dev[s])->class->fuses;
	}
	if (any_segments)
		segments(b, c);
	else
		singles(b, c);
	if (schedule(b, c, e) < 0)
		return -1;
	if (!any_fuses || b->fuse == FUSE_NONE)
		return 0;
	int rc = plan_fuse(b, c, &fused, e);
	timeliner_free(c->timeliner); /* it borrowed c's costs */
	*c = fused;
	return rc < 0 ? -1 : schedule(b, c, e);
}
