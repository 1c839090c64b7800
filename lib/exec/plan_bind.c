/* plan_bind.c - addresses: memory of steps and copies, where the host finds results. */
#include "exec/plan_build.h"

#include <math.h>

static void *host_of(const struct builder *b, const struct value *v)
{
	return dev_of(b, v->dev)->class->host(dev_of(b, v->dev), v->mem);
}

/* Do steps of device d read what device `owner` keeps as it lies? */
static bool reads_kept(const struct builder *b, uint32_t owner, uint32_t d)
{
	struct device *o = dev_of(b, owner), *other = dev_of(b, d);
	return owner == d ||
	       (o->class == other->class && o->class->shares && o->class->shares(o, other));
}

/* Output `out` as memory of device d: its own, or that of another device of the host, wrapped where d does not share
 * it. */
static int memory_on(struct builder *b, uint32_t out, uint32_t d, struct devmem **wrapped,
		     struct devmem **m, struct err *e)
{
	const struct value *v = &b->value[*value_at(b, out, d)];
	struct devmem **w = &wrapped[(size_t)out * n_devices(b) + d];
	*m = v->mem;
	if (reads_kept(b, v->dev, d))
		return 0;
	if (!*w) {
		if (dev_of(b, d)->class->wrap(dev_of(b, d), host_of(b, v), out_bytes(b, out), w,
					      e) < 0)
			return -1;
		plan_keep_view(b, d, *w);
	}
	*m = *w;
	return 0;
}

static int bind_groups(struct builder *b, struct err *e)
{
	uint32_t n_out = b->p->m->g->out_ptr[b->p->m->g->n];
	struct devmem **wrapped = ARENA_NEWN(b->a, struct devmem *, (size_t)n_out * n_devices(b));
	for (uint32_t i = 0; i < b->c.n; i++) {
		const struct fusion_group *g = &b->c.group[i];
		struct plan_task *t = &b->plan->task[i];
		t->in = ARENA_NEWN(b->plan->arena, struct devmem *, g->n_in);
		t->out = ARENA_NEWN(b->plan->arena, struct devmem *, g->n_out);
		for (uint32_t j = 0; j < g->n_in; j++)
			if (memory_on(b, g->in[j], g->dev, wrapped, &t->in[j], e) < 0)
				return -1;
		for (uint32_t j = 0; j < g->n_out; j++)
			t->out[j] = b->value[*value_at(b, g->out[j], g->dev)].mem;
	}
	return 0;
}

/* Do only steps of its own device write value v, and only they and those of devices that share it read it? */
static bool stays_on_device(const struct builder *b, const struct value *v)
{
	if (v->writer >= b->c.n || v->to_end || v->over != GRAPH_NONE || v->is_over)
		return false;
	for (uint32_t r = v->first_reader; r != GRAPH_NONE; r = b->reader[r].next) {
		uint32_t t = b->reader[r].task;
		if (t >= b->c.n || !reads_kept(b, v->dev, b->c.group[t].dev))
			return false;
	}
	return true;
}

static void keep_private(struct builder *b)
{
	for (uint32_t v = 0; v < b->n_values; v++) {
		const struct value *x = &b->value[v];
		struct device *d = dev_of(b, x->dev);
		if (d->class->keep && stays_on_device(b, x))
			d->class->keep(d, x->mem);
	}
}

static void bind_copies(struct builder *b)
{
	struct plan *pl = b->plan;
	for (uint32_t c = 0; c < b->c.tl->n_copies; c++) {
		const struct value *to = &b->value[copy_value(b, c)];
		const struct value *from = &b->value[b->c.tl->copy[c].tensor];
		if (in_host(b, c))
			continue;
		struct plan_task *last = &pl->task[to->writer];
		struct plan_task *first = last;
		if (!is_host(b, from->dev) && !is_host(b, to->dev))
			first = last - 1;
		if (is_host(b, from->dev))
			first->src = host_of(b, from);
		else
			first->mem = from->mem;
		if (is_host(b, to->dev))
			last->dst = host_of(b, to);
		else
			last->mem = to->mem;
	}
	for (uint32_t v = b->c.dag.n_tensors + b->c.tl->n_copies; v < b->n_values; v++)
		if (b->value[v].writer != GRAPH_NONE)
			pl->task[b->value[v].writer].mem = b->value[v].mem;
}

/* Where the host finds each result. */
static int bind_results(struct builder *b, struct err *e)
{
	struct model *m = b->p->m;
	struct plan *pl = b->plan;
	pl->result = ARENA_NEWN(pl->arena, const void *, m->n_results);
	for (uint32_t r = 0; r < m->n_results; r++) {
		uint32_t out = m->result_root[r], v = m->node_out[out], t = b->p->out_tensor[out];
		if (t != GRAPH_NONE)
			t = *value_at(b, out, b->step_dev[m->node_step[v]]);
		if (m->constant[v]) {
			if (model_value(m, out, e) < 0)
				return -1;
			pl->result[r] = m->values.value[out].data;
		} else if (t == GRAPH_NONE) {
			for (uint32_t i = 0; i < m->n_params; i++)
				if (m->param[i] == v)
					pl->result[r] = m->input[i];
		} else if (is_host(b, b->value[t].dev)) {
			pl->result[r] = host_of(b, &b->value[t]);
		} else {
			void *p = plan_host_memory(b, out_bytes(b, out), e);
			if (!p)
				return -1;
			uint32_t task =
				plan_add_task(b, (struct plan_task){.kind = TASK_DOWNLOAD,
								    .dev = b->value[t].dev,
								    .mem = b->value[t].mem,
								    .dst = p,
								    .bytes = out_bytes(b, out),
								    .rank = INFINITY});
			plan_add_reader(b, t, task, b->c.tl->makespan_s);
			pl->result[r] = p;
		}
	}
	return 0;
}

/* Waits to compressed rows. */
static void index_waits(struct builder *b)
{
	struct plan *pl = b->plan;
	pl->next = ARENA_NEWN(pl->arena, uint32_t, b->n_waits);
	for (size_t i = 0; i < b->n_waits; i++) {
		pl->task[b->wait[i].from].next_end++;
		pl->task[b->wait[i].to].n_waits++;
	}
	for (uint32_t t = 0, at = 0; t < pl->n_tasks; t++) {
		uint32_t n = pl->task[t].next_end;
		pl->task[t].next_ptr = pl->task[t].next_end = at;
		at += n;
	}
	for (size_t i = 0; i < b->n_waits; i++)
		pl->next[pl->task[b->wait[i].from].next_end++] = b->wait[i].to;
}

int plan_bind(struct builder *b, struct err *e)
{
	if (bind_groups(b, e) < 0)
		return -1;
	keep_private(b);
	bind_copies(b);
	if (bind_results(b, e) < 0)
		return -1;
	index_waits(b);
	return 0;
}
