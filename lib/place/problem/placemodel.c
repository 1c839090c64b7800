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
	m->mem_limit = m->mem_given = s->mem_limit;
	m->objective = s->objective;
	m->power = s->power;
	m->slowdown = fmin(s->slowdown, PLACE_MOST_SLOWDOWN);
	m->multi_slowdown = s->multi_slowdown;
	m->rules = s->rules;
	m->types = s->types;
	m->move_s = s->move_s;
	m->headroom = s->headroom;
	m->workspace = s->workspace;
	m->pools = s->pools;
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
	place_model_hold(m, s, root, a);
	if (s->held.set) {
		m->work = s->held.work;
		m->mem_limit = limits_beside(s->mem_limit, m->work, m->k, a);
	}
	if (s->saved.n) {
		assign_savings(m, &s->saved, a);
		m->costs.least_s = least_costs(m, a);
	}
	return 0;
}
