/* favourite_children.c - favourite children: C. Hanen, A. Munier, "An approximation algorithm for
 * scheduling dependent tasks on m processors with small communication delays", ETFA 1995, as in
 * Jeon et al., "Baechi", SoCC 2020, section 3.3.
 *
 * With p_i and c_ij mean seconds of tasks and of copies, s_i starts:
 *     minimise w;  s_i + p_i + c_ij x_ij <= s_j;  s_i + p_i <= w;  0 <= x_ij <= 1;
 *     sum_j x_ij >= |children of i| - 1;  sum_i x_ij >= |parents of j| - 1
 * j is the favourite of i when x_ij < 1/2; of one task or one child this holds at most once. */
#include <math.h>

#include "graph/rows.h"
#include "partition/lp.h"
#include "place/heuristic/favourite_children.h"

/* Steps of the simplex method; programmes with more edges than this are not even begun. */
enum { MAX_STEPS = 200000, MAX_EDGES = 8000 };

struct edge {
	uint32_t src, dst; /* tasks */
	double copy_s;
};

struct favourite_search {
	const struct listsched *x;
	struct edge *edge; /* distinct, by (dst, src) */
	uint32_t n_edges;
	uint32_t *favourite; /* (n) SCHED_NONE: none */
};

static void find_edges(struct favourite_search *s, const double *use_s, struct arena *a)
{
	const struct sched_dag *d = s->x->d;
	uint32_t *at = ARENA_NEWN(a, uint32_t, d->n); /* edge from there to the task at hand + 1 */

	s->edge = ARENA_NEWN(a, struct edge, d->n_uses);
	for (uint32_t v = 0; v < d->n; v++) {
		uint32_t first = s->n_edges;

		for (uint32_t i = d->in_ptr[v]; i < d->in_ptr[v + 1]; i++) {
			uint32_t u = d->tensor_task[d->use_tensor[d->in_use[i]]];

			if (at[u] <= first) {
				s->edge[s->n_edges] = (struct edge){u, v, 0};
				at[u] = ++s->n_edges;
			}
			s->edge[at[u] - 1].copy_s += use_s[d->in_use[i]];
		}
	}
}

/* For all but one child of each task (by_src), or all but one parent, x is 1. */
static void add_degree_rows(const struct favourite_search *s, struct lp *p, bool by_src)
{
	uint32_t n = s->x->n, *ptr = MEM_NEWN(uint32_t, (size_t)n + 2);
	uint32_t *of = MEM_NEWN(uint32_t, s->n_edges);

	rows_sort(by_src ? &s->edge->src : &s->edge->dst, NULL, sizeof(*s->edge), s->n_edges, n,
		  ptr, of);
	for (uint32_t v = 0, i = 0; v < n; v++) {
		if (ptr[v] == ptr[v + 1])
			continue;
		lp_row(p, ptr[v + 1] - ptr[v] - 1.0, INFINITY);
		for (i = ptr[v]; i < ptr[v + 1]; i++)
			lp_term(p, of[i], 1);
	}
	mem_free(of);
	mem_free(ptr);
}

/* The programme; columns: x of edges, then s of tasks, then w.  Times in units of `unit`. */
static struct lp *build_programme(const struct favourite_search *s, const double *task_s,
				  double unit)
{
	struct lp *p = lp_new();
	uint32_t n = s->x->n, w;

	for (uint32_t i = 0; i < s->n_edges; i++)
		lp_column(p, 0, 1, 0);
	for (uint32_t v = 0; v < n; v++)
		lp_column(p, 0, INFINITY, 0);
	w = lp_column(p, 0, INFINITY, 1);
	for (uint32_t i = 0; i < s->n_edges; i++) {
		const struct edge *y = &s->edge[i];

		lp_row(p, task_s[y->src] / unit, INFINITY);
		lp_term(p, s->n_edges + y->dst, 1);
		lp_term(p, s->n_edges + y->src, -1);
		if (y->copy_s > 0)
			lp_term(p, i, -y->copy_s / unit);
	}
	add_degree_rows(s, p, true);
	add_degree_rows(s, p, false);
	for (uint32_t v = 0; v < n; v++) {
		lp_row(p, task_s[v] / unit, INFINITY);
		lp_term(p, w, 1);
		lp_term(p, s->n_edges + v, -1);
	}
	return p;
}

/* Does edge i carry more than edge `than`, or is there none? */
static bool dearer(const struct favourite_search *s, uint32_t i, uint32_t than)
{
	return than == SCHED_NONE || s->edge[i].copy_s > s->edge[than].copy_s;
}

/* Without the programme: the child that each task sends most to, when that child gets from nobody
 * who chose it more. */
static void dearest_children(struct favourite_search *s)
{
	uint32_t n = s->x->n, *child = MEM_NEWN(uint32_t, n), *parent = MEM_NEWN(uint32_t, n);

	for (uint32_t v = 0; v < n; v++)
		child[v] = parent[v] = SCHED_NONE; /* edges */
	for (uint32_t i = 0; i < s->n_edges; i++) {
		uint32_t *best = &child[s->edge[i].src];

		if (s->edge[i].copy_s > 0 && dearer(s, i, *best))
			*best = i;
	}
	for (uint32_t i = 0; i < s->n_edges; i++) {
		uint32_t *best = &parent[s->edge[i].dst];

		if (child[s->edge[i].src] == i && dearer(s, i, *best))
			*best = i;
	}
	for (uint32_t v = 0; v < n; v++)
		if (parent[v] != SCHED_NONE)
			s->favourite[s->edge[parent[v]].src] = v;
	mem_free(parent);
	mem_free(child);
}

int favourite_children_find(const struct listsched *x, double budget_s, struct arena *a,
			    uint32_t *favourite, struct err *e)
{
	struct favourite_search s = {.x = x, .favourite = favourite};
	double *task_s = ARENA_NEWN(a, double, x->n), *use_s = ARENA_NEWN(a, double, x->d->n_uses);
	double largest = 0, objective;
	int status = LP_STOPPED;

	listsched_means(x, task_s, use_s);
	find_edges(&s, use_s, a);
	for (uint32_t v = 0; v < x->n; v++) {
		favourite[v] = SCHED_NONE;
		largest = fmax(largest, task_s[v]);
	}
	for (uint32_t i = 0; i < s.n_edges; i++)
		largest = fmax(largest, s.edge[i].copy_s);
	if (s.n_edges <= MAX_EDGES && largest > 0) {
		double *value = ARENA_NEWN(a, double, (size_t)s.n_edges + x->n + 1);
		struct lp *p = build_programme(&s, task_s, largest);

		status = lp_solve(p, MAX_STEPS, budget_s, value, NULL, &objective, e);
		lp_free(p);
		for (uint32_t i = 0; status == LP_OPTIMAL && i < s.n_edges; i++)
			if (value[i] < 0.5 - 1e-6)
				favourite[s.edge[i].src] = s.edge[i].dst;
	}
	if (status < 0)
		return -1;
	if (status != LP_OPTIMAL)
		dearest_children(&s);
	return status == LP_OPTIMAL;
}
