/* planner.c - what all placements of a model share: the graph of steps, what
 * each device can run, planned durations, prepared steps. */
#include "exec/plan.h"

#include <math.h>
#include <string.h>

/* First guesses, replaced by measured durations: one core's rates. */
static const double FLOPS_PER_S = 5e10, BYTES_PER_S = 8e9, STEP_S = 1e-6;
static const double COPY_LATENCY_S = 20e-6, COPY_BYTES_PER_S = 5e9;
static const double READ_LATENCY_S = 1e-6, READ_BYTES_PER_S = 5e10;

/* Tensors are the outputs of steps; the key of a tensor is its output. */
static void build_dag(struct planner *p)
{
	const struct model *m = p->m;
	const struct graph *g = m->g;
	uint32_t n_out = g->out_ptr[g->n], n_in = g->in_ptr[g->n];
	struct sched_edge *edge = MEM_NEWN(struct sched_edge, (size_t)n_out + n_in + 1);
	size_t n = 0;
	for (uint32_t s = 0; s < m->n_steps; s++) {
		uint32_t v = m->step_node[s];
		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
			edge[n++] = (struct sched_edge){s, SCHED_NONE, o, model_bytes(m, o)};
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			if (g->in_node[i] == GRAPH_NONE || m->constant[g->in_node[i]])
				continue;
			uint32_t o = m->root[graph_slot_output(g, i)];
			uint32_t src = m->node_step[m->node_out[o]];
			if (src != GRAPH_NONE)
				edge[n++] = (struct sched_edge){src, s, o, model_bytes(m, o)};
		}
	}
	p->tensor_out = ARENA_NEWN(p->arena, uint32_t, n_out);
	p->out_tensor = ARENA_NEWN(p->arena, uint32_t, n_out);
	memset(p->out_tensor, 0xff, n_out * sizeof *p->out_tensor);
	sched_dag_build(&p->dag, m->n_steps, edge, n, p->arena);
	mem_free(edge);
	uint32_t t = 0;
	for (uint32_t s = 0; s < m->n_steps; s++) {
		uint32_t v = m->step_node[s];
		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++, t++) {
			p->tensor_out[t] = o;
			p->out_tensor[o] = t;
		}
	}
}

static int guess_costs(struct planner *p, struct err *e)
{
	const struct model *m = p->m;
	uint32_t k = p->devices->n;
	char why[200];
	for (uint32_t s = 0; s < m->n_steps; s++) {
		uint32_t v = m->step_node[s];
		double guess = STEP_S + fmax((double)op_flops(m->g, v) / FLOPS_PER_S,
					     (double)op_bytes(m->g, v) / BYTES_PER_S);
		for (uint32_t d = 0; d < k; d++) {
			int ok = model_supports(p->m, s, &p->devices->dev[d], why, sizeof why, e);
			if (ok < 0)
				return -1;
			p->step_s[(size_t)s * k + d] = ok ? guess : -1;
		}
	}
	return 0;
}

/* Links: hosts' devices read each other's memory, others copy. */
static void guess_links(struct planner *p)
{
	size_t k = p->devices->n;
	double *latency = ARENA_NEWN(p->arena, double, k *k);
	double *rate = ARENA_NEWN(p->arena, double, k *k);
	for (size_t i = 0; i < k * k; i++) {
		bool host =
			p->devices->dev[i / k].class->host && p->devices->dev[i % k].class->host;
		latency[i] = host ? READ_LATENCY_S : COPY_LATENCY_S;
		rate[i] = host ? READ_BYTES_PER_S : COPY_BYTES_PER_S;
	}
	p->costs.links =
		(struct sched_links){.k = p->devices->n, .latency_s = latency, .bytes_per_s = rate};
}

/* Who computes while it copies, to or from a device with a memory of its own, or into and out of the layout of segments. */
enum copying { HELD_OWN, HELD_NONE, HELD_BOTH };

/* Does a copy between a and b keep a from computing?  Not to choose: where a or b copies with cores of
 * this machine. */
static bool copy_holds(const struct device_list *l, uint32_t a, uint32_t b, enum copying how)
{
	const struct device *x = &l->dev[a], *y = &l->dev[b];
	bool own_x = !x->class->host, own_y = !y->class->host;
	if ((own_x && x->n_cpus > 0) || (own_y && y->n_cpus > 0))
		return true;
	/* A segment brings tensors into its layout and out of it itself. */
	if (x->class->segments || (y->class->segments && device_shares_cores(x, y)))
		return true;
	return how == HELD_OWN ? own_x : how == HELD_BOTH && (own_x || own_y);
}

static struct copy_rule copy_rule(const struct device_list *l, enum copying how, struct arena *a)
{
	uint32_t k = l->n, n_held = 0;
	uint8_t *holds = ARENA_NEWN(a, uint8_t, (size_t)k * k);
	for (uint32_t i = 0; i < k * k; i++) {
		uint32_t src = i / k, dst = i % k;
		bool from = src != dst && copy_holds(l, src, dst, how);
		bool to = src != dst && copy_holds(l, dst, src, how);
		holds[i] = (uint8_t)((from ? COPY_HOLDS_SRC : 0) | (to ? COPY_HOLDS_DST : 0));
		n_held += from + to;
	}
	bool always = n_held == 2 * k * (k - 1);
	return (struct copy_rule){n_held == 0, n_held == 0 || always ? NULL : holds};
}

uint32_t planner_copy_rules(const struct device_list *l, struct arena *a,
			    struct copy_rule out[COPY_RULES])
{
	bool choice = false;
	for (uint32_t d = 0; d < l->n; d++)
		choice = choice || (!l->dev[d].class->host && l->dev[d].n_cpus == 0);
	out[0] = copy_rule(l, HELD_OWN, a);
	if (!choice)
		return 1;
	out[1] = copy_rule(l, HELD_NONE, a);
	out[2] = copy_rule(l, HELD_BOTH, a);
	return COPY_RULES;
}

static void set_overlap(struct planner *p)
{
	struct copy_rule rule[COPY_RULES];
	planner_copy_rules(p->devices, p->arena, rule);
	p->costs.overlap = rule[0].overlap;
	p->costs.copy_holds = rule[0].holds;
}

static void add_request(struct planner *p)
{
	size_t k = p->devices->n, cap = p->n_requests;
	p->request = mem_grow(p->request, &cap, (size_t)p->n_requests + 1, sizeof *p->request);
	p->request[p->n_requests++] = (struct planner_request){
		.pool = ARENA_NEWN(p->arena, struct mem_pool *, k),
		.param_mem = ARENA_NEWN(p->arena, struct devmem *, p->m->n_params * k)};
}

int planner_request(struct planner *p, uint32_t i, struct err *e)
{
	if (model_request(p->m, i, e) < 0 || (p->whole && planner_request(p->whole, i, e) < 0))
		return -1;
	while (p->n_requests <= i)
		add_request(p);
	p->at_request = p->prepared.request = i;
	return 0;
}

int planner_open(struct planner *p, struct model *m, struct device_list *l, struct err *e)
{
	size_t k = l->n, n = m->n_steps;
	*p = (struct planner){.m = m, .devices = l, .arena = arena_new()};
	p->step_s = ARENA_NEWN(p->arena, double, n *k);
	p->fuse = FUSE_ALL;
	p->in_flight = 1;
	p->in_host = true;
	p->local = ARENA_NEWN(p->arena, uint32_t, n);
	memset(p->local, 0xff, n * sizeof *p->local);
	p->mark = ARENA_NEWN(p->arena, uint8_t, m->g->out_ptr[m->g->n]);
	prepared_open(&p->prepared, l, m->n_steps);
	add_request(p);
	build_dag(p);
	p->is_result = ARENA_NEWN(p->arena, bool, p->dag.n_tensors);
	for (uint32_t r = 0; r < m->n_results; r++)
		if (p->out_tensor[m->result_root[r]] != GRAPH_NONE)
			p->is_result[p->out_tensor[m->result_root[r]]] = true;
	if (guess_costs(p, e) < 0)
		return -1;
	p->costs = (struct sched_costs){.task_s = p->step_s,
					.contention = true,
					.turns = device_list_all_turns(l, p->arena),
					.policy = SCHED_RANK};
	guess_links(p);
	set_overlap(p);
	return 0;
}

void planner_close(struct planner *p)
{
	if (!p->arena)
		return;
	uint32_t k = p->devices->n;
	prepared_close(&p->prepared);
	for (uint32_t r = 0; r < p->n_requests; r++) {
		struct planner_request *x = &p->request[r];
		for (uint32_t d = 0; d < k; d++)
			pool_drop(x->pool[d], &p->devices->dev[d]);
		for (size_t i = 0; i < (size_t)p->m->n_params * k; i++)
			if (x->param_mem[i])
				p->devices->dev[i % k].class->release(&p->devices->dev[i % k],
								      x->param_mem[i]);
	}
	mem_free(p->request);
	arena_free(p->arena);
	*p = (struct planner){0};
}

int planner_reserve(struct planner *p, const uint64_t *tensor_bytes, struct err *e)
{
	for (uint32_t d = 0; d < p->devices->n; d++) {
		struct device *dev = &p->devices->dev[d];
		if (tensor_bytes[d] == 0)
			continue;
		struct mem_pool *x =
			pool_take(&p->request[p->at_request].pool[d], dev, tensor_bytes[d], e);
		if (!x)
			return err_prefix(e, "device '%s'", dev->name);
		pool_drop(x, dev);
	}
	return 0;
}

void planner_step_sets(const struct planner *p, uint32_t *set)
{
	const struct model *m = p->m;
	for (uint32_t s = m->n_steps; s-- > 0;) {
		set[s] = m->g->set[m->step_node[s]];
		for (uint32_t t = p->dag.out_ptr[s];
		     t < p->dag.out_ptr[s + 1] && set[s] == GRAPH_NONE; t++)
			if (p->dag.use_ptr[t] < p->dag.use_ptr[t + 1])
				set[s] = set[p->dag.use_task[p->dag.use_ptr[t]]];
	}
}

void planner_steps(const struct planner *p, const uint16_t *set_device, uint16_t *step_device)
{
	uint32_t n = p->m->n_steps, *set = MEM_NEWN(uint32_t, (size_t)n + 1);
	planner_step_sets(p, set);
	for (uint32_t s = 0; s < n; s++)
		step_device[s] = set[s] == GRAPH_NONE ? 0 : set_device[set[s]];
	mem_free(set);
}
