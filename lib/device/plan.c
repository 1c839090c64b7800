/* plan.c - from a placement to a plan: the values of its predicted schedule, and
 * the order in which the rest is built. */
#include "device/plan_build.h"

/* Values for tensors and copies; which value each use reads. */
static void make_values(struct builder *b)
{
	const struct sched_dag *d = &b->p->dag;
	const struct timeline *tl = b->tl;
	uint32_t k = n_devices(b);
	size_t most = (size_t)d->n_tensors + tl->n_copies + (size_t)b->p->m->n_params * k;
	b->value = ARENA_NEWN(b->a, struct value, most);
	b->n_values = d->n_tensors + tl->n_copies;
	b->copy_of = ARENA_NEWN(b->a, uint32_t, d->n_uses);
	for (uint32_t t = 0; t < d->n_tensors; t++)
		b->value[t] = (struct value){.out = b->p->tensor_out[t],
			.dev = b->step_dev[d->tensor_task[t]], .writer = GRAPH_NONE,
			.first_reader = GRAPH_NONE, .begin_s = tl->start_s[d->tensor_task[t]],
			.end_s = tl->end_s[d->tensor_task[t]]};
	for (uint32_t c = 0; c < tl->n_copies; c++) {
		uint32_t t = tl->copy[c].tensor;
		b->value[copy_value(b, c)] = (struct value){.out = b->p->tensor_out[t],
			.dev = tl->copy[c].dst, .writer = GRAPH_NONE, .first_reader = GRAPH_NONE,
			.begin_s = tl->copy_start_s[c], .end_s = tl->copy_end_s[c]};
		value_extend(&b->value[t], tl->copy_end_s[c]);
	}
	for (uint32_t u = 0; u < d->n_uses; u++) {
		b->copy_of[u] = d->use_tensor[u];
		if (b->step_dev[d->use_task[u]] == b->value[d->use_tensor[u]].dev)
			value_extend(&b->value[d->use_tensor[u]], tl->end_s[d->use_task[u]]);
	}
	for (uint32_t c = 0; c < tl->n_copies; c++) {
		uint32_t t = tl->copy[c].tensor;
		for (uint32_t u = d->use_ptr[t]; u < d->use_ptr[t + 1]; u++)
			if (b->step_dev[d->use_task[u]] == tl->copy[c].dst) {
				b->copy_of[u] = copy_value(b, c);
				value_extend(&b->value[copy_value(b, c)],
					     tl->end_s[d->use_task[u]]);
			}
	}
	for (uint32_t r = 0; r < b->p->m->n_results; r++) {
		uint32_t t = b->p->out_tensor[b->p->m->result_root[r]];
		if (t != GRAPH_NONE)
			b->value[t].to_end = true;
	}
}

static int cannot_run(struct builder *b, struct err *e)
{
	char why[200] = "", l[300];
	struct model *m = b->p->m;
	uint32_t s = b->tl->bad_task, d = b->tl->bad_dev;
	if (model_supports(m, s, dev_of(b, d), why, sizeof why, e) < 0)
		return -1;
	return err_set(e, ST_INPUT, "%s cannot run on '%s': %s",
		       model_layer(m, m->step_node[s], l, sizeof l), dev_of(b, d)->name, why);
}

static int build(struct builder *b, struct err *e)
{
	uint32_t **step_in = ARENA_NEWN(b->a, uint32_t *, b->p->dag.n);
	make_values(b);
	if (plan_tasks(b, step_in, e) < 0 || plan_memory(b, e) < 0)
		return -1;
	return plan_bind(b, step_in, e);
}

int plan_make(struct planner *p, const uint16_t *set_device, struct plan *out, struct err *e)
{
	uint16_t *step_dev = MEM_NEWN(uint16_t, (size_t)p->dag.n + 1);
	struct builder b = {.p = p, .plan = out, .step_dev = step_dev, .a = arena_new()};
	*out = (struct plan){.arena = arena_new(), .devices = p->devices};
	out->mem_bytes = ARENA_NEWN(out->arena, uint64_t, p->devices->n);
	out->n_dev_tasks = ARENA_NEWN(out->arena, uint32_t, p->devices->n);
	out->base = ARENA_NEWN(out->arena, struct devmem *, p->devices->n);
	planner_steps(p, set_device, step_dev);
	int rc = 0;
	if (timeline_run(p->timeliner, step_dev, &b.tl) != TIMELINE_OK)
		rc = cannot_run(&b, e);
	else
		out->predicted_s = b.tl->makespan_s;
	if (rc == 0)
		rc = build(&b, e);
	mem_free(b.wait);
	mem_free(b.reader);
	arena_free(b.a);
	mem_free(step_dev);
	if (rc < 0)
		plan_release(out);
	return rc;
}

void plan_release(struct plan *p)
{
	if (!p->arena)
		return;
	for (uint32_t i = 0; i < p->n_views; i++) {
		struct device *d = &p->devices->dev[p->view_dev[i]];
		d->class->release(d, p->view[i]);
	}
	for (uint32_t d = 0; d < p->devices->n; d++)
		if (p->base[d])
			p->devices->dev[d].class->release(&p->devices->dev[d], p->base[d]);
	for (uint32_t i = 0; i < p->n_host; i++)
		mem_free(p->host[i]);
	mem_free(p->host);
	mem_free(p->view);
	mem_free(p->view_dev);
	mem_free(p->task);
	arena_free(p->arena);
	*p = (struct plan){0};
}
