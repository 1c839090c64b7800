/* bound_cut.c - loads with transfers between two sides: accelerators and CPUs in
 * dnn-partitioning, else the devices like the first one and all others.  What units cost on each
 * side at given multipliers, and what it costs to have makers and readers of a value on
 * different sides, is least in a minimum cut (Stone, IEEE Trans. Software Engineering SE-3(1),
 * 1977; with multipliers of memory: Lagrangian). */
#include <math.h>
#include <string.h>

#include "partition/maxflow.h"
#include "place/bound/bound_dual.h"
#include "place/bound/bounds.h"
#include "place/simulate/dnnpart.h"

enum { ROUNDS = 60, FIRST_ROUNDS = 100, LINK_OUT = 0, LINK_IN = 1 };
static const uint64_t MAX_WORK = 200000; /* units and values of all rounds */

/* A value with readers besides the unit that makes it. */
struct cut_value {
	uint32_t maker, first, n; /* reader[first] .. */
	double out_s, in_s;       /* from side 0 to side 1, and back */
};

struct sides {
	const struct bound_view *v;
	struct dual x;
	bool *second; /* (classes) on side 1 */
	uint32_t n_values, *reader;
	struct cut_value *value;
	/* at the multipliers at hand: */
	double *cost[2];    /* (units) */
	uint32_t *class[2]; /* (units) where that is */
	double scale;       /* capacities for a second */
};

/* ---- the problem ---- */

static double least_copy_s(const struct sides *s, bool out, uint64_t bytes)
{
	const struct place_model *m = s->v->m;
	double least = INFINITY;

	for (uint32_t a = 0; a < m->k; a++)
		for (uint32_t b = 0; b < m->k; b++) {
			uint32_t from = out ? a : b, to = out ? b : a;

			if (s->v->u->equivalent[a] != 0 || s->v->u->equivalent[b] == 0)
				continue;
			if (m->costs.links.latency_s[(size_t)from * m->k + to] >= 0)
				least = fmin(least, sched_copy_s(&m->costs.links, from, to, bytes));
		}
	return least;
}

/* Values by tensor, but all of a task's as one in dnn-partitioning. */
static void list_values(struct sides *s, struct arena *a)
{
	const struct bound_view *v = s->v;
	const struct sched_dag *d = v->d;
	bool by_task = v->m->rules != PLACE_SCHEDULE;
	uint32_t n = by_task ? d->n : d->n_tensors, *seen = MEM_NEWN(uint32_t, v->u->n), m = 0;

	s->value = ARENA_NEWN(a, struct cut_value, n);
	s->reader = ARENA_NEWN(a, uint32_t, d->n_uses);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t task = by_task ? i : d->tensor_task[i];
		uint32_t t = by_task ? d->out_ptr[i] : i, end = by_task ? d->out_ptr[i + 1] : i + 1;
		struct cut_value x = {.maker = v->unit_of[task], .first = m};

		for (uint32_t j = d->use_ptr[t]; j < d->use_ptr[end]; j++) {
			uint32_t to = v->unit_of[d->use_task[j]];

			if (to == x.maker || seen[to] == i + 1)
				continue;
			seen[to] = i + 1;
			s->reader[m++] = to;
		}
		x.n = m - x.first;
		if (x.n == 0)
			continue;
		if (by_task) {
			x.out_s = x.in_s = v->m->move_s[v->m->tasks.task_set[task]];
		} else {
			x.out_s = least_copy_s(s, true, d->tensor_bytes[i]);
			x.in_s = least_copy_s(s, false, d->tensor_bytes[i]);
		}
		s->value[s->n_values++] = x;
	}
	mem_free(seen);
}

/* Which classes are on which side, how many links join them; false: there are no two sides. */
static bool find_sides(struct sides *s, struct arena *a)
{
	const struct place_model *m = s->v->m;
	double n[2] = {0, 0};

	s->second = ARENA_NEWN(a, bool, s->x.n_classes);
	for (uint32_t c = 0; c < s->x.n_classes; c++) {
		uint32_t d = s->x.first[c];

		s->second[c] = m->rules == PLACE_SCHEDULE ? s->v->u->equivalent[d] != 0
							  : dnnpart_is_cpu(m, d);
		n[s->second[c]] += s->x.size[c];
	}
	s->x.size[s->x.n_classes + LINK_OUT] = s->x.size[s->x.n_classes + LINK_IN] = n[0] * n[1];
	return n[0] > 0 && n[1] > 0;
}

/* ---- one cut ---- */

/* The class of a side whose time is cheapest. */
static uint32_t cheapest(const struct sides *s, bool second)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t c = 0; c < s->x.n_classes; c++)
		if (s->second[c] == second && (best == UINT32_MAX || s->x.w[c] < s->x.w[best]))
			best = c;
	return best;
}

/* A transfer's price: who is loaded by it at least; also into load, if it is to be counted. */
static double transfer(struct sides *s, double seconds, int link, bool count)
{
	const struct place_model *m = s->v->m;
	/* No bound is known of links that copies share: it leaves them out. */
	bool on_link = m->rules == PLACE_SCHEDULE && m->costs.contention && !m->costs.links.sharing;
	/* Where only some copies occupy devices the bound leaves that out. */
	bool both = !m->costs.overlap && !m->costs.copy_holds;
	bool on_device[2] = {m->rules != PLACE_SCHEDULE || both,
			     m->rules == PLACE_SCHEDULE && both};
	uint32_t at[3] = {cheapest(s, false), cheapest(s, true), s->x.n_classes + (uint32_t)link};
	bool is[3] = {on_device[0], on_device[1], on_link};
	double w = 0;

	for (int i = 0; i < 3; i++) {
		w += is[i] ? s->x.w[at[i]] : 0;
		if (is[i] && count)
			s->x.load[at[i]] += seconds / s->x.size[at[i]];
	}
	return seconds == INFINITY ? INFINITY : w * seconds;
}

static int64_t capacity(const struct sides *s, double cost)
{
	return cost == INFINITY ? MAXFLOW_INF : (int64_t)floor(cost * s->scale);
}

static void price_units(struct sides *s)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->v->u->n; i++)
		for (int side = 0; side < 2; side++) {
			s->cost[side][i] = INFINITY;
			for (uint32_t c = 0; c < s->x.n_classes; c++) {
				double cost =
					s->second[c] == side ? dual_unit_s(&s->x, i, c) : INFINITY;

				if (cost < s->cost[side][i]) {
					s->cost[side][i] = cost;
					s->class[side][i] = c;
				}
			}
			sum += s->cost[side][i] < INFINITY ? s->cost[side][i] : 0;
		}
	for (uint32_t i = 0; i < s->n_values; i++) {
		double out = transfer(s, s->value[i].out_s, LINK_OUT, false);
		double in = transfer(s, s->value[i].in_s, LINK_IN, false);

		sum += (out < INFINITY ? out : 0) + (in < INFINITY ? in : 0);
	}
	s->scale = sum > 0 ? (double)(MAXFLOW_MOST / 2) / sum : 1;
}

static struct maxflow *network(struct sides *s)
{
	struct maxflow *flow = maxflow_new(s->v->u->n);

	for (uint32_t i = 0; i < s->v->u->n; i++)
		if (s->cost[0][i] < INFINITY || s->cost[1][i] < INFINITY)
			maxflow_ends(flow, i, capacity(s, s->cost[1][i]),
				     capacity(s, s->cost[0][i]));
	for (uint32_t i = 0; i < s->n_values; i++) {
		const struct cut_value *x = &s->value[i];
		int64_t out = capacity(s, transfer(s, x->out_s, LINK_OUT, false));
		int64_t in = capacity(s, transfer(s, x->in_s, LINK_IN, false));

		if (x->n == 1) {
			maxflow_arc(flow, x->maker, s->reader[x->first], out, in);
			continue;
		}
		uint32_t leaves = maxflow_node(flow), comes = maxflow_node(flow);

		maxflow_arc(flow, x->maker, leaves, out, 0);
		maxflow_arc(flow, comes, x->maker, in, 0);
		for (uint32_t j = x->first; j < x->first + x->n; j++) {
			maxflow_arc(flow, leaves, s->reader[j], MAXFLOW_INF, 0);
			maxflow_arc(flow, s->reader[j], comes, MAXFLOW_INF, 0);
		}
	}
	return flow;
}

/* What the cut loads. */
static void count(struct sides *s, const struct maxflow *flow)
{
	for (uint32_t i = 0; i < s->v->u->n; i++) {
		bool second = maxflow_on_sink_side(flow, i);

		if (s->cost[second][i] < INFINITY)
			dual_count(&s->x, i, s->class[second][i], 1);
	}
	for (uint32_t i = 0; i < s->n_values; i++) {
		const struct cut_value *x = &s->value[i];
		bool from = maxflow_on_sink_side(flow, x->maker), parts = false;

		for (uint32_t j = x->first; j < x->first + x->n; j++)
			parts |= maxflow_on_sink_side(flow, s->reader[j]) != from;
		if (parts)
			transfer(s, from ? x->in_s : x->out_s, from ? LINK_IN : LINK_OUT, true);
	}
}

static double least_cut(void *arg, struct dual *x)
{
	struct sides *s = arg;

	(void)x;
	price_units(s);
	struct maxflow *flow = network(s);
	int64_t cut = maxflow_run(flow);

	if (cut < MAXFLOW_INF)
		count(s, flow);
	maxflow_free(flow);
	return cut < MAXFLOW_INF ? (double)cut / s->scale : 0;
}

double bound_cut_s(const struct bound_view *v)
{
	struct arena *a = arena_new();
	struct sides s = {.v = v};
	double best = 0;

	dual_init(&s.x, v, 2);
	if (find_sides(&s, a)) {
		list_values(&s, a);
		for (int side = 0; side < 2; side++) {
			s.cost[side] = ARENA_NEWN(a, double, v->u->n);
			s.class[side] = ARENA_NEWN(a, uint32_t, v->u->n);
		}
		int rounds = (int)fmin(ROUNDS, (double)MAX_WORK / (1 + v->u->n + s.n_values));

		dual_ascend(&s.x, FIRST_ROUNDS, dual_least, NULL);
		s.x.memory = true;
		best = dual_ascend(&s.x, FIRST_ROUNDS, dual_least, NULL);
		best = dual_planes(&s.x, rounds, best, least_cut, &s);
	}
	dual_release(&s.x);
	arena_free(a);
	return fmax(0, best) * (1 - 1e-9);
}

/* Schedules have a period only where the objective says so. */
static double cut_value(struct bound_problem *x)
{
	if (x->v.m->rules == PLACE_SCHEDULE && x->v.m->objective.throughput <= 0)
		return 0;
	return bound_cut_s(&x->v);
}

const struct lower_bound bound_cut = {
	.kind = "cut",
	.source = "Stone, IEEE TSE SE-3(1), 1977, in the Lagrangian dual",
	.rules = 1U << PLACE_SCHEDULE | 1U << PLACE_DNNPART_THROUGHPUT,
	.metric = METRIC_PERIOD,
	.value = cut_value};
