/* plan_task.c - the tasks of a plan, and what waits for what through data. */
#include "device/plan_build.h"

#include <math.h>
#include <string.h>

/* ---- small lists ---- */

uint32_t plan_add_task(struct builder *b, struct task t)
{
	struct plan *pl = b->plan;
	pl->task = mem_grow(pl->task, &b->cap_tasks, (size_t)pl->n_tasks + 1, sizeof *pl->task);
	pl->task[pl->n_tasks] = t;
	pl->n_dev_tasks[t.dev]++;
	return pl->n_tasks++;
}

void plan_add_wait(struct builder *b, uint32_t from, uint32_t to)
{
	b->wait = mem_grow(b->wait, &b->cap_waits, b->n_waits + 1, sizeof *b->wait);
	b->wait[b->n_waits++] = (struct wait){from, to};
}

void plan_add_reader(struct builder *b, uint32_t v, uint32_t task)
{
	b->reader = mem_grow(b->reader, &b->cap_readers, b->n_readers + 1, sizeof *b->reader);
	b->reader[b->n_readers] = (struct reader){task, b->value[v].first_reader};
	b->value[v].first_reader = (uint32_t)b->n_readers++;
	b->value[v].n_readers++;
	if (b->value[v].writer != GRAPH_NONE)
		plan_add_wait(b, b->value[v].writer, task);
}

void *plan_host_memory(struct builder *b, size_t bytes, struct err *e)
{
	struct plan *pl = b->plan;
	void *p = mem_try(bytes ? bytes : 1);
	if (!p) {
		(void)err_set(e, ST_RUNTIME, "no memory for %zu bytes", bytes);
		return NULL;
	}
	pl->host = mem_grow(pl->host, &b->cap_host, (size_t)pl->n_host + 1, sizeof *pl->host);
	pl->host[pl->n_host++] = p;
	return p;
}

/* ---- prepared steps ---- */

static int prepare(struct planner *p, uint32_t s, uint32_t d, struct step **out, struct err *e)
{
	struct device *dev = &p->devices->dev[d];
	struct step **slot = &p->prepared[(size_t)s * p->devices->n + d];
	char l[300];
	if (!*slot) {
		struct arena *a = arena_new();
		struct step_spec spec;
		int rc = model_spec(p->m, s, dev, MODEL_ALL, a, &spec, e);
		if (rc == 0)
			rc = dev->class->prepare(dev, &spec, slot, e);
		arena_free(a);
		if (rc < 0)
			return err_prefix(e, "%s on '%s'",
					  model_layer(p->m, p->m->step_node[s], l, sizeof l),
					  dev->name);
	}
	*out = *slot;
	return 0;
}

/* ---- tasks ---- */

static int add_steps(struct builder *b, struct err *e)
{
	const struct sched_dag *d = &b->p->dag;
	for (uint32_t s = 0; s < d->n; s++) {
		struct task t = {
			.kind = TASK_STEP, .dev = b->step_dev[s], .step = s, .rank = b->p->rank[s]};
		if (prepare(b->p, s, t.dev, &t.prepared, e) < 0)
			return -1;
		plan_add_task(b, t);
		for (uint32_t i = d->out_ptr[s]; i < d->out_ptr[s + 1]; i++)
			b->value[i].writer = s;
	}
	return 0;
}

/* The highest rank of the steps that read a value. */
static double reader_rank(const struct builder *b, uint32_t tensor, uint32_t dev)
{
	const struct sched_dag *d = &b->p->dag;
	double r = 0;
	for (uint32_t u = d->use_ptr[tensor]; u < d->use_ptr[tensor + 1]; u++)
		if (b->step_dev[d->use_task[u]] == dev)
			r = fmax(r, b->p->rank[d->use_task[u]]);
	return r;
}

/* Tasks of copy c; memory is bound later. */
static int add_copy(struct builder *b, uint32_t c, struct err *e)
{
	const struct sched_copy *x = &b->tl->copy[c];
	uint32_t v = copy_value(b, c);
	size_t bytes = out_bytes(b, b->value[v].out);
	struct task t = {.bytes = bytes, .rank = reader_rank(b, x->tensor, x->dst)};
	b->plan->n_copies++;
	b->plan->copy_bytes += bytes;
	bool from_host = is_host(b, x->src), to_host = is_host(b, x->dst);
	if (from_host) {
		t.kind = to_host ? TASK_MEMCPY : TASK_UPLOAD;
		t.dev = x->dst;
		b->value[v].writer = plan_add_task(b, t);
		plan_add_reader(b, x->tensor, b->value[v].writer);
		return 0;
	}
	t.kind = TASK_DOWNLOAD;
	t.dev = x->src;
	uint32_t down = plan_add_task(b, t);
	b->value[v].writer = down;
	plan_add_reader(b, x->tensor, down);
	if (to_host)
		return 0;
	void *staging = plan_host_memory(b, bytes, e);
	if (!staging)
		return -1;
	b->plan->task[down].dst = staging;
	t.kind = TASK_UPLOAD;
	t.dev = x->dst;
	t.src = staging;
	b->value[v].writer = plan_add_task(b, t);
	plan_add_wait(b, down, b->value[v].writer);
	return 0;
}

/* The value of input i of the model on device d: host memory wrapped, or an upload. */
static int param_value(struct builder *b, uint32_t i, uint32_t d, uint32_t *table, struct err *e)
{
	struct planner *p = b->p;
	uint32_t *slot = &table[(size_t)i * n_devices(b) + d];
	if (*slot != GRAPH_NONE)
		return 0;
	uint32_t out = p->m->g->out_ptr[p->m->param[i]];
	struct value v = {.out = out, .dev = d, .writer = GRAPH_NONE, .first_reader = GRAPH_NONE};
	*slot = b->n_values;
	if (is_host(b, d)) {
		struct devmem **m = &p->param_mem[(size_t)i * n_devices(b) + d];
		if (!*m && dev_of(b, d)->class->wrap(dev_of(b, d), p->m->input[i],
						     out_bytes(b, out), m, e) < 0)
			return -1;
		v.mem = *m;
	} else {
		v.writer = plan_add_task(b, (struct task){.kind = TASK_UPLOAD,
							  .dev = d,
							  .rank = INFINITY,
							  .src = p->m->input[i],
							  .bytes = out_bytes(b, out)});
	}
	b->value[b->n_values++] = v;
	return 0;
}

/* Every input port of every step: its value, and the wait for it. */
static int connect(struct builder *b, uint32_t **step_in, struct err *e)
{
	const struct model *m = b->p->m;
	const struct graph *g = m->g;
	const struct sched_dag *d = &b->p->dag;
	uint32_t k = n_devices(b), *table = ARENA_NEWN(b->a, uint32_t, (size_t)m->n_params * k);
	uint32_t *param_of = ARENA_NEWN(b->a, uint32_t, g->n);
	memset(table, 0xff, (size_t)m->n_params * k * sizeof *table);
	for (uint32_t i = 0; i < m->n_params; i++)
		param_of[m->param[i]] = i;
	for (uint32_t s = 0; s < m->n_steps; s++) {
		uint32_t v = m->step_node[s];
		step_in[s] = ARENA_NEWN(b->a, uint32_t, g->in_ptr[v + 1] - g->in_ptr[v]);
		for (uint32_t i = d->in_ptr[s]; i < d->in_ptr[s + 1]; i++)
			plan_add_reader(b, b->copy_of[d->in_use[i]], s);
		for (uint32_t i = g->in_ptr[v], n = 0; i < g->in_ptr[v + 1]; i++) {
			uint32_t u = g->in_node[i];
			if (u == GRAPH_NONE || m->constant[u])
				continue;
			uint32_t out = m->root[g->out_ptr[u] + g->in_port[i]],
				 src = m->node_out[out];
			if (m->node_step[src] != GRAPH_NONE) {
				for (uint32_t x = d->in_ptr[s]; x < d->in_ptr[s + 1]; x++)
					if (d->use_tensor[d->in_use[x]] == b->p->out_tensor[out])
						step_in[s][n] = b->copy_of[d->in_use[x]];
			} else {
				uint32_t *slot = &table[(size_t)param_of[src] * k + b->step_dev[s]];
				if (param_value(b, param_of[src], b->step_dev[s], table, e) < 0)
					return -1;
				value_extend(&b->value[*slot], b->tl->end_s[s]);
				plan_add_reader(b, *slot, s);
				step_in[s][n] = *slot;
			}
			n++;
		}
	}
	return 0;
}

int plan_tasks(struct builder *b, uint32_t **step_in, struct err *e)
{
	if (add_steps(b, e) < 0)
		return -1;
	for (uint32_t c = 0; c < b->tl->n_copies; c++)
		if (add_copy(b, c, e) < 0)
			return -1;
	return connect(b, step_in, e);
}
