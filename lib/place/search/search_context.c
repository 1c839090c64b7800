/* search_context.c - what searches share about a model, and how long they go on. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "place/search/search_context.h"

/* Units that exchange data, each pair in both rows.  Counted two places up, so that filling leaves
 * the beginnings. */
static void neighbours(struct search_context *s, struct arena *a)
{
	const struct sched_dag *d = &s->m->tasks.dag;
	const uint32_t *task_set = s->m->tasks.task_set;
	uint32_t *p = ARENA_NEWN(a, uint32_t, (size_t)s->u.n + 2);
	uint32_t *x = ARENA_NEWN(a, uint32_t, 2 * (size_t)d->n_uses);

	for (int fill = 0; fill < 2; fill++) {
		for (uint32_t i = 0; i < d->n_uses; i++) {
			uint32_t maker = d->tensor_task[d->use_tensor[i]];
			uint32_t from = s->u.of_set[task_set[maker]];
			uint32_t to = s->u.of_set[task_set[d->use_task[i]]];

			if (from == to)
				continue;
			if (fill) {
				x[p[from + 1]++] = to;
				x[p[to + 1]++] = from;
			} else {
				p[from + 2]++;
				p[to + 2]++;
			}
		}
		for (uint32_t i = 0; !fill && i < s->u.n; i++)
			p[i + 2] += p[i + 1];
	}
	s->ptr = p;
	s->adj = x;
}

/* Units by descending end of a depth-first search along edges. */
static const uint32_t *depth_first(const struct search_context *s, struct arena *a)
{
	const uint32_t *ptr = s->ptr, *adj = s->adj;
	uint32_t n = s->u.n, left = n, n_stack;
	uint32_t *order = ARENA_NEWN(a, uint32_t, n), *at = ARENA_NEWN(a, uint32_t, n);
	uint32_t *stack = ARENA_NEWN(a, uint32_t, n);
	bool *seen = ARENA_NEWN(a, bool, n);

	if (n)
		memcpy(at, ptr, n * sizeof(*at));
	for (uint32_t root = 0; root < n; root++) {
		if (seen[root])
			continue;
		seen[root] = true;
		stack[0] = root;
		n_stack = 1;
		while (n_stack) {
			uint32_t v = stack[n_stack - 1];

			while (at[v] < ptr[v + 1] && (adj[at[v]] < v || seen[adj[at[v]]]))
				at[v]++;
			if (at[v] == ptr[v + 1]) {
				order[--left] = v;
				n_stack--;
			} else {
				seen[adj[at[v]]] = true;
				stack[n_stack++] = adj[at[v]];
			}
		}
	}
	return order;
}

void search_context_init(struct search_context *s, const struct method_run *r)
{
	const struct place_model *m = r->m;
	const struct sched_links *l = &m->costs.links;
	struct arena *a = r->a;

	if (r->context) {
		*s = *r->context;
		s->few = false;
		s->borrowed = true;
		s->deadline_s = s->traffic.deadline_s = method_deadline_s(r);
		return;
	}
	*s = (struct search_context){.m = m,
				     .linked = true,
				     .single_value = INFINITY,
				     .deadline_s = method_deadline_s(r),
				     .ev = evaluators_new(m)};
	place_units_init(&s->u, m, a);
	unit_traffic_init(&s->traffic, &s->u, a);
	s->traffic.deadline_s = s->deadline_s;
	neighbours(s, a);
	uint32_t *plain = ARENA_NEWN(a, uint32_t, s->u.n);
	for (uint32_t i = 0; i < s->u.n; i++)
		plain[i] = i;
	s->order[0] = plain;
	s->order[1] = depth_first(s, a);
	for (size_t i = 0; m->rules == PLACE_SCHEDULE && i < (size_t)m->k * m->k; i++)
		s->linked &= i / m->k == i % m->k || l->latency_s[i] >= 0;
	struct evaluator *ev = evaluators_take(s->ev);

	s->single = place_best_single(ev, &s->single_value);
	evaluators_put(s->ev, ev);
}

void search_context_release(struct search_context *s)
{
	if (!s->borrowed)
		evaluators_free(s->ev);
}

bool search_context_allowed(const struct search_context *s, uint32_t unit, uint16_t dev)
{
	for (uint32_t i = s->u.dev_ptr[unit]; i < s->u.dev_ptr[unit + 1]; i++)
		if (s->u.dev[i] == dev)
			return true;
	return false;
}

/* ---- budgets ---- */

struct limits limits_of(const struct method_run *r, uint64_t evals)
{
	struct limits x = {evals, method_began_s(r), 0};

	if (r->evals || r->budget_s > 0)
		x.evals = r->evals ? r->evals : UINT64_MAX;
	x.deadline_s = r->budget_s > 0 ? x.start_s + r->budget_s : 0;
	return x;
}

double limits_spent(const struct limits *x, uint64_t used)
{
	double share = (double)used / (double)x->evals;

	if (x->deadline_s > 0) {
		double now = clock_s();

		if (now >= x->deadline_s)
			return 1;
		share = fmax(share, (now - x->start_s) / (x->deadline_s - x->start_s));
	}
	return share;
}

uint64_t search_context_default_evals(const struct place_model *m, bool whole)
{
	enum { WORK = 150000000, MOST = 4000000, LEAST = 2000 };
	uint64_t n = m->tasks.dag.n, evals = WORK / (n ? n : 1);

	if ((m->rules == PLACE_DNNPART_THROUGHPUT && !whole) || evals > MOST)
		return MOST;
	return evals > LEAST ? evals : LEAST;
}

double search_context_simulation_s(struct evaluator *x, const uint16_t *device)
{
	enum { PARTS = 3 };

	place_evaluate(x, device);
	double start_s = clock_s();

	place_evaluate(x, device);
	return fmax(clock_s() - start_s, 1e-9) / PARTS;
}
