/* bound_orders.c - branch and bound over orders.
 *
 * Tasks start in the order in which they are listed, each as soon as it can behind those before it.  Every schedule in which no
 * task can be started earlier without moving another one is among these, and so is a shortest one (Sprecher, Kolisch, Drexl,
 * European J. Operational Research 80(1), 1995, on semi-active schedules).  An order ends where a task that is still to come
 * would end, with its rest, too late; or what a clique has still to compute. */
#include "place/bound/bound_orders.h"

#include <math.h>

struct search {
	const struct orders *p;
	const struct sched_dag *g;
	double best_s;
	uint64_t nodes;
	bool done[ORDERS_MOST_TASKS];
	double ready_s[ORDERS_MOST_TASKS];  /* by what was listed */
	uint32_t waits[ORDERS_MOST_TASKS];  /* tensors that are not there yet */
	double left_s[SHARES_MOST_CLIQUES]; /* that a clique has still to compute */
	bool stopped;
};

/* The end of a task is told to those that read its tensors (sign 1), or taken back but for ready_s. */
static void tell_readers(struct search *x, uint32_t t, double end_s, int sign)
{
	const struct orders *p = x->p;
	const struct sched_links *l = &p->v->m->costs.links;

	for (uint32_t v = x->g->out_ptr[t]; v < x->g->out_ptr[t + 1]; v++)
		for (uint32_t i = x->g->use_ptr[v]; i < x->g->use_ptr[v + 1]; i++) {
			uint32_t to = x->g->use_task[i], at = to - p->first;

			if (at >= p->n)
				continue;
			x->waits[at] -= (uint32_t)sign;
			if (sign < 0)
				continue;
			double way = p->dev[t] == p->dev[to]
					     ? 0
					     : sched_copy_s(l, p->dev[t], p->dev[to],
							    x->g->tensor_bytes[v]);

			x->ready_s[at] = fmax(x->ready_s[at], end_s + way);
		}
}

/* Of the tasks that can be next the first to start, that has most behind it; n: all were tried. */
static uint32_t next_start(const struct search *x, const double *start, const bool *tried)
{
	const struct orders *p = x->p;
	uint32_t at = p->n;
	double rest = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t t = p->first + i;
		double r = p->seconds[t] + p->rest_s[(size_t)t * p->v->k + p->dev[t]];

		if (tried[i] || x->done[i] || x->waits[i] > 0)
			continue;
		if (at == p->n || start[i] < start[at] || (start[i] == start[at] && r > rest)) {
			at = i;
			rest = r;
		}
	}
	return at;
}

/* free_s (cliques): the end of the last task of each; last_s: the start of the last task. */
static void list_next(struct search *x, uint32_t n, const double *free_s, double last_s,
		      double makespan_s)
{
	const struct orders *p = x->p;
	uint32_t k = p->v->k, n_cliques = p->cliques->n;
	double start[ORDERS_MOST_TASKS], after[TURNS_MOST], was[ORDERS_MOST_TASKS];
	bool tried[ORDERS_MOST_TASKS] = {false};

	if (n == p->n) {
		x->best_s = fmin(x->best_s, makespan_s);
		return;
	}
	x->stopped |= x->nodes == 0;
	if (x->stopped)
		return;
	x->nodes--;
	for (uint32_t c = 0; c < n_cliques; c++)
		if (fmax(free_s[c], last_s) + x->left_s[c] >= x->best_s && x->left_s[c] > 0)
			return;
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t t = p->first + i, d = p->dev[t];

		if (x->done[i])
			continue;
		start[i] = fmax(x->ready_s[i], last_s);
		for (uint32_t c = 0; c < n_cliques; c++)
			if (p->cliques->clique[c] >> d & 1)
				start[i] = fmax(start[i], free_s[c]);
		if (start[i] + p->seconds[t] + p->rest_s[(size_t)t * k + d] >= x->best_s)
			return;
	}
	for (uint32_t i = 0; i < p->n; i++)
		was[i] = x->ready_s[i];
	for (uint32_t i = next_start(x, start, tried); i < p->n && !x->stopped;
	     i = next_start(x, start, tried)) {
		uint32_t t = p->first + i, d = p->dev[t];
		double end = start[i] + p->seconds[t], rest = p->rest_s[(size_t)t * k + d];

		tried[i] = x->done[i] = true;
		for (uint32_t c = 0; c < n_cliques; c++) {
			bool in = p->cliques->clique[c] >> d & 1;

			after[c] = in ? end : free_s[c];
			x->left_s[c] -= in ? p->seconds[t] : 0;
		}
		tell_readers(x, t, end, 1);
		list_next(x, n + 1, after, start[i], fmax(makespan_s, end + rest));
		tell_readers(x, t, end, -1);
		for (uint32_t j = 0; j < p->n; j++)
			x->ready_s[j] = was[j];
		for (uint32_t c = 0; c < n_cliques; c++)
			x->left_s[c] += p->cliques->clique[c] >> d & 1 ? p->seconds[t] : 0;
		x->done[i] = false;
	}
}

double orders_shortest_s(const struct orders *p, double below_s, uint64_t *nodes)
{
	struct search x = {.p = p, .g = p->v->d, .best_s = below_s, .nodes = *nodes};
	double free_s[TURNS_MOST] = {0};

	if (p->n > ORDERS_MOST_TASKS || p->cliques->n > TURNS_MOST)
		return 0;
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t t = p->first + i;

		x.ready_s[i] = p->begin_s[t];
		for (uint32_t j = x.g->in_ptr[t]; j < x.g->in_ptr[t + 1]; j++)
			x.waits[i] += x.g->tensor_task[x.g->use_tensor[x.g->in_use[j]]] >= p->first;
		for (uint32_t c = 0; c < p->cliques->n; c++)
			x.left_s[c] += p->cliques->clique[c] >> p->dev[t] & 1 ? p->seconds[t] : 0;
	}
	list_next(&x, 0, free_s, 0, 0);
	*nodes = x.nodes;
	return x.stopped ? 0 : x.best_s;
}
