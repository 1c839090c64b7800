/* placemodel.c - from a graph and costs to what the simulator runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "op/op.h"
#include "place/problem/placemodel.h"

const char *const place_rules_names[] = {"schedule", "dnnpart-latency", "dnnpart-throughput", NULL};

bool place_is_processor(const struct place_model *m, uint32_t dev)
{
	return (m->types && strcmp(m->types[dev], "cpu") == 0) ||
	       strncmp(m->names[dev], "cpu", 3) == 0 || strncmp(m->names[dev], "ov:CPU", 6) == 0;
}

/* Does node v read a range of input 0 for a part of an operation?  A device is sent this range of the model's input alone. */
static bool is_range(const struct graph *g, uint32_t v)
{
	return g->part && g->part[v] != GRAPH_NONE && g->part_of[v] == GRAPH_NONE &&
	       g->kind[v] == OP_SLICE;
}

/* A value that no task makes, or a range of it, and one task that reads it. */
struct value_reader {
	uint32_t out, task;
};

static int reader_compare(const void *pa, const void *pb)
{
	const struct value_reader *a = pa, *b = pb;

	if (a->out != b->out)
		return a->out < b->out ? -1 : 1;
	return (a->task > b->task) - (a->task < b->task);
}

static size_t collect_readers(const struct place_model *m, const uint32_t *root,
			      struct value_reader *r)
{
	const struct graph *g = m->g;
	size_t n = 0;

	for (uint32_t v = 0; v < g->n; v++) {
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			uint32_t o = graph_read_output(g, root, i), task = m->tasks.node_task[v];

			if (task == GRAPH_NONE || o == GRAPH_NONE ||
			    m->tasks.node_task[graph_node_of(g, o)] != GRAPH_NONE)
				continue;
			if (i == g->in_ptr[v] && is_range(g, v))
				o = g->out_ptr[v];
			r[n++] = (struct value_reader){o, task};
		}
	}
	if (n > 1)
		qsort(r, n, sizeof(*r), reader_compare);
	return n;
}

/* The same bytes on all devices. */
static const uint64_t *bytes_anywhere(const struct place_model *m, uint64_t bytes, struct arena *a)
{
	uint64_t *row = ARENA_NEWN(a, uint64_t, m->k);

	for (uint32_t d = 0; d < m->k; d++)
		row[d] = bytes;
	return row;
}

/* Bytes of value o on each device; keeps (k); NULL: all keep the usual types. */
static const uint64_t *bytes_by_device(const struct place_model *m, uint32_t o,
				       const op_keeps *keeps, struct arena *a)
{
	uint64_t *row = ARENA_NEWN(a, uint64_t, m->k);

	for (uint32_t d = 0; d < m->k; d++)
		row[d] = d == 0 || (keeps && keeps[d] != keeps[d - 1])
				 ? op_stored_bytes_on(m->g, o, keeps ? keeps[d] : op_keeps_usual())
				 : row[d - 1];
	return row;
}

static void hold(struct place_model *m, uint32_t task, const uint64_t *bytes)
{
	for (uint32_t d = 0; d < m->k; d++)
		m->task_mem[(size_t)task * m->k + d] += bytes[d];
}

/* Values that no task makes occupy memory where they are read: task_mem of their only reader, or
 * the list of shared ones. */
static void assign_weights(struct place_model *m, const op_keeps *keeps, const uint32_t *root,
			   struct arena *a)
{
	uint32_t n_in = m->g->in_ptr[m->g->n];
	struct value_reader *r = MEM_NEWN(struct value_reader, n_in);
	size_t n = collect_readers(m, root, r), end;

	m->shared = ARENA_NEWN(a, struct shared_weight, n);
	m->weight_task = ARENA_NEWN(a, uint32_t, n);
	uint32_t n_readers = 0;
	for (size_t i = 0; i < n; i = end) {
		int64_t bytes = graph_out_bytes(m->g, r[i].out);
		struct shared_weight x = {NULL, n_readers, 0};

		for (end = i; end < n && r[end].out == r[i].out; end++)
			if (end == i || r[end].task != r[end - 1].task)
				m->weight_task[x.first + x.n++] = r[end].task;
		if (bytes <= 0)
			continue;
		x.bytes = bytes_by_device(m, r[i].out, keeps, a);
		if (x.n == 1) {
			hold(m, r[i].task, x.bytes);
		} else {
			m->shared[m->n_shared++] = x;
			n_readers += x.n;
		}
	}
	mem_free(r);
}

/* The same from what was measured.  Sets that run nothing hold nothing that counts. */
static void assign_held(struct place_model *m, const struct place_held *h, struct arena *a)
{
	uint32_t n = m->tasks.dag.n, *set_task = MEM_NEWN(uint32_t, m->n_sets), n_readers = 0;

	memset(set_task, 0xff, m->n_sets * sizeof(*set_task));
	for (uint32_t t = 0; t < n; t++) {
		set_task[m->tasks.task_set[t]] = t;
		hold(m, t, h->set + (size_t)m->tasks.task_set[t] * m->k);
	}
	m->inner = ARENA_NEWN(a, uint64_t, (size_t)n * m->k);
	for (uint32_t t = 0; t < n; t++)
		memcpy(m->inner + (size_t)t * m->k, h->inner + (size_t)m->tasks.task_set[t] * m->k,
		       m->k * sizeof(*m->inner));
	m->shared = ARENA_NEWN(a, struct shared_weight, h->n_shared);
	m->weight_task = ARENA_NEWN(a, uint32_t, h->n_shared ? h->shared_ptr[h->n_shared] : 0);
	for (uint32_t i = 0; i < h->n_shared; i++) {
		struct shared_weight x = {h->shared + (size_t)i * m->k, n_readers, 0};

		for (uint32_t j = h->shared_ptr[i]; j < h->shared_ptr[i + 1]; j++)
			if (set_task[h->shared_set[j]] != GRAPH_NONE)
				m->weight_task[x.first + x.n++] = set_task[h->shared_set[j]];
		if (x.n == 1)
			hold(m, m->weight_task[x.first], x.bytes);
		if (x.n < 2)
			continue;
		m->shared[m->n_shared++] = x;
		n_readers += x.n;
	}
	mem_free(set_task);
}

/* What is left of limits beside the work space of devices: at least a byte, as 0 is no limit. */
static const uint64_t *limits_beside(const uint64_t *limit, const uint64_t *work, uint32_t k,
				     struct arena *a)
{
	uint64_t *left = ARENA_NEWN(a, uint64_t, k);

	for (uint32_t d = 0; d < k; d++)
		left[d] = !limit[d] || limit[d] > work[d] ? limit[d] - (limit[d] ? work[d] : 0) : 1;
	return left;
}

/* List savings by the later of the two tasks. */
static void assign_savings(struct place_model *m, const struct place_savings *x, struct arena *a)
{
	uint32_t n = m->tasks.dag.n, *set_task = MEM_NEWN(uint32_t, m->n_sets);

	memset(set_task, 0xff, m->n_sets * sizeof(*set_task));
	for (uint32_t t = 0; t < n; t++)
		set_task[m->tasks.task_set[t]] = t;
	m->saved_ptr = ARENA_NEWN(a, uint32_t, (size_t)n + 2);
	m->saved_task = ARENA_NEWN(a, uint32_t, x->n);
	m->saved_s = ARENA_NEWN(a, double, (size_t)x->n * m->k);
	/* Counted two places up, so that filling leaves the beginnings. */
	for (int fill = 0; fill < 2; fill++) {
		for (uint32_t i = 0; i < x->n; i++) {
			uint32_t u = set_task[x->src[i]], t = set_task[x->dst[i]];

			if (u == GRAPH_NONE || t == GRAPH_NONE || u >= t)
				continue;
			if (!fill) {
				m->saved_ptr[t + 2]++;
				continue;
			}
			uint32_t at = m->saved_ptr[t + 1]++;
			m->saved_task[at] = u;
			memcpy(m->saved_s + (size_t)at * m->k, x->saved_s + (size_t)i * m->k,
			       m->k * sizeof(*m->saved_s));
		}
		for (uint32_t t = 0; !fill && t < n; t++)
			m->saved_ptr[t + 2] += m->saved_ptr[t + 1];
	}
	mem_free(set_task);
}

/* (tasks,k) the least that a task can cost: all that it could save is saved. */
static double *least_costs(const struct place_model *m, struct arena *a)
{
	double *least = ARENA_NEWN(a, double, (size_t)m->tasks.dag.n * m->k);

	for (uint32_t t = 0; t < m->tasks.dag.n; t++)
		for (uint32_t dev = 0; dev < m->k; dev++) {
			double *s = &least[(size_t)t * m->k + dev];

			*s = m->costs.task_s[(size_t)t * m->k + dev];
			for (uint32_t i = m->saved_ptr[t]; *s > 0 && i < m->saved_ptr[t + 1]; i++)
				*s = fmax(0, *s - fmax(0, m->saved_s[(size_t)i * m->k + dev]));
		}
	return least;
}

/* A set and the class of sets that share its device. */
struct member {
	uint32_t class, set;
};

static int member_compare(const void *pa, const void *pb)
{
	const struct member *a = pa, *b = pb;

	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	return (a->set > b->set) - (a->set < b->set);
}

void place_model_together(struct place_model *m, const uint32_t *class, struct arena *a)
{
	if (!class)
		return;
	struct member *x = MEM_NEWN(struct member, m->n_sets);

	m->together = ARENA_NEWN(a, uint32_t, m->n_sets);
	for (uint32_t i = 0; i < m->n_sets; i++)
		x[i] = (struct member){class[i], i};
	if (m->n_sets > 1)
		qsort(x, m->n_sets, sizeof(*x), member_compare);
	for (uint32_t i = 0; i < m->n_sets; i++) {
		bool joins = i && x[i].class == x[i - 1].class;

		m->together[x[i].set] = joins ? m->together[x[i - 1].set] : x[i].set;
	}
	mem_free(x);
}

void place_allowed_together(const struct place_model *m, bool *allowed)
{
	for (uint32_t v = 0; v < m->n_sets; v++)
		for (uint32_t d = 0; d < m->k; d++) {
			uint32_t first = m->together ? m->together[v] : v;
			bool *at = &allowed[(size_t)first * m->k + d];

			*at = place_allowed(m, v, d) && (v == first || *at);
		}
}

double place_task_s(const struct place_model *m, uint32_t t, uint32_t dev, const uint16_t *device)
{
	double s = m->costs.task_s[(size_t)t * m->k + dev];

	if (s < 0 || !m->saved_ptr)
		return s;
	for (uint32_t i = m->saved_ptr[t]; i < m->saved_ptr[t + 1]; i++)
		if (device[m->saved_task[i]] == dev)
			s -= m->saved_s[(size_t)i * m->k + dev];
	return s > 0 ? s : 0;
}

const char *place_set_name(const struct place_model *m, uint32_t set, char *text, size_t cap)
{
	for (uint32_t v = 0; v < m->g->n; v++)
		if (m->g->set[v] == set)
			return err_escape(text, cap, m->g->node_name[v],
					  strlen(m->g->node_name[v]));
	return "";
}

int place_no_device(const struct place_model *m, uint32_t set, const char *wants, struct err *e)
{
	char name[200];

	return err_set(e, ST_RUNTIME,
		       "no device can take set %u ('%s'): none is left that can "
		       "run it and %s",
		       set, place_set_name(m, set, name, sizeof(name)), wants);
}

int place_model_init(struct place_model *m, const struct graph *g, const struct place_setup *s,
		     struct arena *a, struct err *e)
{
	bool *idle = ARENA_NEWN(a, bool, g->n);
	uint32_t *root = ARENA_NEWN(a, uint32_t, g->out_ptr[g->n]);

	memset(m, 0, sizeof(*m));
	m->g = g;
	m->k = s->k;
	m->n_sets = g->n_sets;
	m->names = s->names;
	m->set_s = s->set_s;
	m->mem_limit = s->mem_limit;
	m->objective = s->objective;
	m->power = s->power;
	m->slowdown = fmin(s->slowdown, PLACE_MOST_SLOWDOWN);
	m->multi_slowdown = s->multi_slowdown;
	m->rules = s->rules;
	m->types = s->types;
	m->move_s = s->move_s;
	place_model_together(m, s->together, a);
	place_idle_nodes(g, s->set_s, s->k, idle, root);
	if (graph_tasks_init(&m->tasks, g, idle, root, true, a, e) < 0)
		return -1;
	double *task_s = ARENA_NEWN(a, double, (size_t)m->tasks.dag.n * s->k);
	for (uint32_t t = 0; t < m->tasks.dag.n; t++)
		memcpy(task_s + (size_t)t * s->k, s->set_s + (size_t)m->tasks.task_set[t] * s->k,
		       s->k * sizeof(*task_s));
	m->costs = (struct sched_costs){.task_s = task_s,
					.links = s->links,
					.contention = s->contention,
					.overlap = s->overlap,
					.copy_holds = s->copy_holds,
					.turns = s->turns,
					.policy = s->policy};
	m->task_mem = ARENA_NEWN(a, uint64_t, (size_t)m->tasks.dag.n * m->k);
	if (s->held.set) {
		assign_held(m, &s->held, a);
		m->work = s->held.work;
		m->mem_limit = limits_beside(s->mem_limit, m->work, m->k, a);
	} else {
		assign_weights(m, s->keeps, root, a);
	}
	for (uint32_t t = 0; s->set_mem && !s->held.set && t < m->tasks.dag.n; t++)
		hold(m, t, bytes_anywhere(m, s->set_mem[m->tasks.task_set[t]], a));
	if (s->saved.n) {
		assign_savings(m, &s->saved, a);
		m->costs.least_s = least_costs(m, a);
	}
	return 0;
}
