/* plan_task.c - the tasks of a plan, and what waits for what through data. */
#include "exec/plan_build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- small lists ---- */

uint32_t plan_add_task(struct builder *b, struct plan_task t)
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

void plan_add_reader(struct builder *b, uint32_t v, uint32_t task, double end_s)
{
	b->reader = mem_grow(b->reader, &b->cap_readers, b->n_readers + 1, sizeof *b->reader);
	b->reader[b->n_readers] = (struct reader){task, b->value[v].first_reader, end_s};
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

/* ---- tasks ---- */

/* The share of the group's planned time that is each step's. */
static const double *shares(const struct builder *b, const struct fusion_group *g)
{
	const struct planner *p = b->p;
	double *x = ARENA_NEWN(b->plan->arena, double, g->n), sum = 0;
	for (uint32_t j = 0; j < g->n; j++)
		sum += x[j] = fmax(p->step_s[(size_t)g->step[j] * p->devices->n + g->dev], 1e-9);
	for (uint32_t j = 0; j < g->n; j++)
		x[j] /= sum;
	return x;
}

static int get_prepared(struct builder *b, uint32_t i, struct err *e)
{
	struct planner *p = b->p;
	const struct fusion_group *g = &b->c.group[i];
	for (uint32_t j = 0; j < g->n; j++)
		p->local[g->step[j]] = j;
	int rc = prepared_get(&p->prepared, p->m, g, p->local, &b->plan->used[i], e);
	for (uint32_t j = 0; j < g->n; j++)
		p->local[g->step[j]] = GRAPH_NONE;
	return rc;
}

static int add_groups(struct builder *b, struct err *e)
{
	const struct sched_dag *d = &b->c.dag;
	b->plan->used = ARENA_NEWN(b->plan->arena, struct prepared *, b->c.n);
	if (prepared_ahead(&b->p->prepared, b->p->m, b->c.group, b->c.n, b->p->local, e) < 0)
		return -1;
	for (uint32_t i = 0; i < b->c.n; i++) {
		const struct fusion_group *g = &b->c.group[i];
		if (get_prepared(b, i, e) < 0)
			return -1;
		plan_add_task(b, (struct plan_task){.kind = TASK_STEP,
						    .dev = g->dev,
						    .copied = GRAPH_NONE,
						    .group = g,
						    .share = shares(b, g),
						    .rank = b->c.rank[i],
						    .prepared = b->plan->used[i]->step});
		for (uint32_t t = d->out_ptr[i]; t < d->out_ptr[i + 1]; t++)
			b->value[t].writer = i;
	}
	return 0;
}

/* The highest rank of the steps that read a value. */
static double reader_rank(const struct builder *b, uint32_t tensor, uint32_t dev)
{
	const struct sched_dag *d = &b->c.dag;
	double r = 0;
	for (uint32_t u = d->use_ptr[tensor]; u < d->use_ptr[tensor + 1]; u++)
		if (b->c.group[d->use_task[u]].dev == dev)
			r = fmax(r, b->c.rank[d->use_task[u]]);
	return r;
}

/* Tasks of copy c; memory is bound later. */
static int add_copy(struct builder *b, uint32_t c, struct err *e)
{
	const struct sched_copy *x = &b->c.tl->copy[c];
	uint32_t v = copy_value(b, c);
	size_t bytes = out_bytes(b, b->value[v].out);
	struct plan_task t = {.bytes = bytes,
			      .copied = b->value[v].out,
			      .to = x->dst,
			      .rank = reader_rank(b, x->tensor, x->dst)};
	b->plan->n_copies++;
	b->plan->copy_bytes += bytes;
	b->plan->n_in_host += in_host(b, c);
	if (in_host(b, c))
		return 0;
	bool from_host = is_host(b, x->src), to_host = is_host(b, x->dst);
	if (from_host) {
		t.kind = to_host ? TASK_MEMCPY : TASK_UPLOAD;
		t.dev = x->dst;
		b->value[v].writer = plan_add_task(b, t);
		plan_add_reader(b, x->tensor, b->value[v].writer, b->c.tl->copy_end_s[c]);
		return 0;
	}
	t.kind = TASK_DOWNLOAD;
	t.dev = x->src;
	uint32_t down = plan_add_task(b, t);
	b->value[v].writer = down;
	plan_add_reader(b, x->tensor, down, b->c.tl->copy_end_s[c]);
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
static int param_value(struct builder *b, uint32_t i, uint32_t d, uint32_t *out, struct err *e)
{
	struct planner *p = b->p;
	uint32_t o = p->m->g->out_ptr[p->m->param[i]];
	struct value v = {.out = o,
			  .dev = d,
			  .writer = GRAPH_NONE,
			  .first_reader = GRAPH_NONE,
			  .over = GRAPH_NONE};
	if (is_host(b, d)) {
		struct devmem **m =
			&p->request[p->at_request].param_mem[(size_t)i * n_devices(b) + d];
		if (!*m && dev_of(b, d)->class->wrap(dev_of(b, d), p->m->input[i], out_bytes(b, o),
						     m, e) < 0)
			return -1;
		v.mem = *m;
	} else {
		v.writer = plan_add_task(b, (struct plan_task){.kind = TASK_UPLOAD,
							       .dev = d,
							       .copied = GRAPH_NONE,
							       .rank = INFINITY,
							       .src = p->m->input[i],
							       .bytes = out_bytes(b, o)});
	}
	*out = b->n_values;
	b->value[b->n_values++] = v;
	return 0;
}

/* What keeps devices to the predicted order. */
static void add_delays(struct builder *b)
{
	for (uint32_t i = 0; b->c.delayed_by && i < b->c.n; i++)
		if (b->c.delayed_by[i] != SCHED_NONE)
			plan_add_wait(b, b->c.delayed_by[i], i);
}

/* ---- devices that take turns ---- */

/* A group in its predicted place. */
struct in_time {
	double start_s, end_s;
	uint32_t group;
};

/* Groups are numbered in a topological order, which decides where neither takes time. */
static int by_time(const void *pa, const void *pb)
{
	const struct in_time *a = pa, *b = pb;
	if (a->start_s != b->start_s)
		return a->start_s < b->start_s ? -1 : 1;
	if (a->end_s != b->end_s)
		return a->end_s < b->end_s ? -1 : 1;
	return (a->group > b->group) - (a->group < b->group);
}

/* Devices o and d take turns.  The groups of o since d's last one, in their predicted order; the last of
 * o's turn before that, which ends it: all of d's turn wait for it; GRAPH_NONE: d was first. */
struct turn {
	uint32_t *group, n, before;
	size_t cap;
};

/* A group on d comes next: o's turn is over.  Its last group, as predicted, is made its last. */
static void end_turn(struct builder *b, struct turn *o)
{
	if (o->n > 0)
		o->before = o->group[o->n - 1];
	for (uint32_t i = 0; i + 1 < o->n; i++)
		plan_add_wait(b, o->group[i], o->before);
	o->n = 0;
}

/* Turns come as predicted: each group waits for the last turn of all that its device takes turns
 * with. */
static void add_turns(struct builder *b)
{
	const uint8_t *turns = b->p->costs.turns;
	uint32_t k = n_devices(b), n = b->c.n;
	if (!turns)
		return;
	struct in_time *x = ARENA_NEWN(b->a, struct in_time, n);
	struct turn *turn = ARENA_NEWN(b->a, struct turn, (size_t)k * k);
	for (uint32_t i = 0; i < n; i++)
		x[i] = (struct in_time){b->c.tl->start_s[i], b->c.tl->end_s[i], i};
	for (uint32_t i = 0; i < k * k; i++)
		turn[i].before = GRAPH_NONE;
	if (n > 1)
		qsort(x, n, sizeof *x, by_time);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t g = x[i].group, d = b->c.group[g].dev;
		for (uint32_t o = 0; o < k; o++) {
			struct turn *of = &turn[o * k + d], *own = &turn[d * k + o];
			if (!turns[o * k + d])
				continue;
			end_turn(b, of);
			if (of->before != GRAPH_NONE)
				plan_add_wait(b, of->before, g);
			own->group = mem_grow(own->group, &own->cap, (size_t)own->n + 1,
					      sizeof *own->group);
			own->group[own->n++] = g;
		}
	}
	for (uint32_t i = 0; i < k * k; i++)
		mem_free(turn[i].group);
}

/* Every group reads its inputs, each once; inputs of the model come to the device. */
static int add_readers(struct builder *b, struct err *e)
{
	const struct model *m = b->p->m;
	uint32_t *param_of = ARENA_NEWN(b->a, uint32_t, m->g->n);
	for (uint32_t i = 0; i < m->n_params; i++)
		param_of[m->param[i]] = i;
	for (uint32_t i = 0; i < b->c.n; i++) {
		const struct fusion_group *g = &b->c.group[i];
		for (uint32_t j = 0; j < g->n_in; j++) {
			uint32_t *v = value_at(b, g->in[j], g->dev);
			if (*v == GRAPH_NONE &&
			    param_value(b, param_of[m->node_out[g->in[j]]], g->dev, v, e) < 0)
				return -1;
			value_extend(&b->value[*v], b->c.tl->end_s[i]);
			/* Readers of the task being connected are at the head of the list. */
			uint32_t r = b->value[*v].first_reader;
			if (r == GRAPH_NONE || b->reader[r].task != i)
				plan_add_reader(b, *v, i, b->c.tl->end_s[i]);
		}
	}
	return 0;
}

int plan_tasks(struct builder *b, struct err *e)
{
	if (add_groups(b, e) < 0)
		return -1;
	for (uint32_t c = 0; c < b->c.tl->n_copies; c++)
		if (add_copy(b, c, e) < 0)
			return -1;
	add_delays(b);
	add_turns(b);
	return add_readers(b, e);
}
