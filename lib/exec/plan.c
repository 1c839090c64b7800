/* plan.c - from a placement to a plan: the values of its predicted schedule, and
 * the order in which the rest is built. */
#include "exec/plan_build.h"

#include <string.h>

/* Values for tensors and copies, and where they are. */
static void make_values(struct builder *b)
{
	const struct sched_dag *d = &b->c.dag;
	const struct timeline *tl = b->c.tl;
	uint32_t k = n_devices(b), n_out = b->p->m->g->out_ptr[b->p->m->g->n];
	size_t most = (size_t)d->n_tensors + tl->n_copies + (size_t)b->p->m->n_params * k;
	b->value = ARENA_NEWN(b->a, struct value, most);
	b->n_values = d->n_tensors + tl->n_copies;
	b->at = ARENA_NEWN(b->a, uint32_t, (size_t)n_out * k);
	memset(b->at, 0xff, (size_t)n_out * k * sizeof *b->at);
	for (uint32_t t = 0; t < d->n_tensors; t++) {
		uint32_t w = d->tensor_task[t], out = b->c.tensor_out[t];
		b->value[t] = (struct value){.out = out,
					     .dev = b->c.group[w].dev,
					     .writer = GRAPH_NONE,
					     .first_reader = GRAPH_NONE,
					     .over = GRAPH_NONE,
					     .begin_s = tl->start_s[w],
					     .end_s = tl->end_s[w],
					     .to_end = b->p->is_result[b->p->out_tensor[out]]};
		*value_at(b, out, b->c.group[w].dev) = t;
	}
	for (uint32_t c = 0; c < tl->n_copies; c++) {
		uint32_t t = tl->copy[c].tensor, v = copy_value(b, c);
		b->value[v] = (struct value){.out = b->value[t].out,
					     .dev = tl->copy[c].dst,
					     .writer = GRAPH_NONE,
					     .first_reader = GRAPH_NONE,
					     .over = GRAPH_NONE,
					     .begin_s = tl->copy_start_s[c],
					     .end_s = tl->copy_end_s[c]};
		value_extend(&b->value[t], tl->copy_end_s[c]);
		*value_at(b, b->value[v].out, b->value[v].dev) = in_host(b, c) ? t : v;
	}
	for (uint32_t u = 0; u < d->n_uses; u++) {
		uint32_t r = d->use_task[u];
		value_extend(
			&b->value[*value_at(b, b->value[d->use_tensor[u]].out, b->c.group[r].dev)],
			tl->end_s[r]);
	}
}

static int build(struct builder *b, struct err *e)
{
	if (plan_contract(b, e) < 0)
		return -1;
	b->plan->n_groups = b->c.n;
	b->plan->group = b->c.group;
	b->plan->predicted_s = b->c.tl->makespan_s;
	make_values(b);
	if (mem_check(e) < 0 || plan_could_fit(b, e) < 0 || plan_tasks(b, e) < 0 ||
	    mem_check(e) < 0 || plan_memory(b, e) < 0)
		return -1;
	return plan_bind(b, e);
}

static enum fuse_mode choose_fusion(const struct planner *p, const uint16_t *step_dev)
{
	if (p->fuse != FUSE_CUTS)
		return p->fuse;
	for (uint32_t s = 1; s < p->dag.n; s++)
		if (step_dev[s] != step_dev[0])
			return FUSE_SETS;
	return FUSE_ALL;
}

static bool is_single(const struct planner *p, const uint16_t *step_device)
{
	for (uint32_t i = 1; i < p->dag.n; i++)
		if (step_device[i] != step_device[0])
			return false;
	return p->dag.n > 0;
}

static int plan_request(struct planner *p, const uint16_t *set_device, struct plan *out,
			struct err *e);

/* All of the model before it was cut on device d. */
static int plan_whole(struct planner *p, uint16_t d, struct plan *out, struct err *e)
{
	struct planner *whole = p->whole;
	uint32_t n = whole->m->g->n_sets;
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)n + 1);
	for (uint32_t i = 0; i < n; i++)
		device[i] = d;
	whole->tight = p->tight;
	whole->fuse = p->fuse;
	whole->in_host = p->in_host;
	whole->others = p->others;
	int rc = plan_request(whole, device, out, e);
	mem_free(device);
	return rc;
}

/* For the request that the planner is at. */
static int plan_request(struct planner *p, const uint16_t *set_device, struct plan *out,
			struct err *e)
{
	uint16_t *step_dev = MEM_NEWN(uint16_t, (size_t)p->dag.n + 1);
	planner_steps(p, set_device, step_dev);
	if (p->whole && is_single(p, step_dev)) {
		int rc = plan_whole(p, step_dev[0], out, e);
		mem_free(step_dev);
		return rc;
	}
	struct builder b = {.p = p, .plan = out, .step_dev = step_dev, .a = arena_new()};
	*out = (struct plan){.arena = arena_new(),
			     .devices = p->devices,
			     .variables = p->m->env->variables,
			     .of = p};
	if (out->variables)
		variables_reset(out->variables);
	out->mem_bytes = ARENA_NEWN(out->arena, uint64_t, p->devices->n);
	out->tensor_bytes = ARENA_NEWN(out->arena, uint64_t, p->devices->n);
	out->n_dev_tasks = ARENA_NEWN(out->arena, uint32_t, p->devices->n);
	out->pool = ARENA_NEWN(out->arena, struct mem_pool *, p->devices->n);
	b.fuse = choose_fusion(p, step_dev);
	int rc = build(&b, e);
	timeliner_free(b.c.timeliner);
	mem_free(b.wait);
	mem_free(b.reader);
	arena_free(b.a);
	mem_free(step_dev);
	if (rc < 0)
		plan_release(out);
	return rc;
}

/* A plan for each request behind the first. */
static int plan_others(struct planner *p, const uint16_t *set_device, struct plan *first,
		       struct err *e)
{
	struct plan *last = first;
	size_t n_sets = p->m->g->n_sets;
	for (uint32_t i = 1; i < p->in_flight; i++) {
		struct plan *x = MEM_NEW(struct plan);
		p->others = first->mem_bytes;
		int rc = planner_request(p, i, e);
		if (rc == 0)
			rc = plan_request(p, set_device + i % (1 + p->n_more) * n_sets, x, e);
		p->others = NULL;
		if (rc < 0) {
			mem_free(x);
			return err_prefix(e, "request %u of %u in flight", i + 1, p->in_flight);
		}
		for (uint32_t d = 0; d < p->devices->n; d++)
			first->mem_bytes[d] += x->mem_bytes[d];
		last = last->next_request = x;
	}
	return 0;
}

static int plan_all(struct planner *p, const uint16_t *set_device, struct plan *out, struct err *e)
{
	struct err ignored = ERR_INIT;
	int rc = plan_request(p, set_device, out, e);
	if (rc == 0 && p->in_flight > 1) {
		rc = plan_others(p, set_device, out, e);
		if (planner_request(p, 0, &ignored) < 0)
			err_clear(&ignored);
	}
	if (rc < 0)
		plan_release(out);
	return rc;
}

static int plan_requests(struct planner *p, const uint16_t *set_device, struct plan *out,
			 struct err *e)
{
	int rc = plan_all(p, set_device, out, e);
	if (rc == 0 || p->in_flight == 1 || p->tight)
		return rc;
	/* Where requests do not fit side by side, each takes as little as it can. */
	err_clear(e);
	p->tight = true;
	rc = plan_all(p, set_device, out, e);
	p->tight = false;
	return rc;
}

/* The plan of the model with its next list of shapes. */
static int plan_next_case(struct planner *p, const uint16_t *set_device, struct plan *out,
			  struct err *e)
{
	struct planner *next = p->next_case;
	struct plan *x = MEM_NEW(struct plan);
	next->fuse = p->fuse;
	next->in_host = p->in_host;
	next->tight = p->tight;
	if (plan_make(next, set_device, x, e) < 0) {
		mem_free(x);
		return -1;
	}
	out->next_case = x;
	out->n_copies += x->n_copies;
	out->copy_bytes += x->copy_bytes;
	out->n_in_host += x->n_in_host;
	for (uint32_t d = 0; d < p->devices->n; d++)
		out->mem_bytes[d] += x->mem_bytes[d];
	return 0;
}

int plan_make(struct planner *p, const uint16_t *set_device, struct plan *out, struct err *e)
{
	if (plan_requests(p, set_device, out, e) < 0)
		return -1;
	out->weight = p->weight;
	out->over = p->over;
	if (p->weight > 0)
		out->case_s = MEM_NEWN(double, PLAN_CASE_RUNS);
	if (!p->next_case || plan_next_case(p, set_device, out, e) == 0)
		return 0;
	plan_release(out);
	return -1;
}

void plan_release(struct plan *p)
{
	if (!p->arena)
		return;
	if (p->next_request)
		plan_release(p->next_request);
	mem_free(p->next_request);
	if (p->next_case)
		plan_release(p->next_case);
	mem_free(p->next_case);
	mem_free(p->case_s);
	for (uint32_t i = 0; p->used && i < p->n_groups; i++)
		if (p->used[i])
			prepared_drop(p->used[i]);
	for (uint32_t i = 0; i < p->n_views; i++) {
		struct device *d = &p->devices->dev[p->view_dev[i]];
		d->class->release(d, p->view[i]);
	}
	for (uint32_t d = 0; d < p->devices->n; d++)
		pool_drop(p->pool[d], &p->devices->dev[d]);
	for (uint32_t i = 0; i < p->n_host; i++)
		mem_free(p->host[i]);
	mem_free(p->host);
	mem_free(p->view);
	mem_free(p->view_dev);
	mem_free(p->task);
	arena_free(p->arena);
	*p = (struct plan){0};
}
