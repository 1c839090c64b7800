/* plan.c - from a placement to tasks, waits and buffers. */
#include "device/plan.h"
#include "sched/memplan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A tensor somewhere: at home (the device of its step), a copy, or an input of
 * the model that was brought to a device.  Values of one placement are
 * numbered: tensors, then copies, then inputs on devices. */
struct value {
	uint32_t out;           /* the output of the graph */
	uint32_t dev;
	uint32_t writer;        /* task that writes it; GRAPH_NONE: an input wrapped in place */
	uint32_t n_readers, first_reader;   /* tasks that read it: a list in readers[] */
	double begin_s, end_s;  /* predicted */
	bool to_end;            /* a result: kept to the end */
	struct devmem *mem;
};

struct reader {
	uint32_t task, next;
};

struct edge {
	uint32_t from, to;
};

struct builder {
	struct planner *p;
	struct plan *plan;
	const uint16_t *step_dev;
	const struct timeline *tl;
	struct arena *a;             /* gone when the plan is made */
	struct value *value;
	uint32_t n_values;
	uint32_t *copy_of;           /* (n_uses) value that a use reads */
	struct reader *reader;
	size_t n_readers, cap_readers;
	struct edge *edge;
	size_t n_edges, cap_edges;
	size_t cap_tasks, cap_views, cap_host;
};

static struct device *dev_of(const struct builder *b, uint32_t d)
{
	return &b->p->devices->dev[d];
}

static bool is_host(const struct builder *b, uint32_t d)
{
	return dev_of(b, d)->class->host != NULL;
}

static uint32_t n_devices(const struct builder *b)
{
	return b->p->devices->n;
}

static size_t out_bytes(const struct builder *b, uint32_t out)
{
	return (size_t)tensor_bytes(&b->p->m->values.value[out]);
}

/* ---- small lists ---- */

static uint32_t add_task(struct builder *b, struct task t)
{
	struct plan *pl = b->plan;
	pl->task = mem_grow(pl->task, &b->cap_tasks, (size_t)pl->n_tasks + 1, sizeof *pl->task);
	pl->task[pl->n_tasks] = t;
	pl->n_dev_tasks[t.dev]++;
	return pl->n_tasks++;
}

static void add_edge(struct builder *b, uint32_t from, uint32_t to)
{
	b->edge = mem_grow(b->edge, &b->cap_edges, b->n_edges + 1, sizeof *b->edge);
	b->edge[b->n_edges++] = (struct edge){from, to};
}

/* Task t reads value v: it waits for the writer, and later owners of its memory wait for it. */
static void add_reader(struct builder *b, uint32_t v, uint32_t task)
{
	b->reader = mem_grow(b->reader, &b->cap_readers, b->n_readers + 1, sizeof *b->reader);
	b->reader[b->n_readers] = (struct reader){task, b->value[v].first_reader};
	b->value[v].first_reader = (uint32_t)b->n_readers++;
	b->value[v].n_readers++;
	if (b->value[v].writer != GRAPH_NONE)
		add_edge(b, b->value[v].writer, task);
}

static void keep_view(struct builder *b, uint32_t d, struct devmem *m)
{
	struct plan *pl = b->plan;
	size_t cap = b->cap_views;
	pl->view = mem_grow(pl->view, &cap, (size_t)pl->n_views + 1, sizeof *pl->view);
	cap = b->cap_views;
	pl->view_dev = mem_grow(pl->view_dev, &cap, (size_t)pl->n_views + 1, sizeof *pl->view_dev);
	b->cap_views = cap;
	pl->view[pl->n_views] = m;
	pl->view_dev[pl->n_views++] = d;
}

static void *host_memory(struct builder *b, size_t bytes, struct err *e)
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

/* ---- values and their predicted lives ---- */

static void extend(struct value *v, double end_s)
{
	if (end_s > v->end_s)
		v->end_s = end_s;
}

static uint32_t copy_value(const struct builder *b, uint32_t copy)
{
	return b->p->dag.n_tensors + copy;
}

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
		extend(&b->value[t], tl->copy_end_s[c]);
	}
	for (uint32_t u = 0; u < d->n_uses; u++) {
		b->copy_of[u] = d->use_tensor[u];
		if (b->step_dev[d->use_task[u]] == b->value[d->use_tensor[u]].dev)
			extend(&b->value[d->use_tensor[u]], tl->end_s[d->use_task[u]]);
	}
	for (uint32_t c = 0; c < tl->n_copies; c++) {
		uint32_t t = tl->copy[c].tensor;
		for (uint32_t u = d->use_ptr[t]; u < d->use_ptr[t + 1]; u++)
			if (b->step_dev[d->use_task[u]] == tl->copy[c].dst) {
				b->copy_of[u] = copy_value(b, c);
				extend(&b->value[copy_value(b, c)], tl->end_s[d->use_task[u]]);
			}
	}
	for (uint32_t r = 0; r < b->p->m->n_results; r++) {
		uint32_t t = b->p->out_tensor[b->p->m->result_root[r]];
		if (t != GRAPH_NONE)
			b->value[t].to_end = true;
	}
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
			return err_prefix(e, "%s on '%s'", model_layer(p->m, p->m->step_node[s], l, sizeof l),
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
		struct task t = {.kind = TASK_STEP, .dev = b->step_dev[s], .step = s, .rank = b->p->rank[s]};
		if (prepare(b->p, s, t.dev, &t.prepared, e) < 0)
			return -1;
		add_task(b, t);
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
		b->value[v].writer = add_task(b, t);
		add_reader(b, x->tensor, b->value[v].writer);
		return 0;
	}
	t.kind = TASK_DOWNLOAD;
	t.dev = x->src;
	uint32_t down = add_task(b, t);
	b->value[v].writer = down;
	add_reader(b, x->tensor, down);
	if (to_host)
		return 0;
	void *staging = host_memory(b, bytes, e);
	if (!staging)
		return -1;
	b->plan->task[down].dst = staging;
	t.kind = TASK_UPLOAD;
	t.dev = x->dst;
	t.src = staging;
	b->value[v].writer = add_task(b, t);
	add_edge(b, down, b->value[v].writer);
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
		if (!*m && dev_of(b, d)->class->wrap(dev_of(b, d), p->m->input[i], out_bytes(b, out), m, e) < 0)
			return -1;
		v.mem = *m;
	} else {
		v.writer = add_task(b, (struct task){.kind = TASK_UPLOAD, .dev = d, .rank = INFINITY,
						     .src = p->m->input[i], .bytes = out_bytes(b, out)});
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
			add_reader(b, b->copy_of[d->in_use[i]], s);
		for (uint32_t i = g->in_ptr[v], n = 0; i < g->in_ptr[v + 1]; i++) {
			uint32_t u = g->in_node[i];
			if (u == GRAPH_NONE || m->constant[u])
				continue;
			uint32_t out = m->root[g->out_ptr[u] + g->in_port[i]], src = m->node_out[out];
			if (m->node_step[src] != GRAPH_NONE) {
				for (uint32_t x = d->in_ptr[s]; x < d->in_ptr[s + 1]; x++)
					if (d->use_tensor[d->in_use[x]] == b->p->out_tensor[out])
						step_in[s][n] = b->copy_of[d->in_use[x]];
			} else {
				uint32_t *slot = &table[(size_t)param_of[src] * k + b->step_dev[s]];
				if (param_value(b, param_of[src], b->step_dev[s], table, e) < 0)
					return -1;
				extend(&b->value[*slot], b->tl->end_s[s]);
				add_reader(b, *slot, s);
				step_in[s][n] = *slot;
			}
			n++;
		}
	}
	return 0;
}

/* ---- memory ---- */

static int by_double(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;
	return (a > b) - (a < b);
}

/* How many of the sorted times are below t (strictly). */
static uint32_t n_below(const double *time, uint32_t n, double t)
{
	uint32_t lo = 0, hi = n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (time[mid] < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* A stretch of a device's memory and the value that owns it now. */
struct stretch {
	uint64_t begin, end;
	uint32_t value;
};

/* The task of value v takes over [begin, end): it waits for the last users of what lay there. */
static void take_over(struct builder *b, struct stretch *s, uint32_t *n, uint32_t v, uint64_t begin,
		      uint64_t end)
{
	uint32_t kept = 0, at = 0;
	struct stretch tail = {0, 0, 0};
	for (uint32_t i = 0; i < *n; i++) {
		struct stretch x = s[i];
		if (x.end <= begin || x.begin >= end) {
			s[kept++] = x;
			at = x.end <= begin ? kept : at;
			continue;
		}
		const struct value *old = &b->value[x.value];
		for (uint32_t r = old->first_reader; r != GRAPH_NONE; r = b->reader[r].next)
			add_edge(b, b->reader[r].task, b->value[v].writer);
		if (old->n_readers == 0)
			add_edge(b, old->writer, b->value[v].writer);
		if (x.end > end)
			tail = (struct stretch){end, x.end, x.value};
		if (x.begin < begin) {
			s[kept++] = (struct stretch){x.begin, begin, x.value};
			at = kept;
		}
	}
	uint32_t add = tail.end > tail.begin ? 2 : 1;
	memmove(s + at + add, s + at, (kept - at) * sizeof *s);
	s[at] = (struct stretch){begin, end, v};
	if (add == 2)
		s[at + 1] = tail;
	*n = kept + add;
}

static int by_begin(const void *pa, const void *pb, void *values)
{
	const struct value *v = values;
	const struct value *a = &v[*(const uint32_t *)pa], *b = &v[*(const uint32_t *)pb];
	if (a->begin_s != b->begin_s)
		return a->begin_s < b->begin_s ? -1 : 1;
	return (a > b) - (a < b);
}

/* Offsets for all values on device d that need memory of the plan; views of it. */
static int plan_device(struct builder *b, uint32_t d, const double *time, uint32_t n_times,
		       struct err *e)
{
	struct device *dev = dev_of(b, d);
	uint32_t *id = ARENA_NEWN(b->a, uint32_t, b->n_values), n = 0, n_stretch = 0;
	for (uint32_t v = 0; v < b->n_values; v++)
		if (b->value[v].dev == d && b->value[v].writer != GRAPH_NONE)
			id[n++] = v;
	if (n == 0)
		return 0;
	qsort_r(id, n, sizeof *id, by_begin, b->value);
	struct mem_block *block = ARENA_NEWN(b->a, struct mem_block, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct value *v = &b->value[id[i]];
		uint32_t first = n_below(time, n_times, v->begin_s);
		uint32_t last = v->to_end ? n_times : n_below(time, n_times, v->end_s);
		size_t bytes = out_bytes(b, v->out);
		block[i] = (struct mem_block){.bytes = bytes ? bytes : 1, .first = first,
					      .last = last > first ? last - 1 : first};
		if (v->to_end)
			block[i].last = n_times;
	}
	uint64_t peak = memplan_offsets(block, n, dev->align);
	b->plan->mem_bytes[d] += peak;
	if (dev->mem_bytes > 0 && b->plan->mem_bytes[d] > dev->mem_bytes)
		return err_set(e, ST_RUNTIME, "device '%s' needs %llu bytes and has %llu", dev->name,
			       (unsigned long long)b->plan->mem_bytes[d],
			       (unsigned long long)dev->mem_bytes);
	if (dev->class->alloc(dev, peak, &b->plan->base[d], e) < 0)
		return err_prefix(e, "device '%s'", dev->name);
	struct stretch *stretch = ARENA_NEWN(b->a, struct stretch, 2 * (size_t)n + 2);
	for (uint32_t i = 0; i < n; i++) {
		struct value *v = &b->value[id[i]];
		take_over(b, stretch, &n_stretch, id[i], block[i].offset, block[i].offset + block[i].bytes);
		if (dev->class->view(dev, b->plan->base[d], block[i].offset, block[i].bytes, &v->mem, e) < 0)
			return err_prefix(e, "device '%s'", dev->name);
		keep_view(b, d, v->mem);
	}
	return 0;
}

/* Constants that the steps on each device read, each once. */
static void count_constants(struct builder *b)
{
	const struct model *m = b->p->m;
	const struct graph *g = m->g;
	uint32_t n_out = g->out_ptr[g->n];
	uint32_t *seen = ARENA_NEWN(b->a, uint32_t, n_out);
	for (uint32_t d = 0; d < n_devices(b); d++)
		for (uint32_t s = 0; s < m->n_steps; s++) {
			uint32_t v = m->step_node[s];
			for (uint32_t i = g->in_ptr[v]; b->step_dev[s] == d && i < g->in_ptr[v + 1]; i++) {
				uint32_t u = g->in_node[i];
				if (u == GRAPH_NONE || !m->constant[u])
					continue;
				uint32_t o = g->out_ptr[u] + g->in_port[i];
				int64_t bytes = tensor_bytes(&m->values.value[o]);
				if (seen[o] != d + 1 && bytes > 0)
					b->plan->mem_bytes[d] += (uint64_t)bytes;
				seen[o] = d + 1;
			}
		}
}

static int plan_memory(struct builder *b, struct err *e)
{
	uint32_t n = b->p->dag.n + b->tl->n_copies;
	double *time = ARENA_NEWN(b->a, double, n);
	memcpy(time, b->tl->start_s, b->p->dag.n * sizeof *time);
	memcpy(time + b->p->dag.n, b->tl->copy_start_s, b->tl->n_copies * sizeof *time);
	qsort(time, n, sizeof *time, by_double);
	count_constants(b);
	for (uint32_t d = 0; d < n_devices(b); d++)
		if (plan_device(b, d, time, n, e) < 0)
			return -1;
	return 0;
}

/* ---- binding ---- */

static void bind_steps(struct builder *b, uint32_t **step_in)
{
	const struct model *m = b->p->m;
	const struct graph *g = m->g;
	const struct sched_dag *d = &b->p->dag;
	for (uint32_t s = 0; s < m->n_steps; s++) {
		struct task *t = &b->plan->task[s];
		uint32_t v = m->step_node[s], n = 0, n_out = d->out_ptr[s + 1] - d->out_ptr[s];
		t->in = ARENA_NEWN(b->plan->arena, struct devmem *, g->in_ptr[v + 1] - g->in_ptr[v]);
		t->out = ARENA_NEWN(b->plan->arena, struct devmem *, n_out);
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
			if (g->in_node[i] != GRAPH_NONE && !m->constant[g->in_node[i]]) {
				t->in[n] = b->value[step_in[s][n]].mem;
				n++;
			}
		for (uint32_t i = 0; i < n_out; i++)
			t->out[i] = b->value[d->out_ptr[s] + i].mem;
	}
}

static void *host_of(const struct builder *b, const struct value *v)
{
	return dev_of(b, v->dev)->class->host(dev_of(b, v->dev), v->mem);
}

static void bind_copies(struct builder *b)
{
	struct plan *pl = b->plan;
	for (uint32_t c = 0; c < b->tl->n_copies; c++) {
		const struct value *to = &b->value[copy_value(b, c)];
		const struct value *from = &b->value[b->tl->copy[c].tensor];
		struct task *last = &pl->task[to->writer];
		struct task *first = last;
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
	for (uint32_t v = b->p->dag.n_tensors + b->tl->n_copies; v < b->n_values; v++)
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
			void *p = host_memory(b, out_bytes(b, out), e);
			if (!p)
				return -1;
			uint32_t task = add_task(b, (struct task){.kind = TASK_DOWNLOAD, .dev = b->value[t].dev,
				.mem = b->value[t].mem, .dst = p, .bytes = out_bytes(b, out), .rank = INFINITY});
			add_reader(b, t, task);
			pl->result[r] = p;
		}
	}
	return 0;
}

/* Edges to compressed rows. */
static void index_edges(struct builder *b)
{
	struct plan *pl = b->plan;
	pl->next = ARENA_NEWN(pl->arena, uint32_t, b->n_edges);
	for (size_t i = 0; i < b->n_edges; i++) {
		pl->task[b->edge[i].from].next_end++;
		pl->task[b->edge[i].to].n_waits++;
	}
	for (uint32_t t = 0, at = 0; t < pl->n_tasks; t++) {
		uint32_t n = pl->task[t].next_end;
		pl->task[t].next_ptr = pl->task[t].next_end = at;
		at += n;
	}
	for (size_t i = 0; i < b->n_edges; i++)
		pl->next[pl->task[b->edge[i].from].next_end++] = b->edge[i].to;
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
	if (add_steps(b, e) < 0)
		return -1;
	for (uint32_t c = 0; c < b->tl->n_copies; c++)
		if (add_copy(b, c, e) < 0)
			return -1;
	if (connect(b, step_in, e) < 0 || plan_memory(b, e) < 0)
		return -1;
	bind_steps(b, step_in);
	bind_copies(b);
	if (bind_results(b, e) < 0)
		return -1;
	index_edges(b);
	return 0;
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
	mem_free(b.edge);
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
